//! A number for the values of a row, by which learners that guess address their draws.
//!
//! A learner is not told where in the stream a row stands, and predicting must change nothing: so that rows are guessed
//! independently all the same, the draw of a row is addressed by its values and by how many rows were learnt before.

use crate::randomness::{Draws, Purpose, splitmix64};

/// The bits of a value: one pattern for all that is missing, and one for both zeros.
#[inline(always)]
pub(super) fn value_bits(value: f64) -> u64 {
    if value.is_nan() { f64::NAN.to_bits() } else { (value + 0.0).to_bits() }
}

/// Mix the values of a row into 64 bits.
#[inline(always)]
pub(super) fn row_hash(x: &[f64]) -> u64 {
    x.iter().fold(x.len() as u64, |hash, &value| splitmix64(hash ^ value_bits(value)))
}

/// The draws of a row, told apart by its values and the number of rows learnt before it.
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
