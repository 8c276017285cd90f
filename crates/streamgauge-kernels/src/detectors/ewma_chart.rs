//! ECDD: a chart of the exponentially weighted error rate.

use super::options::{check_share, read_numbers, write_numbers};
use super::{Detector, Domain, Level, Signal};
use crate::KernelError;
use crate::codec::{Reader, Writer};
use crate::error::option_error;

/// The options of [`EwmaChart`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EwmaChartOptions {
    /// The weight of the newest value in the moving mean.
    pub newest_weight: f64,
    /// The average number of values between false alarms: 100, 400 or 1,000.
    pub run_length: u64,
    /// The number of initial values without a signal.
    pub grace_period: u64,
}

/// A detector that compares a moving mean of the errors with their mean so far.
///
/// Ross, Adams, Tasoulis and Hand, "Exponentially weighted moving average charts for detecting concept drift", 2012.
/// The control limit is their polynomial of the error rate, fitted for a weight of 0.2; a warning is at half of it. The
/// moving mean starts at 0, as in MOA.
#[derive(Debug, Clone)]
pub struct EwmaChart {
    options: EwmaChartOptions,
    /// The coefficients of 1, p, p^3, p^5 and p^7 in the control limit.
    limit: [f64; 5],
    n: f64,
    errors: f64,
    moving: f64,
    /// The squared weight of the initial value.
    start: f64,
}

impl EwmaChart {
    /// Creates a detector that has seen no value.
    ///
    /// # Errors
    /// Returns [`KernelError::Option`] if an option is outside its range.
    pub fn new(options: EwmaChartOptions) -> Result<Self, KernelError> {
        check_share("newest_weight", options.newest_weight)?;
        let limit = match options.run_length {
            100 => [2.76, -6.23, 18.12, -312.45, 1002.18],
            400 => [3.97, -6.56, 48.73, -330.13, 848.18],
            1000 => [1.17, 7.56, -21.24, 112.12, -987.23],
            other => return Err(option_error("run_length", other, "it must be 100, 400 or 1000")),
        };
        Ok(Self { options, limit, n: 0.0, errors: 0.0, moving: 0.0, start: 1.0 })
    }

    fn saved_options(&self) -> [f64; 3] {
        [self.options.newest_weight, self.options.run_length as f64, self.options.grace_period as f64]
    }
}

impl Detector for EwmaChart {
    fn name(&self) -> &'static str {
        "EwmaChart detector"
    }

    fn domain(&self) -> Domain {
        Domain::Binary
    }

    #[inline(always)]
    fn update(&mut self, value: f64) -> Signal {
        self.update_traced(value).0
    }

    fn has_level(&self) -> bool {
        true
    }

    #[inline(always)]
    fn update_traced(&mut self, value: f64) -> (Signal, Option<Level>) {
        let weight = self.options.newest_weight;
        self.n += 1.0;
        self.errors += value;
        self.moving += weight * (value - self.moving);
        self.start *= (1.0 - weight) * (1.0 - weight);
        if self.n <= self.options.grace_period as f64 {
            return (Signal::Stable, Some(Level { statistic: self.moving, threshold: f64::NAN }));
        }
        let rate = self.errors / self.n;
        let deviation = (rate * (1.0 - rate) * weight * (1.0 - self.start) / (2.0 - weight)).sqrt();
        let [c0, c1, c3, c5, c7] = self.limit;
        let squared = rate * rate;
        let limit = (c0 + rate * (c1 + squared * (c3 + squared * (c5 + squared * c7)))) * deviation;
        let level = Level { statistic: self.moving, threshold: rate + limit };
        let signal = if level.is_passed() {
            Signal::Drift
        } else if self.moving > rate + 0.5 * limit {
            Signal::Warning
        } else {
            Signal::Stable
        };
        if signal == Signal::Drift {
            self.reset();
        }
        (signal, Some(level))
    }

    fn reset(&mut self) {
        (self.n, self.errors, self.moving, self.start) = (0.0, 0.0, 0.0, 1.0);
    }

    fn write(&self, writer: &mut Writer) {
        write_numbers(writer, &self.saved_options(), &[self.n, self.errors, self.moving, self.start]);
    }

    fn read(&mut self, reader: &mut Reader<'_>) -> Result<(), KernelError> {
        [self.n, self.errors, self.moving, self.start] = read_numbers(reader, &self.saved_options())?;
        Ok(())
    }
}
