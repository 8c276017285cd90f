//! Split criteria.

use std::f64::consts::LN_2;

use crate::learners::vector_math::x_ln_x;

pub(super) mod hellinger;

/// The merit of a split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SplitCriterion {
    /// The decrease in the entropy of the classes.
    InfoGain,
    /// The decrease in the probability that two rows of a branch have different classes.
    Gini,
    /// The distance between the distributions of an attribute in two classes, whatever the weights of the classes.
    ///
    /// A numeric attribute is ranked by the Hellinger distance of its normal distributions, and split where the
    /// distance between the shares below and above is greatest. For more than two classes it is the mean over all
    /// pairs.
    Hellinger,
}

impl SplitCriterion {
    /// Returns the factor that converts a bound into the unit of merits: entropies are in nats, their bound is in bits.
    #[inline(always)]
    pub(super) fn unit(self) -> f64 {
        if self == Self::InfoGain { LN_2 } else { 1.0 }
    }

    /// Returns the range of merits, in bits for entropies, with `n_classes` up to the last class seen.
    pub(super) fn range(self, n_classes: usize) -> f64 {
        if self == Self::InfoGain { (n_classes.max(2) as f64).log2() } else { 1.0 }
    }

    /// Returns the merit of not splitting, for the given weights of the classes.
    pub(super) fn merit_unsplit(self, weights: impl Iterator<Item = f64>) -> f64 {
        match self {
            Self::InfoGain => InfoGain::merit_unsplit(weights),
            Self::Gini => Gini::merit_unsplit(weights),
            Self::Hellinger => 0.0,
        }
    }
}

/// A criterion that is a sum over branches: the merit of a split is the sum of `branch(sum of term(weight of a class),
/// weight of the branch)` over its branches, divided by the total weight.
pub(super) trait Impurity {
    /// Returns the contribution of a class to its branch.
    fn term(weight: f64) -> f64;

    /// Returns the contribution of a branch.
    fn branch(sum: f64, weight: f64) -> f64;

    /// Returns the merit of not splitting.
    fn merit_unsplit(weights: impl Iterator<Item = f64>) -> f64 {
        let (mut sum, mut total) = (0.0, 0.0);
        for weight in weights {
            sum += Self::term(weight);
            total += weight;
        }
        Self::branch(sum, total) / total
    }
}

/// Minus the entropy of the classes, in nats.
pub(super) struct InfoGain;

impl Impurity for InfoGain {
    #[inline(always)]
    fn term(weight: f64) -> f64 {
        x_ln_x(weight)
    }

    #[inline(always)]
    fn branch(sum: f64, weight: f64) -> f64 {
        sum - x_ln_x(weight)
    }
}

/// The probability that two rows have the same class.
pub(super) struct Gini;

impl Impurity for Gini {
    #[inline(always)]
    fn term(weight: f64) -> f64 {
        weight * weight
    }

    #[inline(always)]
    fn branch(sum: f64, weight: f64) -> f64 {
        let share = sum / weight;
        if weight > 0.0 { share } else { 0.0 }
    }
}
