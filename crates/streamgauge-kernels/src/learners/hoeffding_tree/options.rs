//! The options of a Hoeffding tree.

use super::SplitCriterion;
use crate::KernelError;

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

impl Options {
    /// Check that each is in its range.
    ///
    /// # Errors
    /// [`KernelError::Option`] about the first that is not.
    pub fn check(&self) -> Result<(), KernelError> {
        let check = |option, found: f64, fits, expected| {
            if fits { Ok(()) } else { Err(KernelError::Option { option, found: found.to_string(), expected }) }
        };
        let Self { grace_period, split_confidence, tie_threshold, .. } = *self;
        let fits = grace_period >= 1.0 && grace_period.is_finite();
        check("grace_period", grace_period, fits, "it must be a number of at least 1")?;
        let fits = split_confidence > 0.0 && split_confidence <= 1.0;
        check("split_confidence", split_confidence, fits, "it must be a number in (0, 1]")?;
        let fits = (0.0..=1.0).contains(&tie_threshold);
        check("tie_threshold", tie_threshold, fits, "it must be a number in [0, 1]")?;
        let size = self.subspace.map_or(1, |subspace| subspace.size);
        check("subspace", size as f64, size > 0, "it must be at least 1")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_outside_their_range_are_refused_by_name() {
        let name = |options: Options| match options.check() {
            Err(KernelError::Option { option, .. }) => option,
            _ => "",
        };
        let fine = Options::default();
        assert_eq!(name(fine), "");
        assert_eq!(name(Options { grace_period: 0.0, ..fine }), "grace_period");
        assert_eq!(name(Options { split_confidence: 0.0, ..fine }), "split_confidence");
        assert_eq!(name(Options { tie_threshold: f64::NAN, ..fine }), "tie_threshold");
        assert_eq!(name(Options { subspace: Some(Subspace { size: 0, seed: 1 }), ..fine }), "subspace");
    }
}
