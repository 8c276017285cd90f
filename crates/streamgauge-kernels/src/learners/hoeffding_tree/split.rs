//! Evaluation of the splits of a leaf.

use super::Options;
use super::criterion::{Gini, Impurity, InfoGain, SplitCriterion, hellinger};
use super::nodes::Test;
use crate::learners::bayes::{Column, Models};
use crate::learners::f64x4::{F64x4, LANES};
use crate::learners::rows::{NominalTable, Slot};
use crate::learners::vector_math::normal_cdf;

/// The number of thresholds tried for a numeric attribute.
pub(super) const N_THRESHOLDS: usize = 10;
/// The same number, padded to whole vectors.
pub(super) const N_PADDED: usize = 12;
/// At least two branches must each get more than this share of the weight.
pub(super) const MIN_BRANCH_SHARE: f64 = 0.01;

/// A split of a leaf.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Candidate {
    /// The attribute that is tested.
    pub attribute: usize,
    /// The location of its statistics.
    pub slot: Slot,
    /// The test.
    pub test: Test,
    /// The merit, by the split criterion.
    pub merit: f64,
}

/// The best split of a leaf, and its lead.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Best {
    /// The split.
    pub candidate: Candidate,
    /// Its merit minus that of the best split by another attribute, or of not splitting if that is better and may be
    /// chosen; infinite if there is neither.
    pub lead: f64,
}

/// The statistics of a leaf, and the criterion for its splits.
#[derive(Debug, Clone, Copy)]
pub(super) struct SplitEvaluator<'a, const V: usize> {
    /// The models of all leaves.
    pub models: &'a Models<V>,
    /// The model of the leaf.
    pub model: usize,
    /// The number of classes.
    pub n_classes: usize,
    /// Whether nominal attributes are only split into one value and the rest.
    pub binary: bool,
    /// The split criterion.
    pub criterion: SplitCriterion,
    /// Whether a split must also be better than not splitting.
    pub may_stay: bool,
}

impl<'a, const V: usize> SplitEvaluator<'a, V> {
    /// Creates an evaluator of the splits of a model.
    #[inline(always)]
    pub fn new(models: &'a Models<V>, model: usize, n_classes: usize, options: &Options) -> Self {
        let (binary, criterion, may_stay) =
            (options.binary_splits, options.split_criterion, options.subspace.is_none());
        Self { models, model, n_classes, binary, criterion, may_stay }
    }

    /// Returns the best split by an attribute for which `counts` is true; `None` if none of them can split the leaf.
    ///
    /// Of equals the last attribute wins, as in MOA.
    #[inline(always)]
    pub fn find_best(&self, counts: impl Fn(usize, Slot) -> bool) -> Option<Best> {
        let (mut best, mut second): (Option<Candidate>, f64) = (None, f64::NEG_INFINITY);
        // Plain loops: an iterator adapter that is not inlined would be compiled without vector instructions.
        for (attribute, slot) in self.models.slots(self.model) {
            let candidate = if counts(attribute, slot) { self.find_candidate(attribute, slot) } else { None };
            let Some(candidate) = candidate else { continue };
            match best {
                Some(Candidate { merit: most, .. }) if candidate.merit < most => second = second.max(candidate.merit),
                _ => {
                    second = best.map_or(second, |best| best.merit);
                    best = Some(candidate);
                }
            }
        }
        best.map(|candidate| {
            let unsplit = if self.may_stay { self.merit_unsplit(candidate.slot) } else { f64::NEG_INFINITY };
            Best { candidate, lead: candidate.merit - second.max(unsplit) }
        })
    }

    /// Returns the best split by each attribute that the leaf uses.
    #[inline(always)]
    pub fn find_candidates(&self, uses: impl Fn(usize) -> bool) -> Vec<Candidate> {
        let mut candidates = vec![];
        for (attribute, slot) in self.models.slots(self.model) {
            if uses(attribute)
                && let Some(candidate) = self.find_candidate(attribute, slot)
            {
                candidates.push(candidate);
            }
        }
        candidates
    }

    /// Returns the two greatest merits of nominal attributes; minus infinity if there are none.
    #[inline(always)]
    pub fn find_nominal_merits(&self) -> [f64; 2] {
        let [mut first, mut second] = [f64::NEG_INFINITY; 2];
        for (_, slot) in self.models.slots(self.model) {
            if let Slot::Nominal(i) = slot
                && let Some((_, merit)) = self.find_best_values(self.models.layout().nominal[i])
            {
                second = second.max(merit.min(first));
                first = first.max(merit);
            }
        }
        [first, second]
    }

