//! The nearest rows of a window.
//!
//! Distances are squared and summed over the attributes: the difference of two numbers divided by the range of the
//! attribute in the window; for nominal values 0 if they are equal and 1 if not. A missing value is as far away as
//! possible: 1 from a nominal value or another missing one, and the distance to the farther end of the range from a
//! number.
//!
//! A screening of all rows in single precision finds those that may be among the nearest; only their distances are
//! computed in double precision, so that rounding in the screening does not change the result.

use super::window::{BLOCK_ROWS, Column, LIMIT, Window};
use crate::learners::vector_math::clamp_finite;

/// Rows that are farther from the window, in ranges, are not distinguished by single precision.
const MAX_SCREEN_DISTANCE: f64 = 1e3;

/// The comparison of a row with a column, for the screening.
#[derive(Debug, Clone, Copy)]
enum ColumnQuery {
    /// A number, with a column without missing values.
    Number(f32),
    /// A number, with a column with missing values: also its squared distance from a missing one.
    NumberOrMissing(f32, f32),
    /// A missing number.
    Missing,
    /// A nominal value, NaN if missing.
    Code(f32),
}

/// A row whose neighbours are searched.
#[derive(Debug, Clone, Default)]
pub(super) struct Query {
    column_queries: Vec<ColumnQuery>,
    /// Whether all attributes are [`ColumnQuery::Number`]; their positions are then enough.
    complete: bool,
    positions: Vec<f32>,
    /// 1 over the range of each attribute.
    scales: Vec<f64>,
    /// The distances of the screening; infinite in the rest of the last block.
    approximate: Vec<f32>,
    least: Vec<f32>,
    nearest: Vec<f64>,
    /// The rows that may be among the nearest, with their distances.
    candidates: Vec<(usize, f64)>,
}

impl Query {
    /// Returns the `k` nearest rows of a window, and all that are as near as the last of them, in the window's order.
    #[inline(always)]
    pub fn find_nearest(&mut self, window: &Window, x: &[f64], k: usize) -> impl Iterator<Item = usize> {
        let k = k.min(window.len());
        let cutoff = self.screen(window, x, k);
        self.candidates.clear();
        for (block, approximate) in self.approximate.as_chunks::<BLOCK_ROWS>().0.iter().enumerate() {
            if any(approximate, |distance| distance <= cutoff) {
                let rows = block * BLOCK_ROWS..window.len().min((block + 1) * BLOCK_ROWS);
                for (row, _) in rows.zip(approximate).filter(|(_, distance)| **distance <= cutoff) {
                    self.candidates.push((row, distance(window, x, row, &self.scales)));
                }
            }
        }
        let farthest = find_kth_least(self.candidates.iter().map(|candidate| candidate.1), k, &mut self.nearest);
        self.candidates.iter().filter(move |candidate| candidate.1 <= farthest).map(|candidate| candidate.0)
    }

    /// Screens all rows; returns a distance that no screened distance of the `k` nearest exceeds.
    #[inline(always)]
    fn screen(&mut self, window: &Window, x: &[f64], k: usize) -> f32 {
        let far = self.prepare(window, x);
        self.approximate.resize(window.len().next_multiple_of(BLOCK_ROWS), 0.0);
        if x.is_empty() || far > MAX_SCREEN_DISTANCE {
            self.approximate.fill(0.0);
            return f32::INFINITY;
        }
        if self.complete {
            self.screen_complete(window.columns());
        } else {
            self.screen_mixed(window.columns());
        }
        self.approximate[window.len()..].fill(f32::INFINITY);
        let cutoff = f64::from(find_cutoff(&self.approximate, k, &mut self.least));
        // Each position is off by at most `error`; the margin is a multiple of what that and the rounding of the sums
        // can amount to.
        let (d, error) = (x.len() as f64, far.max(1.0) / 4_194_304.0);
        let margin = error * (d * cutoff).sqrt() + d * error * error + (d + 4.0) * cutoff / 16_777_216.0;
        ((cutoff + 32.0 * margin) as f32).next_up()
    }

    /// Prepares the comparison with each column; returns the distance of the row from the window, in ranges.
    #[inline(always)]
    fn prepare(&mut self, window: &Window, x: &[f64]) -> f64 {
        self.column_queries.clear();
        self.positions.clear();
        self.scales.clear();
        self.complete = true;
        let mut far = 0.0_f64;
        for (attribute, (&value, range)) in x.iter().zip(&window.ranges).enumerate() {
            let value = clamp_finite(value, LIMIT);
            let position = range.normalise(value);
            let query = if window.is_nominal(attribute) {
                ColumnQuery::Code(value as f32)
            } else if value.is_nan() {
                ColumnQuery::Missing
            } else {
                far = far.max(position.abs());
                if range.n_missing > 0 {
                    let from_missing = distance_to_farther_end(position);
                    ColumnQuery::NumberOrMissing(position as f32, (from_missing * from_missing) as f32)
                } else {
                    ColumnQuery::Number(position as f32)
                }
            };
            self.complete &= matches!(query, ColumnQuery::Number(_));
            self.column_queries.push(query);
            self.positions.push(position as f32);
            self.scales.push(range.scale());
        }
        far
    }

    #[inline(always)]
    fn screen_complete(&mut self, columns: &[Column]) {
        let blocks = columns.chunks_exact(self.positions.len());
        for (block, approximate) in blocks.zip(self.approximate.as_chunks_mut::<BLOCK_ROWS>().0) {
            let mut sums = [0.0_f32; BLOCK_ROWS];
            for (column, &position) in block.iter().zip(&self.positions) {
                for lane in 0..BLOCK_ROWS {
                    let difference = position - column[lane];
                    sums[lane] = difference.mul_add(difference, sums[lane]);
                }
            }
            *approximate = sums;
        }
    }

