//! Linear models that learn by stochastic gradient descent: the perceptron and logistic regression.
//!
//! A nominal attribute has a weight per value (one-hot) and none if it is missing; a missing number is replaced by the
//! mean so far.

use super::moments::LIMIT;
use super::vector_math::exp;
use super::{ABSTAINED, Learner, Schema, Step, find_winner, normalise_votes};
use crate::KernelError;
use crate::codec::{Reader, Writer};
use crate::dispatch;
use crate::randomness::{Draws, Purpose};
use inputs::{Encoder, Inputs};
use weights::Weights;

pub(super) mod inputs;
pub(super) mod weights;

/// The greatest exponent that `exp` supports.
const MAX_EXPONENT: f64 = 700.0;

const INITIAL: Purpose = Purpose::named("perceptron");

/// The learning rule of a linear model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinearRule {
    /// A sigmoid unit per class that minimises its squared error, from small random weights.
    Perceptron,
    /// A logistic regression per class against all others.
    OneVsRest,
    /// One logistic regression for all classes.
    Softmax,
}

/// The options of a linear model. Their ranges are checked in Python.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinearOptions {
    /// The learning rule.
    pub rule: LinearRule,
    /// The step size, 0 or more.
    pub learning_rate: f64,
    /// The strength of the L2 penalty, 0 or more.
    pub l2: f64,
    /// Whether numbers are standardised by the mean and deviation so far.
    pub standardise: bool,
}

impl LinearRule {
    fn name(self) -> &'static str {
        match self {
            Self::Perceptron => "Perceptron",
            Self::OneVsRest | Self::Softmax => "LogisticRegression",
        }
    }

    /// Turns scores into the outputs of the classes.
    #[inline(always)]
    fn apply(self, scores: &mut [f64]) {
        if self == Self::Softmax {
            let most = scores.iter().fold(f64::NEG_INFINITY, |most, &score| if score > most { score } else { most });
            for score in scores.iter_mut() {
                *score = exp((*score - most).max(-MAX_EXPONENT));
            }
            normalise_votes(scores);
        } else {
            for score in scores {
                *score = 1.0 / (1.0 + exp((-*score).clamp(-MAX_EXPONENT, MAX_EXPONENT)));
            }
        }
    }
}

/// Returns the class with the greatest score, if the outputs certainly differ too; `None` if scores are almost equal or
/// saturated.
#[inline(always)]
fn find_clear_winner(scores: &[f64]) -> Option<i32> {
    let (mut winner, mut most, mut second) = (0, f64::NEG_INFINITY, f64::NEG_INFINITY);
    for (class, &score) in scores.iter().enumerate() {
        if score > most {
            (winner, second, most) = (class as i32, most, score);
        } else if score > second {
            second = score;
        }
    }
    (most - second > 1e-9 && most < 10.0 && most > -MAX_EXPONENT).then_some(winner)
}

/// A linear model.
#[derive(Debug, Clone)]
pub struct LinearModel {
    schema: Schema,
    options: LinearOptions,
    encoder: Encoder,
    weights: Weights,
    /// Whether it has learnt a row; until then it abstains.
    started: bool,
}

/// The buffers for a row.
struct Scratch {
    inputs: Inputs,
    outputs: Vec<f64>,
}

impl LinearModel {
    /// Creates an untrained model.
    #[must_use]
    pub fn new(schema: Schema, options: LinearOptions, seed: u64) -> Self {
        let encoder = Encoder::new(&schema, options.standardise);
        let mut weights = Weights::new(encoder.n_vectors(), encoder.n_one_hot(), schema.n_classes);
        if options.rule == LinearRule::Perceptron {
            let n_numbers = schema.n_values.iter().filter(|&&n| n == 0).count();
            weights.fill(n_numbers, |class, position| {
                0.2 * Draws::new(seed, INITIAL, class as u64).uniform(position as u64) - 0.1
            });
        }
        Self { schema, options, encoder, weights, started: false }
    }

    fn scratch(&self) -> Scratch {
        Scratch { inputs: self.encoder.new_inputs(), outputs: vec![0.0; self.schema.n_classes] }
    }

    /// Computes the scores of the classes for a row.
    #[inline(always)]
    fn compute_scores(&self, x: &[f64], scratch: &mut Scratch) {
        self.encoder.read(x, &mut scratch.inputs);
        self.encoder.scale(&mut scratch.inputs);
        self.weights.scores(&scratch.inputs, &mut scratch.outputs);
    }

    /// Computes the outputs of the classes for a row.
    #[inline(always)]
    fn compute_outputs(&self, x: &[f64], scratch: &mut Scratch) {
        self.compute_scores(x, scratch);
        self.options.rule.apply(&mut scratch.outputs);
    }

    #[inline(always)]
    fn vote_into(&self, scratch: &Scratch, votes: &mut [f64]) {
        if self.started {
            votes.copy_from_slice(&scratch.outputs);
            normalise_votes(votes);
        } else {
            votes.fill(0.0);
        }
    }

    /// Learns a row; `is_computed` tells whether `scratch` holds its outputs.
    #[inline(always)]
    fn learn_row(&mut self, x: &[f64], label: usize, weight: f64, scratch: &mut Scratch, is_computed: bool) {
        let weight = weight.min(LIMIT);
        if self.options.standardise {
            // The row is included in the mean and deviation by which it is standardised.
            if !is_computed {
                self.encoder.read(x, &mut scratch.inputs);
            }
            self.encoder.observe(&scratch.inputs, weight);
            self.encoder.scale(&mut scratch.inputs);
            self.weights.scores(&scratch.inputs, &mut scratch.outputs);
            self.options.rule.apply(&mut scratch.outputs);
        } else {
            if !is_computed {
                self.compute_outputs(x, scratch);
            }
            self.encoder.observe(&scratch.inputs, weight);
        }
        let rate = (self.options.learning_rate * weight).min(LIMIT);
        let squared = self.options.rule == LinearRule::Perceptron;
        for (class, output) in scratch.outputs.iter_mut().enumerate() {
            let off = if class == label { 1.0 - *output } else { -*output };
            *output = rate * if squared { off * *output * (1.0 - *output) } else { off };
        }
        if self.options.l2 > 0.0 {
            self.weights.shrink((1.0 - rate * self.options.l2).max(0.0));
        }
        self.weights.advance(&scratch.inputs, &scratch.outputs);
        self.started = true;
    }
}