    /// Returns the best split by an attribute; `None` if it cannot split the leaf.
    #[inline(always)]
    pub fn find_candidate(&self, attribute: usize, slot: Slot) -> Option<Candidate> {
        let best = match slot {
            Slot::Numeric(column) => self.find_best_threshold(column),
            Slot::Nominal(i) => self.find_best_values(self.models.layout().nominal[i]),
        };
        best.map(|(test, merit)| Candidate { attribute, slot, test, merit })
    }

    /// Returns the merit of not splitting, over the rows in which an attribute is known.
    fn merit_unsplit(&self, slot: Slot) -> f64 {
        self.criterion.merit_unsplit((0..self.n_classes).map(|class| match slot {
            Slot::Numeric(column) => self.models.column(self.model, class, column).weight,
            Slot::Nominal(i) => self.models.known_weight(self.model, class, self.models.layout().nominal[i]),
        }))
    }

    /// Returns the best threshold of a numeric column; `None` if no threshold leaves enough weight on both sides.
    #[inline(always)]
    fn find_best_threshold(&self, column: usize) -> Option<(Test, f64)> {
        let Self { models, model, n_classes, .. } = *self;
        let (min, max) = find_range(models, model, n_classes, column);
        if min.partial_cmp(&max) != Some(std::cmp::Ordering::Less) {
            return None;
        }
        let mut thresholds = [0.0; N_PADDED];
        for (i, threshold) in thresholds.iter_mut().enumerate() {
            *threshold = (max - min) / (N_THRESHOLDS + 1) as f64 * (i + 1) as f64 + min;
        }
        let merits = match self.criterion {
            SplitCriterion::InfoGain => self.threshold_merits::<InfoGain>(column, &thresholds),
            SplitCriterion::Gini => self.threshold_merits::<Gini>(column, &thresholds),
            SplitCriterion::Hellinger => {
                let below = |class, i: usize| self.weight_below(class, column, thresholds[i]);
                hellinger::threshold_merits(n_classes, below)
            }
        };
        let mut best = None;
        for (&threshold, &merit) in thresholds.iter().zip(&merits).take(N_THRESHOLDS) {
            let inside = threshold > min && threshold < max && merit > f64::NEG_INFINITY;
            if inside && best.is_none_or(|(_, most)| merit > most) {
                best = Some((Test::AtMost(threshold), merit));
            }
        }
        if self.criterion == SplitCriterion::Hellinger {
            // The threshold is the one that separates the classes best; attributes are compared by their densities.
            let merit = hellinger::between_normals((0..n_classes).map(|class| models.column(model, class, column)));
            return best.map(|(test, _)| (test, merit));
        }
        best
    }

    /// Returns the weight of a class at or below a threshold, and its total weight.
    fn weight_below(&self, class: usize, column: usize, threshold: f64) -> (f64, f64) {
        let stats = self.models.column(self.model, class, column);
        (weight_at_most(stats, threshold), stats.weight)
    }

    /// Returns the merit of each threshold, all computed in parallel.
    #[inline(always)]
    fn threshold_merits<C: Impurity>(&self, column: usize, thresholds: &[f64; N_PADDED]) -> [f64; N_PADDED] {
        let (mut left, mut right) = ([0.0; N_PADDED], [0.0; N_PADDED]);
        let (mut left_sums, mut right_sums) = ([0.0; N_PADDED], [0.0; N_PADDED]);
        for class in 0..self.n_classes {
            let stats = self.models.column(self.model, class, column);
            if stats.weight > 0.0 {
                let share = NormalShare::new(stats);
                for i in 0..N_PADDED {
                    let below = share.weight_at_most(thresholds[i]);
                    let above = stats.weight - below;
                    left[i] += below;
                    right[i] += above;
                    left_sums[i] += C::term(below);
                    right_sums[i] += C::term(above);
                }
            }
        }
        let mut merits = [0.0; N_PADDED];
        for i in 0..N_PADDED {
            let total = left[i] + right[i];
            let merit = (C::branch(left_sums[i], left[i]) + C::branch(right_sums[i], right[i])) / total;
            let smaller = if left[i] < right[i] { left[i] } else { right[i] };
            merits[i] = if smaller / total > MIN_BRANCH_SHARE { merit } else { f64::NEG_INFINITY };
        }
        merits
    }

    /// Returns the best test of a nominal attribute; `None` if all weight falls into one branch.
    #[inline(always)]
    fn find_best_values(&self, table: NominalTable) -> Option<(Test, f64)> {
        match self.criterion {
            SplitCriterion::InfoGain => self.find_best_values_by::<InfoGain>(table),
            SplitCriterion::Gini => self.find_best_values_by::<Gini>(table),
            SplitCriterion::Hellinger => {
                let count = |value, class| self.models.value_weight(self.model, table, value, class);
                hellinger::find_best_values(table.n_values, self.n_classes, count, self.binary)
            }
        }
    }

