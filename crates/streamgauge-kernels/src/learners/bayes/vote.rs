//! Predictions and votes of a model.

use super::gaussian::ClassPanel;
use super::{ModelSummary, Models, nominal};
use crate::dispatch;
use crate::learners::ABSTAINED;
use crate::learners::f64x4::{F64x4, LANES};
use crate::learners::rows::{MAX_VECTORS, MISSING, Row};
use crate::learners::vector_math::{exp, ln};

/// A class whose log-likelihood is at most this is ruled out.
pub(in crate::learners) const RULED_OUT: f64 = -1e200;

impl<const V: usize> Models<V> {
    /// Returns the logarithm of a class's weight times the densities of the numbers of a row without missing values.
    #[inline(always)]
    fn log_density(&self, panels: &[ClassPanel<V>], row: Row<'_, V>) -> f64 {
        let log_base = panels[0].class.log_base;
        if self.layout.n_columns == 0 {
            return log_base;
        }
        let mut sum = F64x4::ZERO;
        if V < MAX_VECTORS {
            for (panel, x) in panels.iter().zip(row.panels()) {
                sum = panel.add_log_densities(&x.vectors(), sum);
            }
        } else {
            let mut n_vectors = self.layout.n_columns.div_ceil(LANES);
            for (panel, x) in panels.iter().zip(row.panels()) {
                sum = if n_vectors >= V {
                    panel.add_log_densities(&x.vectors(), sum)
                } else {
                    panel.add_first_log_densities(x, n_vectors, sum)
                };
                n_vectors = n_vectors.saturating_sub(V);
            }
        }
        // Stored to memory: otherwise the compiler uses vectors of two.
        log_base + std::hint::black_box(sum).sum()
    }

