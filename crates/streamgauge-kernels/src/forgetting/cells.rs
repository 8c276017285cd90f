//! Bins of the shares of the votes for one class, as sparse cells on a scale that is halved until they are few.
//!
//! The finest bins are single numbers. If they are too many, neighbours are joined in pairs, everywhere: the level, which
//! is the number of times, depends on the set of bins used alone, so that neither the order of rows nor their cut into
//! batches matters, and bins of different states can be added, subtracted and compared by shifting their indexes.

use super::ranks::{RankScan, Ranks};
use super::used_bins::UsedBins;
use crate::KernelError;
use crate::bins::bin;
use crate::codec::{Reader, Writer};

/// The bits of one half.
const HALF: i64 = 0x3FE0_0000_0000_0000;
/// Shares from 2 to the minus 64 on have indexes of their own; below, 2 to the `TINY_BITS` neighbours share one, so that
/// votes of naive Bayes, which may be as small as 1e-300, take no bins from the others.
const FULL: i64 = 63 << 52;
const TINY_BITS: u32 = 9;
/// The index of 0, and mirrored of 1, far from all others: since many votes are exactly 0 or 1, those have bins of their
/// own up to `LAST_LEVEL`, on which they are two of four.
const ZERO: i64 = -1 << 60;
const LAST_LEVEL: u32 = 59;
/// The maximum number of cells of a state, which up to 11 classes is enough for 2048 bins of each class voted for with
/// rows of all classes: 16 between a share and its double, as for its distance from 1.
const MAX_CELLS: usize = 1 << 18;
const MAX_BINS: usize = 2048;

/// Returns the maximum number of cells of each class voted for, if each of several states has a part of them; four bins
/// fit any number of classes.
pub fn max_cells(n_classes: usize, n_parts: usize) -> usize {
    ((MAX_CELLS / n_classes).min(MAX_BINS * n_classes) / n_parts).max(4 * n_classes)
}

/// Returns the finest index of a share: ascending with the share, and mirrored at one half.
#[inline]
pub fn share_index(share: f64) -> i64 {
    // 1 - share has no rounding error from one half on.
    let smaller = share.min(1.0 - share);
    let mut distance = HALF - smaller.to_bits() as i64;
    if distance > FULL {
        distance = if smaller > 0.0 { FULL + 1 + ((distance - FULL) >> TINY_BITS) } else { -ZERO };
    }
    if share < 0.5 { -distance } else { (distance - 1).max(0) }
}

/// The weight of the rows of a true class in a bin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cell {
    /// The index of the bin.
    pub index: i64,
    /// The true class.
    pub y_true: u32,
    /// The sum of weights.
    pub weight: f64,
}

/// The cells of one class voted for, by true class and then by bin: an order that joining neighbours does not change.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Cells {
    level: u32,
    cells: Vec<Cell>,
}

impl Cells {
    /// Creates them from cells in any order; the weights of a bin are added in that order.
    pub fn new(level: u32, mut cells: Vec<Cell>, max_cells: usize) -> Self {
        cells.sort_by_key(|cell| (cell.y_true, cell.index));
        let mut cells = Self { level, cells };
        cells.add_up();
        cells.coarsen(max_cells);
        cells
    }

    /// Returns the number of halvings.
    pub fn level(&self) -> u32 {
        self.level
    }

    /// Returns the cells.
    pub fn as_slice(&self) -> &[Cell] {
        &self.cells
    }

    /// Adds up neighbours of one class and bin.
    fn add_up(&mut self) {
        self.cells.dedup_by(|later, first| {
            let is_same = (later.y_true, later.index) == (first.y_true, first.index);
            first.weight += if is_same { later.weight } else { 0.0 };
            is_same
        });
    }

    /// Joins neighbours as often as needed to leave at most `max_cells`.
    pub fn coarsen(&mut self, max_cells: usize) {
        if self.cells.len() > max_cells {
            let halvings = count_halvings(self.cells.iter().map(|cell| (cell.y_true, cell.index)), max_cells);
            self.raise_level(self.level + halvings);
        }
    }

    /// Joins neighbours until a level is reached.
    pub fn raise_level(&mut self, level: u32) {
        if level > self.level {
            self.cells.iter_mut().for_each(|cell| cell.index >>= level - self.level);
            self.add_up();
            self.level = level;
        }
    }

