//! A window that adapts its width to the errors of the learner.

use std::collections::VecDeque;

use super::{Forgetting, Outcomes, Rows, whole};
use crate::KernelError;
use crate::adaptive_window::{AdaptiveWindow, Follower, Settings};
use crate::codec::{Reader, Writer};

const NAME: &str = "Adwin";

/// Buckets below this level are rows, from it on they are tallies.
const FIRST_TALLY: usize = 7;
/// So many rows are taken in at a time.
const CHUNK: usize = 1024;

/// Covers the rows since the error rate last changed, by ADWIN on the 0/1 loss of each row.
///
/// Each bucket of the histogram carries the tally of its rows, so that all measures are over one and the same window.
/// The weights of rows count in the tallies, not in the loss.
#[derive(Debug, Clone)]
pub struct Adwin {
    window: AdaptiveWindow,
    tallies: BucketTallies,
}

impl Adwin {
    /// A state that has seen nothing.
    ///
    /// # Errors
    /// [`KernelError::Option`] where an option is outside its range.
    pub fn new(outcomes: Outcomes, settings: Settings) -> Result<Self, KernelError> {
        Ok(Self { window: AdaptiveWindow::new(settings)?, tallies: BucketTallies::new(outcomes) })
    }
}

impl Forgetting for Adwin {
    fn outcomes(&self) -> Outcomes {
        self.tallies.outcomes
    }

    fn take(&mut self, rows: &Rows<'_>) {
        for start in (0..rows.codes.len()).step_by(CHUNK) {
            let range = start..rows.codes.len().min(start + CHUNK);
            self.tallies.recent.extend(&rows.codes[range.clone()], rows.weight.map(|weight| &weight[range.clone()]));
            for (y_true, y_pred) in rows.y_true[range.clone()].iter().zip(&rows.y_pred[range]) {
                self.window.add(f64::from(u8::from(y_true != y_pred)), &mut self.tallies);
            }
        }
    }

    fn weigh(&self, weights: &mut [f64]) -> u64 {
        self.tallies.weigh(weights);
        self.window.width()
    }

    fn n_bytes(&self) -> usize {
        self.window.n_bytes() + self.tallies.n_bytes()
    }

    fn save(&self) -> Vec<u8> {
        let mut writer = Writer::new(NAME, 1);
        self.window.write(&mut writer);
        self.tallies.write(&mut writer);
        writer.finish()
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), KernelError> {
        let mut reader = Reader::new(NAME, 1, bytes)?;
        let window = self.window.read(&mut reader)?;
        let tallies = BucketTallies::read(self.tallies.outcomes, &window, &mut reader)?;
        reader.finish()?;
        (self.window, self.tallies) = (window, tallies);
        Ok(())
    }
}

/// The weight of one outcome in a bucket.
#[derive(Debug, Clone, Copy)]
struct Share {
    code: u32,
    weight: f64,
}

/// The tally of a bucket: its outcomes in ascending order. Sparse, since few of many classes' outcomes ever occur.
type BucketTally = Vec<Share>;

/// What belongs to the buckets of the window.
#[derive(Debug, Clone)]
struct BucketTallies {
    outcomes: Outcomes,
    /// The rows of the small buckets, the oldest first.
    recent: Recent,
    /// The tallies of the large buckets by level, the oldest first.
    levels: Vec<VecDeque<BucketTally>>,
    /// The weights of all large buckets by outcome; kept while all weights are whole, and so without rounding.
    settled: Vec<f64>,
    /// Zeros, to count the rows of a new bucket in.
    counts: Vec<f64>,
}

impl BucketTallies {
    fn new(outcomes: Outcomes) -> Self {
        let zeros = vec![0.0; outcomes.n_codes()];
        Self { outcomes, recent: Recent::default(), levels: vec![], settled: zeros.clone(), counts: zeros }
    }

    fn weigh(&self, weights: &mut [f64]) {
        if self.recent.fractional {
            let oldest_first = self.levels.iter().rev().flatten().flatten();
            oldest_first.for_each(|share| weights[share.code as usize] += share.weight);
        } else {
            weights.copy_from_slice(&self.settled);
        }
        for (code, weight) in self.recent.rows(self.recent.codes.len() - self.recent.start) {
            weights[code as usize] += weight;
        }
    }

    /// Make a tally of the `n` oldest rows.
    fn settle(&mut self, n: usize) -> BucketTally {
        let mut codes = Vec::with_capacity(n);
        for (code, weight) in self.recent.rows(n) {
            let count = &mut self.counts[code as usize];
            if *count == 0.0 && weight > 0.0 {
                codes.push(code);
            }
            *count += weight;
        }
        self.recent.start += n;
        codes.sort_unstable();
        let tally: BucketTally = codes
            .into_iter()
            .map(|code| Share { code, weight: std::mem::take(&mut self.counts[code as usize]) })
            .collect();
        tally.iter().for_each(|share| self.settled[share.code as usize] += share.weight);
        tally
    }

    fn n_bytes(&self) -> usize {
        let shares: usize = self.levels.iter().flatten().map(|tally| tally.capacity() * size_of::<Share>()).sum();
        let places: usize = self.levels.iter().map(|level| level.capacity() * size_of::<BucketTally>()).sum();
        let levels = self.levels.capacity() * size_of::<VecDeque<BucketTally>>();
        shares + places + levels + self.recent.n_bytes() + 8 * (self.settled.capacity() + self.counts.capacity())
    }

    fn write(&self, writer: &mut Writer) {
        self.recent.write(writer);
        for tally in self.levels.iter().flatten() {
            writer.u64s(tally.iter().map(|share| u64::from(share.code)));
            writer.f64s(&tally.iter().map(|share| share.weight).collect::<Vec<_>>());
        }
    }

