//! An adaptive window on the errors of the learner.

use std::collections::VecDeque;

use super::bucket_tally::{BucketTally, add_rows};
use super::{Forgetting, Layout, Rows};
use crate::KernelError;
use crate::adaptive_window::{AdaptiveWindow, BucketObserver, Settings};
use crate::codec::{Reader, Writer};

const NAME: &str = "Adwin";

/// The level from which on buckets are tallies; below it they are rows.
const FIRST_TALLY_LEVEL: usize = 7;
/// The number of rows added at a time.
const CHUNK: usize = 1024;

/// An adaptive window: covers the rows since the error rate last changed, by ADWIN on the 0/1 loss of each row.
///
/// Each bucket of the histogram has the tally of its rows, so that all measures cover the same window. The weights of
/// rows count in the tallies, not in the loss.
#[derive(Debug, Clone)]
pub struct Adwin {
    window: AdaptiveWindow,
    tallies: BucketTallies,
}

impl Adwin {
    /// Creates a state that has seen no row.
    ///
    /// # Errors
    /// Returns [`KernelError::Option`] if an option is outside its range.
    pub fn new(layout: Layout, settings: Settings) -> Result<Self, KernelError> {
        Ok(Self { window: AdaptiveWindow::binary(settings)?, tallies: BucketTallies::new(layout) })
    }
}

impl Forgetting for Adwin {
    fn layout(&self) -> Layout {
        self.tallies.layout
    }

    fn push_rows(&mut self, rows: &Rows<'_>) {
        for start in (0..rows.len()).step_by(CHUNK) {
            let part = rows.slice(start..rows.len().min(start + CHUNK));
            self.tallies.recent.extend(part.codes, part.weight);
            let classes = part.y_true.iter().zip(part.y_pred);
            let losses: Vec<f64> = classes.map(|(y_true, y_pred)| f64::from(u8::from(y_true != y_pred))).collect();
            self.window.extend_binary(&losses, &mut self.tallies);
        }
    }

    fn add_weights(&self, weights: &mut [f64]) -> u64 {
        self.tallies.add_weights(weights);
        self.window.width()
    }

    fn n_bytes(&self) -> usize {
        self.window.n_bytes() + self.tallies.n_bytes()
    }

    fn save(&self) -> Vec<u8> {
        let mut writer = Writer::new(NAME, 1);
        self.layout().write(&mut writer);
        self.window.write(&mut writer);
        self.tallies.write(&mut writer);
        writer.finish()
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), KernelError> {
        let mut reader = Reader::new(NAME, 1, bytes)?;
        self.layout().check_saved(&mut reader)?;
        let window = self.window.read(&mut reader)?;
        let tallies = BucketTallies::read(self.tallies.layout, &window, &mut reader)?;
        reader.finish()?;
        (self.window, self.tallies) = (window, tallies);
        Ok(())
    }
}

/// The tallies of the buckets of the window.
#[derive(Debug, Clone)]
struct BucketTallies {
    layout: Layout,
    /// The number of entries of a row.
    entries_per_row: usize,
    /// The rows of the small buckets.
    recent: RecentRows,
    /// The tallies of the large buckets by level, the oldest first.
    levels: Vec<VecDeque<BucketTally>>,
}

impl BucketTallies {
    fn new(layout: Layout) -> Self {
        Self { layout, entries_per_row: layout.entries_per_row(), recent: RecentRows::default(), levels: vec![] }
    }

    fn add_weights(&self, weights: &mut [f64]) {
        self.levels.iter().rev().flatten().for_each(|tally| tally.add_to(weights));
        let (codes, row_weights) = self.recent.oldest(self.recent.len());
        add_rows(weights, codes, row_weights);
    }

    /// Builds the newest tallies of a level from pairs of the level below, or from rows.
    #[inline(never)]
    fn merge(&mut self, level: usize, n_pairs: usize) {
        if level == self.levels.len() {
            self.levels.push(VecDeque::new());
        }
        for _ in 0..n_pairs {
            let merged = if level == 0 { Some(self.tally_oldest_rows()) } else { self.merge_oldest(level - 1) };
            self.levels[level].extend(merged);
        }
    }

    fn merge_oldest(&mut self, level: usize) -> Option<BucketTally> {
        let older = self.levels[level].pop_front()?;
        let newer = self.levels[level].pop_front()?;
        Some(older.merge_with(newer, self.layout))
    }

