//! HDDM with Hoeffding's bound on plain means.

use super::options::{check_open_unit, read_numbers, write_numbers};
use super::{Detector, Direction, Domain, Signal};
use crate::KernelError;
use crate::codec::{Reader, Writer};
use crate::error::check_option;

/// The options of [`HddmA`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HddmAOptions {
    /// The significance of a warning.
    pub warning: f64,
    /// The significance of a drift.
    pub drift: f64,
    /// The direction of changes that are signalled.
    pub direction: Direction,
}

/// A detector that compares the mean of all values with that of a first part of them, by Hoeffding's bound.
///
/// Frías-Blanco and others, "Online and non-parametric drift detection methods based on Hoeffding's bounds", 2015, the
/// A-test. The first part is the one of the lowest (for falls, the highest) mean with its bound.
#[derive(Debug, Clone)]
pub struct HddmA {
    options: HddmAOptions,
    /// The logarithms of the bounds: of a mean, of a warning, of a drift.
    logs: [f64; 3],
    n: f64,
    total: f64,
    up: CutPoint,
    /// The same for the negated values.
    down: CutPoint,
}

/// The first part of the values: their number, their mean, and its bound.
#[derive(Debug, Clone, Copy)]
struct CutPoint {
    n: f64,
    mean: f64,
    bound: f64,
}

const NO_CUT: CutPoint = CutPoint { n: 0.0, mean: f64::INFINITY, bound: 0.0 };

impl CutPoint {
    /// Moves the cut to the last value if its bound is lower; otherwise returns the signal of the difference.
    #[inline(always)]
    fn update(&mut self, n: f64, mean: f64, bound: f64, logs: &[f64; 3]) -> Signal {
        if self.mean + self.bound >= mean + bound {
            *self = Self { n, mean, bound };
            return Signal::Stable;
        }
        let difference = mean - self.mean;
        let m = (n - self.n) / self.n * (1.0 / n);
        if difference < (m / 2.0 * logs[1]).sqrt() {
            Signal::Stable
        } else if difference < (m / 2.0 * logs[2]).sqrt() {
            Signal::Warning
        } else {
            Signal::Drift
        }
    }
}

impl HddmA {
    /// Creates a detector that has seen no value.
    ///
    /// # Errors
    /// Returns [`KernelError::Option`] if an option is outside its range.
    pub fn new(options: HddmAOptions) -> Result<Self, KernelError> {
        let HddmAOptions { warning, drift, .. } = options;
        check_open_unit("warning", warning)?;
        check_open_unit("drift", drift)?;
        check_option("warning", warning, warning >= drift, "it must not be less than drift")?;
        let logs = [(1.0 / drift).ln(), (2.0 / warning).ln(), (2.0 / drift).ln()];
        Ok(Self { options, logs, n: 0.0, total: 0.0, up: NO_CUT, down: NO_CUT })
    }

    fn saved_options(&self) -> [f64; 3] {
        [self.options.warning, self.options.drift, self.options.direction.code()]
    }
}

impl Detector for HddmA {
    fn name(&self) -> &'static str {
        "HddmA detector"
    }

    fn domain(&self) -> Domain {
        Domain::Unit
    }

    #[inline(always)]
    fn update(&mut self, value: f64) -> Signal {
        self.n += 1.0;
        self.total += value;
        let (n, mean, direction) = (self.n, self.total / self.n, self.options.direction);
        let bound = (1.0 / (2.0 * n) * self.logs[0]).sqrt();
        let mut signal = Signal::Stable;
        if direction.is_up() {
            signal = self.up.update(n, mean, bound, &self.logs);
        }
        if direction.is_down() {
            signal = signal.max(self.down.update(n, -mean, bound, &self.logs));
        }
        if signal == Signal::Drift {
            self.reset();
        }
        signal
    }

    fn reset(&mut self) {
        (self.n, self.total, self.up, self.down) = (0.0, 0.0, NO_CUT, NO_CUT);
    }

    fn write(&self, writer: &mut Writer) {
        let (up, down) = (self.up, self.down);
        let numbers = [self.n, self.total, up.n, up.mean, up.bound, down.n, down.mean, down.bound];
        write_numbers(writer, &self.saved_options(), &numbers);
    }

    fn read(&mut self, reader: &mut Reader<'_>) -> Result<(), KernelError> {
        let numbers: [f64; 8] = read_numbers(reader, &self.saved_options())?;
        let cut_point =
            |start: usize| CutPoint { n: numbers[start], mean: numbers[start + 1], bound: numbers[start + 2] };
        (self.n, self.total, self.up, self.down) = (numbers[0], numbers[1], cut_point(2), cut_point(5));
        Ok(())
    }
}
