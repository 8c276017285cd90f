//! Which split of a leaf is best, by information gain.
//!
//! Entropies are in nats. The merit of a split is minus the entropy that is left after it.

use super::nodes::Test;
use crate::learners::bayes::{Column, Models};
use crate::learners::rows::{Nominal, Place};
use crate::learners::vector_math::{normal_cdf, x_ln_x};

/// How many thresholds are tried for a numeric attribute.
pub(super) const N_THRESHOLDS: usize = 10;
/// The same, padded to whole vectors.
const PADDED: usize = 12;
/// At least two branches must each get more than this share of the weight.
pub(super) const LEAST_SHARE: f64 = 0.01;

/// A way to split a leaf.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Candidate {
    /// The attribute that is asked for.
    pub attribute: usize,
    /// Where its statistics stand.
    pub place: Place,
    /// What is asked.
    pub test: Test,
    /// Minus the entropy after the split.
    pub merit: f64,
}

/// The best way to split a leaf, and by how much it leads.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Best {
    /// The way.
    pub candidate: Candidate,
    /// Its merit less that of the best split by another attribute, or of no split where that is better.
    pub lead: f64,
}

/// The best split of a leaf; `None` where no attribute can split it. Of equals the last attribute wins, as in MOA.
#[inline(always)]
pub(super) fn best<const L: usize>(models: &Models<L>, site: usize, n_classes: usize, binary: bool) -> Option<Best> {
    let (mut best, mut second): (Option<Candidate>, f64) = (None, f64::NEG_INFINITY);
    for (attribute, place) in models.places(site) {
        let found = match place {
            Place::Numeric(column) => best_threshold(models, site, n_classes, column),
            Place::Nominal(i) => best_of_values(models, site, n_classes, models.layout().nominal[i], binary),
        };
        let Some((test, merit)) = found else { continue };
        match best {
            Some(Candidate { merit: most, .. }) if merit < most => second = second.max(merit),
            _ => {
                second = best.map_or(second, |best| best.merit);
                best = Some(Candidate { attribute, place, test, merit });
            }
        }
    }
    best.map(|candidate| {
        let unsplit = -entropy_before(models, site, n_classes, candidate.place);
        Best { candidate, lead: candidate.merit - second.max(unsplit) }
    })
}

/// The entropy of the classes over the rows in which an attribute is known.
fn entropy_before<const L: usize>(models: &Models<L>, site: usize, n_classes: usize, place: Place) -> f64 {
    let (mut total, mut sum) = (0.0, 0.0);
    for class in 0..n_classes {
        let weight = match place {
            Place::Numeric(column) => models.column(site, class, column).weight,
            Place::Nominal(i) => models.counts(site, class)[models.layout().nominal[i].total()],
        };
        total += weight;
        sum += x_ln_x(weight);
    }
    (x_ln_x(total) - sum) / total
}

/// The best threshold of a numeric column; `None` where no threshold leaves enough weight on both sides.
#[inline(always)]
fn best_threshold<const L: usize>(
    models: &Models<L>,
    site: usize,
    n_classes: usize,
    column: usize,
) -> Option<(Test, f64)> {
    let (min, max) = range(models, site, n_classes, column);
    if min.partial_cmp(&max) != Some(std::cmp::Ordering::Less) {
        return None;
    }
    let mut thresholds = [0.0; PADDED];
    for (i, threshold) in thresholds.iter_mut().enumerate() {
        *threshold = (max - min) / (N_THRESHOLDS + 1) as f64 * (i + 1) as f64 + min;
    }
    let merits = threshold_merits(models, site, n_classes, column, &thresholds);
    let mut best = None;
    for (&threshold, &merit) in thresholds.iter().zip(&merits).take(N_THRESHOLDS) {
        let inside = threshold > min && threshold < max && merit > f64::NEG_INFINITY;
        if inside && best.is_none_or(|(_, most)| merit > most) {
            best = Some((Test::AtMost(threshold), merit));
        }
    }
    best
}

/// The least and the greatest value of a column.
#[inline(always)]
pub(super) fn range<const L: usize>(models: &Models<L>, site: usize, n_classes: usize, column: usize) -> (f64, f64) {
    let (mut min, mut max) = (f64::INFINITY, f64::NEG_INFINITY);
    for class in 0..n_classes {
        let seen = models.column(site, class, column);
        min = min.min(seen.min);
        max = max.max(seen.max);
    }
    (min, max)
}