    /// Returns the codes of a row, and how many of them a model multiplies before it takes a logarithm.
    #[inline(always)]
    fn group_codes<'r>(&self, model: usize, row: Row<'r, V>) -> (&'r [u32], usize) {
        (row.codes(), self.group_length(model))
    }

    /// Returns how many factors of a likelihood a model multiplies before it takes a logarithm.
    #[inline(always)]
    pub fn group_length(&self, model: usize) -> usize {
        nominal::group_length(self.layout.n_codes, self.summaries[model].weight)
    }

    /// Calls a function with each class and the logarithm of its weight times the likelihood of a row without missing
    /// values.
    #[inline(always)]
    fn for_each_class(&self, model: usize, row: Row<'_, V>, mut apply: impl FnMut(usize, f64)) {
        let (panels, n) = (self.panels(model), self.n_panels());
        if self.layout.n_counts == 0 {
            for class in 0..self.n_classes {
                apply(class, self.log_density(&panels[class * n..(class + 1) * n], row));
            }
        } else if self.n_classes == 2 {
            // The most frequent case, with loops of a constant length.
            self.for_each_class_with_nominal(2, model, row, apply);
        } else {
            self.for_each_class_with_nominal(self.n_classes, model, row, apply);
        }
    }

    /// Does the same if there are nominal attributes.
    #[inline(always)]
    fn for_each_class_with_nominal(
        &self,
        n_classes: usize,
        model: usize,
        row: Row<'_, V>,
        mut apply: impl FnMut(usize, f64),
    ) {
        let (panels, n) = (self.panels(model), self.n_panels());
        let (group, counts) = (self.group_codes(model, row), &self.counts[self.count_range(model)]);
        // Plain loops over indices: iterators over chunks take longer than the densities of short rows.
        let mut first = 0;
        while first < n_classes {
            let mut logs = [0.0; nominal::MAX_CLASSES];
            let products = nominal::log_products(group, counts, n_classes, first);
            for (logs, products) in logs.as_chunks_mut::<LANES>().0.iter_mut().zip(products) {
                *logs = products.0;
            }
            for (class, log) in (first..n_classes).zip(logs) {
                apply(class, self.log_density(&panels[class * n..(class + 1) * n], row) + log);
            }
            first += nominal::MAX_CLASSES;
        }
    }

    /// Does the same for a row with missing values, which are left out.
    #[cold]
    #[inline(never)]
    fn log_likelihood_with_missing(&self, model: usize, class: usize, row: Row<'_, V>) -> f64 {
        dispatch::run(
            #[inline(always)]
            || {
                let mut sum = F64x4::ZERO;
                for (panel, x) in self.panels[self.panel_range(model, class)].iter().zip(row.panels()) {
                    sum = panel.add_log_densities_with_missing(x, sum);
                }
                let mut log = self.panels[self.panel_range(model, class).start].class.log_base + sum.sum();
                let counts = &self.counts[self.count_range(model)];
                for (table, &code) in self.tables(model).zip(row.codes()) {
                    // The log base has the denominators of all attributes.
                    log += if code == MISSING {
                        ln(self.known_weight(model, class, table) + table.n_values as f64)
                    } else {
                        nominal::log_product_of_class((&[code], 1), counts, self.n_classes, class)
                    };
                }
                log
            },
        )
    }

    /// Returns the likeliest class of a row, the first of equals; the majority if all are ruled out.
    #[inline(always)]
    pub fn find_likeliest(&self, model: usize, row: Row<'_, V>) -> i32 {
        if row.has_missing() {
            return self.find_likeliest_with_missing(model, row);
        }
        let (mut best, mut most) = (self.summaries[model].majority, RULED_OUT);
        self.for_each_class(
            model,
            row,
            #[inline(always)]
            |class, log| {
                let better = log > most;
                best = if better { class as i32 } else { best };
                most = if better { log } else { most };
            },
        );
        best
    }

    /// Does the same for a row with missing values.
    #[cold]
    #[inline(never)]
    fn find_likeliest_with_missing(&self, model: usize, row: Row<'_, V>) -> i32 {
        let logs = (0..self.n_classes).map(|class| self.log_likelihood_with_missing(model, class, row));
        find_greatest(logs, self.summaries[model].majority).0
    }

    /// Writes the log-likelihoods of a row, including the classes' weights; returns the likeliest class as
    /// [`Models::find_likeliest`] does, and its log-likelihood, or [`RULED_OUT`] if all are.
    #[inline(always)]
    pub fn log_likelihoods(&self, model: usize, row: Row<'_, V>, logs: &mut [f64]) -> (i32, f64) {
        if row.has_missing() {
            for (class, log) in logs.iter_mut().enumerate() {
                *log = self.log_likelihood_with_missing(model, class, row);
            }
        } else {
            self.for_each_class(
                model,
                row,
                #[inline(always)]
                |class, log| logs[class] = log,
            );
        }
        find_greatest(logs.iter().copied(), self.summaries[model].majority)
    }

    /// Returns the likeliest class of a row without missing values that was just learnt, as [`Models::find_likeliest`]
    /// does. `logs` are the log-likelihoods before learning: only that of its own class has changed, if
    /// [`Models::group_length`] has not.
    #[inline(always)]
    pub fn find_likeliest_after(&self, model: usize, row: Row<'_, V>, label: usize, logs: &[f64]) -> i32 {
        let (mut best, mut most) = (self.summaries[model].majority, RULED_OUT);
        let mut now = self.log_density(&self.panels[self.panel_range(model, label)], row);
        if self.layout.n_counts > 0 {
            let (group, counts) = (self.group_codes(model, row), &self.counts[self.count_range(model)]);
            now += nominal::log_product_of_class(group, counts, self.n_classes, label);
        }
        for (class, &before) in logs.iter().enumerate() {
            let log = if class == label { now } else { before };
            let better = log > most;
            best = if better { class as i32 } else { best };
            most = if better { log } else { most };
        }
        best
    }

    /// Writes the posterior probabilities of the classes of a row; the shares of the classes if all are ruled out.
    #[inline(never)]
    pub fn vote(&self, model: usize, row: Row<'_, V>, votes: &mut [f64]) {
        dispatch::run(
            #[inline(always)]
            || {
                self.log_likelihoods(model, row, votes);
            },
        );
        let (best, most) = find_greatest(votes.iter().copied(), ABSTAINED);
        if best < 0 {
            return self.vote_by_weight(model, votes);
        }
        for vote in votes.iter_mut() {
            *vote = relative_likelihood(*vote - most);
        }
        normalise_likelihoods(votes, best as usize);
    }

    /// Writes the shares of the classes; all for the majority if no class has weight, none if there is no majority.
    #[inline(always)]
    pub fn vote_by_weight(&self, model: usize, votes: &mut [f64]) {
        let ModelSummary { weight, majority, .. } = self.summaries[model];
        vote_by_weights(self.weights(model), weight, majority, votes);
    }

    /// Writes weights of which [`normalise_weights`] makes the same shares, and returns true; or false, if the shares are
    /// written. A loop over many rows can then scale them: it would wait for numbers that have just been written.
    #[inline(always)]
    pub fn write_weights(&self, model: usize, votes: &mut [f64]) -> bool {
        let ModelSummary { weight, majority, .. } = self.summaries[model];
        write_weights(self.weights(model), weight, majority, votes)
    }
}

/// Writes the shares of classes of the given weights, which add up to `total`; all for the majority if they are 0, none
/// if there is no majority.
#[inline(always)]
pub(in crate::learners) fn vote_by_weights(
    weights: impl Iterator<Item = f64>,
    total: f64,
    majority: i32,
    votes: &mut [f64],
) {
    if write_weights(weights, total, majority, votes) {
        normalise_weights(votes, majority as usize);
    }
}

