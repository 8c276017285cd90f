//! What a model says of a row.

use super::gaussian::ClassPanel;
use super::{ModelSummary, Models, nominal};
use crate::dispatch;
use crate::learners::ABSTAINED;
use crate::learners::f64x4::F64x4;
use crate::learners::rows::Row;
use crate::learners::vector_math::exp;

/// A class with a log-likelihood of no more than this is ruled out.
pub(in crate::learners) const RULED_OUT: f64 = -1e200;

impl<const V: usize> Models<V> {
    /// The logarithm of a class's weight times the likelihood of a row without gaps.
    #[inline(always)]
    fn log_likelihood(&self, model: usize, class: usize, panels: &[ClassPanel<V>], row: Row<'_, V>) -> f64 {
        let mut sum = F64x4::ZERO;
        for (panel, x) in panels.iter().zip(row.panels()) {
            sum = panel.add_log_densities(&x.vectors(), sum);
        }
        // Through memory: else the compiler, seeing how the four are added up, works with two at a time.
        let sum = std::hint::black_box(sum);
        let log = panels[0].class.log_base + sum.sum();
        if self.layout.n_counts == 0 {
            return log;
        }
        log + nominal::log_probability(&self.layout.nominal, row.codes(), &self.logs[self.count_range(model, class)])
    }

    /// The same for a row with gaps, which are left out.
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
                let logs = &self.logs[self.count_range(model, class)];
                let log = self.panels[self.panel_range(model, class).start].class.log_base + sum.sum();
                log + nominal::log_probability(&self.layout.nominal, row.codes(), logs)
            },
        )
    }

    /// The likeliest class of a row, the first of equals; the majority where the model rules all of them out.
    #[inline(always)]
    pub fn find_likeliest(&self, model: usize, row: Row<'_, V>) -> i32 {
        if row.has_missing() {
            return self.find_likeliest_with_missing(model, row);
        }
        let (mut best, mut most) = (self.summaries[model].majority, RULED_OUT);
        let (panels, n) = (self.panels(model), self.n_panels());
        for class in 0..self.n_classes {
            let log = self.log_likelihood(model, class, &panels[class * n..(class + 1) * n], row);
            let better = log > most;
            best = if better { class as i32 } else { best };
            most = if better { log } else { most };
        }
        best
    }

    /// The same for a row with gaps.
    #[cold]
    #[inline(never)]
    fn find_likeliest_with_missing(&self, model: usize, row: Row<'_, V>) -> i32 {
        let logs = (0..self.n_classes).map(|class| self.log_likelihood_with_missing(model, class, row));
        find_greatest(logs, self.summaries[model].majority).0
    }

    /// Write the logarithms of the classes' weights times the likelihood of a row; gives the likeliest class, as
    /// [`Models::find_likeliest`] does, and its logarithm, which is [`RULED_OUT`] where all are.
    #[inline(always)]
    pub fn log_likelihoods(&self, model: usize, row: Row<'_, V>, logs: &mut [f64]) -> (i32, f64) {
        if row.has_missing() {
            for (class, log) in logs.iter_mut().enumerate() {
                *log = self.log_likelihood_with_missing(model, class, row);
            }
        } else {
            let (panels, n) = (self.panels(model), self.n_panels());
            for (class, log) in logs.iter_mut().enumerate() {
                *log = self.log_likelihood(model, class, &panels[class * n..(class + 1) * n], row);
            }
        }
        find_greatest(logs.iter().copied(), self.summaries[model].majority)
    }

    /// The likeliest class of a row without gaps that was just learnt, as [`Models::find_likeliest`] has it. The logarithms
    /// are those from before: only that of its own class is another now.
    #[inline(always)]
    pub fn find_likeliest_after(&self, model: usize, row: Row<'_, V>, label: usize, logs: &[f64]) -> i32 {
        let (mut best, mut most) = (self.summaries[model].majority, RULED_OUT);
        let now = self.log_likelihood(model, label, &self.panels[self.panel_range(model, label)], row);
        for (class, &before) in logs.iter().enumerate() {
            let log = if class == label { now } else { before };
            let better = log > most;
            best = if better { class as i32 } else { best };
            most = if better { log } else { most };
        }
        best
    }

    /// The posterior probabilities of the classes of a row; the shares of the classes where all are ruled out.
    #[inline(never)]
    pub fn vote(&self, model: usize, row: Row<'_, V>, votes: &mut [f64]) {
        dispatch::run(
            #[inline(always)]
            || {
                for (class, vote) in votes.iter_mut().enumerate() {
                    *vote = if row.has_missing() {
                        self.log_likelihood_with_missing(model, class, row)
                    } else {
                        self.log_likelihood(model, class, &self.panels[self.panel_range(model, class)], row)
                    };
                }
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

    /// The shares of the classes; all for the majority where no class has weight, none where there is no majority.
    pub fn vote_by_weight(&self, model: usize, votes: &mut [f64]) {
        let ModelSummary { weight, majority, .. } = self.summaries[model];
        vote_by_weights(self.weights(model), weight, majority, votes);
    }
}

/// The shares of classes of the given weights, which add up to `total`; all for the majority where they are 0, none
/// where there is no majority.
pub(in crate::learners) fn vote_by_weights(
    weights: impl Iterator<Item = f64>,
    total: f64,
    majority: i32,
    votes: &mut [f64],
) {
    if majority < 0 {
        votes.fill(0.0);
    } else if total > 0.0 {
        for (vote, weight) in votes.iter_mut().zip(weights) {
            *vote = weight.min(f64::MAX);
        }
        normalise_weights(votes, majority as usize);
    } else {
        votes.fill(0.0);
        votes[majority as usize] = 1.0;
    }
}

/// The class of the greatest logarithm, the first of equals, and that logarithm; `otherwise` where all are ruled out.
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

/// The likelihood of a class relative to the likeliest one, from the difference of their logarithms.
#[inline(always)]
pub(in crate::learners) fn relative_likelihood(log: f64) -> f64 {
    let likelihood = exp(if log > -700.0 { log } else { -700.0 });
    let likelihood = if likelihood < 1.0 { likelihood } else { 1.0 };
    if log > -700.0 { likelihood } else { 0.0 }
}

/// Scale votes, of which the greatest is 1, to a sum of 1; `best` stays ahead of the classes before it.
#[inline(always)]
pub(in crate::learners) fn normalise_likelihoods(votes: &mut [f64], best: usize) {
    let sum: f64 = votes.iter().sum();
    for vote in votes.iter_mut() {
        *vote /= sum;
    }
    keep_ahead(votes, best);
}

/// Scale votes to a sum of 1, keeping `best` the winner: ahead of the classes before it, not level with them.
fn normalise_weights(votes: &mut [f64], best: usize) {
    let top = votes[best];
    let sum: f64 = votes.iter().map(|vote| vote / top).sum();
    for vote in votes.iter_mut() {
        *vote = *vote / top / sum;
    }
    keep_ahead(votes, best);
}

/// Lowers the votes of the classes before `best` that have reached its own, so that it stays the winner.
#[inline(always)]
fn keep_ahead(votes: &mut [f64], best: usize) {
    let below = votes[best].next_down();
    for vote in &mut votes[..best] {
        *vote = vote.min(below);
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
        let mut huge = [f64::MAX, f64::MAX];
        normalise_weights(&mut huge, 0);
        assert_eq!(huge, [0.5, 0.5]);
    }
}
