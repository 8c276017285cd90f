//! Votes in bins: the ranking of rows of different classes, without storing the rows.

use super::ranks::{RankScan, Ranks};
use super::used_bins::UsedBins;
use crate::KernelError;
use crate::error::option_error;

/// The maximum number of sums.
const MAX_CODES: usize = 1 << 20;
/// Shares below 2 to the minus `OCTAVES` share one bin.
const OCTAVES: u32 = 64;
const EXPONENT_BITS: u32 = 52;

/// Bins of shares that are narrow near 0 and near 1, where most votes are: each octave of a share, or of its distance
/// from 1, is divided into `2^bits` bins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bins {
    n_classes: usize,
    bits: u32,
}

impl Bins {
    /// Creates the finest bins that fit into the memory limit.
    ///
    /// # Errors
    /// Returns [`KernelError::Option`] if there are too many classes for any.
    pub fn new(n_classes: usize) -> Result<Self, KernelError> {
        let fit = (0..=4).rev().map(|bits| Self { n_classes, bits }).find(|bins| bins.n_codes() <= MAX_CODES);
        let expected = "there are too many classes to rank by votes without a window";
        fit.ok_or_else(|| option_error("n_classes", n_classes, expected))
    }

    /// Returns the number of bins of shares below one half.
    fn n_below(self) -> usize {
        (((OCTAVES - 1) << self.bits) + 1) as usize
    }

    fn n_bins(self) -> usize {
        2 * self.n_below() + 1
    }

    /// Returns the number of sums: by class voted for, bin and true class.
    #[must_use]
    pub fn n_codes(self) -> usize {
        self.n_classes * self.n_bins() * self.n_classes
    }

    /// Returns the index of the sum for a share of the votes for a class, in a row of class `y_true`.
    #[must_use]
    pub fn code(self, class: usize, share: f64, y_true: usize) -> usize {
        (class * self.n_bins() + self.bin(share)) * self.n_classes + y_true
    }

    fn bin(self, share: f64) -> usize {
        if share <= 0.5 { self.lower_bin(share) } else { self.n_bins() - 1 - self.lower_bin(1.0 - share) }
    }

    /// Returns the bin of a share of at most one half; that of one half itself is the middle one.
    fn lower_bin(self, share: f64) -> usize {
        let least = 0.5_f64.powi(OCTAVES as i32);
        if share < least {
            return 0;
        }
        1 + ((share.to_bits() - least.to_bits()) >> (EXPONENT_BITS - self.bits)) as usize
    }

    /// Returns the used bins of each class voted for.
    #[must_use]
    pub fn used(self, sums: &[f64], max_bins: usize) -> Vec<UsedBins> {
        let classes = sums.chunks_exact(self.n_bins() * self.n_classes).enumerate();
        let used = classes.map(|(class, class_sums)| {
            let mut used = UsedBins::new(0);
            for (index, bin) in class_sums.chunks_exact(self.n_classes).enumerate() {
                if bin.iter().any(|&weight| weight > 0.0) {
                    let others = bin.iter().enumerate().filter(|&(y_true, _)| y_true != class);
                    used.add(index as i64, bin[class], others.map(|(_, &weight)| weight).sum());
                }
            }
            used.coarsen(max_bins)
        });
        used.collect()
    }

    /// Returns how the sums rank the classes; rows in one bin count as tied.
    #[must_use]
    pub fn ranks(self, sums: &[f64]) -> Ranks {
        let mut ranks = Ranks::new(self.n_classes);
        for (class, class_sums) in sums.chunks_exact(self.n_bins() * self.n_classes).enumerate() {
            let mut scan = RankScan::new(class, &mut ranks);
            for bin in class_sums.chunks_exact(self.n_classes).rev() {
                for (y_true, &weight) in bin.iter().enumerate() {
                    scan.add(y_true, weight);
                }
                scan.end_group();
            }
            scan.finish();
        }
        ranks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn greater_shares_lie_in_no_lower_bins_and_one_half_has_its_own() {
        for bits in [0, 4] {
            let bins = Bins { n_classes: 2, bits };
            let mut shares: Vec<f64> = (0..=2000).map(|i| f64::from(i) / 2000.0).collect();
            shares.extend((1..80).flat_map(|i| [0.5_f64.powi(i), 1.0 - 0.5_f64.powi(i)]));
            shares.sort_by(f64::total_cmp);
            let indexes: Vec<usize> = shares.iter().map(|&share| bins.bin(share)).collect();
            assert!(indexes.windows(2).all(|pair| pair[0] <= pair[1]));
            assert_eq!((indexes[0], indexes[indexes.len() - 1]), (0, bins.n_bins() - 1));
            assert_eq!(bins.bin(0.5), bins.n_below());
            assert!(bins.bin(0.5 - 1e-16) < bins.n_below() && bins.bin(0.5 + 2e-16) > bins.n_below());
        }
    }

    #[test]
    fn the_bins_fit_the_number_of_classes() {
        assert_eq!(Bins::new(2).unwrap().bits, 4);
        assert_eq!(Bins::new(80).unwrap().bits, 0);
        assert!(matches!(Bins::new(100), Err(KernelError::Option { option: "n_classes", .. })));
    }
}
