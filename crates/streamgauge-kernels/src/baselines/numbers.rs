//! The baselines of a numeric target: the mean of the targets so far, and the target seen last.

use crate::KernelError;
use crate::codec::{Reader, Writer};
use crate::error::check_length;
use crate::learners::TargetMean;

const NAME: &str = "NumberBaselines";

/// Both baselines of a fold.
#[derive(Debug, Clone)]
pub struct NumberBaselines {
    mean: TargetMean,
    last: f64,
}

impl Default for NumberBaselines {
    fn default() -> Self {
        Self { mean: TargetMean::default(), last: f64::NAN }
    }
}

impl NumberBaselines {
    /// Returns what the two predict for each row, before they learn its target; NaN before the first target.
    ///
    /// A target is NaN if it is not known or may not be learnt.
    ///
    /// # Errors
    /// [`KernelError::Shape`] if the weights differ in length from the targets.
    pub fn update(&mut self, targets: &[f64], weight: Option<&[f64]>) -> Result<(Vec<f64>, Vec<f64>), KernelError> {
        check_length("weight", weight.map_or(targets.len(), <[f64]>::len), targets.len())?;
        let (mut means, mut lasts) = (Vec::with_capacity(targets.len()), Vec::with_capacity(targets.len()));
        for (row, &target) in targets.iter().enumerate() {
            means.push(self.mean.value());
            lasts.push(self.last);
            let weight = weight.map_or(1.0, |weight| weight[row]);
            if !target.is_nan() && weight > 0.0 {
                self.mean.add(target, weight);
                self.last = target;
            }
        }
        Ok((means, lasts))
    }

    /// Saves the state.
    #[must_use]
    pub fn save(&self) -> Vec<u8> {
        let mut writer = Writer::new(NAME, 1);
        self.mean.write(&mut writer);
        writer.f64(self.last);
        writer.finish()
    }

    /// Restores a saved state.
    ///
    /// # Errors
    /// [`KernelError::Saved`] if the bytes are damaged.
    pub fn load(&mut self, bytes: &[u8]) -> Result<(), KernelError> {
        let mut reader = Reader::new(NAME, 1, bytes)?;
        let (mean, last) = (TargetMean::read(&mut reader)?, reader.f64()?);
        reader.finish()?;
        *self = Self { mean, last };
        Ok(())
    }
}
