//! Learners: they predict a row, then learn it.
//!
//! A learner is called once per batch: [`Learner::interleave`] predicts and learns a whole [`Step`], row by row,
//! exactly as if each row had been predicted and then learnt alone. The README of this folder has an overview.

use std::ops::Range;

use crate::KernelError;
use crate::error::check_length;
use crate::validation::check_values;
use rows::BLOCK;

mod adaptive_forest;
/// Evaluates an expression with the constant `$V` set to the given number of vectors, from 1 to
/// [`MAX_VECTORS`](rows::MAX_VECTORS). All of them are compiled.
macro_rules! with_vectors {
    ($n_vectors:expr, $V:ident => $expression:expr) => {
        match $n_vectors {
            1 => {
                const $V: usize = 1;
                $expression
            }
            2 => {
                const $V: usize = 2;
                $expression
            }
            3 => {
                const $V: usize = 3;
                $expression
            }
            _ => {
                const $V: usize = 4;
                $expression
            }
        }
    };
}

mod bayes;
mod encoder;
mod ensembles;
mod f64x4;
mod factory;
mod hoeffding_tree;
mod linear;
mod majority_class;
mod memoriser;
mod moments;
mod naive_bayes;
mod nearest_neighbours;
mod no_change;
mod noise_filter;
mod random_guess;
mod recent_majority;
mod regressors;
mod row_hash;
mod rows;
mod timing;
mod vector_math;

pub use adaptive_forest::{AdaptiveForest, AdaptiveForestOptions, adaptive_random_forest, streaming_random_patches};
pub use encoder::{Encoder, EncoderOptions, NominalEncoding};
pub use ensembles::{
    DriftReset, DynamicWeightedMajority, DynamicWeightedMajorityOptions, LeveragingBagging, OneVsRest, OzaBag,
    OzaBoost, Resampling, ResamplingBag,
};
pub use factory::Factory;
pub use hoeffding_tree::{
    AdaptiveOptions as HoeffdingAdaptiveTreeOptions, ExtremelyFastDecisionTree,
    ExtremelyFastOptions as ExtremelyFastDecisionTreeOptions, HoeffdingAdaptiveTree, HoeffdingTree, LeafPrediction,
    Options as HoeffdingTreeOptions, SplitCriterion, Subspace, extremely_fast_decision_tree, hoeffding_adaptive_tree,
    hoeffding_tree,
};
pub use linear::{LinearModel, LinearOptions, LinearRule};
pub use majority_class::MajorityClass;
pub use memoriser::Memoriser;
pub use naive_bayes::{NaiveBayes, naive_bayes};
pub use nearest_neighbours::NearestNeighbours;
pub use no_change::NoChange;
pub use noise_filter::NoiseFilter;
pub use random_guess::RandomGuess;
pub use recent_majority::RecentMajority;
pub use regressors::{
    LastTarget, LinearRegression, LinearRegressionOptions, MeanTarget, NumberStep, Regressor, TargetMean,
    TargetMemoriser, interleave_numbers_timed,
};
pub use timing::{Timings, interleave_timed};

/// The prediction of a learner that abstains; it counts as an error.
pub const ABSTAINED: i32 = -1;
/// The label of a row whose class is not known.
pub const UNLABELLED: i32 = -1;

/// The attributes and classes of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schema {
    /// Per attribute, the number of its nominal values, or 0 if it is numeric.
    pub n_values: Vec<u32>,
    /// The number of classes.
    pub n_classes: usize,
}

impl Schema {
    /// Returns the number of attributes.
    #[must_use]
    pub fn n_attributes(&self) -> usize {
        self.n_values.len()
    }

    /// Checks every value, label and weight of a batch once, so that learners need not.
    ///
    /// # Errors
    /// The first fault, with its row and attribute: a missing value where `missing` does not allow it, an infinite one,
    /// a nominal code or a label that the schema lacks, a weight that is negative or not finite.
    pub fn check(&self, x: &[f64], y: &[i32], weight: Option<&[f64]>, missing: &[bool]) -> Result<(), KernelError> {
        let d = self.n_attributes();
        check_length("missing", missing.len(), d)?;
        check_length("x", x.len(), y.len() * d)?;
        check_values(x, &self.n_values, missing)?;
        self.check_labels(y)?;
        weight.map_or(Ok(()), |weight| check_weights(weight, y.len()))
    }

