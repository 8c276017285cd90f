//! Votes in bins: the ranking of rows of different classes, without storing the rows.

use super::cells::{Cell, Cells, list_used, max_cells, rank, share_index};
use super::{Layout, Ranks, Rows, UsedBins};
use crate::KernelError;
use crate::codec::{Reader, Writer};
use crate::error::check_option;

/// A free place in a hash table.
const FREE: u32 = u32::MAX;
const MIN_TABLE: usize = 16;
/// If new cells are more than one in this number, all are sorted; fewer are inserted one by one.
const MANY_NEW: usize = 32;
/// Bins whose faded weight is below this share of the greatest are dropped.
const NEGLIGIBLE: f64 = 1e-20;

/// The votes of rows in bins.
#[derive(Debug, Clone)]
pub struct VoteBins {
    classes: Vec<ClassBins>,
}

impl VoteBins {
    /// Creates them without rows, or none if the layout needs none.
    #[must_use]
    pub fn for_layout(layout: Layout) -> Option<Self> {
        let n_classes = layout.outcomes().n_classes();
        layout.bins_votes().then(|| Self { classes: vec![ClassBins::new(&Cells::default()); n_classes] })
    }

    /// Adds rows with their weights.
    pub fn add(&mut self, rows: &Rows<'_>, weight: impl Fn(usize) -> f64) {
        let n_classes = self.classes.len();
        let max_cells = max_cells(n_classes, 1);
        for (class, bins) in self.classes.iter_mut().enumerate() {
            for (row, (shares, &y_true)) in rows.shares.chunks_exact(n_classes).zip(rows.y_true).enumerate() {
                bins.add(share_index(shares[class]), y_true as u32, weight(row), max_cells);
            }
            bins.sort();
        }
    }

    /// Multiplies all weights by a factor; drops those that became negligible.
    pub fn fade(&mut self, factor: f64) {
        self.classes.iter_mut().for_each(|bins| bins.fade(factor));
    }

    /// Returns how they rank the classes.
    #[must_use]
    pub fn ranks(&self) -> Ranks {
        let mut ranks = Ranks::new(self.classes.len());
        for (class, bins) in self.classes.iter().enumerate() {
            rank(class, bins.level, bins.ascending(), &mut ranks);
        }
        ranks
    }

    /// Returns the used bins of each class voted for, at most `max_bins`.
    ///
    /// # Errors
    /// Returns [`KernelError::Option`] if `max_bins` is below 2.
    pub fn list_used(&self, max_bins: usize) -> Result<Vec<UsedBins>, KernelError> {
        check_option("max_bins", max_bins, max_bins >= 2, "it must be at least 2")?;
        let classes = self.classes.iter().enumerate();
        Ok(classes.map(|(class, bins)| list_used(class, bins.level, bins.ascending(), max_bins)).collect())
    }

    /// Returns the memory they use on the heap in bytes.
    #[must_use]
    pub fn n_bytes(&self) -> usize {
        self.classes.capacity() * size_of::<ClassBins>() + self.classes.iter().map(ClassBins::n_bytes).sum::<usize>()
    }

    /// Appends them to a saved state.
    pub fn write(&self, writer: &mut Writer) {
        self.classes.iter().for_each(|bins| bins.to_cells().write(writer));
    }

    /// Reads those of a state that was saved with a layout of at most as many classes.
    ///
    /// # Errors
    /// Returns [`KernelError::Saved`] if they are invalid.
    pub fn read(&self, saved: Layout, reader: &mut Reader<'_>) -> Result<Self, KernelError> {
        let cells = read_classes(saved, self.classes.len(), 1, reader)?;
        Ok(Self { classes: cells.iter().map(ClassBins::new).collect() })
    }

    /// Adds the rows of others; `classes` are the numbers of their classes here.
    pub fn merge(&mut self, others: &Self, classes: &[u32]) {
        let max_cells = max_cells(self.classes.len(), 1);
        for (class, bins) in (0..).zip(&mut self.classes) {
            let voted = classes.iter().position(|&own| own == class);
            let more = others.classes[voted.unwrap_or_default()].to_cells();
            let more = if voted.is_some() { more } else { more.without_votes() };
            *bins = ClassBins::new(&bins.to_cells().merge_with(more.with_classes(classes), max_cells));
        }
    }
}

