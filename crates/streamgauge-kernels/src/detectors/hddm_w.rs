//! HDDM with the bound of bounded differences on exponentially weighted means.

use super::options::{check_open_unit, read_numbers, write_numbers};
use super::{Detector, Direction, Domain, Signal};
use crate::KernelError;
use crate::codec::{Reader, Writer};
use crate::error::check_option;

/// The options of [`HddmW`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HddmWOptions {
    /// The significance of a warning.
    pub warning: f64,
    /// The significance of a drift.
    pub drift: f64,
    /// The weight of the newest value in a mean.
    pub newest_weight: f64,
    /// The direction of changes that are signalled.
    pub direction: Direction,
}

/// A detector that compares exponentially weighted means of an older and a newer part of the values, by the inequality
/// of bounded differences.
///
/// Frías-Blanco and others, "Online and non-parametric drift detection methods based on Hoeffding's bounds", 2015, the
/// W-test, with the sums of MOA.
#[derive(Debug, Clone)]
pub struct HddmW {
    options: HddmWOptions,
    /// Half the logarithms of the bounds of a warning and of a drift.
    logs: [f64; 2],
    up: Parts,
    /// The same for the negated values.
    down: Parts,
}

/// A weighted mean and the sum of its squared weights, which is 0 before the first value.
#[derive(Debug, Clone, Copy)]
struct Mean {
    mean: f64,
    squares: f64,
}

/// The means of all values, of those before the cut, and of those after it.
#[derive(Debug, Clone, Copy)]
struct Parts {
    all: Mean,
    older: Mean,
    newer: Mean,
    /// The lowest mean with its bound.
    cut: f64,
}

const NO_MEAN: Mean = Mean { mean: 0.0, squares: 0.0 };
const NO_PARTS: Parts = Parts { all: NO_MEAN, older: NO_MEAN, newer: NO_MEAN, cut: f64::INFINITY };

impl Mean {
    #[inline(always)]
    fn update(&mut self, value: f64, weight: f64) {
        let rest = 1.0 - weight;
        if self.squares == 0.0 {
            *self = Self { mean: value, squares: 1.0 };
        } else {
            self.mean = weight * value + rest * self.mean;
            self.squares = weight * weight + rest * rest * self.squares;
        }
    }
}

impl Parts {
    /// Adds a value; returns the signal of the two parts.
    #[inline(always)]
    fn update(&mut self, value: f64, weight: f64, logs: [f64; 2]) -> Signal {
        self.all.update(value, weight);
        let cut = self.all.mean + (self.all.squares * logs[1]).sqrt();
        if cut < self.cut {
            (self.cut, self.older, self.newer) = (cut, self.all, NO_MEAN);
            return Signal::Stable;
        }
        self.newer.update(value, weight);
        let (difference, squares) = (self.newer.mean - self.older.mean, self.older.squares + self.newer.squares);
        if difference <= (squares * logs[0]).sqrt() {
            Signal::Stable
        } else if difference <= (squares * logs[1]).sqrt() {
            Signal::Warning
        } else {
            Signal::Drift
        }
    }

    fn numbers(&self) -> [f64; 7] {
        let Self { all, older, newer, cut } = *self;
        [all.mean, all.squares, older.mean, older.squares, newer.mean, newer.squares, cut]
    }

    fn from_numbers(numbers: &[f64]) -> Self {
        let mean = |start: usize| Mean { mean: numbers[start], squares: numbers[start + 1] };
        Self { all: mean(0), older: mean(2), newer: mean(4), cut: numbers[6] }
    }
}

impl HddmW {
    /// Creates a detector that has seen no value.
    ///
    /// # Errors
    /// Returns [`KernelError::Option`] if an option is outside its range.
    pub fn new(options: HddmWOptions) -> Result<Self, KernelError> {
        let HddmWOptions { warning, drift, newest_weight, .. } = options;
        check_open_unit("warning", warning)?;
        check_open_unit("drift", drift)?;
        check_open_unit("newest_weight", newest_weight)?;
        check_option("warning", warning, warning >= drift, "it must not be less than drift")?;
        let logs = [(1.0 / warning).ln() / 2.0, (1.0 / drift).ln() / 2.0];
        Ok(Self { options, logs, up: NO_PARTS, down: NO_PARTS })
    }

    fn saved_options(&self) -> [f64; 4] {
        let HddmWOptions { warning, drift, newest_weight, direction } = self.options;
        [warning, drift, newest_weight, direction.code()]
    }
}

impl Detector for HddmW {
    fn name(&self) -> &'static str {
        "HddmW detector"
    }

    fn domain(&self) -> Domain {
        Domain::Unit
    }

    #[inline(always)]
    fn update(&mut self, value: f64) -> Signal {
        let HddmWOptions { newest_weight, direction, .. } = self.options;
        let mut signal = Signal::Stable;
        if direction.is_up() {
            signal = self.up.update(value, newest_weight, self.logs);
        }
        if direction.is_down() {
            signal = signal.max(self.down.update(-value, newest_weight, self.logs));
        }
        if signal == Signal::Drift {
            self.reset();
        }
        signal
    }

    fn reset(&mut self) {
        (self.up, self.down) = (NO_PARTS, NO_PARTS);
    }

    fn write(&self, writer: &mut Writer) {
        let numbers = [self.up.numbers(), self.down.numbers()].concat();
        write_numbers(writer, &self.saved_options(), &numbers);
    }

    fn read(&mut self, reader: &mut Reader<'_>) -> Result<(), KernelError> {
        let numbers: [f64; 14] = read_numbers(reader, &self.saved_options())?;
        (self.up, self.down) = (Parts::from_numbers(&numbers[..7]), Parts::from_numbers(&numbers[7..]));
        Ok(())
    }
}
