//! The options of a Hoeffding tree.

use super::SplitCriterion;

/// What predicts at a leaf.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeafPrediction {
    /// The class of the greatest weight.
    Majority,
    /// Naive Bayes over the rows of the leaf.
    NaiveBayes,
    /// Whichever of the two was right for more weight at this leaf so far; naive Bayes where they are level.
    Adaptive,
}

/// The options of a Hoeffding tree, with MOA's defaults.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// The weight a leaf learns between two attempts to split.
    pub grace_period: f64,
    /// The probability with which a split may be the wrong one.
    pub split_confidence: f64,
    /// Below this bound, splits that are level are told apart by chance.
    pub tie_threshold: f64,
    /// What predicts at a leaf.
    pub leaf_prediction: LeafPrediction,
    /// Whether nominal attributes are split into one value and the rest only.
    pub binary_splits: bool,
    /// What makes a split good.
    pub split_criterion: SplitCriterion,
    /// Whether an attribute that falls behind the best by more than the bound is never again looked at in its leaf.
    pub remove_poor_attributes: bool,
    /// The most bytes the tree may hold: its least promising leaves are frozen to keep below.
    pub max_bytes: usize,
    /// Each leaf looks at some attributes only.
    pub subspace: Option<Subspace>,
}

/// Random subspaces: each leaf looks at so many attributes, drawn when it is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Subspace {
    /// How many attributes; all of them where there are no more.
    pub size: usize,
    /// What they are drawn with.
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
