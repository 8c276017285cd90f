//! A hash of the values of a row, which addresses the draws of learners that guess.
//!
//! A learner does not know the position of a row in the stream, and predicting must not change its state. For rows to
//! be guessed independently nevertheless, the draw of a row is addressed by its values and by the number of rows learnt
//! before.

use crate::randomness::{Draws, Purpose, splitmix64};

/// Returns the bits of a value: one pattern for missing values, and one for both zeros.
#[inline(always)]
pub(super) fn value_bits(value: f64) -> u64 {
    if value.is_nan() { f64::NAN.to_bits() } else { (value + 0.0).to_bits() }
}

/// Returns a 64-bit hash of the values of a row.
#[inline(always)]
pub(super) fn row_hash(x: &[f64]) -> u64 {
    x.iter().fold(x.len() as u64, |hash, &value| splitmix64(hash ^ value_bits(value)))
}

/// Returns the draws of a row, addressed by its values and the number of rows learnt before it.
#[inline(always)]
pub(super) fn row_draws(seed: u64, purpose: Purpose, x: &[f64], n_learnt: u64) -> Draws {
    Draws::new(seed, purpose, row_hash(x)).within(n_learnt)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_rows_have_equal_hashes_and_others_do_not() {
        assert_eq!(row_hash(&[0.0, f64::NAN]), row_hash(&[-0.0, -f64::NAN]));
        assert_ne!(row_hash(&[1.0, 2.0]), row_hash(&[2.0, 1.0]));
        assert_ne!(row_hash(&[]), row_hash(&[0.0]));
    }
}