    fn check_labels(&self, y: &[i32]) -> Result<(), KernelError> {
        let classes = UNLABELLED..self.n_classes as i32;
        // One pass without branches; the label at fault is searched only if there is one.
        let extremes = y.iter().fold((UNLABELLED, UNLABELLED), |(low, high), &y| (low.min(y), high.max(y)));
        if classes.contains(&extremes.0) && classes.contains(&extremes.1) {
            return Ok(());
        }
        match y.iter().position(|label| !classes.contains(label)) {
            Some(row) => Err(KernelError::Label { row, label: y[row], n_classes: self.n_classes }),
            None => Ok(()),
        }
    }
}

/// The consecutive rows of a batch in one fold, and which of them to test and to learn.
#[derive(Debug, Clone, Copy)]
pub struct Step<'a> {
    /// The rows, one after the other; a nominal value is its code, a missing one is NaN.
    pub x: &'a [f64],
    /// The labels that may be learnt; [`UNLABELLED`] if there is none.
    pub y: &'a [i32],
    /// Which rows to predict; `None` means all.
    pub test: Option<&'a [bool]>,
    /// The weight with which to learn each row (0: not at all); `None` means 1 for all.
    pub weight: Option<&'a [f64]>,
}

impl<'a> Step<'a> {
    /// Returns whether row `i` is tested.
    #[inline(always)]
    #[must_use]
    pub fn tests(&self, i: usize) -> bool {
        self.test.is_none_or(|test| test[i])
    }

    /// Returns the weight with which row `i` is learnt: 0 if it is not, or has no label.
    #[inline(always)]
    #[must_use]
    pub fn weight(&self, i: usize) -> f64 {
        if self.y[i] < 0 { 0.0 } else { self.weight.map_or(1.0, |weight| weight[i]) }
    }

    /// Returns a range of the rows, of `d` attributes each.
    fn slice(&self, rows: Range<usize>, d: usize) -> Step<'a> {
        Step {
            x: &self.x[rows.start * d..rows.end * d],
            y: &self.y[rows.clone()],
            test: self.test.map(|test| &test[rows.clone()]),
            weight: self.weight.map(|weight| &weight[rows.clone()]),
        }
    }

    /// Checks the lengths of the columns against each other, and that every label and weight can be learnt.
    ///
    /// # Errors
    /// The first fault.
    pub fn check(&self, schema: &Schema) -> Result<(), KernelError> {
        let n = self.y.len();
        check_length("x", self.x.len(), n * schema.n_attributes())?;
        check_length("test", self.test.map_or(n, <[bool]>::len), n)?;
        schema.check_labels(self.y)?;
        self.weight.map_or(Ok(()), |weight| check_weights(weight, n))
    }

    /// Returns the step in blocks of up to [`BLOCK`] rows, each with its part of the predictions and votes.
    #[inline(always)]
    fn blocks<'b>(
        &'b self,
        d: usize,
        n_classes: usize,
        predictions: &'b mut [i32],
        votes: Option<&'b mut [f64]>,
    ) -> impl Iterator<Item = (Block<'b>, &'b mut [i32], Option<&'b mut [f64]>)> {
        let mut votes = votes.map(|votes| votes.chunks_mut(BLOCK * n_classes));
        predictions.chunks_mut(BLOCK).enumerate().map(
            #[inline(always)]
            move |(i, predictions)| {
                let (start, n) = (i * BLOCK, predictions.len());
                let (mut tests, mut weights) = ([true; BLOCK], [1.0; BLOCK]);
                if let Some(test) = self.test {
                    tests[..n].copy_from_slice(&test[start..start + n]);
                }
                if let Some(weight) = self.weight {
                    weights[..n].copy_from_slice(&weight[start..start + n]);
                }
                let labels = &self.y[start..start + n];
                let mut all_labels = 0;
                for (weight, &label) in weights.iter_mut().zip(labels) {
                    *weight = if label < 0 { 0.0 } else { *weight };
                    all_labels |= label;
                }
                let plain = self.test.is_none() & self.weight.is_none() & (all_labels >= 0);
                let block = Block { x: &self.x[start * d..], labels, tests, weights, plain };
                (block, predictions, votes.as_mut().and_then(Iterator::next))
            },
        )
    }
}