/// Writes weights of which [`normalise_weights`] makes the shares, and returns true; or false, if the shares are written.
#[inline(always)]
fn write_weights(weights: impl Iterator<Item = f64>, total: f64, majority: i32, votes: &mut [f64]) -> bool {
    let has_weight = (majority >= 0) & (total > 0.0);
    if has_weight {
        for (vote, weight) in votes.iter_mut().zip(weights) {
            *vote = weight.min(f64::MAX);
        }
    } else {
        votes.fill(0.0);
        if majority >= 0 {
            votes[majority as usize] = 1.0;
        }
    }
    has_weight
}

/// Returns the class of the greatest log-likelihood, the first of equals, or `otherwise` if all are ruled out; and that
/// log-likelihood.
#[inline(always)]
fn find_greatest(logs: impl Iterator<Item = f64>, otherwise: i32) -> (i32, f64) {
    let (mut best, mut most) = (otherwise, RULED_OUT);
    for (class, log) in logs.enumerate() {
        let better = log > most;
        best = if better { class as i32 } else { best };
        most = if better { log } else { most };
    }
    (best, most)
}

/// Returns the likelihood of a class relative to the likeliest one, from the difference of their log-likelihoods.
#[inline(always)]
pub(in crate::learners) fn relative_likelihood(log: f64) -> f64 {
    let likelihood = exp(if log > -700.0 { log } else { -700.0 });
    let likelihood = if likelihood < 1.0 { likelihood } else { 1.0 };
    if log > -700.0 { likelihood } else { 0.0 }
}

/// Scales votes, of which the greatest is 1, to a sum of 1; `best` stays ahead of earlier classes.
#[inline(always)]
pub(in crate::learners) fn normalise_likelihoods(votes: &mut [f64], best: usize) {
    divide(votes, sum_votes(votes));
    keep_ahead(votes, best);
}

/// Scales votes to a sum of 1; `best` stays ahead of earlier classes.
#[inline(always)]
pub(in crate::learners) fn normalise_weights(votes: &mut [f64], best: usize) {
    divide(votes, votes[best]);
    normalise_likelihoods(votes, best);
}

/// Returns the sum of votes, in the order that suits vector instructions: four by four as far as they go, then the rest.
#[inline(always)]
pub(in crate::learners) fn sum_votes(votes: &[f64]) -> f64 {
    let (fours, rest) = votes.as_chunks::<LANES>();
    let sum = if fours.is_empty() { 0.0 } else { fours.iter().fold(F64x4::ZERO, |sum, &four| sum + F64x4(four)).sum() };
    rest.iter().fold(sum, |sum, vote| sum + vote)
}

/// Divides votes by a number.
#[inline(always)]
fn divide(votes: &mut [f64], divisor: f64) {
    let (fours, rest) = votes.as_chunks_mut::<LANES>();
    for four in fours {
        *four = F64x4(*four).map(|vote| vote / divisor).0;
    }
    for vote in rest {
        *vote /= divisor;
    }
}

/// Lowers the votes of classes before `best` that equal its own, the greatest, so that it stays the winner.
#[inline(always)]
fn keep_ahead(votes: &mut [f64], best: usize) {
    let most = votes[best];
    // Equal votes are rare; they are counted without a loop of a length that cannot be predicted.
    let is_most = |vote: f64| if vote == most { 1.0 } else { 0.0 };
    let (fours, rest) = votes.as_chunks::<LANES>();
    let mut n_equal = F64x4::ZERO;
    for &four in fours {
        n_equal = n_equal + F64x4(four).map(is_most);
    }
    if rest.iter().fold(n_equal.sum(), |n, &vote| n + is_most(vote)) > 1.0 {
        for vote in &mut votes[..best] {
            *vote = vote.min(most.next_down());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learners::find_winner;

    #[test]
    fn shares_add_up_to_one_and_keep_the_winner() {
        let mut votes = [1.0, 1.0 + f64::EPSILON, 1.0];
        normalise_weights(&mut votes, 1);
        assert_eq!(find_winner(&votes), 1);
        assert!((votes.iter().sum::<f64>() - 1.0).abs() < 1e-15);
        let mut many = [0.5, 1.0, 0.25, 1.0, 0.0, 0.125, 0.0, 0.0, 1.0, 0.125];
        normalise_weights(&mut many, 8);
        assert_eq!((find_winner(&many), many[5]), (8, 0.03125));
        assert!((sum_votes(&many) - 1.0).abs() < 1e-15);
        let mut huge = [f64::MAX, f64::MAX];
        normalise_weights(&mut huge, 0);
        assert_eq!(huge, [0.5, 0.5]);
    }
}
