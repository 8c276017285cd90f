//! DDM: the error rate against its minimum.

use super::options::{check_not_negative, read_numbers, write_numbers};
use super::{Detector, Domain, Signal};
use crate::KernelError;
use crate::codec::{Reader, Writer};
use crate::error::check_option;

/// The options of [`Ddm`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DdmOptions {
    /// How many standard deviations above the minimum a warning is given.
    pub warning: f64,
    /// How many standard deviations above the minimum a drift is signalled.
    pub drift: f64,
    /// The first so many values give no signal.
    pub grace_period: u64,
}

/// An error rate with its standard deviation, and the lowest there has been.
#[derive(Debug, Clone, Copy)]
pub(super) struct ErrorRate {
    pub(super) n: f64,
    pub(super) errors: f64,
    /// Rate and standard deviation where their sum was lowest.
    pub(super) least_rate: f64,
    pub(super) least_deviation: f64,
}

/// Watches an error rate: it may not rise far above the lowest it has been.
///
/// Gama, Medas, Castillo and Rodrigues, "Learning with drift detection", 2004.
#[derive(Debug, Clone)]
pub struct Ddm {
    options: DdmOptions,
    rate: ErrorRate,
}

impl DdmOptions {
    /// Check every option.
    pub(super) fn check(&self) -> Result<(), KernelError> {
        check_not_negative("warning", self.warning)?;
        check_not_negative("drift", self.drift)?;
        check_option("warning", self.warning, self.warning <= self.drift, "it must not be greater than drift")
    }
}

impl ErrorRate {
    pub(super) const FRESH: Self =
        Self { n: 0.0, errors: 0.0, least_rate: f64::INFINITY, least_deviation: f64::INFINITY };

    /// Take in a value; the rate and its standard deviation.
    #[inline(always)]
    pub(super) fn update(&mut self, value: f64) -> (f64, f64) {
        self.n += 1.0;
        self.errors += value;
        let rate = self.errors / self.n;
        (rate, (rate * (1.0 - rate) / self.n).sqrt())
    }

    /// Keep the lowest there has been.
    #[inline(always)]
    pub(super) fn keep_least(&mut self, rate: f64, deviation: f64) {
        if rate + deviation <= self.least_rate + self.least_deviation {
            (self.least_rate, self.least_deviation) = (rate, deviation);
        }
    }

    /// What a rate shows against the lowest.
    #[inline(always)]
    pub(super) fn signal(&self, rate: f64, deviation: f64, options: &DdmOptions) -> Signal {
        let level = rate + deviation;
        if level > self.least_rate + options.drift * self.least_deviation {
            Signal::Drift
        } else if level > self.least_rate + options.warning * self.least_deviation {
            Signal::Warning
        } else {
            Signal::Stable
        }
    }
}

impl Ddm {
    /// A detector that has seen nothing.
    ///
    /// # Errors
    /// [`KernelError::Option`] where an option is outside its range.
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
        let (rate, deviation) = self.rate.update(value);
        if self.rate.n <= self.options.grace_period as f64 {
            return Signal::Stable;
        }
        self.rate.keep_least(rate, deviation);
        let signal = self.rate.signal(rate, deviation, &self.options);
        if signal == Signal::Drift {
            self.reset();
        }
        signal
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