    /// Adds newer cells.
    pub fn merge_with(mut self, mut newer: Self, max_cells: usize) -> Self {
        let level = self.level.max(newer.level);
        self.raise_level(level);
        newer.raise_level(level);
        let mut cells = Vec::with_capacity(self.cells.len() + newer.cells.len());
        let (mut i, mut j) = (0, 0);
        while let (Some(first), Some(second)) = (self.cells.get(i), newer.cells.get(j)) {
            let order = (first.y_true, first.index).cmp(&(second.y_true, second.index));
            let weight = if order.is_le() { first.weight } else { 0.0 };
            let weight = if order.is_ge() { weight + second.weight } else { weight };
            cells.push(Cell { weight, ..if order.is_le() { *first } else { *second } });
            i += usize::from(order.is_le());
            j += usize::from(order.is_ge());
        }
        cells.extend_from_slice(&self.cells[i..]);
        cells.extend_from_slice(&newer.cells[j..]);
        let mut merged = Self { level, cells };
        merged.coarsen(max_cells);
        merged.cells.shrink_to_fit();
        merged
    }

    /// Returns the cells of the same rows for a class that none of them voted for.
    pub fn without_votes(&self) -> Self {
        let index = share_index(0.0);
        let mut cells: Vec<Cell> = vec![];
        for cell in &self.cells {
            match cells.last_mut() {
                Some(last) if last.y_true == cell.y_true => last.weight += cell.weight,
                _ => cells.push(Cell { index, ..*cell }),
            }
        }
        Self { level: 0, cells }
    }

    /// Returns the cells with other numbers of the true classes.
    pub fn with_classes(&self, classes: &[u32]) -> Self {
        let cells = self.cells.iter().map(|cell| Cell { y_true: classes[cell.y_true as usize], ..*cell });
        Self::new(self.level, cells.collect(), usize::MAX)
    }

    /// Adds the areas of a class voted for.
    pub fn rank(&self, class: usize, ranks: &mut Ranks) {
        let mut ascending: Vec<&Cell> = self.cells.iter().collect();
        ascending.sort_by_key(|cell| cell.index);
        rank(class, self.level, ascending.into_iter(), ranks);
    }

    /// Returns the memory they use on the heap in bytes.
    pub fn n_bytes(&self) -> usize {
        self.cells.capacity() * size_of::<Cell>()
    }

    /// Appends them to a saved state.
    pub fn write(&self, writer: &mut Writer) {
        writer.u64(u64::from(self.level));
        writer.u64s(self.cells.iter().map(|cell| cell.index as u64));
        writer.u64s(self.cells.iter().map(|cell| u64::from(cell.y_true)));
        writer.f64s(&self.cells.iter().map(|cell| cell.weight).collect::<Vec<_>>());
    }

    /// Reads them from a saved state.
    ///
    /// # Errors
    /// Returns [`KernelError::Saved`] if they are not in order, too many, or the bytes end.
    pub fn read(n_classes: usize, max_cells: usize, reader: &mut Reader<'_>) -> Result<Self, KernelError> {
        let (level, indexes, classes, weights) = (reader.u64()?, reader.u64s()?, reader.u64s()?, reader.f64s()?);
        let lengths_fit =
            indexes.len() == classes.len() && indexes.len() == weights.len() && weights.len() <= max_cells;
        let values_fit = level < 64
            && indexes.iter().all(|&index| (ZERO..-ZERO).contains(&(index as i64)))
            && classes.iter().all(|&class| class < n_classes as u64)
            && weights.iter().all(|weight| (0.0..f64::INFINITY).contains(weight));
        let cells = indexes.into_iter().zip(classes).zip(weights);
        let cells = cells.map(|((index, class), weight)| Cell { index: index as i64, y_true: class as u32, weight });
        let cells: Vec<Cell> = cells.collect();
        if !(lengths_fit && values_fit && cells.is_sorted_by(|a, b| (a.y_true, a.index) < (b.y_true, b.index))) {
            return Err(reader.error("its bins of votes are not in order"));
        }
        Ok(Self { level: level as u32, cells })
    }
}

