//! Sums over blocks of consecutive rows, a few dozen for any length of the stream, so that tests can detect
//! autocorrelated errors.

use crate::KernelError;
use crate::codec::{Reader, Writer};

/// The maximum number of blocks; when another is due, neighbouring blocks are merged in pairs.
const MAX_BLOCKS: usize = 64;

/// Hits of every learner in each block. All blocks cover `length` rows, except for the last, which may be growing.
#[derive(Debug, Clone)]
pub(super) struct Blocks {
    n_learners: usize,
    length: u64,
    /// Rows left in the last block.
    room: u64,
    /// Scored rows, summed over folds: `[blocks]`.
    scored: Vec<u64>,
    /// Hits, summed over folds: [blocks, learners].
    hits: Vec<u64>,
}

impl Blocks {
    pub(super) fn new(n_learners: usize) -> Self {
        Self { n_learners, length: 1, room: 0, scored: Vec::new(), hits: Vec::new() }
    }

    /// Returns the number of rows that may be added before the next call of [`Self::advance`]; opens a block if the
    /// last is full.
    #[inline(always)]
    pub(super) fn room(&mut self) -> usize {
        if self.room == 0 {
            self.open_block();
        }
        usize::try_from(self.room).unwrap_or(usize::MAX)
    }

    fn open_block(&mut self) {
        if self.scored.len() == MAX_BLOCKS {
            let m = self.n_learners;
            self.scored = self.scored.chunks_exact(2).map(|pair| pair[0] + pair[1]).collect();
            self.hits = self
                .hits
                .chunks_exact(2 * m)
                .flat_map(|pair| (0..m).map(|learner| pair[learner] + pair[m + learner]))
                .collect();
            self.length *= 2;
        }
        self.scored.push(0);
        self.hits.extend((0..self.n_learners).map(|_| 0));
        self.room = self.length;
    }

    /// Adds scored rows of a fold to the last block.
    #[inline(always)]
    pub(super) fn score(&mut self, n_scored: u64) {
        if let Some(last) = self.scored.last_mut() {
            *last += n_scored;
        }
    }

    /// Adds hits of a learner in a fold to the last block.
    #[inline(always)]
    pub(super) fn hit(&mut self, learner: usize, hits: u64) {
        let last = self.hits.len() - self.n_learners;
        self.hits[last + learner] += hits;
    }

    /// Advances by a number of rows that [`Self::room`] allowed.
    #[inline(always)]
    pub(super) fn advance(&mut self, n_rows: usize) {
        self.room -= n_rows as u64;
    }

    /// Returns the scored rows of each block, summed over folds.
    pub(super) fn scored(&self) -> &[u64] {
        &self.scored
    }

    /// Returns the hits of the first learner minus those of the second, per block.
    pub(super) fn differences(&self, first: usize, second: usize) -> impl Iterator<Item = i64> {
        self.hits.chunks_exact(self.n_learners).map(move |hits| hits[first] as i64 - hits[second] as i64)
    }

    pub(super) fn n_bytes(&self) -> usize {
        8 * (self.scored.capacity() + self.hits.capacity())
    }

    pub(super) fn save(&self, writer: &mut Writer) {
        writer.u64(self.length);
        writer.u64(self.room);
        writer.u64s(self.scored.iter().copied());
        writer.u64s(self.hits.iter().copied());
    }

    pub(super) fn load(&mut self, reader: &mut Reader<'_>) -> Result<(), KernelError> {
        self.length = reader.u64()?;
        self.room = reader.u64()?;
        self.scored = reader.u64s()?;
        self.hits = reader.u64s()?;
        let shape_fits = self.scored.len() <= MAX_BLOCKS && self.hits.len() == self.scored.len() * self.n_learners;
        let room_fits = self.room < self.length || (self.room == self.length && !self.scored.is_empty());
        if shape_fits && room_fits { Ok(()) } else { Err(reader.error("its blocks are inconsistent")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_grow_in_length_not_in_number_and_lose_nothing() {
        let mut blocks = Blocks::new(2);
        for row in 0..10_000_u64 {
            assert!(blocks.room() >= 1);
            blocks.score(1);
            blocks.hit(0, row % 2);
            blocks.hit(1, 1);
            blocks.advance(1);
        }
        assert_eq!((blocks.length, blocks.scored.len()), (256, 40));
        assert_eq!(blocks.scored.iter().sum::<u64>(), 10_000);
        assert_eq!(blocks.scored[..39], [256; 39]);
        assert_eq!(blocks.differences(0, 1).sum::<i64>(), -5_000);
    }
}
