//! The Page-Hinkley test, with a fading factor.

use super::options::{check_not_negative, check_share, read_numbers, write_numbers};
use super::{Detector, Direction, Level, Signal};
use crate::KernelError;
use crate::codec::{Reader, Writer};
use crate::dispatch;

/// The options of [`PageHinkley`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PageHinkleyOptions {
    /// The difference from the mean that does not add to the sum.
    pub delta: f64,
    /// The distance of the sum from its extreme that is a drift.
    pub threshold: f64,
    /// The factor by which the sum fades with every value; 1 for no fading.
    pub factor: f64,
    /// The number of initial values without a signal.
    pub grace_period: u64,
    /// The direction of changes that are signalled.
    pub direction: Direction,
}

/// A detector that sums how far the values are above, and below, their mean.
///
/// Page, "Continuous inspection schemes", 1954, with the fading factor of Gama, Sebastião and Rodrigues, "Issues in
/// evaluation of stream learning algorithms", 2009: `m = factor * m + (value - mean - delta)`; there is a drift if m
/// is more than the threshold above its minimum.
#[derive(Debug, Clone)]
pub struct PageHinkley {
    options: PageHinkleyOptions,
    state: State,
}

#[derive(Debug, Clone, Copy)]
struct State {
    n: f64,
    total: f64,
    /// The sum that rises with the values, and its minimum.
    rise: f64,
    least: f64,
    /// The sum that falls with the values, and its maximum.
    fall: f64,
    greatest: f64,
}

const FRESH: State = State { n: 0.0, total: 0.0, rise: 0.0, least: f64::INFINITY, fall: 0.0, greatest: -f64::INFINITY };

impl PageHinkley {
    /// Creates a detector that has seen no value.
    ///
    /// # Errors
    /// Returns [`KernelError::Option`] if an option is outside its range.
    pub fn new(options: PageHinkleyOptions) -> Result<Self, KernelError> {
        check_not_negative("delta", options.delta)?;
        check_not_negative("threshold", options.threshold)?;
        check_share("factor", options.factor)?;
        Ok(Self { options, state: FRESH })
    }

    fn saved_options(&self) -> [f64; 5] {
        let PageHinkleyOptions { delta, threshold, factor, grace_period, direction } = self.options;
        [delta, threshold, factor, grace_period as f64, direction.code()]
    }
}

impl State {
    /// Adds a value; returns the greater distance of a sum from its extreme, and the threshold. The mean is off the
    /// critical path from one value to the next, so that its division adds no latency.
    #[inline(always)]
    fn update(&mut self, options: &PageHinkleyOptions, value: f64, up: bool, down: bool) -> Level {
        self.n += 1.0;
        self.total += value;
        let above = value - self.total / self.n;
        let mut statistic = 0.0;
        if up {
            self.rise = options.factor.mul_add(self.rise, above - options.delta);
            self.least = if self.rise < self.least { self.rise } else { self.least };
            statistic = self.rise - self.least;
        }
        if down {
            self.fall = options.factor.mul_add(self.fall, above + options.delta);
            self.greatest = if self.fall > self.greatest { self.fall } else { self.greatest };
            let distance = self.greatest - self.fall;
            statistic = if distance > statistic { distance } else { statistic };
        }
        let threshold = if self.n > options.grace_period as f64 { options.threshold } else { f64::NAN };
        Level { statistic, threshold }
    }

    /// Adds a column, with the directions known at compile time.
    #[inline(always)]
    fn update_all(&mut self, options: &PageHinkleyOptions, values: &[f64], signals: &mut [u8], up: bool, down: bool) {
        let mut state = *self;
        for (&value, signal) in values.iter().zip(signals) {
            if state.update(options, value, up, down).is_passed() {
                (state, *signal) = (FRESH, Signal::Drift as u8);
            } else {
                *signal = Signal::Stable as u8;
            }
        }
        *self = state;
    }
}

impl Detector for PageHinkley {
    fn name(&self) -> &'static str {
        "PageHinkley detector"
    }

    fn update(&mut self, value: f64) -> Signal {
        self.update_traced(value).0
    }

    fn has_level(&self) -> bool {
        true
    }

    fn update_traced(&mut self, value: f64) -> (Signal, Option<Level>) {
        let direction = self.options.direction;
        let level = self.state.update(&self.options, value, direction.is_up(), direction.is_down());
        if level.is_passed() {
            self.reset();
            return (Signal::Drift, Some(level));
        }
        (Signal::Stable, Some(level))
    }

    fn update_all(&mut self, values: &[f64], signals: &mut [u8]) {
        let (options, state) = (self.options, &mut self.state);
        dispatch::run(
            #[inline(always)]
            || match options.direction {
                Direction::Up => state.update_all(&options, values, signals, true, false),
                Direction::Down => state.update_all(&options, values, signals, false, true),
                Direction::Both => state.update_all(&options, values, signals, true, true),
            },
        );
    }

    fn reset(&mut self) {
        self.state = FRESH;
    }

    fn write(&self, writer: &mut Writer) {
        let State { n, total, rise, least, fall, greatest } = self.state;
        write_numbers(writer, &self.saved_options(), &[n, total, rise, least, fall, greatest]);
    }

    fn read(&mut self, reader: &mut Reader<'_>) -> Result<(), KernelError> {
        let [n, total, rise, least, fall, greatest] = read_numbers(reader, &self.saved_options())?;
        self.state = State { n, total, rise, least, fall, greatest };
        Ok(())
    }
}
