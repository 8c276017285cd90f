//! Bins of whole numbers, each of which covers a power of 2 of them and starts at a multiple of that power.
//!
//! Two bins are either apart, or one covers the other. A bin is one number, twice its middle: its trailing zeros are its
//! level, the binary logarithm of the numbers that it covers. Bins that are apart are in the order of their numbers.

/// The level of no bin: that of bins of different signs, which no bin covers together.
pub const NO_LEVEL: u32 = 63;

/// Returns the bin of a level with an index: the numbers that it covers, shifted right by the level.
#[must_use]
pub fn bin(index: i64, level: u32) -> i64 {
    ((index << 1) | 1) << level
}

/// Returns the level of a bin.
#[must_use]
pub fn level(bin: i64) -> u32 {
    bin.trailing_zeros()
}

/// Returns the level of the smallest bin that covers two bins which are apart.
#[must_use]
pub fn joint_level(first: i64, second: i64) -> u32 {
    NO_LEVEL - (first ^ second).leading_zeros()
}

/// Returns the bin of a level below [`NO_LEVEL`] that covers another one, of this level or a lower one.
#[must_use]
pub fn widen(bin: i64, level: u32) -> i64 {
    ((bin >> level) | 1) << level
}

/// Returns the first and the last bin that a bin covers, of the lowest level.
#[must_use]
pub fn span(bin: i64) -> (i64, i64) {
    ((bin & (bin - 1)) | 1, bin | (bin - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers that a bin covers, of those from -32 to 31.
    fn list(bin: i64) -> Vec<i64> {
        let (first, last) = span(bin);
        (-32..32).filter(|&number| (first..=last).contains(&self::bin(number, 0))).collect()
    }

    #[test]
    fn bins_cover_what_their_index_and_level_say() {
        for level in 0..5 {
            for index in -(32 >> level)..(32 >> level) {
                let covered: Vec<i64> = (-32..32).filter(|number| number >> level == index).collect();
                assert_eq!(list(bin(index, level)), covered);
                assert_eq!(self::level(bin(index, level)), level);
            }
        }
    }

    #[test]
    fn the_joint_level_is_the_lowest_of_a_bin_that_covers_both() {
        for (first, second) in (-32..32_i64).flat_map(|first| (first + 1..32).map(move |second| (first, second))) {
            let joint = (0..NO_LEVEL).find(|level| first >> level == second >> level);
            assert_eq!(joint_level(bin(first, 0), bin(second, 0)), joint.unwrap_or(NO_LEVEL));
            if let Some(level) = joint {
                assert!(list(widen(bin(first, 0), level)).contains(&second));
            }
        }
    }
}