impl Learner for LinearModel {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn vote(&self, x: &[f64], votes: &mut [f64]) {
        self.predict(x, votes);
    }

    fn predict(&self, x: &[f64], votes: &mut [f64]) {
        let (d, n_classes) = (self.schema.n_attributes(), self.schema.n_classes);
        let mut scratch = self.scratch();
        dispatch::run(
            #[inline(always)]
            || {
                for (i, votes) in votes.chunks_exact_mut(n_classes).enumerate() {
                    self.compute_outputs(&x[i * d..(i + 1) * d], &mut scratch);
                    self.vote_into(&scratch, votes);
                }
            },
        );
    }

    fn learn(&mut self, x: &[f64], label: usize, weight: f64) {
        let mut scratch = self.scratch();
        dispatch::run(
            #[inline(always)]
            || self.learn_row(x, label, weight, &mut scratch, false),
        );
    }

    fn interleave(&mut self, step: &Step<'_>, predictions: &mut [i32], mut votes: Option<&mut [f64]>) {
        let (d, n_classes) = (self.schema.n_attributes(), self.schema.n_classes);
        let (mut scratch, mut row_votes) = (self.scratch(), vec![0.0; n_classes]);
        dispatch::run(
            #[inline(always)]
            || {
                for (i, prediction) in predictions.iter_mut().enumerate() {
                    let x = &step.x[i * d..(i + 1) * d];
                    let tested = step.tests(i);
                    *prediction = ABSTAINED;
                    if tested {
                        self.compute_scores(x, &mut scratch);
                        // A standardised row is computed again when it is learnt, so that here the winner is enough.
                        let enough = self.started && self.options.standardise && votes.is_none();
                        let clear = if enough { find_clear_winner(&scratch.outputs) } else { None };
                        *prediction = clear.unwrap_or_else(|| {
                            self.options.rule.apply(&mut scratch.outputs);
                            self.vote_into(&scratch, &mut row_votes);
                            find_winner(&row_votes)
                        });
                        if let Some(votes) = &mut votes {
                            votes[i * n_classes..(i + 1) * n_classes].copy_from_slice(&row_votes);
                        }
                    }
                    let weight = step.weight(i);
                    if weight > 0.0 {
                        self.learn_row(x, step.y[i] as usize, weight, &mut scratch, tested);
                    }
                }
            },
        );
    }

    fn n_bytes(&self) -> usize {
        size_of::<Self>() + 4 * self.schema.n_values.capacity() + self.encoder.n_bytes() + self.weights.n_bytes()
    }

    fn save(&self) -> Vec<u8> {
        let mut writer = Writer::new(self.options.rule.name(), 1);
        writer.u64(u64::from(self.started));
        self.encoder.save(&mut writer);
        self.weights.save(&mut writer);
        writer.finish()
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), KernelError> {
        let mut reader = Reader::new(self.options.rule.name(), 1, bytes)?;
        let started = reader.u64()? != 0;
        let (mut encoder, mut weights) = (self.encoder.clone(), self.weights.clone());
        encoder.load(&mut reader)?;
        weights.load(&mut reader)?;
        reader.finish()?;
        (self.encoder, self.weights, self.started) = (encoder, weights, started);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOFTMAX: LinearOptions =
        LinearOptions { rule: LinearRule::Softmax, learning_rate: 0.1, l2: 0.0, standardise: true };

    #[test]
    fn every_rule_learns_a_linear_boundary() {
        let draws = Draws::new(1, Purpose::named("line"), 0);
        for rule in [LinearRule::Perceptron, LinearRule::OneVsRest, LinearRule::Softmax] {
            let schema = Schema { n_values: vec![0, 0], n_classes: 2 };
            let mut model = LinearModel::new(schema, LinearOptions { rule, ..SOFTMAX }, 1);
            let mut hits = 0;
            for row in 0..4_000 {
                let x = [1000.0 * draws.uniform(2 * row), draws.uniform(2 * row + 1)];
                let label = i32::from(x[0] < 1000.0 * x[1]);
                let mut predictions = [0];
                model.interleave(&Step { x: &x, y: &[label], test: None, weight: None }, &mut predictions, None);
                hits += u32::from(row >= 2_000 && predictions[0] == label);
            }
            assert!(hits > 1_900, "{rule:?}: {hits}");
        }
    }

    #[test]
    fn huge_numbers_leave_it_finite() {
        let schema = Schema { n_values: vec![0], n_classes: 2 };
        for standardise in [false, true] {
            let options = LinearOptions { learning_rate: 1e300, standardise, ..SOFTMAX };
            let mut model = LinearModel::new(schema.clone(), options, 1);
            let mut votes = [0.0; 2];
            for (x, label) in [(1e308, 0), (-1e308, 1), (1e308, 1), (1.0, 0), (-1e308, 0), (f64::INFINITY, 1)] {
                model.learn(&[x], label, 1e300);
                model.vote(&[x], &mut votes);
                assert!(votes.iter().all(|vote| vote.is_finite()), "{votes:?}");
            }
        }
    }
}
