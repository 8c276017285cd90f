//! Bins of votes that are used: where there are many rows they are narrow.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::bins::{joint_level, widen};

/// The used bins of the shares of the votes for one class, in ascending order of the share.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct UsedBins {
    /// The bins: see [`crate::bins`].
    pub bins: Vec<i64>,
    /// The weight in each bin of the rows of the class.
    pub own: Vec<f64>,
    /// The weight in each bin of the rows of other classes.
    pub others: Vec<f64>,
}

impl UsedBins {
    /// Creates no bins, with memory for some.
    #[must_use]
    pub fn with_capacity(n_bins: usize) -> Self {
        Self { bins: Vec::with_capacity(n_bins), own: Vec::with_capacity(n_bins), others: Vec::with_capacity(n_bins) }
    }

    /// Adds weights to a bin that is not before the last one.
    pub fn add(&mut self, bin: i64, own: f64, others: f64) {
        if self.bins.last() != Some(&bin) {
            self.bins.push(bin);
            self.own.push(0.0);
            self.others.push(0.0);
        }
        if let (Some(sum), Some(other_sum)) = (self.own.last_mut(), self.others.last_mut()) {
            *sum += own;
            *other_sum += others;
        }
    }

    /// Joins neighbours until there are at most `max_bins`, which is 2 or more.
    ///
    /// All bins are joined; then the one with the greatest share of the rows is split, as often as needed. The share is
    /// that of the rows of the class plus that of all other rows, so that bins are narrow where there are many of either.
    #[must_use]
    pub fn coarsen(self, max_bins: usize) -> Self {
        if self.bins.len() <= max_bins {
            return self;
        }
        let shares = self.add_up_shares();
        // Ranges of bins to be joined, the greatest share first, and those that are single bins.
        let (mut ranges, mut single) = (BinaryHeap::new(), Vec::new());
        let mut add = |start: usize, end: usize, ranges: &mut BinaryHeap<_>| {
            if end - start > 1 {
                ranges.push(((shares[end] - shares[start]).to_bits(), Reverse(start), end));
            } else if end > start {
                single.push((start, end));
            }
        };
        let n_negative = self.bins.partition_point(|&bin| bin < 0);
        add(0, n_negative, &mut ranges);
        add(n_negative, self.bins.len(), &mut ranges);
        let mut n_bins = 1 + usize::from(0 < n_negative && n_negative < self.bins.len());
        while n_bins < max_bins
            && let Some((_, Reverse(start), end)) = ranges.pop()
        {
            let joint = self.join(start, end);
            let middle = start + self.bins[start..end].partition_point(|&bin| bin < joint);
            add(start, middle, &mut ranges);
            add(middle, end, &mut ranges);
            n_bins += 1;
        }
        let mut chosen = single;
        chosen.extend(ranges.into_iter().map(|(_, Reverse(start), end)| (start, end)));
        chosen.sort_unstable();
        let sum = |weights: &[f64]| chosen.iter().map(|&(start, end)| weights[start..end].iter().sum()).collect();
        Self {
            bins: chosen.iter().map(|&(start, end)| self.join(start, end)).collect(),
            own: sum(&self.own),
            others: sum(&self.others),
        }
    }

    /// Returns the sums of the shares of the bins before each one, and of all.
    fn add_up_shares(&self) -> Vec<f64> {
        let [per_own, per_other] =
            [&self.own, &self.others].map(|weights| weights.iter().sum::<f64>().max(f64::MIN_POSITIVE).recip());
        let mut sum = 0.0;
        let shares = self.own.iter().zip(&self.others).map(|(own, others)| {
            sum += own * per_own + others * per_other;
            sum
        });
        std::iter::once(0.0).chain(shares).collect()
    }

    /// Returns the bin that covers a range of bins of one sign.
    fn join(&self, start: usize, end: usize) -> i64 {
        let (first, last) = (self.bins[start], self.bins[end - 1]);
        if first == last { first } else { widen(first, joint_level(first, last)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bins::{bin, level, span};
    use crate::randomness::{Draws, Purpose};

    /// Returns bins with weights that are heavy around zero.
    fn draw(seed: u64, n: u64) -> UsedBins {
        let draws = Draws::new(seed, Purpose::named("bins"), 0);
        let mut drawn: Vec<(i64, f64)> = (0..n)
            .map(|i| ((500.0 * (draws.uniform(3 * i) - 0.4).powi(3)) as i64, draws.below(3 * i + 1, 4) as f64))
            .collect();
        drawn.sort_by_key(|&(index, _)| index);
        let mut bins = UsedBins::default();
        for (index, weight) in drawn {
            bins.add(bin(index, 2), weight, 3.0 - weight);
        }
        bins
    }

    #[test]
    fn the_bin_with_the_greatest_share_is_split() {
        for seed in 0..20 {
            let fine = draw(seed, 200);
            for max_bins in [2, 3, 10, 30] {
                let coarse = fine.clone().coarsen(max_bins);
                assert_eq!(coarse.bins.len(), max_bins);
                let totals = [fine.own.iter().sum::<f64>(), fine.others.iter().sum()];
                let weigh = |wide: i64| -> [f64; 2] {
                    [&fine.own, &fine.others].map(|weights| {
                        fine.bins
                            .iter()
                            .zip(weights)
                            .filter(|&(&bin, _)| (span(wide).0..=span(wide).1).contains(&bin))
                            .map(|(_, weight)| weight)
                            .sum()
                    })
                };
                let share = |wide: i64| weigh(wide)[0] / totals[0] + weigh(wide)[1] / totals[1];
                let weights: Vec<[f64; 2]> =
                    coarse.own.iter().zip(&coarse.others).map(|(&own, &others)| [own, others]).collect();
                assert_eq!(weights, coarse.bins.iter().map(|&bin| weigh(bin)).collect::<Vec<_>>());
                // None that could be split has a greater share than the two halves of another one together.
                let splittable = coarse.bins.iter().filter(|&&bin| !fine.bins.contains(&bin)).map(|&bin| share(bin));
                let greatest = splittable.fold(0.0, f64::max);
                for pair in coarse.bins.windows(2).filter(|pair| (pair[0] < 0) == (pair[1] < 0)) {
                    let joint = widen(pair[0], joint_level(pair[0], pair[1]));
                    assert!(share(joint) >= greatest - 1e-12, "{seed} {max_bins}");
                }
            }
        }
    }

    #[test]
    fn there_are_few_bins_and_the_heavy_ones_are_narrow() {
        let fine = draw(1, 3000);
        assert!(fine.bins.len() > 100);
        for max_bins in [2, 3, 50, 100] {
            let coarse = fine.clone().coarsen(max_bins);
            assert_eq!(coarse.bins.len(), max_bins);
            let width = |bin: &i64| f64::from(1 << level(*bin));
            let per_width: Vec<f64> = coarse.bins.iter().zip(&coarse.own).map(|(bin, own)| own / width(bin)).collect();
            assert!(max_bins < 50 || per_width[0] < per_width[coarse.bins.len() / 2]);
        }
        assert_eq!(fine.clone().coarsen(10_000), fine);
        assert_eq!(UsedBins::default().coarsen(2), UsedBins::default());
    }
}
