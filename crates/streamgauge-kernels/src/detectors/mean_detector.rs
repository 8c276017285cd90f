//! A detector on the running mean of the values.

use super::options::{read_numbers, write_numbers};
use super::{Detector, Domain, Level, Signal};
use crate::KernelError;
use crate::codec::{Reader, Writer};
use crate::error::check_option;
use crate::randomness::Purpose;

/// A detector on the mean of the values so far; after a drift the mean restarts, or continues over all values.
///
/// Gama, Sebastião and Rodrigues monitor a prequential error rate this way: "Issues in evaluation of stream learning
/// algorithms", 2009.
#[derive(Clone)]
pub struct MeanDetector {
    detector: Box<dyn Detector>,
    restarts: bool,
    n: f64,
    total: f64,
}

impl MeanDetector {
    /// Wraps a detector; with `restarts` the mean restarts after a drift.
    ///
    /// # Errors
    /// Returns [`KernelError::Option`] if the detector accepts only 0 and 1.
    pub fn new(detector: Box<dyn Detector>, restarts: bool) -> Result<Self, KernelError> {
        let expected = "it accepts only 0 and 1, not a mean";
        check_option("detector", detector.name(), detector.domain() != Domain::Binary, expected)?;
        Ok(Self { detector, restarts, n: 0.0, total: 0.0 })
    }

    /// Restarts the mean, unless it continues over drifts.
    fn reset_mean(&mut self) {
        if self.restarts {
            (self.n, self.total) = (0.0, 0.0);
        }
    }
}

impl Detector for MeanDetector {
    fn name(&self) -> &'static str {
        "OfMean detector"
    }

    fn domain(&self) -> Domain {
        self.detector.domain()
    }

    fn update(&mut self, value: f64) -> Signal {
        self.update_traced(value).0
    }

    fn has_level(&self) -> bool {
        self.detector.has_level()
    }

    fn update_traced(&mut self, value: f64) -> (Signal, Option<Level>) {
        self.n += 1.0;
        self.total += value;
        let (signal, level) = self.detector.update_traced(self.total / self.n);
        if signal == Signal::Drift {
            self.reset_mean();
        }
        (signal, level)
    }

    fn reset(&mut self) {
        (self.n, self.total) = (0.0, 0.0);
        self.detector.reset();
    }

    fn restart(&mut self) {
        self.reset_mean();
        self.detector.restart();
    }

    fn n_bytes(&self) -> usize {
        size_of::<Self>() + self.detector.n_bytes()
    }

    fn write(&self, writer: &mut Writer) {
        writer.u64(Purpose::named(self.detector.name()).0);
        write_numbers(writer, &[f64::from(u8::from(self.restarts))], &[self.n, self.total]);
        self.detector.write(writer);
    }

    fn read(&mut self, reader: &mut Reader<'_>) -> Result<(), KernelError> {
        if reader.u64()? != Purpose::named(self.detector.name()).0 {
            return Err(reader.error("it wraps another detector"));
        }
        let [n, total] = read_numbers(reader, &[f64::from(u8::from(self.restarts))])?;
        self.detector.read(reader)?;
        (self.n, self.total) = (n, total);
        Ok(())
    }
}
