//! Baselines: the mean of the targets so far, and the target seen last.

use super::Regressor;
use crate::KernelError;
use crate::codec::{Reader, Writer};

/// The weighted mean of targets, by compensated sums (Neumaier).
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct TargetMean {
    weight: f64,
    sum: f64,
    compensation: f64,
}

impl TargetMean {
    /// Returns the mean; NaN before the first target.
    #[inline(always)]
    #[must_use]
    pub fn value(&self) -> f64 {
        (self.sum + self.compensation) / self.weight
    }

    /// Adds a target.
    #[inline(always)]
    pub fn add(&mut self, target: f64, weight: f64) {
        let number = target * weight;
        let sum = self.sum + number;
        self.compensation +=
            if self.sum.abs() >= number.abs() { (self.sum - sum) + number } else { (number - sum) + self.sum };
        self.sum = sum;
        self.weight += weight;
    }

    /// Appends it to a saved state.
    pub fn write(&self, writer: &mut Writer) {
        writer.f64s(&[self.weight, self.sum, self.compensation]);
    }

    /// Reads it from a saved state.
    ///
    /// # Errors
    /// [`KernelError::Saved`] if the bytes end.
    pub fn read(reader: &mut Reader<'_>) -> Result<Self, KernelError> {
        let mut parts = [0.0; 3];
        reader.f64s_into(&mut parts)?;
        let [weight, sum, compensation] = parts;
        if !(0.0..f64::INFINITY).contains(&weight) {
            return Err(reader.error("its weight is not a finite number of 0 or more"));
        }
        Ok(Self { weight, sum, compensation })
    }
}

/// Predicts the mean of the targets learnt so far.
#[derive(Debug, Clone)]
pub struct MeanTarget {
    n_values: Vec<u32>,
    mean: TargetMean,
}

impl MeanTarget {
    const NAME: &str = "MeanTarget";

    /// Creates an untrained learner.
    #[must_use]
    pub fn new(n_values: Vec<u32>) -> Self {
        Self { n_values, mean: TargetMean::default() }
    }
}

impl Regressor for MeanTarget {
    fn n_values(&self) -> &[u32] {
        &self.n_values
    }

    fn predict(&self, _x: &[f64], predictions: &mut [f64]) {
        predictions.fill(self.mean.value());
    }

    fn learn(&mut self, _x: &[f64], target: f64, weight: f64) {
        self.mean.add(target, weight);
    }

    fn n_bytes(&self) -> usize {
        size_of::<Self>() + 4 * self.n_values.capacity()
    }

    fn save(&self) -> Vec<u8> {
        let mut writer = Writer::new(Self::NAME, 1);
        self.mean.write(&mut writer);
        writer.finish()
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), KernelError> {
        let mut reader = Reader::new(Self::NAME, 1, bytes)?;
        let mean = TargetMean::read(&mut reader)?;
        reader.finish()?;
        self.mean = mean;
        Ok(())
    }
}

/// Predicts the target learnt last.
#[derive(Debug, Clone)]
pub struct LastTarget {
    n_values: Vec<u32>,
    last: f64,
}

impl LastTarget {
    const NAME: &str = "LastTarget";

    /// Creates an untrained learner.
    #[must_use]
    pub fn new(n_values: Vec<u32>) -> Self {
        Self { n_values, last: f64::NAN }
    }
}

impl Regressor for LastTarget {
    fn n_values(&self) -> &[u32] {
        &self.n_values
    }

    fn predict(&self, _x: &[f64], predictions: &mut [f64]) {
        predictions.fill(self.last);
    }

    fn learn(&mut self, _x: &[f64], target: f64, _weight: f64) {
        self.last = target;
    }

    fn n_bytes(&self) -> usize {
        size_of::<Self>() + 4 * self.n_values.capacity()
    }

    fn save(&self) -> Vec<u8> {
        let mut writer = Writer::new(Self::NAME, 1);
        writer.f64(self.last);
        writer.finish()
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), KernelError> {
        let mut reader = Reader::new(Self::NAME, 1, bytes)?;
        let last = reader.f64()?;
        reader.finish()?;
        self.last = last;
        Ok(())
    }
}