    /// Does the same for a criterion that is a sum over branches.
    #[inline(always)]
    fn find_best_values_by<C: Impurity>(&self, table: NominalTable) -> Option<(Test, f64)> {
        let (counts, n_vectors) = (self.models.counts(self.model, table), self.n_classes.div_ceil(LANES));
        let (mut total, mut sum, mut n_heavy, mut best) = (0.0, 0.0, 0, None);
        let mut known = vec![F64x4::ZERO; n_vectors];
        for class in 0..self.n_classes {
            let weight = self.models.known_weight(self.model, class, table);
            known[class / LANES].0[class % LANES] = weight;
            total += weight;
        }
        for counts in counts.chunks_exact(n_vectors) {
            let weight = sum_of(counts);
            sum += C::branch(sum_of_terms::<C>(counts), weight);
            n_heavy += usize::from(weight / total > MIN_BRANCH_SHARE);
        }
        if !self.binary && n_heavy >= 2 {
            best = Some((Test::Which(table.n_values as u32), sum / total));
            if table.n_values == 2 {
                // Either value against the rest is the same split.
                return best;
            }
        }
        let mut rest = vec![F64x4::ZERO; n_vectors];
        for (value, counts) in counts.chunks_exact(n_vectors).enumerate() {
            let weight = sum_of(counts);
            if !(weight / total > MIN_BRANCH_SHARE && (total - weight) / total > MIN_BRANCH_SHARE) {
                continue;
            }
            for (rest, (&known, &count)) in rest.iter_mut().zip(known.iter().zip(counts)) {
                *rest = known - count;
            }
            let (sum, rest) = (sum_of_terms::<C>(counts), sum_of_terms::<C>(&rest));
            let merit = (C::branch(sum, weight) + C::branch(rest, total - weight)) / total;
            // Rounding must not prefer a test of one value to a branch per value.
            if best.is_none_or(|(_, most)| merit > most + 1e-12) {
                best = Some((Test::Is(value as u32), merit));
            }
        }
        best
    }
}

/// Returns the sum of the weights of the classes, in a fixed order of lanes.
#[inline(always)]
fn sum_of(weights: &[F64x4]) -> f64 {
    let mut sums = F64x4::ZERO;
    for &weights in weights {
        sums = sums + weights;
    }
    sums.sum()
}

/// Returns the sum of the terms of the classes, likewise. Padding has the term 0.
#[inline(always)]
fn sum_of_terms<C: Impurity>(weights: &[F64x4]) -> f64 {
    let mut sums = F64x4::ZERO;
    for &weights in weights {
        // Stored to memory: otherwise the compiler takes the logarithms one by one.
        let mut terms = std::hint::black_box(weights);
        for term in &mut terms.0 {
            *term = C::term(*term);
        }
        sums = sums + terms;
    }
    sums.sum()
}

/// Returns the least and the greatest value of a column.
#[inline(always)]
pub(super) fn find_range<const V: usize>(
    models: &Models<V>,
    model: usize,
    n_classes: usize,
    column: usize,
) -> (f64, f64) {
    let (mut min, mut max) = (f64::INFINITY, f64::NEG_INFINITY);
    for class in 0..n_classes {
        let stats = models.column(model, class, column);
        min = min.min(stats.min);
        max = max.max(stats.max);
    }
    (min, max)
}

/// The weight of a class at or below a threshold: that of a normal distribution, within the range of the class.
#[derive(Debug, Clone, Copy)]
struct NormalShare {
    stats: Column,
    /// 1 over the standard deviation; infinite if that is 0, so that all weight is at the mean.
    precision: f64,
}

impl NormalShare {
    #[inline(always)]
    fn new(stats: Column) -> Self {
        let dof = if stats.weight > 1.0 { stats.weight - 1.0 } else { 1.0 };
        let squares = if stats.weight > 1.0 { stats.squares } else { 0.0 };
        Self { stats, precision: (dof / squares).sqrt() }
    }

    #[inline(always)]
    fn weight_at_most(&self, threshold: f64) -> f64 {
        let Column { weight, mean, min, max, .. } = self.stats;
        let below = weight * normal_cdf((threshold - mean) * self.precision);
        let below = if threshold >= max { weight } else { below };
        if threshold < min { 0.0 } else { below }
    }
}

/// Returns the weight of a class at or below a threshold; 0 if the class has none.
#[inline(always)]
fn weight_at_most(stats: Column, threshold: f64) -> f64 {
    if stats.weight > 0.0 { NormalShare::new(stats).weight_at_most(threshold) } else { 0.0 }
}

