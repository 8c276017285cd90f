//! A ring buffer of the newest outcomes of predictions, 0 or 1 each.

use crate::KernelError;
use crate::codec::{Reader, Writer};

/// A sliding window of `width` outcomes.
#[derive(Debug, Clone)]
pub(super) struct Ring {
    outcomes: Vec<u8>,
    width: usize,
    /// The index of the oldest, once the window is full.
    oldest: usize,
    /// The number of outcomes that are 1.
    n_ones: usize,
}

impl Ring {
    pub(super) fn new(width: usize) -> Self {
        Self { outcomes: Vec::new(), width, oldest: 0, n_ones: 0 }
    }

    /// Adds an outcome; returns the one that leaves the window, if it was full.
    #[inline(always)]
    pub(super) fn push(&mut self, outcome: u8) -> Option<u8> {
        self.n_ones += usize::from(outcome);
        if self.outcomes.len() < self.width {
            self.outcomes.push(outcome);
            return None;
        }
        let oldest_outcome = std::mem::replace(&mut self.outcomes[self.oldest], outcome);
        self.n_ones -= usize::from(oldest_outcome);
        self.oldest = if self.oldest + 1 == self.width { 0 } else { self.oldest + 1 };
        Some(oldest_outcome)
    }

    pub(super) fn is_full(&self) -> bool {
        self.outcomes.len() == self.width
    }

    pub(super) fn len(&self) -> usize {
        self.outcomes.len()
    }

    pub(super) fn n_ones(&self) -> usize {
        self.n_ones
    }

    /// Iterates over the outcomes, the oldest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = u8> + '_ {
        let (newer, older) = self.outcomes.split_at(self.oldest);
        older.iter().chain(newer).copied()
    }

    /// Keeps only the newest `n` outcomes.
    pub(super) fn keep_newest(&mut self, n: usize) {
        let newest: Vec<u8> = self.iter().skip(self.len() - n.min(self.len())).collect();
        self.clear();
        for outcome in newest {
            self.push(outcome);
        }
    }

    pub(super) fn clear(&mut self) {
        self.outcomes.clear();
        (self.oldest, self.n_ones) = (0, 0);
    }

    /// Returns the memory it uses on the heap in bytes.
    pub(super) fn n_bytes(&self) -> usize {
        self.outcomes.capacity()
    }

    pub(super) fn write(&self, writer: &mut Writer) {
        writer.u64(self.len() as u64);
        let outcomes: Vec<u8> = self.iter().collect();
        writer.u64s(outcomes.chunks(64).map(|bits| bits.iter().rev().fold(0, |word, &bit| word << 1 | u64::from(bit))));
    }

    /// Reads a window of the same width.
    pub(super) fn read(&self, reader: &mut Reader<'_>) -> Result<Self, KernelError> {
        let (n, words) = (reader.usize()?, reader.u64s()?);
        if n > self.width || words.len() != n.div_ceil(64) {
            return Err(reader.error("it has a wrong number of values"));
        }
        let mut ring = Self::new(self.width);
        for i in 0..n {
            ring.push((words[i / 64] >> (i % 64) & 1) as u8);
        }
        Ok(ring)
    }
}
