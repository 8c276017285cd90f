//! What makes a split good.

use std::f64::consts::LN_2;

use crate::learners::vector_math::x_ln_x;

pub(super) mod hellinger;

/// What makes a split good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SplitCriterion {
    /// How much it lowers the entropy of the classes.
    InfoGain,
    /// How much it lowers the chance that two rows of a branch are of different classes.
    Gini,
    /// How far apart the distributions of an attribute in two classes are, whatever the weights of the classes.
    ///
    /// A numeric attribute is judged by the Hellinger distance of its normal distributions, and split where the
    /// distance of the shares below and above is greatest. Of several classes the mean over their pairs counts.
    Hellinger,
}

impl SplitCriterion {
    /// The unit in which merits are counted: entropies are in nats, and a bound on them in bits.
    #[inline(always)]
    pub(super) fn unit(self) -> f64 {
        if self == Self::InfoGain { LN_2 } else { 1.0 }
    }

    /// By how much merits can differ, in bits where they are entropies, with `n_classes` up to the last one seen.
    pub(super) fn range(self, n_classes: usize) -> f64 {
        if self == Self::InfoGain { (n_classes.max(2) as f64).log2() } else { 1.0 }
    }

    /// The merit of no split, of the weights of the classes.
    pub(super) fn merit_unsplit(self, weights: impl Iterator<Item = f64>) -> f64 {
        match self {
            Self::InfoGain => InfoGain::merit_unsplit(weights),
            Self::Gini => Gini::merit_unsplit(weights),
            Self::Hellinger => 0.0,
        }
    }
}

/// A criterion that adds up over branches: the merit of a split is the sum over its branches of
/// `branch(sum of term(weight of a class), weight of the branch)`, over the weight of all.
pub(super) trait Impurity {
    /// What a class adds to its branch.
    fn term(weight: f64) -> f64;

    /// What a branch adds.
    fn branch(sum: f64, weight: f64) -> f64;

    /// The merit of no split.
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

/// The chance that two rows are of the same class.
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
