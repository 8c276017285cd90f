//! Detectors of changes in a column of values, such as the errors of a learner.
//!
//! A detector reads one value at a time, in bounded memory, and signals after each whether the stream has changed. The
//! signals do not depend on how a stream is cut into columns. After a drift a detector restarts, unless its description
//! says what it keeps.

use crate::KernelError;
use crate::codec::{Reader, Writer};
use crate::error::check_option;

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

/// The signal of a detector after a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
#[repr(u8)]
pub enum Signal {
    /// No change.
    #[default]
    Stable = 0,
    /// A possible change.
    Warning = 1,
    /// A change.
    Drift = 2,
}

/// The values that a detector accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Domain {
    /// Any finite number.
    Finite,
    /// Numbers from 0 to 1.
    Unit,
    /// 0 (right) and 1 (wrong) only.
    Binary,
}

/// What a detector compares after a value: a drift is signalled where the statistic exceeds the threshold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Level {
    /// The statistic.
    pub statistic: f64,
    /// The threshold; NaN, which nothing exceeds, where nothing is compared.
    pub threshold: f64,
}

impl Level {
    #[inline(always)]
    fn is_passed(self) -> bool {
        self.statistic > self.threshold
    }
}

/// A detector of changes in the distribution of values.
pub trait Detector: CloneDetector + Send + Sync {
    /// Returns the name at the start of its saved state.
    fn name(&self) -> &'static str;

    /// Returns the values that it accepts.
    fn domain(&self) -> Domain {
        Domain::Finite
    }

    /// Adds a value of its domain; returns the signal.
    fn update(&mut self, value: f64) -> Signal;

    /// Returns whether it compares one statistic with one threshold, see [`Detector::update_traced`].
    fn has_level(&self) -> bool {
        false
    }

    /// Like [`Detector::update`]; returns also what was compared, if [`Detector::has_level`].
    fn update_traced(&mut self, value: f64) -> (Signal, Option<Level>) {
        (self.update(value), None)
    }

    /// Forgets everything but the options.
    fn reset(&mut self);

    /// Restarts after a drift together with the learner it monitors; only what outlasts drifts is kept.
    fn restart(&mut self) {
        self.reset();
    }

    /// Returns the memory it uses in bytes, on the heap and off it.
    fn n_bytes(&self) -> usize {
        size_of_val(self)
    }

    /// Appends its state to a larger one.
    fn write(&self, writer: &mut Writer);

    /// Reads the state of a detector with the same options; an error leaves it unchanged.
    ///
    /// # Errors
    /// Returns [`KernelError::Saved`] if the bytes are damaged or from a detector with other options.
    fn read(&mut self, reader: &mut Reader<'_>) -> Result<(), KernelError>;

    /// Adds values of its domain in order; writes the signal of each.
    fn update_all(&mut self, values: &[f64], signals: &mut [u8]) {
        for (&value, signal) in values.iter().zip(signals) {
            *signal = self.update(value) as u8;
        }
    }

    /// Saves the state.
    fn save(&self) -> Vec<u8> {
        let mut writer = Writer::new(self.name(), 1);
        self.write(&mut writer);
        writer.finish()
    }

    /// Restores the state of a detector with the same options; an error leaves it unchanged.
    ///
    /// # Errors
    /// Returns [`KernelError::Saved`] if the bytes are damaged or from a detector with other options.
    fn load(&mut self, bytes: &[u8]) -> Result<(), KernelError> {
        let mut reader = Reader::new(self.name(), 1, bytes)?;
        self.read(&mut reader)?;
        reader.finish()
    }
}

/// Copying of a `dyn Detector`; implemented for every detector that is `Clone`.
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

/// Adds a column to a detector, in order; returns the signals as numbers. An error leaves the detector unchanged.
///
/// # Errors
/// Returns [`KernelError::Monitored`] if a value is not of the detector's domain.
pub fn update_column(detector: &mut dyn Detector, values: &[f64]) -> Result<Vec<u8>, KernelError> {
    detector.domain().check(values)?;
    let mut signals = vec![0; values.len()];
    detector.update_all(values, &mut signals);
    Ok(signals)
}

/// The columns of [`trace_column`].
#[derive(Debug, Clone, PartialEq)]
pub struct DetectorTrace {
    /// The signals as numbers.
    pub signals: Vec<u8>,
    /// The statistic after each value.
    pub statistic: Vec<f64>,
    /// The threshold after each value; NaN where nothing is compared.
    pub threshold: Vec<f64>,
}

/// Adds a column to a detector like [`update_column`]; returns also what it compared after each value.
///
/// # Errors
/// Returns [`KernelError::Option`] if the detector does not compare one statistic with one threshold,
/// [`KernelError::Monitored`] if a value is not of its domain.
pub fn trace_column(detector: &mut dyn Detector, values: &[f64]) -> Result<DetectorTrace, KernelError> {
    let expected = "it does not compare one statistic with one threshold";
    check_option("detector", detector.name(), detector.has_level(), expected)?;
    detector.domain().check(values)?;
    let (mut signals, mut statistic, mut threshold) = (vec![], vec![], vec![]);
    for &value in values {
        let (signal, level) = detector.update_traced(value);
        let level = level.unwrap_or(Level { statistic: f64::NAN, threshold: f64::NAN });
        signals.push(signal as u8);
        statistic.push(level.statistic);
        threshold.push(level.threshold);
    }
    Ok(DetectorTrace { signals, statistic, threshold })
}

impl Domain {
    /// Checks that every value belongs to it.
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
        // A scan without branches is much faster than a search.
        if values.iter().fold(true, |valid, &value| valid & is_valid(value)) {
            return Ok(());
        }
        let row = values.iter().position(|&value| !is_valid(value)).unwrap_or_default();
        Err(KernelError::Monitored { row, value: values[row], expected })
    }
}
