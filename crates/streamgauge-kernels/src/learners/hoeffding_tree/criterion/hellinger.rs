//! The Hellinger distance, which does not depend on the weights of the classes.
//!
//! R. J. Lyon, J. M. Brooke, J. D. Knowles and B. W. Stappers, Hellinger distance trees for imbalanced streams, ICPR
//! 2014 (GH-VFDT). D. A. Cieslak et al., Hellinger distance decision trees are robust and skew-insensitive, 2012.

use super::super::nodes::Test;
use super::super::split::{MIN_BRANCH_SHARE, N_PADDED, N_THRESHOLDS};
use crate::learners::bayes::Column;
use crate::learners::vector_math::exp;

/// Returns the mean of a distance over all pairs; 0 if there is no pair.
fn mean_over_pairs<T>(classes: &[T], distance: impl Fn(&T, &T) -> f64) -> f64 {
    let (mut sum, mut n) = (0.0, 0.0);
    for (i, first) in classes.iter().enumerate() {
        for second in &classes[..i] {
            sum += distance(first, second);
            n += 1.0;
        }
    }
    if n > 0.0 { sum / n } else { 0.0 }
}

/// Returns the distance of two distributions from their Bhattacharyya coefficient.
fn distance(coefficient: f64) -> f64 {
    (1.0 - coefficient).max(0.0).sqrt()
}

/// Returns the distance of two distributions over two outcomes, of which the first has the probability `p` or `q`.
fn two_way_distance(p: f64, q: f64) -> f64 {
    distance((p * q).sqrt() + ((1.0 - p).max(0.0) * (1.0 - q).max(0.0)).sqrt())
}

/// Returns the distance between the normal distributions of a column, over the classes with a weight above 1.
pub(in super::super) fn between_normals(columns: impl Iterator<Item = Column>) -> f64 {
    let normals: Vec<(f64, f64)> = columns
        .filter(|stats| stats.weight > 1.0)
        .map(|stats| (stats.mean, stats.squares / (stats.weight - 1.0)))
        .collect();
    mean_over_pairs(&normals, |&(mean, variance), &(other_mean, other_variance)| {
        let (sum, difference) = (variance + other_variance, mean - other_mean);
        if sum > 0.0 {
            let overlap = (2.0 * variance.sqrt() * other_variance.sqrt() / sum).sqrt();
            distance(overlap * exp((-0.25 * difference * difference / sum).max(-700.0)))
        } else {
            // Two points.
            f64::from(u8::from(difference != 0.0))
        }
    })
}

/// Returns, for each threshold, the distance between the shares of the classes below and above.
///
/// `below` returns the weight of a class at or below the threshold of an index, and its total weight.
pub(in super::super) fn threshold_merits(
    n_classes: usize,
    below: impl Fn(usize, usize) -> (f64, f64),
) -> [f64; N_PADDED] {
    let mut merits = [f64::NEG_INFINITY; N_PADDED];
    for (i, merit) in merits.iter_mut().enumerate().take(N_THRESHOLDS) {
        let weights: Vec<(f64, f64)> = (0..n_classes).map(|class| below(class, i)).collect();
        let (left, total) = weights.iter().fold((0.0, 0.0), |sum, weight| (sum.0 + weight.0, sum.1 + weight.1));
        if (left / total).min(1.0 - left / total) > MIN_BRANCH_SHARE {
            let shares: Vec<f64> = weights.iter().filter(|weight| weight.1 > 0.0).map(|w| w.0 / w.1).collect();
            *merit = mean_over_pairs(&shares, |&p, &q| two_way_distance(p, q));
        }
    }
    merits
}

/// Returns the best test of a nominal attribute, from the weights of the classes with each of its values; `None` if all
/// weight falls into one branch.
pub(in super::super) fn find_best_values(
    n_values: usize,
    n_classes: usize,
    count: impl Fn(usize, usize) -> f64,
    binary: bool,
) -> Option<(Test, f64)> {
    let totals = (0..n_classes).map(|class| (0..n_values).map(|value| count(value, class)).sum::<f64>());
    let known: Vec<(usize, f64)> = totals.enumerate().filter(|&(_, total)| total > 0.0).collect();
    let total: f64 = known.iter().map(|class| class.1).sum();
    let values = 0..n_values;
    let weight = |value: usize| (0..n_classes).map(|class| count(value, class)).sum::<f64>();
    let heavy = |value: usize| weight(value) / total > MIN_BRANCH_SHARE;
    let share = |&(class, total): &(usize, f64), value: usize| count(value, class) / total;
    let mut best = None;
    if !binary && values.clone().filter(|&value| heavy(value)).count() >= 2 {
        let merit = mean_over_pairs(&known, |first, second| {
            distance(values.clone().map(|value| (share(first, value) * share(second, value)).sqrt()).sum())
        });
        best = Some((Test::Which(values.len() as u32), merit));
    }
    for value in values.clone().filter(|&value| heavy(value) && weight(value) / total < 1.0 - MIN_BRANCH_SHARE) {
        let merit =
            mean_over_pairs(&known, |first, second| two_way_distance(share(first, value), share(second, value)));
        // Rounding must not prefer a test of one value to a branch per value.
        if best.is_none_or(|(_, most)| merit > most + 1e-12) {
            best = Some((Test::Is(value as u32), merit));
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(weight: f64, mean: f64, variance: f64) -> Column {
        Column { weight, mean, squares: variance * (weight - 1.0), min: -9.0, max: 9.0 }
    }

    #[test]
    fn the_distance_of_normals_matches_an_integral_and_ignores_weights() {
        let density = |x: f64, mean: f64, variance: f64| {
            (-(x - mean).powi(2) / (2.0 * variance)).exp() / (2.0 * std::f64::consts::PI * variance).sqrt()
        };
        let step = 1e-3;
        let coefficient: f64 = (-20_000..20_000)
            .map(|i| f64::from(i) * step)
            .map(|x| (density(x, 0.5, 1.5) * density(x, -1.0, 0.25)).sqrt() * step)
            .sum();
        for weight in [10.0, 1e6] {
            let result = between_normals([column(weight, 0.5, 1.5), column(50.0, -1.0, 0.25)].into_iter());
            assert!((result - (1.0 - coefficient).sqrt()).abs() < 1e-9);
        }
    }

    #[test]
    fn distinct_points_have_distance_one() {
        let apart = |mean: f64, variance: f64| {
            between_normals([column(5.0, 0.0, 0.0), column(5.0, mean, variance)].into_iter())
        };
        assert_eq!((apart(0.0, 0.0), apart(1.0, 0.0), apart(0.0, 1.0)), (0.0, 1.0, 1.0));
        assert_eq!(between_normals([column(1.0, 0.0, 0.0), column(5.0, 1.0, 1.0)].into_iter()), 0.0);
    }

    #[test]
    fn shares_are_compared_class_by_class() {
        // 90 of 1,000 rows and 9 of 10 rows are below: shares of 0.09 and 0.9.
        let merits = threshold_merits(2, |class, _| if class == 0 { (90.0, 1000.0) } else { (9.0, 10.0) });
        let expected = 1.0 - (0.09_f64 * 0.9).sqrt() - (0.91_f64 * 0.1).sqrt();
        assert!((merits[0] - expected.sqrt()).abs() < 1e-12);
        let lopsided = threshold_merits(2, |_, _| (1.0, 1000.0));
        assert_eq!(lopsided[0], f64::NEG_INFINITY);
    }
}
