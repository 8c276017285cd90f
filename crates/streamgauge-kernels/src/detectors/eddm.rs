//! EDDM: the distance between errors against its maximum.

use super::options::{check_share, read_numbers, write_numbers};
use super::{Detector, Domain, Signal};
use crate::KernelError;
use crate::codec::{Reader, Writer};
use crate::error::check_option;

/// The options of [`Eddm`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EddmOptions {
    /// The share of the maximum below which there is a warning.
    pub warning: f64,
    /// The share of the maximum below which there is a drift.
    pub drift: f64,
    /// The number of initial values, and of initial errors, without a signal.
    pub grace_period: u64,
}

/// A detector of falls of the distance between errors far below its maximum.
///
/// Baena-García and others, "Early drift detection method", 2006. Between two errors the last signal is repeated.
#[derive(Debug, Clone)]
pub struct Eddm {
    options: EddmOptions,
    n: f64,
    n_errors: f64,
    /// The position of the last error.
    last: f64,
    mean: f64,
    /// The sum of the squared differences of the distances from their mean.
    squares: f64,
    /// The greatest mean plus two standard deviations.
    greatest: f64,
    /// 1 during a warning.
    warning_active: f64,
}

impl Eddm {
    /// Creates a detector that has seen no value.
    ///
    /// # Errors
    /// Returns [`KernelError::Option`] if an option is outside its range.
    pub fn new(options: EddmOptions) -> Result<Self, KernelError> {
        check_share("warning", options.warning)?;
        check_share("drift", options.drift)?;
        check_option("warning", options.warning, options.warning >= options.drift, "it must not be less than drift")?;
        Ok(Self {
            options,
            n: 0.0,
            n_errors: 0.0,
            last: 0.0,
            mean: 0.0,
            squares: 0.0,
            greatest: 0.0,
            warning_active: 0.0,
        })
    }

    fn saved_options(&self) -> [f64; 3] {
        [self.options.warning, self.options.drift, self.options.grace_period as f64]
    }

    /// Adds the distance of an error from the one before.
    fn add_distance(&mut self, distance: f64) -> Signal {
        self.n_errors += 1.0;
        let deviation = distance - self.mean;
        self.mean += deviation / self.n_errors;
        self.squares += deviation * (distance - self.mean);
        let grace = self.options.grace_period as f64;
        if self.n <= grace {
            return Signal::Stable;
        }
        let upper = self.mean + 2.0 * (self.squares / (self.n_errors - 1.0).max(1.0)).sqrt();
        if upper > self.greatest {
            self.greatest = upper;
            return Signal::Stable;
        }
        let share = upper / self.greatest;
        if self.n_errors <= grace || share >= self.options.warning {
            Signal::Stable
        } else if share >= self.options.drift {
            Signal::Warning
        } else {
            Signal::Drift
        }
    }
}

impl Detector for Eddm {
    fn name(&self) -> &'static str {
        "Eddm detector"
    }

    fn domain(&self) -> Domain {
        Domain::Binary
    }

    #[inline(always)]
    fn update(&mut self, value: f64) -> Signal {
        self.n += 1.0;
        if value != 1.0 {
            return if self.warning_active == 1.0 { Signal::Warning } else { Signal::Stable };
        }
        let signal = self.add_distance(self.n - self.last);
        self.last = self.n;
        self.warning_active = f64::from(u8::from(signal == Signal::Warning));
        if signal == Signal::Drift {
            self.reset();
        }
        signal
    }

    fn reset(&mut self) {
        (self.n, self.n_errors, self.last, self.mean) = (0.0, 0.0, 0.0, 0.0);
        (self.squares, self.greatest, self.warning_active) = (0.0, 0.0, 0.0);
    }

    fn write(&self, writer: &mut Writer) {
        let numbers = [self.n, self.n_errors, self.last, self.mean, self.squares, self.greatest, self.warning_active];
        write_numbers(writer, &self.saved_options(), &numbers);
    }

    fn read(&mut self, reader: &mut Reader<'_>) -> Result<(), KernelError> {
        let numbers = read_numbers(reader, &self.saved_options())?;
        [self.n, self.n_errors, self.last, self.mean, self.squares, self.greatest, self.warning_active] = numbers;
        Ok(())
    }
}
