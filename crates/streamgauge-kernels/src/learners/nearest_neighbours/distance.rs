//! The rows of a window that are nearest to a row.
//!
//! Distances are squared and added up over the attributes: of a number the difference divided by its range in the
//! window, of a nominal value 0 where it is the same and 1 where not. What is missing is as far as it could be: 1 from a
//! nominal value or another missing one, and from a number as far as the farther end of the range.
//!
//! A quick look in single precision at all rows, eight at a time, tells which may be among the nearest; only of those
//! is the distance worked out in full, so that rounding in the first cannot change the outcome.

use super::window::{Column, SIDE, Window, sound};

/// Beyond so many ranges from the window, single precision does not tell rows apart.
const FARTHEST_LOOK: f64 = 1e3;

/// How a row differs from a column, for the quick look.
#[derive(Debug, Clone, Copy)]
enum Look {
    /// A number, from a column without gaps.
    Number(f32),
    /// A number, from a column with gaps: also its squared distance from a missing one.
    NumberOrGap(f32, f32),
    /// A missing number.
    Gap,
    /// A nominal value, NaN where it is missing.
    Code(f32),
}

/// A row whose neighbours are looked for.
#[derive(Debug, Clone, Default)]
pub(super) struct Query {
    looks: Vec<Look>,
    /// Whether every look is at a number in a column without gaps; their places are then here.
    plain: bool,
    places: Vec<f32>,
    /// One over the range of each attribute.
    scales: Vec<f64>,
    /// What the quick look found; what is left of the last block is infinite.
    seen: Vec<f32>,
    least: Vec<f32>,
    nearest: Vec<f64>,
    /// The rows that may be among the nearest, with their distances.
    candidates: Vec<(usize, f64)>,
}

impl Query {
    /// Find the `k` nearest rows of a window, and all that are as near as the last of them, in the window's order.
    #[inline(always)]
    pub fn nearest(&mut self, window: &Window, x: &[f64], k: usize) -> impl Iterator<Item = usize> {
        let k = k.min(window.len());
        let reach = self.look(window, x, k);
        self.candidates.clear();
        for (block, seen) in self.seen.as_chunks::<SIDE>().0.iter().enumerate() {
            if any(seen, |distance| distance <= reach) {
                let rows = block * SIDE..window.len().min((block + 1) * SIDE);
                for (row, _) in rows.zip(seen).filter(|(_, distance)| **distance <= reach) {
                    self.candidates.push((row, distance(window, x, row, &self.scales)));
                }
            }
        }
        let farthest = kth_least(self.candidates.iter().map(|candidate| candidate.1), k, &mut self.nearest);
        self.candidates.iter().filter(move |candidate| candidate.1 <= farthest).map(|candidate| candidate.0)
    }

    /// Look at all rows quickly; give a distance that the quick look gives none of the `k` nearest more than.
    #[inline(always)]
    fn look(&mut self, window: &Window, x: &[f64], k: usize) -> f32 {
        let far = self.compare(window, x);
        self.seen.resize(window.len().next_multiple_of(SIDE), 0.0);
        if x.is_empty() || far > FARTHEST_LOOK {
            self.seen.fill(0.0);
            return f32::INFINITY;
        }
        if self.plain {
            self.look_plain(window.columns());
        } else {
            self.look_mixed(window.columns());
        }
        self.seen[window.len()..].fill(f32::INFINITY);
        let reach = f64::from(reach_of(&self.seen, k, &mut self.least));
        // Each place is off by at most `off`; this is many times what that and the rounding of the sums can make.
        let (d, off) = (x.len() as f64, far.max(1.0) / 4_194_304.0);
        let margin = off * (d * reach).sqrt() + d * off * off + (d + 4.0) * reach / 16_777_216.0;
        ((reach + 32.0 * margin) as f32).next_up()
    }

    /// Find out how the row differs from each column; give how far it is beyond the window, in ranges.
    #[inline(always)]
    fn compare(&mut self, window: &Window, x: &[f64]) -> f64 {
        self.looks.clear();
        self.places.clear();
        self.scales.clear();
        self.plain = true;
        let mut far = 0.0_f64;
        for (attribute, (&value, range)) in x.iter().zip(&window.ranges).enumerate() {
            let value = sound(value);
            let place = range.place_of(value);
            let look = if window.is_nominal(attribute) {
                Look::Code(value as f32)
            } else if value.is_nan() {
                Look::Gap
            } else {
                far = far.max(place.abs());
                if range.n_missing > 0 {
                    let from_gap = farther(place);
                    Look::NumberOrGap(place as f32, (from_gap * from_gap) as f32)
                } else {
                    Look::Number(place as f32)
                }
            };
            self.plain &= matches!(look, Look::Number(_));
            self.looks.push(look);
            self.places.push(place as f32);
            self.scales.push(range.scale());
        }
        far
    }

