//! STEPD: the newest errors against all before.

use super::options::{check_not_negative, check_positive, read_numbers, write_numbers};
use super::ring::Ring;
use super::{Detector, Direction, Domain, Signal};
use crate::KernelError;
use crate::codec::{Reader, Writer};
use crate::error::check_option;

/// The options of [`Stepd`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepdOptions {
    /// The number of newest values.
    pub width: usize,
    /// The value of the standard normal statistic above which a warning is given.
    pub warning: f64,
    /// The value of the statistic above which a drift is signalled.
    pub drift: f64,
    /// The direction of changes of the error rate that are signalled.
    pub direction: Direction,
}

/// A detector that tests whether the newest errors have the same proportion as all earlier ones.
///
/// Nishida and Yamauchi, "Detecting concept drift using statistical testing", 2007: the test of equal proportions with
/// the correction for continuity. If the correction exceeds the difference, the statistic is below 0 and not
/// significant; MOA takes its absolute value there, and signals false alarms at small error rates.
#[derive(Debug, Clone)]
pub struct Stepd {
    options: StepdOptions,
    newest: Ring,
    n_older: f64,
    older_errors: f64,
}

impl Stepd {
    /// Creates a detector that has seen no value.
    ///
    /// # Errors
    /// Returns [`KernelError::Option`] if an option is outside its range.
    pub fn new(options: StepdOptions) -> Result<Self, KernelError> {
        check_positive("width", options.width as u64)?;
        check_not_negative("warning", options.warning)?;
        check_not_negative("drift", options.drift)?;
        check_option(
            "warning",
            options.warning,
            options.warning <= options.drift,
            "it must not be greater than drift",
        )?;
        Ok(Self { options, newest: Ring::new(options.width), n_older: 0.0, older_errors: 0.0 })
    }

    fn saved_options(&self) -> [f64; 4] {
        let StepdOptions { width, warning, drift, direction } = self.options;
        [width as f64, warning, drift, direction.code()]
    }

    /// Returns the statistic, or 0 if the rate has changed in a direction that is not signalled.
    #[inline(always)]
    fn statistic(&self) -> f64 {
        let (n_newest, newest_errors) = (self.options.width as f64, self.newest.n_ones() as f64);
        let difference = newest_errors / n_newest - self.older_errors / self.n_older;
        let direction = self.options.direction;
        if !((direction.is_up() & (difference > 0.0)) | (direction.is_down() & (difference < 0.0))) {
            return 0.0;
        }
        let inverse_sizes = 1.0 / self.n_older + 1.0 / n_newest;
        let pooled = (self.older_errors + newest_errors) / (self.n_older + n_newest);
        (difference.abs() - 0.5 * inverse_sizes) / (pooled * (1.0 - pooled) * inverse_sizes).sqrt()
    }
}

impl Detector for Stepd {
    fn name(&self) -> &'static str {
        "Stepd detector"
    }

    fn domain(&self) -> Domain {
        Domain::Binary
    }

    #[inline(always)]
    fn update(&mut self, value: f64) -> Signal {
        if let Some(outcome) = self.newest.push(value as u8) {
            self.n_older += 1.0;
            self.older_errors += f64::from(outcome);
        }
        if self.n_older < self.options.width as f64 {
            return Signal::Stable;
        }
        let statistic = self.statistic();
        if statistic > self.options.drift {
            self.reset();
            Signal::Drift
        } else if statistic > self.options.warning {
            Signal::Warning
        } else {
            Signal::Stable
        }
    }

    fn reset(&mut self) {
        self.newest.clear();
        (self.n_older, self.older_errors) = (0.0, 0.0);
    }

    fn n_bytes(&self) -> usize {
        size_of::<Self>() + self.newest.n_bytes()
    }

    fn write(&self, writer: &mut Writer) {
        write_numbers(writer, &self.saved_options(), &[self.n_older, self.older_errors]);
        self.newest.write(writer);
    }

    fn read(&mut self, reader: &mut Reader<'_>) -> Result<(), KernelError> {
        let [n_older, older_errors] = read_numbers(reader, &self.saved_options())?;
        self.newest = self.newest.read(reader)?;
        (self.n_older, self.older_errors) = (n_older, older_errors);
        Ok(())
    }
}