/// The rows of a step that are processed together, with defaults filled in.
struct Block<'a> {
    /// The rows, and all that follow them in the batch.
    x: &'a [f64],
    labels: &'a [i32],
    tests: [bool; BLOCK],
    /// 0 if a row is not learnt, or has no label.
    weights: [f64; BLOCK],
    /// Whether all rows are tested and all weights are 1.
    plain: bool,
}

fn check_weights(weight: &[f64], n: usize) -> Result<(), KernelError> {
    check_length("weight", weight.len(), n)?;
    match weight.iter().position(|w| !(*w >= 0.0 && w.is_finite())) {
        Some(row) => Err(KernelError::Weight { row, weight: weight[row] }),
        None => Ok(()),
    }
}

/// A learner of classes from rows.
pub trait Learner: Send + Sync {
    /// Returns the schema of its rows.
    fn schema(&self) -> &Schema;

    /// Writes its votes for the classes: not negative, greater for likelier classes, all 0 if it abstains.
    fn vote(&self, x: &[f64], votes: &mut [f64]);

    /// Learns a row of known class with a weight above 0.
    fn learn(&mut self, x: &[f64], label: usize, weight: f64);

    /// Predicts each tested row, then learns it, one row after the other.
    ///
    /// `predictions` gets a value per row ([`ABSTAINED`] if it is not tested); `votes`, if given, gets `n_classes`
    /// values per row (0 if it is not tested). The columns must have been checked ([`Step::check`]).
    fn interleave(&mut self, step: &Step<'_>, predictions: &mut [i32], mut votes: Option<&mut [f64]>) {
        let (d, n_classes) = (self.schema().n_attributes(), self.schema().n_classes);
        let mut row_votes = vec![0.0; n_classes];
        for (i, prediction) in predictions.iter_mut().enumerate() {
            let x = &step.x[i * d..(i + 1) * d];
            if step.tests(i) {
                self.vote(x, &mut row_votes);
                *prediction = find_winner(&row_votes);
                if let Some(votes) = &mut votes {
                    votes[i * n_classes..(i + 1) * n_classes].copy_from_slice(&row_votes);
                }
            } else {
                *prediction = ABSTAINED;
            }
            let weight = step.weight(i);
            if weight > 0.0 {
                self.learn(x, step.y[i] as usize, weight);
            }
        }
    }

    /// Writes the votes for many rows, as [`Learner::vote`] does for one.
    fn predict(&self, x: &[f64], votes: &mut [f64]) {
        let (d, n_classes) = (self.schema().n_attributes(), self.schema().n_classes);
        for (i, votes) in votes.chunks_exact_mut(n_classes).enumerate() {
            self.vote(&x[i * d..(i + 1) * d], votes);
        }
    }

    /// Votes for each tested row, learns it, and then predicts every labelled row again.
    ///
    /// Ensembles use this to monitor what their members still get wrong. `votes` gets `n_classes` values per row (0 if
    /// it is not tested), `rechecked` a value per row ([`ABSTAINED`] if it has no label).
    fn recheck(&mut self, step: &Step<'_>, votes: &mut [f64], rechecked: &mut [i32]) {
        let (d, n_classes) = (self.schema().n_attributes(), self.schema().n_classes);
        let mut later = vec![0.0; n_classes];
        for (i, (votes, rechecked)) in votes.chunks_exact_mut(n_classes).zip(rechecked).enumerate() {
            let (x, weight) = (&step.x[i * d..(i + 1) * d], step.weight(i));
            if step.tests(i) {
                self.vote(x, votes);
            } else {
                votes.fill(0.0);
            }
            if weight > 0.0 {
                self.learn(x, step.y[i] as usize, weight);
            }
            *rechecked = ABSTAINED;
            if step.y[i] >= 0 {
                self.vote(x, &mut later);
                *rechecked = find_winner(&later);
            }
        }
    }