    #[inline(always)]
    fn look_plain(&mut self, columns: &[Column]) {
        let blocks = columns.chunks_exact(self.places.len());
        for (block, seen) in blocks.zip(self.seen.as_chunks_mut::<SIDE>().0) {
            let mut sums = [0.0_f32; SIDE];
            for (column, &place) in block.iter().zip(&self.places) {
                for lane in 0..SIDE {
                    let off = place - column[lane];
                    sums[lane] = off.mul_add(off, sums[lane]);
                }
            }
            *seen = sums;
        }
    }

    #[inline(always)]
    fn look_mixed(&mut self, columns: &[Column]) {
        let blocks = columns.chunks_exact(self.looks.len());
        for (block, seen) in blocks.zip(self.seen.as_chunks_mut::<SIDE>().0) {
            let mut sums = [0.0; SIDE];
            for (column, look) in block.iter().zip(&self.looks) {
                look.add_to(&mut sums, column);
            }
            *seen = sums;
        }
    }
}

impl Look {
    /// Add the squared differences from a column.
    #[inline(always)]
    fn add_to(self, sums: &mut Column, column: &Column) {
        match self {
            Self::Number(place) => {
                for lane in 0..SIDE {
                    let off = place - column[lane];
                    sums[lane] = off.mul_add(off, sums[lane]);
                }
            }
            Self::NumberOrGap(place, from_gap) => {
                for lane in 0..SIDE {
                    let off = place - column[lane];
                    sums[lane] += if column[lane].is_nan() { from_gap } else { off * off };
                }
            }
            Self::Gap => {
                for lane in 0..SIDE {
                    let place = column[lane];
                    let off = if place < 0.5 { 1.0 - place } else { place };
                    sums[lane] += if place.is_nan() { 1.0 } else { off * off };
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

/// The squared distance of a row from one of the window, in full.
#[inline(always)]
fn distance(window: &Window, x: &[f64], row: usize, scales: &[f64]) -> f64 {
    let mut sum = 0.0_f64;
    for (attribute, (&first, &second)) in x.iter().zip(window.row(row)).enumerate() {
        let (first, range) = (sound(first), &window.ranges[attribute]);
        let off = if window.is_nominal(attribute) {
            f64::from(u8::from(first != second))
        } else {
            match (first.is_nan(), second.is_nan()) {
                (false, false) => (first - second) * scales[attribute],
                (true, true) => 1.0,
                (first_missing, _) => farther(range.place_of(if first_missing { second } else { first })),
            }
        };
        sum = off.mul_add(off, sum);
    }
    sum
}

/// The distance of a place from the farther end of its range.
#[inline(always)]
fn farther(place: f64) -> f64 {
    if place < 0.5 { 1.0 - place } else { place }
}

/// Whether a condition holds for any number of a block, without branches.
#[inline(always)]
fn any(numbers: &Column, condition: impl Fn(f32) -> bool) -> bool {
    let mut found = 0_u32;
    for &number in numbers {
        found |= if condition(number) { u32::MAX } else { 0 };
    }
    found != 0
}

/// The `k`-th least of numbers; `least` is room to work in.
#[inline(always)]
fn kth_least(numbers: impl Iterator<Item = f64>, k: usize, least: &mut Vec<f64>) -> f64 {
    least.clear();
    least.resize(k, f64::INFINITY);
    for number in numbers {
        insert(least, number);
    }
    least.last().copied().unwrap_or(f64::INFINITY)
}

/// A number that at least `k` of those in blocks do not exceed, and few more.
///
/// Where `k` is small: the `k`-th of the least numbers of all lanes, which are found without a branch.
#[inline(always)]
fn reach_of(numbers: &[f32], k: usize, least: &mut Vec<f32>) -> f32 {
    least.clear();
    least.resize(k, f32::INFINITY);
    let blocks = numbers.as_chunks::<SIDE>().0;
    if k <= SIDE {
        let mut lanes = [f32::INFINITY; SIDE];
        for block in blocks {
            for lane in 0..SIDE {
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

/// Put a number in its place among the least so far, of which the greatest goes.
#[inline(always)]
fn insert<T: PartialOrd + Copy>(least: &mut [T], number: T) {
    let mut place = least.len();
    while place > 0 && number < least[place - 1] {
        if place < least.len() {
            least[place] = least[place - 1];
        }
        place -= 1;
    }
    if place < least.len() {
        least[place] = number;
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
            let reach = reach_of(&numbers, k, &mut vec![]);
            assert!(reach >= sorted[k - 1] && (k <= SIDE || reach == sorted[k - 1]));
            let found = kth_least(numbers.iter().map(|&number| f64::from(number)), k, &mut vec![]);
            assert_eq!(found, f64::from(sorted[k - 1]));
        }
    }
}
