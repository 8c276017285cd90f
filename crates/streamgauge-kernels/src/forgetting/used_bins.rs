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
        let halvings = count_halvings(self.index.iter().map(|&index| (0, index)), max_bins);
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

/// Returns the fewest halvings that leave at most `max_bins` of ascending pairs of a class and an index.
pub fn count_halvings(bins: impl Iterator<Item = (u32, i64)>, max_bins: usize) -> u32 {
    const NEVER: u32 = 64;
    // By number of halvings after which a bin is the same as that before it.
    let mut n_joined = [0; NEVER as usize + 1];
    let (mut n_bins, mut last): (usize, Option<(u32, i64)>) = (0, None);
    for (class, index) in bins {
        let joined = match last {
            Some((last_class, last_index)) if last_class == class => i64::BITS - (index ^ last_index).leading_zeros(),
            _ => NEVER,
        };
        n_joined[joined as usize] += 1;
        n_bins += 1;
        last = Some((class, index));
    }
    let mut halvings = 0;
    n_bins -= n_joined[0];
    while n_bins > max_bins && halvings + 1 < NEVER {
        halvings += 1;
        n_bins -= n_joined[halvings as usize];
    }
    halvings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_are_halved_until_they_are_few() {
        let index: Vec<i64> = (-3000..3000).filter(|i| i % 7 != 0).collect();
        let mut fine = UsedBins::new(2);
        for &i in &index {
            fine.add(i, 1.0, 2.0);
        }
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
