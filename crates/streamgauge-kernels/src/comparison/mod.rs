//! Counts of rows on which one of two learners is right and the other wrong, over folds and rows, in bounded memory.
//!
//! With `d[i, t]` = [first right in fold i on row t] - [second right], tests need the number of rows per fold that only
//! one of the two got right, and the square of the mean of `d` over folds per row. All counts are whole numbers, so
//! that no split of the stream into batches changes a bit of the result.

mod blocks;
mod scratch;
mod two_way;
mod votes;

use std::ops::Range;

use crate::codec::{Reader, Writer};
use crate::error::{check_length, option_error};
use crate::{KernelError, dispatch};
use blocks::Blocks;
use scratch::{CHUNK, Scratch};
pub use two_way::{TwoWay, two_way};
pub use votes::{VoteBins, align_votes, rank_votes, rank_without_each, split_votes};

const NAME: &str = "PairCounter";

/// The counts that describe the difference of two learners.
#[derive(Debug, Clone, PartialEq)]
pub struct PairSums {
    /// Rows that at least one fold scored.
    pub n_rows: u64,
    /// Rows scored per fold.
    pub n_scored: Vec<u64>,
    /// Rows per fold that only the first got right.
    pub only_first: Vec<u64>,
    /// Rows per fold that only the second got right.
    pub only_second: Vec<u64>,
    /// Sum over rows of the squared mean of `d` over the folds that scored the row.
    pub sum_squared_means: f64,
    /// Whether every fold scored every row that any scored.
    pub crossed: bool,
    /// Scored rows, summed over folds, in each block of consecutive rows; at most 64 blocks, equal in length except for
    /// the last.
    pub block_scored: Vec<u64>,
    /// Sum of `d` over folds and rows in each block.
    pub block_sums: Vec<i64>,
}

/// The counts that an interim analysis of all pairs needs, in the order of the pairs.
#[derive(Debug, Clone, PartialEq)]
pub struct InterimSums {
    /// Rows that at least one fold scored.
    pub n_rows: u64,
    /// Rows scored per fold.
    pub n_scored: Vec<u64>,
    /// Rows that only the first got right: [pairs, folds].
    pub only_first: Vec<u64>,
    /// Rows that only the second got right: [pairs, folds].
    pub only_second: Vec<u64>,
    /// The number of blocks of rows.
    pub n_blocks: usize,
    /// The components of the variance of each mean difference; empty if the folds did not score the same rows, or there
    /// is one fold or no row.
    pub two_way: Vec<TwoWay>,
}

/// Counters for the comparison of every pair of learners.
///
/// The memory is O(folds) per pair, for any number of rows.
#[derive(Debug, Clone)]
pub struct PairCounter {
    n_learners: usize,
    n_folds: usize,
    n_rows: u64,
    /// Rows scored: `[folds]`.
    scored: Vec<u64>,
    /// Rows right: [learners, folds].
    hits: Vec<u64>,
    /// Rows that both got right: [pairs, folds].
    both: Vec<u64>,
    /// Squared sums over folds of `d`, summed separately over the rows that 1, 2, ... folds scored: [pairs, folds].
    squares: Vec<u64>,
    blocks: Blocks,
    scratch: Scratch,
}

impl PairCounter {
    /// Creates a counter that has seen no row.
    ///
    /// # Errors
    /// Returns [`KernelError::Option`] without learners or folds, or with more than 255 folds (their sums are bytes).
    pub fn new(n_learners: usize, n_folds: usize) -> Result<Self, KernelError> {
        if n_learners == 0 {
            return Err(option_error("n_learners", n_learners, "it must be at least 1"));
        }
        if n_folds == 0 || n_folds > usize::from(u8::MAX) {
            return Err(option_error("n_folds", n_folds, "it must be from 1 to 255"));
        }
        let n_pairs = n_learners * (n_learners - 1) / 2;
        Ok(Self {
            n_learners,
            n_folds,
            n_rows: 0,
            scored: vec![0; n_folds],
            hits: vec![0; n_learners * n_folds],
            both: vec![0; n_pairs * n_folds],
            squares: vec![0; n_pairs * n_folds],
            blocks: Blocks::new(n_learners),
            scratch: Scratch::new(n_learners),
        })
    }

