//! RDDM: DDM that forgets old values.

use super::ddm::{DdmOptions, ErrorRate};
use super::options::{check_positive, read_numbers, write_numbers};
use super::ring::Ring;
use super::{Detector, Domain, Signal};
use crate::KernelError;
use crate::codec::{Reader, Writer};

/// The options of [`Rddm`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RddmOptions {
    /// The levels and the grace period of DDM.
    pub levels: DdmOptions,
    /// The number of values from which a concept is shortened to the newest of them.
    pub max_concept: u64,
    /// The number of newest values kept for that.
    pub min_stable: usize,
    /// The number of values after which a warning becomes a drift.
    pub max_warning: u64,
}

/// DDM that shortens long concepts, and restarts after a drift with the values since the warning.
///
/// Barros, Cabral, Gonçalves and Santos, "RDDM: Reactive drift detection method", 2017.
#[derive(Debug, Clone)]
pub struct Rddm {
    options: RddmOptions,
    rate: ErrorRate,
    newest: Ring,
    /// The number of values since the start of a warning, including the first; 0 without a warning.
    n_since_warning: f64,
}

impl Rddm {
    /// Creates a detector that has seen no value.
    ///
    /// # Errors
    /// Returns [`KernelError::Option`] if an option is outside its range.
    pub fn new(options: RddmOptions) -> Result<Self, KernelError> {
        options.levels.check()?;
        let RddmOptions { max_concept, min_stable, max_warning, .. } = options;
        check_positive("max_concept", max_concept)?;
        check_positive("min_stable", min_stable as u64)?;
        check_positive("max_warning", max_warning)?;
        Ok(Self { options, rate: ErrorRate::FRESH, newest: Ring::new(min_stable), n_since_warning: 0.0 })
    }

    fn saved_options(&self) -> [f64; 6] {
        let RddmOptions { levels, max_concept, min_stable, max_warning } = self.options;
        let DdmOptions { warning, drift, grace_period } = levels;
        [warning, drift, grace_period as f64, max_concept as f64, min_stable as f64, max_warning as f64]
    }

    /// Restarts after a drift with the newest `n` values.
    #[inline(never)]
    fn restart_after_drift(&mut self, n: usize) -> Signal {
        self.newest.keep_newest(n);
        (self.rate, self.n_since_warning) = (ErrorRate::FRESH, 0.0);
        for outcome in self.newest.iter() {
            let (rate, deviation) = self.rate.update(f64::from(outcome));
            if self.rate.n > self.options.levels.grace_period as f64 {
                self.rate.keep_least(rate, deviation);
            }
        }
        Signal::Drift
    }

    /// Forgets all but the kept values; the minimum rate stays.
    #[inline(never)]
    fn shorten(&mut self) {
        (self.rate.n, self.rate.errors) = (self.newest.len() as f64, self.newest.n_ones() as f64);
    }
}

impl Detector for Rddm {
    fn name(&self) -> &'static str {
        "Rddm detector"
    }

    fn domain(&self) -> Domain {
        Domain::Binary
    }

    #[inline(always)]
    fn update(&mut self, value: f64) -> Signal {
        self.newest.push(value as u8);
        let (rate, deviation) = self.rate.update(value);
        self.n_since_warning += f64::from(u8::from(self.n_since_warning > 0.0));
        if self.rate.n <= self.options.levels.grace_period as f64 {
            return Signal::Stable;
        }
        self.rate.keep_least(rate, deviation);
        match self.rate.signal(rate, deviation, &self.options.levels) {
            Signal::Drift => return self.restart_after_drift((self.n_since_warning as usize).max(1)),
            Signal::Warning if self.n_since_warning > self.options.max_warning as f64 => {
                return self.restart_after_drift(1);
            }
            Signal::Warning => {
                self.n_since_warning = self.n_since_warning.max(1.0);
                return Signal::Warning;
            }
            Signal::Stable => self.n_since_warning = 0.0,
        }
        if self.rate.n >= self.options.max_concept as f64 {
            self.shorten();
        }
        Signal::Stable
    }

    fn reset(&mut self) {
        self.newest.clear();
        (self.rate, self.n_since_warning) = (ErrorRate::FRESH, 0.0);
    }

    fn n_bytes(&self) -> usize {
        size_of::<Self>() + self.newest.n_bytes()
    }

    fn write(&self, writer: &mut Writer) {
        let ErrorRate { n, errors, least_rate, least_deviation } = self.rate;
        write_numbers(writer, &self.saved_options(), &[n, errors, least_rate, least_deviation, self.n_since_warning]);
        self.newest.write(writer);
    }

    fn read(&mut self, reader: &mut Reader<'_>) -> Result<(), KernelError> {
        let [n, errors, least_rate, least_deviation, n_since_warning] = read_numbers(reader, &self.saved_options())?;
        self.newest = self.newest.read(reader)?;
        (self.rate, self.n_since_warning) = (ErrorRate { n, errors, least_rate, least_deviation }, n_since_warning);
        Ok(())
    }
}