    fn read(outcomes: Outcomes, window: &AdaptiveWindow, reader: &mut Reader<'_>) -> Result<Self, KernelError> {
        let mut tallies = Self::new(outcomes);
        tallies.recent = Recent::read(outcomes, reader)?;
        let mut n_recent = 0;
        for (level, n) in window.n_buckets().enumerate() {
            if level < FIRST_TALLY {
                n_recent += n << level;
            } else {
                let level = (0..n).map(|_| read_tally(outcomes, reader)).collect::<Result<VecDeque<_>, _>>()?;
                tallies.levels.push(level);
            }
        }
        if tallies.recent.codes.len() != n_recent {
            return Err(reader.error("it holds a wrong number of rows"));
        }
        let shares = tallies.levels.iter().flatten().flatten();
        shares.for_each(|share| tallies.settled[share.code as usize] += share.weight);
        Ok(tallies)
    }
}

impl Follower for BucketTallies {
    #[inline(always)]
    fn merged(&mut self, level: usize) {
        if level + 1 >= FIRST_TALLY {
            self.merge(level + 1 - FIRST_TALLY);
        }
    }

    fn dropped(&mut self, level: usize) {
        if level < FIRST_TALLY {
            self.recent.start += 1 << level;
            return;
        }
        let tally = self.levels[level - FIRST_TALLY].pop_front().unwrap_or_default();
        tally.iter().for_each(|share| self.settled[share.code as usize] -= share.weight);
    }
}

impl BucketTallies {
    /// Make the newest tally of a level from two of the level below, or from rows.
    #[inline(never)]
    fn merge(&mut self, level: usize) {
        let merged = match level.checked_sub(1) {
            None => self.settle(1 << FIRST_TALLY),
            Some(below) => {
                let older = self.levels[below].pop_front().unwrap_or_default();
                let newer = self.levels[below].pop_front().unwrap_or_default();
                add_tallies(&older, &newer)
            }
        };
        if level == self.levels.len() {
            self.levels.push(VecDeque::new());
        }
        self.levels[level].push_back(merged);
    }
}

/// The sum of two tallies.
fn add_tallies(older: &[Share], newer: &[Share]) -> BucketTally {
    let mut sum = Vec::with_capacity(older.len() + newer.len());
    let (mut i, mut j) = (0, 0);
    while i < older.len() && j < newer.len() {
        let (a, b) = (older[i], newer[j]);
        let weight = if a.code == b.code {
            a.weight + b.weight
        } else if a.code < b.code {
            a.weight
        } else {
            b.weight
        };
        sum.push(Share { code: a.code.min(b.code), weight });
        i += usize::from(a.code <= b.code);
        j += usize::from(b.code <= a.code);
    }
    sum.extend_from_slice(&older[i..]);
    sum.extend_from_slice(&newer[j..]);
    sum.shrink_to_fit();
    sum
}

fn read_tally(outcomes: Outcomes, reader: &mut Reader<'_>) -> Result<BucketTally, KernelError> {
    let (codes, weights) = (outcomes.read_codes(reader)?, reader.f64s()?);
    if codes.len() != weights.len() || codes.windows(2).any(|pair| pair[0] >= pair[1]) {
        return Err(reader.error("the tally of a bucket is not in order"));
    }
    Ok(codes.into_iter().zip(weights).map(|(code, weight)| Share { code, weight }).collect())
}

/// The newest rows.
#[derive(Debug, Clone, Default)]
struct Recent {
    codes: Vec<u32>,
    /// Empty while all have been 1.
    weights: Vec<f64>,
    /// The rows before this one are no longer needed.
    start: usize,
    /// Whether there has ever been a weight that was not whole.
    fractional: bool,
}

impl Recent {
    fn extend(&mut self, codes: &[u32], weights: Option<&[f64]>) {
        self.codes.drain(..self.start);
        self.weights.drain(..self.start.min(self.weights.len()));
        self.start = 0;
        if weights.is_some() || !self.weights.is_empty() {
            self.weights.resize(self.codes.len(), 1.0);
            let new = weights.unwrap_or_default();
            self.weights.extend_from_slice(new);
            self.weights.resize(self.codes.len() + codes.len(), 1.0);
            self.fractional |= new.iter().any(|&weight| whole(weight).is_none());
        }
        self.codes.extend_from_slice(codes);
    }

    /// The `n` oldest rows and their weights.
    fn rows(&self, n: usize) -> impl Iterator<Item = (u32, f64)> {
        let codes = self.codes[self.start..self.start + n].iter().enumerate();
        codes.map(|(i, &code)| (code, self.weights.get(self.start + i).copied().unwrap_or(1.0)))
    }

    fn n_bytes(&self) -> usize {
        4 * self.codes.capacity() + 8 * self.weights.capacity()
    }

    fn write(&self, writer: &mut Writer) {
        writer.u64s(self.codes[self.start..].iter().map(|&code| u64::from(code)));
        writer.f64s(self.weights.get(self.start..).unwrap_or_default());
        writer.u64(u64::from(self.fractional));
    }

    fn read(outcomes: Outcomes, reader: &mut Reader<'_>) -> Result<Self, KernelError> {
        let (codes, weights) = (outcomes.read_codes(reader)?, reader.f64s()?);
        let fractional = reader.u64()? == 1;
        if !(weights.is_empty() || weights.len() == codes.len()) {
            return Err(reader.error("it holds a wrong number of weights"));
        }
        Ok(Self { codes, weights, start: 0, fractional })
    }
}