    /// Counts the rows `span` of a batch of `n`.
    ///
    /// `correct` [learners, folds, n] marks the right predictions, `scored` [folds, n] the rows that count (None: all).
    /// The sums can be read between two spans of a batch.
    ///
    /// # Errors
    /// Returns [`KernelError::Shape`] if the lengths do not fit, [`KernelError::Option`] if the span leaves the batch.
    pub fn update(
        &mut self,
        correct: &[bool],
        scored: Option<&[bool]>,
        n: usize,
        span: Range<usize>,
    ) -> Result<(), KernelError> {
        check_length("correct", correct.len(), self.n_learners * self.n_folds * n)?;
        if let Some(scored) = scored {
            check_length("scored", scored.len(), self.n_folds * n)?;
        }
        if span.start > span.end || span.end > n {
            return Err(option_error("rows", format!("{span:?}"), "it must lie within the batch"));
        }
        dispatch::run(
            #[inline(always)]
            || {
                let mut start = span.start;
                while start < span.end {
                    let length = self.blocks.room().min(CHUNK).min(span.end - start);
                    self.count(correct, scored, n, start..start + length);
                    start += length;
                }
            },
        );
        Ok(())
    }

    /// Counts a span that lies within one block and fits the scratch space.
    #[inline(always)]
    fn count(&mut self, correct: &[bool], scored: Option<&[bool]>, n: usize, span: Range<usize>) {
        let k = self.n_folds;
        self.scratch.clear(span.len());
        for fold in 0..k {
            let mask = scored.map(|scored| &scored[fold * n..][span.clone()]);
            let n_scored = self.scratch.score(mask);
            self.scored[fold] += n_scored;
            self.blocks.score(n_scored);
            for learner in 0..self.n_learners {
                let hits = self.scratch.add(learner, &correct[(learner * k + fold) * n..][span.clone()], mask);
                self.hits[learner * k + fold] += hits;
                self.blocks.hit(learner, hits);
            }
            for (pair, (first, second)) in pairs(self.n_learners).enumerate() {
                self.both[pair * k + fold] += self.scratch.count_both(first, second);
            }
        }
        self.n_rows += self.scratch.group_rows(k);
        for (pair, (first, second)) in pairs(self.n_learners).enumerate() {
            self.scratch.add_squares(first, second, &mut self.squares[pair * k..][..k]);
        }
        self.blocks.advance(span.len());
    }

    /// Returns the counts that describe the difference of two learners.
    ///
    /// # Errors
    /// Returns [`KernelError::Option`] if a learner does not exist or is compared with itself.
    pub fn sums(&self, first: usize, second: usize) -> Result<PairSums, KernelError> {
        let (m, k) = (self.n_learners, self.n_folds);
        for learner in [first, second] {
            if learner >= m {
                return Err(option_error("learner", learner, "there are fewer learners"));
            }
        }
        if first == second {
            return Err(option_error("learner", first, "a learner cannot be compared with itself"));
        }
        let (low, high) = (first.min(second), first.max(second));
        let pair = low * (2 * m - low - 1) / 2 + high - low - 1;
        let both = &self.both[pair * k..][..k];
        let only = |learner: usize| self.hits[learner * k..][..k].iter().zip(both).map(|(hits, both)| hits - both);
        let squares = self.squares[pair * k..][..k].iter();
        Ok(PairSums {
            n_rows: self.n_rows,
            n_scored: self.scored.clone(),
            only_first: only(first).collect(),
            only_second: only(second).collect(),
            sum_squared_means: squares.zip(1_u32..).map(|(&sum, c)| sum as f64 / f64::from(c * c)).sum(),
            crossed: self.scored.iter().all(|&scored| scored == self.n_rows),
            block_scored: self.blocks.scored().to_vec(),
            block_sums: self.blocks.differences(first, second).collect(),
        })
    }