/// The merit of each threshold, all of them side by side.
#[inline(always)]
fn threshold_merits<const L: usize>(
    models: &Models<L>,
    site: usize,
    n_classes: usize,
    column: usize,
    thresholds: &[f64; PADDED],
) -> [f64; PADDED] {
    let (mut left, mut right, mut merits) = ([0.0; PADDED], [0.0; PADDED], [0.0; PADDED]);
    for class in 0..n_classes {
        let seen = models.column(site, class, column);
        if seen.weight > 0.0 {
            let share = Share::of(seen);
            for i in 0..PADDED {
                let below = share.at_most(thresholds[i]);
                let above = seen.weight - below;
                left[i] += below;
                right[i] += above;
                merits[i] += x_ln_x(below) + x_ln_x(above);
            }
        }
    }
    for i in 0..PADDED {
        let total = left[i] + right[i];
        let merit = (merits[i] - x_ln_x(left[i]) - x_ln_x(right[i])) / total;
        let smaller = if left[i] < right[i] { left[i] } else { right[i] };
        merits[i] = if smaller / total > LEAST_SHARE { merit } else { f64::NEG_INFINITY };
    }
    merits
}

/// The weight of a class at or below a threshold: that of a normal distribution, within the range that was seen.
#[derive(Debug, Clone, Copy)]
struct Share {
    seen: Column,
    /// 1 over the standard deviation; infinite where there is none, so that all weight is at the mean.
    precision: f64,
}

impl Share {
    #[inline(always)]
    fn of(seen: Column) -> Self {
        let spread = if seen.weight > 1.0 { seen.weight - 1.0 } else { 1.0 };
        let squares = if seen.weight > 1.0 { seen.squares } else { 0.0 };
        Self { seen, precision: (spread / squares).sqrt() }
    }

    #[inline(always)]
    fn at_most(&self, threshold: f64) -> f64 {
        let Column { weight, mean, min, max, .. } = self.seen;
        let below = weight * normal_cdf((threshold - mean) * self.precision);
        let below = if threshold >= max { weight } else { below };
        if threshold < min { 0.0 } else { below }
    }
}

/// The best question about a nominal attribute; `None` where its values leave all weight in one branch.
#[inline(always)]
fn best_of_values<const L: usize>(
    models: &Models<L>,
    site: usize,
    n_classes: usize,
    table: Nominal,
    binary: bool,
) -> Option<(Test, f64)> {
    let count = |class: usize, at: usize| models.counts(site, class)[at];
    let total: f64 = (0..n_classes).map(|class| count(class, table.total())).sum();
    let (mut sum, mut n_heavy, mut best) = (0.0, 0, None);
    for at in table.start..table.total() {
        let weight: f64 = (0..n_classes).map(|class| count(class, at)).sum();
        sum += (0..n_classes).map(|class| x_ln_x(count(class, at))).sum::<f64>() - x_ln_x(weight);
        n_heavy += usize::from(weight / total > LEAST_SHARE);
    }
    if !binary && n_heavy >= 2 {
        best = Some((Test::Which(table.n_values as u32), sum / total));
    }
    for at in table.start..table.total() {
        let (mut weight, mut sum) = (0.0, 0.0);
        for class in 0..n_classes {
            let (is, all) = (count(class, at), count(class, table.total()));
            weight += is;
            sum += x_ln_x(is) + x_ln_x(all - is);
        }
        let merit = (sum - x_ln_x(weight) - x_ln_x(total - weight)) / total;
        let enough = weight / total > LEAST_SHARE && (total - weight) / total > LEAST_SHARE;
        // Rounding must not prefer a question about one value to that about all of them.
        if enough && best.is_none_or(|(_, most)| merit > most + 1e-12) {
            best = Some((Test::Is((at - table.start) as u32), merit));
        }
    }
    best
}

/// The weight of each class in each branch of a split.
#[inline(always)]
pub(super) fn branch_weights<const L: usize>(
    models: &Models<L>,
    site: usize,
    n_classes: usize,
    candidate: Candidate,
) -> Vec<Vec<f64>> {
    let weight = |branch: usize, class: usize| match (candidate.test, candidate.place) {
        (Test::AtMost(threshold), Place::Numeric(column)) => {
            let seen = models.column(site, class, column);
            let below = if seen.weight > 0.0 { Share::of(seen).at_most(threshold) } else { 0.0 };
            if branch == 0 { below } else { seen.weight - below }
        }
        (Test::Is(code), Place::Nominal(i)) => {
            let (counts, table) = (models.counts(site, class), models.layout().nominal[i]);
            let is = counts[table.start + code as usize];
            if branch == 0 { is } else { counts[table.total()] - is }
        }
        (_, Place::Nominal(i)) => models.counts(site, class)[models.layout().nominal[i].start + branch],
        (_, Place::Numeric(_)) => 0.0,
    };
    let branches = 0..candidate.test.n_branches();
    branches.map(|branch| (0..n_classes).map(|class| weight(branch, class)).collect()).collect()
}
