//! Bins of votes that are used, on a scale that is halved until they are few.

/// The used bins of the shares of the votes for one class, in ascending order of the share.
#[derive(Debug, Clone, PartialEq)]
pub struct UsedBins {
    /// The number of halvings: an index is the finest one, shifted right by it.
    pub level: u32,
    /// The indexes.
    pub index: Vec<i64>,
    /// The weight in each bin of the rows of the class.
    pub own: Vec<f64>,
    /// The weight in each bin of the rows of other classes.
    pub others: Vec<f64>,
}

impl UsedBins {
    /// Creates no bins of a level.
    #[must_use]
    pub fn new(level: u32) -> Self {
        Self { level, index: vec![], own: vec![], others: vec![] }
    }

    /// Adds weights to a bin that is not before the last one.
    pub fn add(&mut self, index: i64, own: f64, others: f64) {
        if self.index.last() != Some(&index) {
            self.index.push(index);
            self.own.push(0.0);
            self.others.push(0.0);
        }
        if let (Some(sum), Some(other_sum)) = (self.own.last_mut(), self.others.last_mut()) {
            *sum += own;
            *other_sum += others;
        }
    }

    /// Returns the bins after the fewest halvings that leave at most `max_bins`.
    #[must_use]
    pub fn coarsen(self, max_bins: usize) -> Self {
        let halvings = count_halvings(self.index.iter().copied(), max_bins);
        if halvings == 0 {
            return self;
        }
        let mut coarse = Self::new(self.level + halvings);
        for ((index, own), others) in self.index.into_iter().zip(self.own).zip(self.others) {
            coarse.add(index >> halvings, own, others);
        }
        coarse
    }
}

/// Returns the fewest halvings that leave at most `max_bins` (2 or more) of ascending indexes.
pub fn count_halvings(indexes: impl Iterator<Item = i64>, max_bins: usize) -> u32 {
    // Two indexes differ until they were shifted by one more than their highest different bit.
    let (mut n_bins, mut ends, mut last) = (1, [0_usize; 65], None);
    for index in indexes {
        let apart = last.map_or(0, |last: i64| 64 - (last ^ index).leading_zeros());
        ends[apart as usize] += 1;
        n_bins += usize::from(apart > 0);
        last = Some(index);
    }
    let mut halvings = 0;
    while n_bins > max_bins && halvings < 63 {
        halvings += 1;
        n_bins -= ends[halvings];
    }
    halvings as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_are_halved_until_they_are_few() {
        let index: Vec<i64> = (-3000..3000).filter(|i| i % 7 != 0).collect();
        let mut fine = UsedBins::new(2);
        index.iter().for_each(|&i| fine.add(i, 1.0, 2.0));
        for max_bins in [2, 3, 100, 999, 1000, 6000] {
            let coarse = fine.clone().coarsen(max_bins);
            let distinct = |halvings: u32| {
                let mut bins: Vec<i64> = index.iter().map(|i| i >> halvings).collect();
                bins.dedup();
                bins
            };
            let halvings = coarse.level - 2;
            assert_eq!(coarse.index, distinct(halvings));
            assert!(coarse.index.len() <= max_bins);
            assert!(halvings == 0 || distinct(halvings - 1).len() > max_bins);
            assert_eq!(coarse.own.iter().sum::<f64>() * 2.0, coarse.others.iter().sum::<f64>());
        }
        assert_eq!(UsedBins::new(0).coarsen(2), UsedBins::new(0));
    }
}