    /// Returns the counts of all pairs.
    #[must_use]
    pub fn interim_sums(&self) -> InterimSums {
        let k = self.n_folds;
        let only = |second: bool| {
            pairs(self.n_learners).zip(self.both.chunks_exact(k)).flat_map(move |(pair, both)| {
                let learner = if second { pair.1 } else { pair.0 };
                self.hits[learner * k..][..k].iter().zip(both).map(|(hits, both)| hits - both)
            })
        };
        let (only_first, only_second): (Vec<u64>, Vec<u64>) = (only(false).collect(), only(true).collect());
        let whole = k > 1 && self.n_rows > 0 && self.scored.iter().all(|&scored| scored == self.n_rows);
        let two_way = if whole { self.two_way(&only_first, &only_second) } else { Vec::new() };
        let n_blocks = self.blocks.scored().len();
        InterimSums { n_rows: self.n_rows, n_scored: self.scored.clone(), only_first, only_second, n_blocks, two_way }
    }

    fn two_way(&self, only_first: &[u64], only_second: &[u64]) -> Vec<TwoWay> {
        let k = self.n_folds;
        let fold_sums = only_first.chunks_exact(k).zip(only_second.chunks_exact(k));
        pairs(self.n_learners)
            .zip(fold_sums)
            .zip(self.squares.chunks_exact(k))
            .map(|(((first, second), (a, b)), squares)| {
                let sums: Vec<i64> = a.iter().zip(b).map(|(&a, &b)| a as i64 - b as i64).collect();
                let discordant = a.iter().sum::<u64>() + b.iter().sum::<u64>();
                let blocks: Vec<(u64, i64)> =
                    self.blocks.scored().iter().copied().zip(self.blocks.differences(first, second)).collect();
                two_way(self.n_rows, &sums, discordant, squares[k - 1], &blocks)
            })
            .collect()
    }

    /// Returns the memory it uses in bytes.
    #[must_use]
    pub fn n_bytes(&self) -> usize {
        let numbers = self.scored.len() + self.hits.len() + self.both.len() + self.squares.len();
        size_of::<Self>() + 8 * numbers + self.blocks.n_bytes() + self.scratch.n_bytes()
    }

    /// Saves the state.
    #[must_use]
    pub fn save(&self) -> Vec<u8> {
        let mut writer = Writer::new(NAME, 1);
        writer.u64(self.n_rows);
        for column in [&self.scored, &self.hits, &self.both, &self.squares] {
            writer.u64s(column.iter().copied());
        }
        self.blocks.save(&mut writer);
        writer.finish()
    }

    /// Restores the saved state of a counter with the same numbers of learners and folds.
    ///
    /// # Errors
    /// Returns [`KernelError::Saved`] if the bytes are damaged or of another kind; the counter is then unchanged.
    pub fn load(&mut self, bytes: &[u8]) -> Result<(), KernelError> {
        let mut loaded = Self::new(self.n_learners, self.n_folds)?;
        let mut reader = Reader::new(NAME, 1, bytes)?;
        loaded.n_rows = reader.u64()?;
        for column in [&mut loaded.scored, &mut loaded.hits, &mut loaded.both, &mut loaded.squares] {
            let saved = reader.u64s()?;
            if saved.len() != column.len() {
                return Err(reader.error("it has another number of learners or folds"));
            }
            *column = saved;
        }
        loaded.blocks.load(&mut reader)?;
        let k = self.n_folds;
        let mut pair_counts = pairs(self.n_learners).zip(loaded.both.chunks_exact(k));
        let sound = pair_counts.all(|((first, second), both)| {
            [first, second].iter().all(|l| both.iter().zip(&loaded.hits[l * k..]).all(|(both, hits)| both <= hits))
        });
        if !sound {
            return Err(reader.error("its counts are inconsistent"));
        }
        reader.finish()?;
        *self = loaded;
        Ok(())
    }

