//! DDM: the error rate against its minimum.

use super::options::{check_not_negative, read_numbers, write_numbers};
use super::{Detector, Domain, Level, Signal};
use crate::KernelError;
use crate::codec::{Reader, Writer};
use crate::error::check_option;

/// The options of [`Ddm`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DdmOptions {
    /// The number of standard deviations above the minimum that is a warning.
    pub warning: f64,
    /// The number of standard deviations above the minimum that is a drift.
    pub drift: f64,
    /// The number of initial values without a signal.
    pub grace_period: u64,
}

/// An error rate, and the lowest so far with its standard deviation.
#[derive(Debug, Clone, Copy)]
pub(super) struct ErrorRate {
    pub(super) n: f64,
    pub(super) errors: f64,
    /// Rate and standard deviation at the minimum of their sum.
    pub(super) least_rate: f64,
    pub(super) least_deviation: f64,
}

/// A detector of rises of an error rate far above its minimum.
///
/// Gama, Medas, Castillo and Rodrigues, "Learning with drift detection", 2004.
#[derive(Debug, Clone)]
pub struct Ddm {
    options: DdmOptions,
    rate: ErrorRate,
}

impl DdmOptions {
    /// Checks every option.
    pub(super) fn check(&self) -> Result<(), KernelError> {
        check_not_negative("warning", self.warning)?;
        check_not_negative("drift", self.drift)?;
        check_option("warning", self.warning, self.warning <= self.drift, "it must not be greater than drift")
    }
}

impl ErrorRate {
    pub(super) const FRESH: Self =
        Self { n: 0.0, errors: 0.0, least_rate: f64::INFINITY, least_deviation: f64::INFINITY };

    /// Adds a value; returns the rate and its standard deviation.
    #[inline(always)]
    pub(super) fn update(&mut self, value: f64) -> (f64, f64) {
        self.n += 1.0;
        self.errors += value;
        let rate = self.errors / self.n;
        (rate, (rate * (1.0 - rate) / self.n).sqrt())
    }

    /// Updates the minimum.
    #[inline(always)]
    pub(super) fn keep_least(&mut self, rate: f64, deviation: f64) {
        if rate + deviation <= self.least_rate + self.least_deviation {
            (self.least_rate, self.least_deviation) = (rate, deviation);
        }
    }

    /// Returns a rate with its deviation, and a number of deviations above the minimum.
    #[inline(always)]
    fn level(&self, rate: f64, deviation: f64, n_deviations: f64) -> Level {
        Level { statistic: rate + deviation, threshold: self.least_rate + n_deviations * self.least_deviation }
    }

    /// Compares a rate with the minimum.
    #[inline(always)]
    pub(super) fn signal(&self, rate: f64, deviation: f64, options: &DdmOptions) -> Signal {
        if self.level(rate, deviation, options.drift).is_passed() {
            Signal::Drift
        } else if self.level(rate, deviation, options.warning).is_passed() {
            Signal::Warning
        } else {
            Signal::Stable
        }
    }
}

impl Ddm {
    /// Creates a detector that has seen no value.
    ///
    /// # Errors
    /// Returns [`KernelError::Option`] if an option is outside its range.
    pub fn new(options: DdmOptions) -> Result<Self, KernelError> {
        options.check()?;
        Ok(Self { options, rate: ErrorRate::FRESH })
    }

    fn saved_options(&self) -> [f64; 3] {
        [self.options.warning, self.options.drift, self.options.grace_period as f64]
    }
}

impl Detector for Ddm {
    fn name(&self) -> &'static str {
        "Ddm detector"
    }

    fn domain(&self) -> Domain {
        Domain::Unit
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
        let (rate, deviation) = self.rate.update(value);
        if self.rate.n <= self.options.grace_period as f64 {
            return (Signal::Stable, Some(Level { statistic: rate + deviation, threshold: f64::NAN }));
        }
        self.rate.keep_least(rate, deviation);
        let level = self.rate.level(rate, deviation, self.options.drift);
        let signal = self.rate.signal(rate, deviation, &self.options);
        if signal == Signal::Drift {
            self.reset();
        }
        (signal, Some(level))
    }

    fn reset(&mut self) {
        self.rate = ErrorRate::FRESH;
    }

    fn write(&self, writer: &mut Writer) {
        let ErrorRate { n, errors, least_rate, least_deviation } = self.rate;
        write_numbers(writer, &self.saved_options(), &[n, errors, least_rate, least_deviation]);
    }

    fn read(&mut self, reader: &mut Reader<'_>) -> Result<(), KernelError> {
        let [n, errors, least_rate, least_deviation] = read_numbers(reader, &self.saved_options())?;
        self.rate = ErrorRate { n, errors, least_rate, least_deviation };
        Ok(())
    }
}
