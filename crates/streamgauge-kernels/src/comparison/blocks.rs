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
            self.join_pairs();
        }
        self.scored.push(0);
        self.hits.extend((0..self.n_learners).map(|_| 0));
        self.room = self.length;
    }

    /// Joins neighbouring blocks in pairs.
    fn join_pairs(&mut self) {
        let m = self.n_learners;
        if self.scored.len() % 2 == 1 {
            self.room += self.length; // the last block waits for the rows of its neighbour
        }
        self.scored = self.scored.chunks(2).map(|pair| pair.iter().sum()).collect();
        self.hits = self
            .hits
            .chunks(2 * m)
            .flat_map(|pair| (0..m).map(|learner| pair.chunks_exact(m).map(|hits| hits[learner]).sum::<u64>()))
            .collect();
        self.length *= 2;
    }

    /// Adds blocks of other rows. The unfinished blocks of both become one, which may then be up to twice as long.
    pub(super) fn merge(&mut self, mut other: Self) {
        while self.length < other.length || self.scored.len() + other.scored.len() > MAX_BLOCKS {
            self.join_pairs();
        }
        while other.length < self.length {
            other.join_pairs();
        }
        if self.room > 0 && other.room > 0 {
            let n_rows = 2 * self.length - self.room - other.room;
            self.room = self.length.saturating_sub(n_rows);
            self.score(other.scored.pop().unwrap_or_default());
            let unfinished = other.hits.split_off(other.hits.len() - self.n_learners);
            unfinished.into_iter().enumerate().for_each(|(learner, hits)| self.hit(learner, hits));
            other.room = 0;
        }
        if other.room > 0 {
            std::mem::swap(self, &mut other); // an unfinished block comes last
        }
        self.scored.splice(..0, other.scored);
        self.hits.splice(..0, other.hits);
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

    fn count(n_rows: u64) -> Blocks {
        let mut blocks = Blocks::new(2);
        for row in 0..n_rows {
            assert!(blocks.room() >= 1);
            blocks.score(1);
            blocks.hit(0, row % 2);
            blocks.hit(1, 1);
            blocks.advance(1);
        }
        blocks
    }

    #[test]
    fn merged_blocks_lose_nothing_and_go_on_growing() {
        for (first, second) in [(0, 0), (0, 100), (100, 0), (100, 10_000), (10_001, 63), (640, 640), (1, 1)] {
            let mut blocks = count(first);
            blocks.merge(count(second));
            assert_eq!(blocks.scored.iter().sum::<u64>(), first + second);
            assert!(blocks.scored.len() <= MAX_BLOCKS && blocks.scored.len() * 2 == blocks.hits.len());
            let n_differing = blocks.scored.iter().filter(|&&scored| scored != blocks.length).count();
            assert!(n_differing <= 1 && blocks.scored.iter().all(|&scored| scored < 2 * blocks.length));
            for _ in 0..1_000 {
                assert!(blocks.room() >= 1);
                blocks.score(1);
                blocks.advance(1);
            }
            assert_eq!(blocks.scored.iter().sum::<u64>(), first + second + 1_000);
        }
    }

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
