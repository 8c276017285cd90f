//! The options of a Hoeffding tree. Their ranges are checked in Python.

use super::SplitCriterion;

/// The prediction at a leaf.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeafPrediction {
    /// The class with the greatest weight.
    Majority,
    /// Naive Bayes over the rows of the leaf.
    NaiveBayes,
    /// Whichever of the two was right for more weight at this leaf so far; naive Bayes if they are equal.
    Adaptive,
}

/// The options of a Hoeffding tree, with MOA's defaults.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// The weight that a leaf learns between two attempts to split.
    pub grace_period: f64,
    /// The probability of choosing the wrong split.
    pub split_confidence: f64,
    /// A leaf splits even without a clear lead once the bound is below this.
    pub tie_threshold: f64,
    /// The prediction at a leaf.
    pub leaf_prediction: LeafPrediction,
    /// Whether nominal attributes are only split into one value and the rest.
    pub binary_splits: bool,
    /// The merit of a split.
    pub split_criterion: SplitCriterion,
    /// Whether a leaf ignores an attribute once it has fallen behind the best by more than the bound.
    pub remove_poor_attributes: bool,
    /// The most bytes the tree may hold; the least promising leaves are frozen to stay below.
    pub max_bytes: usize,
    /// Whether leaves use random subsets of the attributes.
    pub subspace: Option<Subspace>,
}

/// Random subspaces: each leaf uses `size` attributes, drawn when it is created.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Subspace {
    /// The number of attributes, capped at all of them.
    pub size: usize,
    /// The seed of the draws.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            grace_period: 200.0,
            split_confidence: 1e-7,
            tie_threshold: 0.05,
            leaf_prediction: LeafPrediction::Adaptive,
            binary_splits: false,
            split_criterion: SplitCriterion::InfoGain,
            remove_poor_attributes: false,
            max_bytes: 1 << 25,
            subspace: None,
        }
    }
}