/// Returns the weight of each class in each branch of a split.
#[inline(always)]
pub(super) fn branch_weights<const V: usize>(
    models: &Models<V>,
    model: usize,
    n_classes: usize,
    candidate: Candidate,
) -> Vec<Vec<f64>> {
    let weight = |branch: usize, class: usize| match (candidate.test, candidate.slot) {
        (Test::AtMost(threshold), Slot::Numeric(column)) => {
            let stats = models.column(model, class, column);
            let below = weight_at_most(stats, threshold);
            if branch == 0 { below } else { stats.weight - below }
        }
        (Test::Is(code), Slot::Nominal(i)) => {
            let table = models.layout().nominal[i];
            let is = models.value_weight(model, table, code as usize, class);
            if branch == 0 { is } else { models.known_weight(model, class, table) - is }
        }
        (_, Slot::Nominal(i)) => models.value_weight(model, models.layout().nominal[i], branch, class),
        (_, Slot::Numeric(_)) => 0.0,
    };
    let branches = 0..candidate.test.n_branches();
    branches.map(|branch| (0..n_classes).map(|class| weight(branch, class)).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learners::rows::{Layout, Rows};
    use crate::learners::{ABSTAINED, Schema};
    use crate::randomness::{Draws, Purpose};

    const N_CLASSES: usize = 3;

    /// Returns a model of two columns, and the rows it has learnt: values, class and weight.
    fn model() -> (Models<1>, Vec<([f64; 2], usize, f64)>) {
        let schema = Schema { n_values: vec![0, 0], n_classes: N_CLASSES };
        let (mut models, layout) = (Models::<1>::new(&schema, true, None), Layout::new(&schema));
        models.push(&[0.0; N_CLASSES], ABSTAINED);
        let (mut rows, draws) = (Rows::<1>::new(&layout, 1), Draws::new(1, Purpose::named("split"), 0));
        let row = |i: u64| {
            let (row_draws, class) = (draws.within(i), draws.below(i, N_CLASSES as u64));
            (
                [class as f64 + row_draws.uniform(0), 10.0 * row_draws.uniform(1)],
                class as usize,
                1.0 + row_draws.below(2, 2) as f64,
            )
        };
        let learnt: Vec<_> = (0..200).map(row).collect();
        for (x, class, weight) in &learnt {
            rows.fill(&layout, x, 1);
            models.observe::<true>(0, rows.row(0), *class, *weight);
        }
        (models, learnt)
    }

    /// Returns minus the entropy of weights, in nats.
    fn negative_entropy(weights: &[f64]) -> f64 {
        let total: f64 = weights.iter().sum();
        weights.iter().filter(|&&weight| weight > 0.0).map(|weight| weight / total * (weight / total).ln()).sum()
    }

    /// Returns the weight of a class at or below a threshold, from its rows in two passes.
    fn weight_below(values: &[(f64, f64)], threshold: f64) -> f64 {
        let weight: f64 = values.iter().map(|value| value.1).sum();
        let mean = values.iter().map(|value| value.0 * value.1).sum::<f64>() / weight;
        let squares: f64 = values.iter().map(|value| value.1 * (value.0 - mean).powi(2)).sum();
        let z = (threshold - mean) / (squares / (weight - 1.0)).sqrt();
        match values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v.0), b.max(v.0))) {
            (min, _) if threshold < min => 0.0,
            (_, max) if threshold >= max => weight,
            _ => weight * 0.5 * libm::erfc(-z / 2f64.sqrt()),
        }
    }

    #[test]
    fn merits_of_thresholds_side_by_side_equal_their_definition() {
        let (models, learnt) = model();
        let criterion = SplitCriterion::InfoGain;
        let evaluator = SplitEvaluator {
            models: &models,
            model: 0,
            n_classes: N_CLASSES,
            binary: false,
            criterion,
            may_stay: true,
        };
        for column in 0..2 {
            let thresholds = std::array::from_fn(|i| (i as f64 - 1.0) * [0.35, 1.0][column]);
            let merits = evaluator.threshold_merits::<InfoGain>(column, &thresholds);
            for (threshold, merit) in thresholds.into_iter().zip(merits) {
                let class_values = |class: usize| -> Vec<(f64, f64)> {
                    learnt.iter().filter(|row| row.1 == class).map(|row| (row.0[column], row.2)).collect()
                };
                let weight = |class: usize| class_values(class).iter().map(|value| value.1).sum::<f64>();
                let left = [0, 1, 2].map(|class| weight_below(&class_values(class), threshold));
                let right = [0, 1, 2].map(|class| weight(class) - left[class]);
                let sums = [left, right].map(|branch| branch.iter().sum::<f64>());
                let total = sums[0] + sums[1];
                if sums.iter().any(|sum| sum / total <= MIN_BRANCH_SHARE) {
                    assert_eq!(merit, f64::NEG_INFINITY);
                } else {
                    let expected = (sums[0] * negative_entropy(&left) + sums[1] * negative_entropy(&right)) / total;
                    assert!((merit - expected).abs() < 1e-12, "{merit} and {expected}");
                }
            }
        }
    }
}