    #[inline(always)]
    fn screen_mixed(&mut self, columns: &[Column]) {
        let blocks = columns.chunks_exact(self.column_queries.len());
        for (block, approximate) in blocks.zip(self.approximate.as_chunks_mut::<BLOCK_ROWS>().0) {
            let mut sums = [0.0; BLOCK_ROWS];
            for (column, query) in block.iter().zip(&self.column_queries) {
                query.add_to(&mut sums, column);
            }
            *approximate = sums;
        }
    }
}

impl ColumnQuery {
    /// Adds the squared differences from a column.
    #[inline(always)]
    fn add_to(self, sums: &mut Column, column: &Column) {
        match self {
            Self::Number(position) => {
                for lane in 0..BLOCK_ROWS {
                    let difference = position - column[lane];
                    sums[lane] = difference.mul_add(difference, sums[lane]);
                }
            }
            Self::NumberOrMissing(position, from_missing) => {
                for lane in 0..BLOCK_ROWS {
                    let difference = position - column[lane];
                    sums[lane] += if column[lane].is_nan() { from_missing } else { difference * difference };
                }
            }
            Self::Missing => {
                for lane in 0..BLOCK_ROWS {
                    let position = column[lane];
                    let difference = if position < 0.5 { 1.0 - position } else { position };
                    sums[lane] += if position.is_nan() { 1.0 } else { difference * difference };
                }
            }
            Self::Code(code) => {
                for lane in 0..BLOCK_ROWS {
                    sums[lane] += if column[lane] == code { 0.0 } else { 1.0 };
                }
            }
        }
    }
}

/// Returns the squared distance of a row from a row of the window, in double precision.
#[inline(always)]
fn distance(window: &Window, x: &[f64], row: usize, scales: &[f64]) -> f64 {
    let mut sum = 0.0_f64;
    for (attribute, (&first, &second)) in x.iter().zip(window.row(row)).enumerate() {
        let (first, range) = (clamp_finite(first, LIMIT), &window.ranges[attribute]);
        let difference = if window.is_nominal(attribute) {
            f64::from(u8::from(first != second))
        } else {
            match (first.is_nan(), second.is_nan()) {
                (false, false) => (first - second) * scales[attribute],
                (true, true) => 1.0,
                (first_missing, _) => {
                    distance_to_farther_end(range.normalise(if first_missing { second } else { first }))
                }
            }
        };
        sum = difference.mul_add(difference, sum);
    }
    sum
}

/// Returns the distance of a position from the farther end of its range.
#[inline(always)]
fn distance_to_farther_end(position: f64) -> f64 {
    if position < 0.5 { 1.0 - position } else { position }
}

/// Returns whether a condition holds for any number of a block, without branches.
#[inline(always)]
fn any(numbers: &Column, condition: impl Fn(f32) -> bool) -> bool {
    let mut bits = 0_u32;
    for &number in numbers {
        bits |= if condition(number) { u32::MAX } else { 0 };
    }
    bits != 0
}

/// Returns the `k`-th least of numbers; `least` is a buffer.
#[inline(always)]
fn find_kth_least(numbers: impl Iterator<Item = f64>, k: usize, least: &mut Vec<f64>) -> f64 {
    least.clear();
    least.resize(k, f64::INFINITY);
    for number in numbers {
        insert(least, number);
    }
    least.last().copied().unwrap_or(f64::INFINITY)
}

/// Returns a number that at least `k` of the given ones do not exceed, and few more.
///
/// If `k` is small: the `k`-th of the least numbers of all lanes, which are found without a branch.
#[inline(always)]
fn find_cutoff(numbers: &[f32], k: usize, least: &mut Vec<f32>) -> f32 {
    least.clear();
    least.resize(k, f32::INFINITY);
    let blocks = numbers.as_chunks::<BLOCK_ROWS>().0;
    if k <= BLOCK_ROWS {
        let mut lanes = [f32::INFINITY; BLOCK_ROWS];
        for block in blocks {
            for lane in 0..BLOCK_ROWS {
                lanes[lane] = if block[lane] < lanes[lane] { block[lane] } else { lanes[lane] };
            }
        }
        for number in lanes {
            insert(least, number);
        }
    } else {
        for &number in blocks.as_flattened() {
            insert(least, number);
        }
    }
    least.last().copied().unwrap_or(f32::INFINITY)
}

/// Inserts a number into the least so far, in order, and drops the greatest.
#[inline(always)]
fn insert<T: PartialOrd + Copy>(least: &mut [T], number: T) {
    let mut index = least.len();
    while index > 0 && number < least[index - 1] {
        if index < least.len() {
            least[index] = least[index - 1];
        }
        index -= 1;
    }
    if index < least.len() {
        least[index] = number;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::randomness::{Draws, Purpose};

    #[test]
    fn the_kth_least_is_found() {
        let draws = Draws::new(5, Purpose::named("least"), 0);
        let numbers: Vec<f32> = (0..160).map(|i| draws.below(i, 40) as f32).collect();
        let mut sorted = numbers.clone();
        sorted.sort_by(f32::total_cmp);
        for k in [1, 2, 10, 32, 33, 100, 160] {
            let cutoff = find_cutoff(&numbers, k, &mut vec![]);
            assert!(cutoff >= sorted[k - 1] && (k <= BLOCK_ROWS || cutoff == sorted[k - 1]));
            let kth = find_kth_least(numbers.iter().map(|&number| f64::from(number)), k, &mut vec![]);
            assert_eq!(kth, f64::from(sorted[k - 1]));
        }
    }
}