    /// Adds the counts of a saved counter with the same numbers of learners and folds, of other rows.
    ///
    /// # Errors
    /// Returns [`KernelError::Saved`] if the bytes are damaged or of another kind; the counter is then unchanged.
    pub fn merge(&mut self, bytes: &[u8]) -> Result<(), KernelError> {
        let mut other = Self::new(self.n_learners, self.n_folds)?;
        other.load(bytes)?;
        self.n_rows += other.n_rows;
        let counts = [&mut self.scored, &mut self.hits, &mut self.both, &mut self.squares];
        for (own, more) in counts.into_iter().zip([&other.scored, &other.hits, &other.both, &other.squares]) {
            own.iter_mut().zip(more).for_each(|(count, more)| *count += more);
        }
        self.blocks.merge(other.blocks);
        Ok(())
    }
}

/// Returns all pairs of learners, in the order of their counts.
#[inline(always)]
fn pairs(n_learners: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..n_learners).flat_map(move |first| (first + 1..n_learners).map(move |second| (first, second)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::randomness::{Draws, Purpose};

    struct Stream {
        m: usize,
        k: usize,
        n: usize,
        correct: Vec<bool>,
        scored: Vec<bool>,
    }

    fn stream(m: usize, k: usize, n: usize) -> Stream {
        let bits = |purpose, count| {
            let draws = Draws::new(7, Purpose::named(purpose), 0);
            (0..count).map(|row| draws.uniform(row as u64) < 0.7).collect()
        };
        Stream { m, k, n, correct: bits("correct", m * k * n), scored: bits("scored", k * n) }
    }

    impl Stream {
        /// Computes the sums of a pair by their definition, cell by cell.
        fn slow(&self, first: usize, second: usize, masked: bool) -> PairSums {
            let (k, n) = (self.k, self.n);
            let right = |learner: usize, i: usize, t: usize| self.correct[(learner * k + i) * n + t];
            let scores = |i: usize, t: usize| !masked || self.scored[i * n + t];
            let count = |i: usize, f: &dyn Fn(usize) -> bool| (0..n).filter(|&t| scores(i, t) && f(t)).count() as u64;
            let fold_sums = |f: &dyn Fn(usize, usize) -> bool| (0..k).map(|i| count(i, &|t| f(i, t))).collect();
            let mut by_count = vec![0_i64; k + 1];
            let mut n_rows = 0;
            for t in 0..n {
                let folds: Vec<usize> = (0..k).filter(|&i| scores(i, t)).collect();
                let d = |i: usize| i64::from(right(first, i, t)) - i64::from(right(second, i, t));
                n_rows += u64::from(!folds.is_empty());
                by_count[folds.len()] += folds.iter().map(|&i| d(i)).sum::<i64>().pow(2);
            }
            let n_scored: Vec<u64> = fold_sums(&|_, _| true);
            PairSums {
                n_rows,
                crossed: n_scored.iter().all(|&scored| scored == n_rows),
                n_scored,
                only_first: fold_sums(&|i, t| right(first, i, t) && !right(second, i, t)),
                only_second: fold_sums(&|i, t| right(second, i, t) && !right(first, i, t)),
                sum_squared_means: (1..=k).map(|c| by_count[c] as f64 / (c * c) as f64).sum(),
                block_scored: vec![],
                block_sums: vec![],
            }
        }

        fn count(&self, masked: bool, ends: &[usize]) -> PairCounter {
            let mut counter = PairCounter::new(self.m, self.k).unwrap();
            let mut start = 0;
            for &end in ends {
                counter.update(&self.correct, masked.then_some(&self.scored), self.n, start..end).unwrap();
                start = end;
            }
            counter
        }
    }

    #[test]
    fn sums_equal_their_definition_for_odd_shapes() {
        for (m, k, n) in [(2, 1, 1), (3, 10, 5000), (4, 3, 63), (2, 255, 70), (5, 2, 2049), (1, 4, 10)] {
            let stream = stream(m, k, n);
            for masked in [false, true] {
                let counter = stream.count(masked, &[n]);
                for (first, second) in pairs(m).flat_map(|(a, b)| [(a, b), (b, a)]) {
                    let sums = counter.sums(first, second).unwrap();
                    let total: i64 =
                        sums.only_first.iter().sum::<u64>() as i64 - sums.only_second.iter().sum::<u64>() as i64;
                    assert_eq!(sums.block_sums.iter().sum::<i64>(), total);
                    assert_eq!(sums.block_scored.iter().sum::<u64>(), sums.n_scored.iter().sum::<u64>());
                    let slow = stream.slow(first, second, masked);
                    assert_eq!(PairSums { block_scored: vec![], block_sums: vec![], ..sums }, slow);
                }
            }
        }
    }

    #[test]
    fn interim_sums_agree_with_the_sums_of_each_pair() {
        for masked in [false, true] {
            let stream = stream(4, 5, 3000);
            let counter = stream.count(masked, &[3000]);
            let interim = counter.interim_sums();
            assert_eq!(interim.two_way.len(), if masked { 0 } else { 6 });
            for (pair, (first, second)) in pairs(4).enumerate() {
                let sums = counter.sums(first, second).unwrap();
                assert_eq!(interim.only_first[5 * pair..][..5], sums.only_first);
                assert_eq!(interim.only_second[5 * pair..][..5], sums.only_second);
                assert_eq!((interim.n_rows, interim.n_blocks), (sums.n_rows, sums.block_sums.len()));
                if !masked {
                    let fold_sums: Vec<i64> =
                        sums.only_first.iter().zip(&sums.only_second).map(|(&a, &b)| a as i64 - b as i64).collect();
                    let discordant = sums.only_first.iter().chain(&sums.only_second).sum();
                    let squares = (25.0 * sums.sum_squared_means).round() as u64;
                    let blocks: Vec<_> =
                        sums.block_scored.iter().copied().zip(sums.block_sums.iter().copied()).collect();
                    assert_eq!(interim.two_way[pair], two_way(3000, &fold_sums, discordant, squares, &blocks));
                }
            }
        }
        assert!(PairCounter::new(2, 3).unwrap().interim_sums().two_way.is_empty());
        assert!(stream(2, 1, 9).count(false, &[9]).interim_sums().two_way.is_empty());
    }

    #[test]
    fn no_split_into_batches_and_no_restart_changes_a_bit() {
        let stream = stream(3, 4, 3000);
        for masked in [false, true] {
            let whole = stream.count(masked, &[3000]).save();
            assert_eq!(whole, stream.count(masked, &(1..=3000).collect::<Vec<_>>()).save());
            let mut resumed = PairCounter::new(3, 4).unwrap();
            resumed.load(&stream.count(masked, &[1, 700]).save()).unwrap();
            resumed.update(&stream.correct, masked.then_some(&stream.scored), 3000, 700..3000).unwrap();
            assert_eq!(whole, resumed.save());
        }
    }

    #[test]
    fn damaged_states_and_wrong_shapes_are_refused() {
        let stream = stream(3, 4, 200);
        let mut counter = stream.count(false, &[200]);
        let saved = counter.save();
        assert!((0..saved.len()).all(|end| counter.load(&saved[..end]).is_err()));
        assert!(PairCounter::new(3, 5).unwrap().load(&saved).is_err());
        assert!(
            PairCounter::new(0, 5).is_err() && PairCounter::new(2, 0).is_err() && PairCounter::new(2, 256).is_err()
        );
        assert!(counter.update(&stream.correct[1..], None, 200, 0..200).is_err());
        assert!(counter.update(&stream.correct, Some(&stream.scored[1..]), 200, 0..200).is_err());
        assert!(counter.update(&stream.correct, None, 200, 0..201).is_err());
        assert!(counter.sums(0, 3).is_err() && counter.sums(1, 1).is_err());
        assert_eq!(counter.save(), saved);
    }
}
