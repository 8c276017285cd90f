//! FHDDM: the rate of right predictions in a window against its maximum.

use super::options::{check_open_unit, check_positive, read_numbers, write_numbers};
use super::ring::Ring;
use super::{Detector, Domain, Signal};
use crate::KernelError;
use crate::codec::{Reader, Writer};

/// The options of [`Fhddm`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FhddmOptions {
    /// The probability of a false alarm per test.
    pub delta: f64,
    /// The number of values in the window.
    pub width: usize,
}

/// A detector of falls of the share of right predictions in a window below its maximum, by Hoeffding's bound.
///
/// Pesaranghader and Viktor, "Fast Hoeffding drift detection method for evolving data streams", 2016.
#[derive(Debug, Clone)]
pub struct Fhddm {
    options: FhddmOptions,
    bound: f64,
    window: Ring,
    greatest: f64,
}

impl Fhddm {
    /// Creates a detector that has seen no value.
    ///
    /// # Errors
    /// Returns [`KernelError::Option`] if an option is outside its range.
    pub fn new(options: FhddmOptions) -> Result<Self, KernelError> {
        check_open_unit("delta", options.delta)?;
        check_positive("width", options.width as u64)?;
        let bound = ((1.0 / options.delta).ln() / (2.0 * options.width as f64)).sqrt();
        Ok(Self { options, bound, window: Ring::new(options.width), greatest: 0.0 })
    }

    fn saved_options(&self) -> [f64; 2] {
        [self.options.delta, self.options.width as f64]
    }
}

impl Detector for Fhddm {
    fn name(&self) -> &'static str {
        "Fhddm detector"
    }

    fn domain(&self) -> Domain {
        Domain::Binary
    }

    #[inline(always)]
    fn update(&mut self, value: f64) -> Signal {
        self.window.push(value as u8);
        if !self.window.is_full() {
            return Signal::Stable;
        }
        let width = self.options.width;
        let right = (width - self.window.n_ones()) as f64 / width as f64;
        self.greatest = self.greatest.max(right);
        if self.greatest - right > self.bound {
            self.reset();
            return Signal::Drift;
        }
        Signal::Stable
    }

    fn reset(&mut self) {
        self.window.clear();
        self.greatest = 0.0;
    }

    fn n_bytes(&self) -> usize {
        size_of::<Self>() + self.window.n_bytes()
    }

    fn write(&self, writer: &mut Writer) {
        write_numbers(writer, &self.saved_options(), &[self.greatest]);
        self.window.write(writer);
    }

    fn read(&mut self, reader: &mut Reader<'_>) -> Result<(), KernelError> {
        let [greatest] = read_numbers(reader, &self.saved_options())?;
        self.window = self.window.read(reader)?;
        self.greatest = greatest;
        Ok(())
    }
}