    /// Returns whether it never calls into another language, so that several learners can run at the same time.
    fn is_native(&self) -> bool {
        true
    }

    /// Returns names and numbers that describe its state, such as the number of nodes of a tree.
    fn facts(&self) -> Vec<(&'static str, u64)> {
        vec![]
    }

    /// Returns the bytes it holds, on the heap and off it.
    fn n_bytes(&self) -> usize;

    /// Returns its state; a learner with the same options continues from it bit for bit ([`Learner::load`]).
    fn save(&self) -> Vec<u8>;

    /// Restores a saved state.
    ///
    /// # Errors
    /// [`KernelError::Saved`] if the bytes are damaged or of a learner with other options; it is then unchanged.
    fn load(&mut self, bytes: &[u8]) -> Result<(), KernelError>;
}

/// Learns one row by [`Learner::interleave`]: the [`Learner::learn`] of learners that process whole steps.
fn learn_by_interleaving(learner: &mut impl Learner, x: &[f64], label: usize, weight: f64) {
    let step = Step { x, y: &[label as i32], test: Some(&[false]), weight: Some(&[weight]) };
    learner.interleave(&step, &mut [ABSTAINED], None);
}

/// Scales votes to a sum of 1, unless all are 0.
#[inline(always)]
fn normalise_votes(votes: &mut [f64]) {
    let sum: f64 = votes.iter().sum();
    if sum > 0.0 {
        for vote in votes {
            *vote /= sum;
        }
    }
}

/// Appends the facts of the members of an ensemble to its own: the sum of counts (`n_...`), the maximum of others.
fn add_member_facts(facts: &mut Vec<(&'static str, u64)>, member_facts: impl Iterator<Item = (&'static str, u64)>) {
    let n_own = facts.len();
    for (name, value) in member_facts {
        match facts[n_own..].iter_mut().find(|fact| fact.0 == name) {
            Some(fact) if name.starts_with("n_") => fact.1 += value,
            Some(fact) => fact.1 = fact.1.max(value),
            None => facts.push((name, value)),
        }
    }
}

/// Returns the class with the most votes, the first of equals; [`ABSTAINED`] if no vote is above 0.
#[inline(always)]
#[must_use]
pub fn find_winner(votes: &[f64]) -> i32 {
    let (mut best, mut most) = (ABSTAINED, 0.0);
    for (class, &vote) in votes.iter().enumerate() {
        if vote > most {
            best = class as i32;
            most = vote;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_go_to_the_first_class_and_no_votes_abstain() {
        assert_eq!(find_winner(&[1.0, 2.0, 2.0]), 1);
        assert_eq!(find_winner(&[0.0, 0.0]), ABSTAINED);
    }

    #[test]
    fn the_first_value_that_breaks_the_schema_is_reported() {
        let schema = Schema { n_values: vec![0, 3], n_classes: 2 };
        let check = |x: &[f64], y: &[i32]| schema.check(x, y, None, &[false, true]);
        assert!(check(&[0.5, 2.0, 1.0, f64::NAN], &[0, UNLABELLED]).is_ok());
        assert!(matches!(check(&[f64::NAN, 0.0], &[0]), Err(KernelError::Value { row: 0, attribute: 0, .. })));
        assert!(matches!(check(&[f64::INFINITY, 0.0], &[0]), Err(KernelError::Value { row: 0, attribute: 0, .. })));
        assert!(matches!(check(&[0.0, 3.0], &[0]), Err(KernelError::Value { row: 0, attribute: 1, .. })));
        assert!(matches!(check(&[0.0, 0.5], &[0]), Err(KernelError::Value { row: 0, attribute: 1, .. })));
        assert!(matches!(check(&[0.0, 0.0], &[2]), Err(KernelError::Label { row: 0, label: 2, .. })));
        let weighted = schema.check(&[0.0, 0.0], &[0], Some(&[-1.0]), &[false, true]);
        assert!(matches!(weighted, Err(KernelError::Weight { row: 0, .. })));
    }
}