/// Reads the cells of `n_classes` classes voted for from a state that was saved with at most as many, for one of `n_parts`
/// states.
///
/// # Errors
/// Returns [`KernelError::Saved`] if they are invalid.
pub fn read_classes(
    saved: Layout,
    n_classes: usize,
    n_parts: usize,
    reader: &mut Reader<'_>,
) -> Result<Vec<Cells>, KernelError> {
    let n_saved = saved.outcomes().n_classes();
    let cells = (0..n_saved).map(|_| Cells::read(n_saved, max_cells(n_saved, n_parts), reader));
    let mut cells = cells.collect::<Result<Vec<_>, _>>()?;
    if n_saved < n_classes {
        let without_votes = cells[0].without_votes();
        cells.resize(n_classes, without_votes);
        for cells in &mut cells {
            cells.coarsen(max_cells(n_classes, n_parts));
        }
    }
    Ok(cells)
}

/// The bins of the votes for one class.
#[derive(Debug, Clone)]
struct ClassBins {
    level: u32,
    /// The cells in the order in which they were first used.
    cells: Vec<Cell>,
    /// Their numbers in ascending order of bins; those of the latest cells are missing while rows are added.
    sorted: Vec<u32>,
    /// A hash table of their numbers, at most a quarter full; its length is a power of 2.
    table: Vec<u32>,
}

impl ClassBins {
    fn new(cells: &Cells) -> Self {
        let n = cells.as_slice().len();
        let table = vec![FREE; MIN_TABLE.max((4 * n).next_power_of_two())];
        let mut bins = Self { level: cells.level(), cells: Vec::with_capacity(n), sorted: vec![], table };
        for &cell in cells.as_slice() {
            bins.insert(bins.find(cell.index, cell.y_true), cell);
        }
        bins.sort();
        bins
    }

    fn ascending(&self) -> impl DoubleEndedIterator<Item = &Cell> + ExactSizeIterator {
        self.sorted.iter().map(|&number| &self.cells[number as usize])
    }

    fn to_cells(&self) -> Cells {
        Cells::new(self.level, self.cells.clone(), usize::MAX)
    }

    #[inline]
    fn add(&mut self, index: i64, y_true: u32, weight: f64, max_cells: usize) {
        let index = index >> self.level;
        let place = self.find(index, y_true);
        if let Some(cell) = self.cells.get_mut(self.table[place] as usize) {
            cell.weight += weight;
        } else if weight > 0.0 {
            self.insert(place, Cell { index, y_true, weight });
            if self.cells.len() > max_cells || 4 * self.cells.len() > self.table.len() {
                *self = Self::new(&Cells::new(self.level, std::mem::take(&mut self.cells), max_cells));
            }
        }
    }

    /// Returns the place of a bin in the table, or the free one where it belongs.
    #[inline]
    fn find(&self, index: i64, y_true: u32) -> usize {
        let product = ((index as u64) ^ u64::from(y_true).rotate_right(8)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mask = self.table.len() - 1;
        let mut place = (product >> 32) as usize & mask;
        while let Some(cell) = self.cells.get(self.table[place] as usize) {
            if cell.index == index && cell.y_true == y_true {
                break;
            }
            place = (place + 1) & mask;
        }
        place
    }

    fn insert(&mut self, place: usize, cell: Cell) {
        self.table[place] = self.cells.len() as u32;
        self.cells.push(cell);
    }

    /// Completes the order after rows were added.
    fn sort(&mut self) {
        // By class too, so that weights in one bin are added in an order that does not depend on batches.
        let key = |&number: &u32| (self.cells[number as usize].index, self.cells[number as usize].y_true);
        let n_sorted = self.sorted.len();
        let new = n_sorted as u32..self.cells.len() as u32;
        if MANY_NEW * new.len() > n_sorted {
            self.sorted.extend(new);
            self.sorted.sort_by_key(key);
        } else {
            for number in new {
                let place = self.sorted.partition_point(|other| key(other) < key(&number));
                self.sorted.insert(place, number);
            }
        }
    }

    fn fade(&mut self, factor: f64) {
        let mut greatest = 0.0_f64;
        for cell in &mut self.cells {
            cell.weight *= factor;
            greatest = greatest.max(cell.weight);
        }
        let is_kept = |cell: &Cell| cell.weight > NEGLIGIBLE * greatest;
        if !self.cells.iter().all(is_kept) {
            let kept = self.cells.iter().copied().filter(is_kept).collect();
            *self = Self::new(&Cells::new(self.level, kept, usize::MAX));
        }
    }

    fn n_bytes(&self) -> usize {
        self.cells.capacity() * size_of::<Cell>() + 4 * (self.sorted.capacity() + self.table.capacity())
    }
}
