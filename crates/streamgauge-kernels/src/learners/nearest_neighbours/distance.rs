//! The distances of a row from all rows of a window.
//!
//! Squared and added up over the attributes: of a number the difference divided by its range in the window, of a
//! nominal value 0 where it is the same and 1 where not. What is missing is as far as it could be: 1 from a nominal
//! value or another missing one, and from a number as far as the farther end of the range.

use super::window::{Column, SIDE, Window, sound};

/// How a row differs from a column.
#[derive(Debug, Clone, Copy)]
enum Difference {
    /// A number, from a column without gaps: its value and one over the range.
    Number(f64, f64),
    /// A number, from a column with gaps: also its squared distance from a missing one.
    NumberOrGap(f64, f64, f64),
    /// A missing number: the lower end of the range, and one over the range.
    Gap(f64, f64),
    /// A nominal value, NaN where it is missing.
    Code(f64),
}

/// A row whose neighbours are looked for, and its distances.
#[derive(Debug, Clone, Default)]
pub(super) struct Query {
    differences: Vec<Difference>,
    /// Whether every difference is that of a number from a column without gaps.
    plain: bool,
    values: Vec<f64>,
    scales: Vec<f64>,
    /// The squared distance of each row of the window; what is left of the last block is infinite.
    pub distances: Vec<f64>,
}

impl Query {
    /// Work out the distances of a row.
    #[inline(always)]
    pub fn measure(&mut self, window: &Window, x: &[f64]) {
        self.compare(window, x);
        self.distances.resize(window.len().next_multiple_of(SIDE), 0.0);
        if x.is_empty() {
            self.distances.fill(0.0);
        } else if self.plain {
            self.measure_plain(window.columns());
        } else {
            self.measure_mixed(window.columns());
        }
        self.distances[window.len()..].fill(f64::INFINITY);
    }

    /// Find out how the row differs from each column.
    #[inline(always)]
    fn compare(&mut self, window: &Window, x: &[f64]) {
        self.differences.clear();
        self.values.clear();
        self.scales.clear();
        self.plain = true;
        for (attribute, (&value, range)) in x.iter().zip(&window.ranges).enumerate() {
            let value = sound(value);
            let scale = 1.0 / (range.high - range.low);
            let scale = if scale.is_finite() && scale > 0.0 { scale } else { 0.0 };
            let low = if range.low.is_finite() { range.low } else { 0.0 };
            let difference = if window.is_nominal(attribute) {
                Difference::Code(value)
            } else if value.is_nan() {
                Difference::Gap(low, scale)
            } else if range.n_missing > 0 {
                Difference::NumberOrGap(value, scale, farther(value, low, scale))
            } else {
                Difference::Number(value, scale)
            };
            self.plain &= matches!(difference, Difference::Number(..));
            self.differences.push(difference);
            self.values.push(value);
            self.scales.push(scale);
        }
    }

    #[inline(always)]
    fn measure_plain(&mut self, columns: &[Column]) {
        let d = self.values.len();
        let blocks = columns.chunks_exact(d);
        for (block, distances) in blocks.zip(self.distances.as_chunks_mut::<SIDE>().0) {
            let mut sums = [0.0_f64; SIDE];
            for ((column, &value), &scale) in block.iter().zip(&self.values).zip(&self.scales) {
                for lane in 0..SIDE {
                    let off = (value - column[lane]) * scale;
                    sums[lane] = off.mul_add(off, sums[lane]);
                }
            }
            *distances = sums;
        }
    }

    #[inline(always)]
    fn measure_mixed(&mut self, columns: &[Column]) {
        let blocks = columns.chunks_exact(self.differences.len());
        for (block, distances) in blocks.zip(self.distances.as_chunks_mut::<SIDE>().0) {
            let mut sums = [0.0; SIDE];
            for (column, difference) in block.iter().zip(&self.differences) {
                difference.add_to(&mut sums, column);
            }
            *distances = sums;
        }
    }
}

impl Difference {
    /// Add the squared differences from a column.
    #[inline(always)]
    fn add_to(&self, sums: &mut Column, column: &Column) {
        match *self {
            Self::Number(value, scale) => {
                for lane in 0..SIDE {
                    let off = (value - column[lane]) * scale;
                    sums[lane] = off.mul_add(off, sums[lane]);
                }
            }
            Self::NumberOrGap(value, scale, from_gap) => {
                for lane in 0..SIDE {
                    let off = (value - column[lane]) * scale;
                    let missing = column[lane].is_nan();
                    sums[lane] += if missing { from_gap } else { off * off };
                }
            }
            Self::Gap(low, scale) => {
                for lane in 0..SIDE {
                    let missing = column[lane].is_nan();
                    sums[lane] += if missing { 1.0 } else { farther(column[lane], low, scale) };
                }
            }
            Self::Code(code) => {
                for lane in 0..SIDE {
                    sums[lane] += if column[lane] == code { 0.0 } else { 1.0 };
                }
            }
        }
    }
}

/// The squared distance of a number from the farther end of its range.
#[inline(always)]
fn farther(value: f64, low: f64, scale: f64) -> f64 {
    let up = (value - low) * scale;
    let farther = if up < 0.5 { 1.0 - up } else { up };
    farther * farther
}