/// Adds the areas of a class from its cells in ascending order of bins.
pub fn rank<'a>(class: usize, level: u32, cells: impl DoubleEndedIterator<Item = &'a Cell>, ranks: &mut Ranks) {
    let mut scan = RankScan::new(class, ranks);
    let mut last = i64::MAX;
    // Rows in one bin are tied for certain only if it is a single number.
    let is_one_number = |index: i64| match level {
        0 => index >= -FULL || index == ZERO,
        1..=LAST_LEVEL => index == ZERO >> level || index == !ZERO >> level,
        _ => false,
    };
    for cell in cells.rev() {
        if cell.index != last {
            scan.end_group(is_one_number(last));
            last = cell.index;
        }
        scan.add(cell.y_true as usize, cell.weight);
    }
    scan.end_group(is_one_number(last));
    scan.finish();
}

/// Returns the fewest halvings that leave at most `max_bins` of ascending pairs of a class and an index.
fn count_halvings(bins: impl Iterator<Item = (u32, i64)>, max_bins: usize) -> u32 {
    const NEVER: u32 = 64;
    // By number of halvings after which a bin is the same as that before it.
    let mut n_joined = [0; NEVER as usize + 1];
    let (mut n_bins, mut last): (usize, Option<(u32, i64)>) = (0, None);
    for (class, index) in bins {
        let joined = match last {
            Some((last_class, last_index)) if last_class == class => i64::BITS - (index ^ last_index).leading_zeros(),
            _ => NEVER,
        };
        n_joined[joined as usize] += 1;
        n_bins += 1;
        last = Some((class, index));
    }
    let mut halvings = 0;
    n_bins -= n_joined[0];
    while n_bins > max_bins && halvings + 1 < NEVER {
        halvings += 1;
        n_bins -= n_joined[halvings as usize];
    }
    halvings
}

/// Returns the used bins of a class from its cells in ascending order of bins.
pub fn list_used<'a>(
    class: usize,
    level: u32,
    cells: impl ExactSizeIterator<Item = &'a Cell>,
    max_bins: usize,
) -> UsedBins {
    let mut used = UsedBins::with_capacity(cells.len());
    for cell in cells {
        let is_own = cell.y_true as usize == class;
        let (own, others) = if is_own { (cell.weight, 0.0) } else { (0.0, cell.weight) };
        used.add(bin(cell.index, level), own, others);
    }
    used.coarsen(max_bins)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::randomness::{Draws, Purpose};

    #[test]
    fn indexes_ascend_with_shares_and_are_mirrored_at_one_half() {
        let mut shares: Vec<f64> = (0..=2000).map(|i| f64::from(i) / 2000.0).collect();
        shares.extend((1..80).flat_map(|i| [0.5_f64.powi(i), 1.0 - 0.5_f64.powi(i)]));
        shares.extend([0.5_f64.next_up(), 0.5_f64.next_down(), f64::MIN_POSITIVE, 5e-324, 1.0_f64.next_down(), 1e-300]);
        shares.sort_by(f64::total_cmp);
        shares.dedup();
        for pair in shares.windows(2) {
            assert!(share_index(pair[0]) < share_index(pair[1]), "{pair:?}");
        }
        for &share in shares.iter().filter(|&&share| share > 0.5) {
            assert_eq!(share_index(share), !share_index(1.0 - share), "{share}");
        }
        assert_eq!((share_index(0.0), share_index(0.5), share_index(1.0)), (ZERO, 0, !ZERO));
    }

    #[test]
    fn the_order_of_cells_and_their_cut_into_parts_do_not_matter() {
        let draws = Draws::new(3, Purpose::named("cells"), 0);
        let cell = |i: u64| Cell {
            index: share_index(draws.uniform(2 * i).powi(9)),
            y_true: draws.below(2 * i + 1, 3) as u32,
            weight: 1.0,
        };
        let cells: Vec<Cell> = (0..5_000).map(cell).collect();
        let whole = Cells::new(0, cells.clone(), 700);
        assert!(whole.level() > 40 && (300..=700).contains(&whole.as_slice().len()), "{}", whole.level());
        for size in [1, 99, 1_250] {
            let parts = cells.chunks(size).map(|part| Cells::new(0, part.to_vec(), 700));
            assert!(whole == parts.fold(Cells::default(), |sum, part| sum.merge_with(part, 700)));
        }
        let reversed = cells.into_iter().rev().collect();
        assert!(whole == Cells::new(0, reversed, 700));
    }
}
