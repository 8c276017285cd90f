//! An adaptive window on the errors of the learner.

use std::collections::VecDeque;

use super::bucket_tally::{BucketTally, add_rows};
use super::cells::{Cell, Cells, max_cells, share_index};
use super::vote_bins::read_classes;
use super::{Forgetting, Layout, Ranks, Rows};
use crate::KernelError;
use crate::adaptive_window::{AdaptiveWindow, BucketObserver, Settings};
use crate::codec::{Reader, Writer};

const NAME: &str = "Adwin";

/// The level from which on buckets are tallies; below it they are rows.
const FIRST_TALLY_LEVEL: usize = 7;
/// A bucket has one in this number of the bins of votes that other forgettings keep, since there are many buckets.
const N_PARTS: usize = 4;
/// The number of rows added at a time.
const CHUNK: usize = 1024;

/// An adaptive window: covers the rows since the error rate last changed, by ADWIN on the 0/1 loss of each row, or on the
/// losses that come with its amounts.
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
        let of_classes = layout.n_amounts() == 0;
        let window = if of_classes { AdaptiveWindow::binary(settings)? } else { AdaptiveWindow::new(settings)? };
        Ok(Self { window, tallies: BucketTallies::new(layout) })
    }

    /// Returns the number of rows in the window.
    #[must_use]
    pub fn width(&self) -> u64 {
        self.window.width()
    }

    /// Returns the number of rows until the window is checked; none are dropped before.
    #[must_use]
    pub fn until_check(&self) -> usize {
        self.window.until_check()
    }
}

impl Forgetting for Adwin {
    fn layout(&self) -> Layout {
        self.tallies.layout
    }

    fn push_rows(&mut self, rows: &Rows<'_>) {
        for start in (0..rows.len()).step_by(CHUNK) {
            let part = rows.slice(start..rows.len().min(start + CHUNK));
            self.tallies.recent.extend(&part);
            if self.tallies.layout.n_amounts() > 0 {
                self.window.extend(part.losses.iter().copied(), &mut self.tallies);
                continue;
            }
            let classes = part.y_true.iter().zip(part.y_pred);
            let losses: Vec<f64> = classes.map(|(y_true, y_pred)| f64::from(u8::from(y_true != y_pred))).collect();
            self.window.extend_binary(&losses, &mut self.tallies);
        }
    }

    fn add_weights(&self, weights: &mut [f64]) -> u64 {
        self.tallies.add_weights(weights);
        self.window.width()
    }

    fn ranks(&self) -> Option<Ranks> {
        self.tallies.layout.bins_votes().then(|| self.tallies.ranks())
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
        let saved = self.layout().read_saved(&mut reader)?;
        let window = self.window.read(&mut reader)?;
        let tallies = BucketTallies::read(self.tallies.layout, saved, &window, &mut reader)?;
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
    /// The maximum number of bins of votes of a bucket and class.
    max_cells: usize,
    /// The rows of the small buckets.
    recent: RecentRows,
    /// The tallies of the large buckets by level, the oldest first.
    levels: Vec<VecDeque<Bucket>>,
}

impl BucketTallies {
    fn new(layout: Layout) -> Self {
        let max_cells = max_cells(layout.outcomes().n_classes().max(1), N_PARTS);
        let (entries_per_row, recent) = (layout.entries_per_row(), RecentRows::new(layout));
        Self { layout, entries_per_row, max_cells, recent, levels: vec![] }
    }

    fn add_weights(&self, weights: &mut [f64]) {
        self.levels.iter().rev().flatten().for_each(|bucket| bucket.tally.add_to(weights));
        let (codes, row_weights) = self.recent.oldest(self.recent.len());
        add_rows(weights, codes, row_weights);
    }

