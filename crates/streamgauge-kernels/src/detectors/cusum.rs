//! The cumulative sum chart.

use super::options::{check_not_negative, read_numbers, write_numbers};
use super::{Detector, Direction, Level, Signal};
use crate::KernelError;
use crate::codec::{Reader, Writer};

/// The options of [`Cusum`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CusumOptions {
    /// The difference from the mean that does not add to the sum.
    pub delta: f64,
    /// The sum above which a drift is signalled.
    pub threshold: f64,
    /// The number of initial values without a signal.
    pub grace_period: u64,
    /// The direction of changes that are signalled.
    pub direction: Direction,
}

/// A detector that sums how far the values are above, and below, their mean; no sum falls below 0.
///
/// Page, "Continuous inspection schemes", 1954, about the mean of the values so far, as in MOA.
#[derive(Debug, Clone)]
pub struct Cusum {
    options: CusumOptions,
    n: f64,
    total: f64,
    rise: f64,
    fall: f64,
}

impl Cusum {
    /// Creates a detector that has seen no value.
    ///
    /// # Errors
    /// Returns [`KernelError::Option`] if an option is outside its range.
    pub fn new(options: CusumOptions) -> Result<Self, KernelError> {
        check_not_negative("delta", options.delta)?;
        check_not_negative("threshold", options.threshold)?;
        Ok(Self { options, n: 0.0, total: 0.0, rise: 0.0, fall: 0.0 })
    }

    fn saved_options(&self) -> [f64; 4] {
        let CusumOptions { delta, threshold, grace_period, direction } = self.options;
        [delta, threshold, grace_period as f64, direction.code()]
    }
}

impl Detector for Cusum {
    fn name(&self) -> &'static str {
        "Cusum detector"
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
        let CusumOptions { delta, threshold, grace_period, direction } = self.options;
        self.n += 1.0;
        self.total += value;
        let above = value - self.total / self.n;
        self.rise = (self.rise + (above - delta)).max(0.0);
        self.fall = (self.fall - (above + delta)).max(0.0);
        let rise = if direction.is_up() { self.rise } else { 0.0 };
        let fall = if direction.is_down() { self.fall } else { 0.0 };
        let threshold = if self.n > grace_period as f64 { threshold } else { f64::NAN };
        let level = Level { statistic: if fall > rise { fall } else { rise }, threshold };
        if level.is_passed() {
            self.reset();
            return (Signal::Drift, Some(level));
        }
        (Signal::Stable, Some(level))
    }

    fn reset(&mut self) {
        (self.n, self.total, self.rise, self.fall) = (0.0, 0.0, 0.0, 0.0);
    }

    fn write(&self, writer: &mut Writer) {
        write_numbers(writer, &self.saved_options(), &[self.n, self.total, self.rise, self.fall]);
    }

    fn read(&mut self, reader: &mut Reader<'_>) -> Result<(), KernelError> {
        [self.n, self.total, self.rise, self.fall] = read_numbers(reader, &self.saved_options())?;
        Ok(())
    }
}