    /// Builds a tally of the oldest rows and removes them.
    fn tally_oldest_rows(&mut self) -> BucketTally {
        let n_entries = self.entries_per_row << FIRST_TALLY_LEVEL;
        let (codes, weights) = self.recent.oldest(n_entries);
        let tally = BucketTally::new(self.layout, codes, weights);
        self.recent.start += n_entries;
        tally
    }

    fn n_bytes(&self) -> usize {
        let tallies: usize = self.levels.iter().flatten().map(BucketTally::n_bytes).sum();
        let slots: usize = self.levels.iter().map(|level| level.capacity() * size_of::<BucketTally>()).sum();
        let levels = self.levels.capacity() * size_of::<VecDeque<BucketTally>>();
        tallies + slots + levels + self.recent.n_bytes()
    }

    fn write(&self, writer: &mut Writer) {
        self.recent.write(writer);
        self.levels.iter().flatten().for_each(|tally| tally.write(writer));
    }

    fn read(layout: Layout, window: &AdaptiveWindow, reader: &mut Reader<'_>) -> Result<Self, KernelError> {
        let mut tallies = Self::new(layout);
        tallies.recent = RecentRows::read(layout, reader)?;
        let mut n_recent = 0;
        for (level, n) in window.n_buckets().enumerate() {
            if level < FIRST_TALLY_LEVEL {
                n_recent += n << level;
            } else {
                let level = (0..n).map(|_| BucketTally::read(layout, reader)).collect::<Result<_, _>>()?;
                tallies.levels.push(level);
            }
        }
        if tallies.recent.len() != n_recent * tallies.entries_per_row {
            return Err(reader.error("it has a wrong number of rows"));
        }
        Ok(tallies)
    }
}

impl BucketObserver for BucketTallies {
    #[inline(always)]
    fn on_merge(&mut self, level: usize, n_pairs: usize) {
        if level + 1 >= FIRST_TALLY_LEVEL {
            self.merge(level + 1 - FIRST_TALLY_LEVEL, n_pairs);
        }
    }

    fn on_drop(&mut self, level: usize) {
        if level < FIRST_TALLY_LEVEL {
            self.recent.start += self.entries_per_row << level;
        } else {
            self.levels[level - FIRST_TALLY_LEVEL].pop_front();
        }
    }
}

/// The entries of the newest rows, the oldest of them first.
#[derive(Debug, Clone, Default)]
struct RecentRows {
    codes: Vec<u32>,
    /// Empty while all are 1.
    weights: Vec<f64>,
    /// The first entry still needed.
    start: usize,
}

impl RecentRows {
    fn len(&self) -> usize {
        self.codes.len() - self.start
    }

    fn extend(&mut self, codes: &[u32], weights: Option<&[f64]>) {
        self.codes.drain(..self.start);
        self.weights.drain(..self.start.min(self.weights.len()));
        self.start = 0;
        if weights.is_some() || !self.weights.is_empty() {
            self.weights.resize(self.codes.len(), 1.0);
            self.weights.extend_from_slice(weights.unwrap_or_default());
            self.weights.resize(self.codes.len() + codes.len(), 1.0);
        }
        self.codes.extend_from_slice(codes);
    }

    /// Returns the codes and weights of the `n` oldest entries.
    fn oldest(&self, n: usize) -> (&[u32], Option<&[f64]>) {
        let range = self.start..self.start + n;
        let weights = if self.weights.is_empty() { None } else { Some(&self.weights[range.clone()]) };
        (&self.codes[range], weights)
    }

    fn n_bytes(&self) -> usize {
        4 * self.codes.capacity() + 8 * self.weights.capacity()
    }

    fn write(&self, writer: &mut Writer) {
        writer.u64s(self.codes[self.start..].iter().map(|&code| u64::from(code)));
        writer.f64s(self.weights.get(self.start..).unwrap_or_default());
    }

    fn read(layout: Layout, reader: &mut Reader<'_>) -> Result<Self, KernelError> {
        let (codes, weights) = (layout.read_row_codes(reader)?, reader.f64s()?);
        if !(weights.is_empty() || weights.len() == codes.len()) {
            return Err(reader.error("it has a wrong number of weights"));
        }
        Ok(Self { codes, weights, start: 0 })
    }
}