    fn ranks(&self) -> Ranks {
        let n_classes = self.layout.outcomes().n_classes();
        let mut ranks = Ranks::new(n_classes);
        for class in 0..n_classes {
            let buckets = || self.levels.iter().flatten().map(|bucket| &bucket.votes[class]);
            let mut sum = self.recent.bin_oldest(class, self.recent.n_rows(), self.max_cells);
            sum.raise_level(buckets().map(Cells::level).max().unwrap_or_default());
            // From the newest, which have few bins, to the oldest.
            let sum = buckets().fold(sum, |sum, older| older.clone().merge_with(sum, usize::MAX));
            sum.rank(class, &mut ranks);
        }
        ranks
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

    fn merge_oldest(&mut self, level: usize) -> Option<Bucket> {
        let older = self.levels[level].pop_front()?;
        let newer = self.levels[level].pop_front()?;
        let votes = older.votes.into_iter().zip(newer.votes);
        Some(Bucket {
            tally: older.tally.merge_with(newer.tally, self.layout),
            votes: votes.map(|(older, newer)| older.merge_with(newer, self.max_cells)).collect(),
        })
    }

    /// Builds a tally of the oldest rows and removes them.
    fn tally_oldest_rows(&mut self) -> Bucket {
        let n_rows = 1 << FIRST_TALLY_LEVEL;
        let (codes, weights) = self.recent.oldest(n_rows * self.entries_per_row);
        let tally = BucketTally::new(self.layout, codes, weights);
        let classes = 0..self.recent.n_shares;
        let votes = classes.map(|class| self.recent.bin_oldest(class, n_rows, self.max_cells)).collect();
        self.recent.start += n_rows * self.entries_per_row;
        Bucket { tally, votes }
    }

    fn n_bytes(&self) -> usize {
        let tallies: usize = self.levels.iter().flatten().map(Bucket::n_bytes).sum();
        let slots: usize = self.levels.iter().map(|level| level.capacity() * size_of::<Bucket>()).sum();
        let levels = self.levels.capacity() * size_of::<VecDeque<Bucket>>();
        tallies + slots + levels + self.recent.n_bytes()
    }

    fn write(&self, writer: &mut Writer) {
        self.recent.write(writer);
        self.levels.iter().flatten().for_each(|bucket| bucket.write(writer));
    }

    fn read(
        layout: Layout,
        saved: Layout,
        window: &AdaptiveWindow,
        reader: &mut Reader<'_>,
    ) -> Result<Self, KernelError> {
        let mut tallies = Self::new(layout);
        tallies.recent = RecentRows::read(layout, saved, reader)?;
        let mut n_recent = 0;
        for (level, n) in window.n_buckets().enumerate() {
            if level < FIRST_TALLY_LEVEL {
                n_recent += n << level;
            } else {
                let level = (0..n).map(|_| Bucket::read(layout, saved, reader)).collect::<Result<_, _>>()?;
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

/// The tally of a bucket, and the votes of its rows by class voted for if they are binned.
#[derive(Debug, Clone)]
struct Bucket {
    tally: BucketTally,
    votes: Vec<Cells>,
}

impl Bucket {
    fn n_bytes(&self) -> usize {
        let votes = self.votes.capacity() * size_of::<Cells>() + self.votes.iter().map(Cells::n_bytes).sum::<usize>();
        self.tally.n_bytes() + votes
    }

    fn write(&self, writer: &mut Writer) {
        self.tally.write(writer);
        self.votes.iter().for_each(|cells| cells.write(writer));
    }

    fn read(layout: Layout, saved: Layout, reader: &mut Reader<'_>) -> Result<Self, KernelError> {
        let tally = BucketTally::read(layout, saved, reader)?;
        let n_classes = layout.outcomes().n_classes();
        let votes = if layout.bins_votes() { read_classes(saved, n_classes, N_PARTS, reader)? } else { vec![] };
        Ok(Self { tally, votes })
    }
}

/// The entries of the newest rows, the oldest of them first.
#[derive(Debug, Clone)]
struct RecentRows {
    layout: Layout,
    codes: Vec<u32>,
    /// Empty while all are 1.
    weights: Vec<f64>,
    /// The first entry still needed.
    start: usize,
    /// The votes of the rows as shares, `n_shares` per row: one per class if votes are binned, otherwise none.
    shares: Vec<f64>,
    n_shares: usize,
}

impl RecentRows {
    fn new(layout: Layout) -> Self {
        let n_shares = if layout.bins_votes() { layout.outcomes().n_classes() } else { 0 };
        Self { layout, codes: vec![], weights: vec![], start: 0, shares: vec![], n_shares }
    }

    fn len(&self) -> usize {
        self.codes.len() - self.start
    }

    fn n_rows(&self) -> usize {
        self.len() / self.layout.entries_per_row()
    }

    fn first_share(&self) -> usize {
        self.start / self.layout.entries_per_row() * self.n_shares
    }

    fn extend(&mut self, rows: &Rows<'_>) {
        self.shares.drain(..self.first_share());
        self.codes.drain(..self.start);
        self.weights.drain(..self.start.min(self.weights.len()));
        self.start = 0;
        if rows.weight.is_some() || !self.weights.is_empty() {
            self.weights.resize(self.codes.len(), 1.0);
            self.weights.extend_from_slice(rows.weight.unwrap_or_default());
            self.weights.resize(self.codes.len() + rows.codes.len(), 1.0);
        }
        self.codes.extend_from_slice(rows.codes);
        if self.n_shares > 0 {
            self.shares.extend_from_slice(rows.shares);
        }
    }

    /// Returns the codes and weights of the `n` oldest entries.
    fn oldest(&self, n: usize) -> (&[u32], Option<&[f64]>) {
        let range = self.start..self.start + n;
        let weights = if self.weights.is_empty() { None } else { Some(&self.weights[range.clone()]) };
        (&self.codes[range], weights)
    }

    /// Returns the bins of the votes for a class of the `n_rows` oldest rows.
    fn bin_oldest(&self, class: usize, n_rows: usize, max_cells: usize) -> Cells {
        let entries_per_row = self.layout.entries_per_row();
        let shares = self.shares[self.first_share()..].chunks_exact(self.n_shares).take(n_rows);
        let cells = shares.enumerate().map(|(row, shares)| {
            let entry = self.start + row * entries_per_row;
            let y_true = self.layout.outcomes().true_class(self.codes[entry]);
            let weight = self.weights.get(entry).copied().unwrap_or(1.0);
            Cell { index: share_index(shares[class]), y_true, weight }
        });
        Cells::new(0, cells.filter(|cell| cell.weight > 0.0).collect(), max_cells)
    }

    fn n_bytes(&self) -> usize {
        4 * self.codes.capacity() + 8 * (self.weights.capacity() + self.shares.capacity())
    }

    fn write(&self, writer: &mut Writer) {
        writer.u64s(self.codes[self.start..].iter().map(|&code| u64::from(code)));
        writer.f64s(self.weights.get(self.start..).unwrap_or_default());
        if self.n_shares > 0 {
            writer.f64s(&self.shares[self.first_share()..]);
        }
    }

    fn read(layout: Layout, saved: Layout, reader: &mut Reader<'_>) -> Result<Self, KernelError> {
        let (codes, weights) = (saved.read_row_codes(reader)?, reader.f64s()?);
        if !(weights.is_empty() || weights.len() == codes.len()) {
            return Err(reader.error("it has a wrong number of weights"));
        }
        let mut rows = Self { codes: layout.adopt_codes(saved, codes), weights, ..Self::new(layout) };
        if rows.n_shares > 0 {
            let shares = reader.f64s()?;
            let shares_fit = shares.iter().all(|share| (0.0..=1.0).contains(share));
            if shares.len() != rows.n_rows() * saved.outcomes().n_classes() || !shares_fit {
                return Err(reader.error("its votes do not match its rows"));
            }
            rows.shares = layout.adopt_shares(saved, shares);
        }
        Ok(rows)
    }
}
