//! Detectors of change in a column of values, such as the errors of a learner.
//!
//! A detector takes in one value at a time in bounded memory and tells after each whether the stream has changed. A
//! column is taken in as if its values came one by one, so that the signals do not depend on how it is cut. After a
//! drift a detector starts anew, unless its description says what it keeps.

use crate::KernelError;
use crate::codec::{Reader, Writer};

mod adwin;
mod cusum;
mod ddm;
mod eddm;
mod ewma_chart;
mod fhddm;
mod hddm_a;
mod hddm_w;
mod kswin;
mod mean_detector;
mod options;
mod page_hinkley;
mod rddm;
mod ring;
mod stepd;
#[cfg(test)]
mod tests;

pub use adwin::Adwin;
pub use cusum::{Cusum, CusumOptions};
pub use ddm::{Ddm, DdmOptions};
pub use eddm::{Eddm, EddmOptions};
pub use ewma_chart::{EwmaChart, EwmaChartOptions};
pub use fhddm::{Fhddm, FhddmOptions};
pub use hddm_a::{HddmA, HddmAOptions};
pub use hddm_w::{HddmW, HddmWOptions};
pub use kswin::{Kswin, KswinOptions};
pub use mean_detector::MeanDetector;
pub use options::Direction;
pub use page_hinkley::{PageHinkley, PageHinkleyOptions};
pub use rddm::{Rddm, RddmOptions};
pub use stepd::{Stepd, StepdOptions};

/// What a detector says after a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
#[repr(u8)]
pub enum Signal {
    /// Nothing has changed.
    #[default]
    Stable = 0,
    /// Something may be changing.
    Warning = 1,
    /// The stream has changed.
    Drift = 2,
}

/// Which values a detector can take in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Domain {
    /// Any finite number.
    Finite,
    /// Numbers from 0 to 1.
    Unit,
    /// 0 (right) and 1 (wrong) only.
    Binary,
}

/// Tells from values, one after the other, when their distribution has changed.
pub trait Detector: CloneDetector + Send + Sync {
    /// The name its saved state begins with.
    fn name(&self) -> &'static str;

    /// Which values it can take in.
    fn domain(&self) -> Domain {
        Domain::Finite
    }

    /// Take in a value of its domain; what it shows.
    fn update(&mut self, value: f64) -> Signal;

    /// Forget everything but the options.
    fn reset(&mut self);

    /// Start anew after a drift, as what it watches does; only what is to outlast drifts goes on.
    fn restart(&mut self) {
        self.reset();
    }

    /// The bytes it holds, on the heap and off it.
    fn n_bytes(&self) -> usize {
        size_of_val(self)
    }

    /// Append its state to that of something larger.
    fn write(&self, writer: &mut Writer);

    /// Read the state of a detector built alike; on an error it is as it was.
    ///
    /// # Errors
    /// [`KernelError::Saved`] where the bytes are damaged or from a detector built otherwise.
    fn read(&mut self, reader: &mut Reader<'_>) -> Result<(), KernelError>;

    /// Take in values of its domain, in order; what each shows.
    fn update_all(&mut self, values: &[f64], signals: &mut [u8]) {
        for (&value, signal) in values.iter().zip(signals) {
            *signal = self.update(value) as u8;
        }
    }

    /// Its state as bytes.
    fn save(&self) -> Vec<u8> {
        let mut writer = Writer::new(self.name(), 1);
        self.write(&mut writer);
        writer.finish()
    }

    /// Take over the state of a detector built alike; on an error it is as it was.
    ///
    /// # Errors
    /// [`KernelError::Saved`] where the bytes are damaged or from a detector built otherwise.
    fn load(&mut self, bytes: &[u8]) -> Result<(), KernelError> {
        let mut reader = Reader::new(self.name(), 1, bytes)?;
        self.read(&mut reader)?;
        reader.finish()
    }
}

/// Copies detectors behind a `dyn Detector`; every detector that is `Clone` does.
pub trait CloneDetector {
    /// Returns a copy.
    fn clone_box(&self) -> Box<dyn Detector>;
}

impl<T: Detector + Clone + 'static> CloneDetector for T {
    fn clone_box(&self) -> Box<dyn Detector> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn Detector> {
    fn clone(&self) -> Self {
        (**self).clone_box()
    }
}

/// Let a detector take in a column, in order; the signals as numbers. On an error it is as it was.
///
/// # Errors
/// [`KernelError::Monitored`] where a value is not of the detector's domain.
pub fn update_column(detector: &mut dyn Detector, values: &[f64]) -> Result<Vec<u8>, KernelError> {
    detector.domain().check(values)?;
    let mut signals = vec![0; values.len()];
    detector.update_all(values, &mut signals);
    Ok(signals)
}

impl Domain {
    /// Check that every value is of it.
    fn check(self, values: &[f64]) -> Result<(), KernelError> {
        let expected = match self {
            Self::Finite => "a finite number",
            Self::Unit => "a number from 0 to 1",
            Self::Binary => "0 (right) or 1 (wrong)",
        };
        let is_valid = |value: f64| match self {
            Self::Finite => value.is_finite(),
            Self::Unit => (0.0..=1.0).contains(&value),
            Self::Binary => value == 0.0 || value == 1.0,
        };
        // A sweep without branches is much faster than a search.
        if values.iter().fold(true, |valid, &value| valid & is_valid(value)) {
            return Ok(());
        }
        let row = values.iter().position(|&value| !is_valid(value)).unwrap_or_default();
        Err(KernelError::Monitored { row, value: values[row], expected })
    }
}
