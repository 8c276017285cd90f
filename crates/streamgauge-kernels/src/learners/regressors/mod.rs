//! Learners of numbers: they predict the number of a row, then learn it.
//!
//! As for classes, [`Regressor::interleave`] predicts and learns a whole step, row by row.

use super::timing::{Timings, elapsed_since};
use crate::KernelError;
use crate::error::{check_length, option_error};

mod linear;
mod mean;
mod memoriser;

pub use linear::{LinearRegression, LinearRegressionOptions};
pub use mean::{LastTarget, MeanTarget, TargetMean};
pub use memoriser::TargetMemoriser;

/// The consecutive rows of a batch in one fold, and which of them to test and to learn.
#[derive(Debug, Clone, Copy)]
pub struct NumberStep<'a> {
    /// The rows, one after the other; a nominal value is its code, a missing one is NaN.
    pub x: &'a [f64],
    /// The targets that may be learnt; NaN if there is none.
    pub y: &'a [f64],
    /// Which rows to predict; `None` means all.
    pub test: Option<&'a [bool]>,
    /// The weight with which to learn each row (0: not at all); `None` means 1 for all.
    pub weight: Option<&'a [f64]>,
}

impl NumberStep<'_> {
    /// Returns whether row `i` is tested.
    #[inline(always)]
    #[must_use]
    pub fn tests(&self, i: usize) -> bool {
        self.test.is_none_or(|test| test[i])
    }

    /// Returns the weight with which row `i` is learnt: 0 if it is not, or has no target.
    #[inline(always)]
    #[must_use]
    pub fn weight(&self, i: usize) -> f64 {
        if self.y[i].is_nan() { 0.0 } else { self.weight.map_or(1.0, |weight| weight[i]) }
    }

    /// Checks the lengths of the columns against each other, and that every target and weight can be learnt.
    ///
    /// # Errors
    /// The first fault.
    pub fn check(&self, n_attributes: usize) -> Result<(), KernelError> {
        let n = self.y.len();
        check_length("x", self.x.len(), n * n_attributes)?;
        check_length("test", self.test.map_or(n, <[bool]>::len), n)?;
        if let Some(target) = self.y.iter().find(|target| target.is_infinite()) {
            return Err(option_error("y", target, "a target must be a finite number, or NaN if it is not known"));
        }
        self.weight.map_or(Ok(()), |weight| super::check_weights(weight, n))
    }
}

/// A learner of numbers from rows.
pub trait Regressor: Send + Sync {
    /// Returns, per attribute, the number of its nominal values, or 0 if it is numeric.
    fn n_values(&self) -> &[u32];

    /// Returns its prediction for each of many rows; NaN if it makes none.
    fn predict(&self, x: &[f64], predictions: &mut [f64]);

    /// Learns a row of known target with a weight above 0.
    fn learn(&mut self, x: &[f64], target: f64, weight: f64);

    /// Predicts each tested row, then learns it, one row after the other.
    ///
    /// `predictions` gets a value per row (NaN if it is not tested). The columns must have been checked
    /// ([`NumberStep::check`]).
    fn interleave(&mut self, step: &NumberStep<'_>, predictions: &mut [f64]) {
        let d = self.n_values().len();
        for (i, prediction) in predictions.iter_mut().enumerate() {
            let x = &step.x[i * d..(i + 1) * d];
            *prediction = f64::NAN;
            if step.tests(i) {
                self.predict(x, std::slice::from_mut(prediction));
            }
            let weight = step.weight(i);
            if weight > 0.0 {
                self.learn(x, step.y[i], weight);
            }
        }
    }

    /// Returns names and numbers that describe its state.
    fn facts(&self) -> Vec<(&'static str, u64)> {
        vec![]
    }

    /// Returns the bytes it holds, on the heap and off it.
    fn n_bytes(&self) -> usize;

    /// Returns its state; a learner with the same options continues from it bit for bit ([`Regressor::load`]).
    fn save(&self) -> Vec<u8>;

    /// Restores a saved state.
    ///
    /// # Errors
    /// [`KernelError::Saved`] if the bytes are damaged or of a learner with other options; it is then unchanged.
    fn load(&mut self, bytes: &[u8]) -> Result<(), KernelError>;
}

/// Does the same as [`Regressor::interleave`], row by row, and times both parts of each row.
pub fn interleave_numbers_timed(
    learner: &mut dyn Regressor,
    step: &NumberStep<'_>,
    predictions: &mut [f64],
) -> Timings {
    let (d, n) = (learner.n_values().len(), predictions.len());
    let mut timings = Timings { predict: vec![0; n], learn: vec![0; n] };
    for (i, prediction) in predictions.iter_mut().enumerate() {
        let x = &step.x[i * d..(i + 1) * d];
        *prediction = f64::NAN;
        if step.tests(i) {
            let started = std::time::Instant::now();
            learner.predict(x, std::slice::from_mut(prediction));
            timings.predict[i] = elapsed_since(started);
        }
        let weight = step.weight(i);
        if weight > 0.0 {
            let started = std::time::Instant::now();
            learner.learn(x, step.y[i], weight);
            timings.learn[i] = elapsed_since(started);
        }
    }
    timings
}

#[cfg(test)]
mod tests;
