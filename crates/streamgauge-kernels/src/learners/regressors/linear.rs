//! Linear regression by stochastic gradient descent on standardised numbers.

use super::{NumberStep, Regressor};
use crate::KernelError;
use crate::codec::{Reader, Writer};
use crate::dispatch;
use crate::learners::Schema;
use crate::learners::linear::inputs::{Encoder, Inputs};
use crate::learners::linear::weights::Weights;
use crate::learners::moments::LIMIT;

/// The options of a linear regression. Their ranges are checked in Python.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinearRegressionOptions {
    /// The step size, 0 or more.
    pub learning_rate: f64,
    /// The strength of the L2 penalty, 0 or more.
    pub l2: f64,
    /// Whether numbers are standardised by the mean and deviation so far.
    pub standardise: bool,
}

/// The mean and the spread of the targets so far (Welford's method).
#[derive(Debug, Clone, Copy, Default)]
struct TargetScale {
    weight: f64,
    mean: f64,
    squares: f64,
}

impl TargetScale {
    #[inline(always)]
    fn observe(&mut self, target: f64, weight: f64) {
        self.weight += weight;
        let off = target - self.mean;
        self.mean += off * (weight / self.weight);
        self.squares += weight * off * (target - self.mean);
    }

    /// Returns the standard deviation; 0 if all targets were the same.
    #[inline(always)]
    fn deviation(&self) -> f64 {
        if self.squares > 0.0 { (self.squares / self.weight).sqrt() } else { 0.0 }
    }
}

/// A linear model of the standardised target.
///
/// A step is implicit: the gradient is that at the new weights, so that a row is never overshot whatever the learning
/// rate and the size of its numbers.
#[derive(Debug, Clone)]
pub struct LinearRegression {
    n_values: Vec<u32>,
    options: LinearRegressionOptions,
    encoder: Encoder,
    weights: Weights,
    scale: TargetScale,
}

impl LinearRegression {
    const NAME: &str = "LinearRegression";

    /// Creates an untrained model.
    #[must_use]
    pub fn new(n_values: Vec<u32>, options: LinearRegressionOptions) -> Self {
        let schema = Schema { n_values: n_values.clone(), n_classes: 1 };
        let encoder = Encoder::new(&schema, options.standardise);
        let weights = Weights::new(encoder.n_vectors(), encoder.n_one_hot(), 1);
        Self { n_values, options, encoder, weights, scale: TargetScale::default() }
    }

    #[inline(always)]
    fn compute_score(&self, inputs: &Inputs) -> f64 {
        let mut score = [0.0];
        self.weights.scores(inputs, &mut score);
        score[0]
    }

    #[inline(always)]
    fn predict_row(&self, x: &[f64], inputs: &mut Inputs) -> f64 {
        if self.scale.weight == 0.0 {
            return f64::NAN;
        }
        self.encoder.read(x, inputs);
        self.encoder.scale(inputs);
        self.scale.deviation().mul_add(self.compute_score(inputs), self.scale.mean).clamp(-LIMIT, LIMIT)
    }

    #[inline(always)]
    fn learn_row(&mut self, x: &[f64], target: f64, weight: f64, inputs: &mut Inputs) {
        let weight = weight.min(LIMIT);
        // The row is included in the means and deviations by which it is standardised.
        self.encoder.read(x, inputs);
        self.encoder.observe(inputs, weight);
        self.encoder.scale(inputs);
        self.scale.observe(target.clamp(-LIMIT, LIMIT), weight);
        let deviation = self.scale.deviation();
        if deviation == 0.0 {
            return;
        }
        let wanted = (target - self.scale.mean) / deviation;
        let rate = (self.options.learning_rate * weight).min(LIMIT);
        if self.options.l2 > 0.0 {
            self.weights.shrink((1.0 - rate * self.options.l2).max(0.0));
        }
        let squares: f64 = inputs.numbers.iter().map(|&number| (number * number).sum()).sum();
        let length = 1.0 + squares + inputs.one_hot.len() as f64;
        let amount = rate / (1.0 + rate * length) * (wanted - self.compute_score(inputs));
        self.weights.advance(inputs, &[amount]);
    }
}

impl Regressor for LinearRegression {
    fn n_values(&self) -> &[u32] {
        &self.n_values
    }

    fn predict(&self, x: &[f64], predictions: &mut [f64]) {
        let (d, mut inputs) = (self.n_values.len(), self.encoder.new_inputs());
        dispatch::run(
            #[inline(always)]
            || {
                for (i, prediction) in predictions.iter_mut().enumerate() {
                    *prediction = self.predict_row(&x[i * d..(i + 1) * d], &mut inputs);
                }
            },
        );
    }

    fn learn(&mut self, x: &[f64], target: f64, weight: f64) {
        let mut inputs = self.encoder.new_inputs();
        dispatch::run(
            #[inline(always)]
            || self.learn_row(x, target, weight, &mut inputs),
        );
    }

    fn interleave(&mut self, step: &NumberStep<'_>, predictions: &mut [f64]) {
        let (d, mut inputs) = (self.n_values.len(), self.encoder.new_inputs());
        dispatch::run(
            #[inline(always)]
            || {
                for (i, prediction) in predictions.iter_mut().enumerate() {
                    let x = &step.x[i * d..(i + 1) * d];
                    *prediction = if step.tests(i) { self.predict_row(x, &mut inputs) } else { f64::NAN };
                    let weight = step.weight(i);
                    if weight > 0.0 {
                        self.learn_row(x, step.y[i], weight, &mut inputs);
                    }
                }
            },
        );
    }

    fn n_bytes(&self) -> usize {
        size_of::<Self>() + 4 * self.n_values.capacity() + self.encoder.n_bytes() + self.weights.n_bytes()
    }

    fn save(&self) -> Vec<u8> {
        let mut writer = Writer::new(Self::NAME, 1);
        writer.f64s(&[self.scale.weight, self.scale.mean, self.scale.squares]);
        self.encoder.save(&mut writer);
        self.weights.save(&mut writer);
        writer.finish()
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), KernelError> {
        let mut reader = Reader::new(Self::NAME, 1, bytes)?;
        let (mut scale, mut encoder, mut weights) = ([0.0; 3], self.encoder.clone(), self.weights.clone());
        reader.f64s_into(&mut scale)?;
        encoder.load(&mut reader)?;
        weights.load(&mut reader)?;
        reader.finish()?;
        let [weight, mean, squares] = scale;
        (self.scale, self.encoder, self.weights) = (TargetScale { weight, mean, squares }, encoder, weights);
        Ok(())
    }
}
