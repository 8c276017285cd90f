//! Randomness by address instead of by shared state.
//!
//! `draw(seed, purpose, fold, row)` is a pure function, so that batch size, threads, restarts and cluster size cannot
//! change a number. It is the splitmix64 sequence of a key made of seed, purpose and fold, read at position `row`.

use crate::KernelError;
use crate::dispatch;
use crate::error::check_option;

/// The increment of splitmix64: 2^64 divided by the golden ratio.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// The purpose of a draw; draws of different purposes are independent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Purpose(pub u64);

impl Purpose {
    /// Returns the purpose of a name: its 64-bit FNV-1a hash.
    #[must_use]
    pub const fn named(name: &str) -> Self {
        let bytes = name.as_bytes();
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        let mut i = 0;
        while i < bytes.len() {
            hash = (hash ^ bytes[i] as u64).wrapping_mul(0x0000_0100_0000_01b3);
            i += 1;
        }
        Self(hash)
    }
}

/// Returns the output of splitmix64 for an already incremented state.
#[inline(always)]
const fn finalise(z: u64) -> u64 {
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Like [`finalise`], for vector registers: AVX2 cannot multiply 64-bit integers, so products are made of 32-bit
/// halves.
#[inline(always)]
const fn finalise_in_lane(z: u64) -> u64 {
    let z = multiply_halves(z ^ (z >> 30), 0xbf58_476d_1ce4_e5b9);
    let z = multiply_halves(z ^ (z >> 27), 0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Returns `a * b` modulo 2^64.
#[inline(always)]
const fn multiply_halves(a: u64, b: u64) -> u64 {
    let (a_low, a_high) = (a & 0xffff_ffff, a >> 32);
    let (b_low, b_high) = (b & 0xffff_ffff, b >> 32);
    let crossed = (a_high * b_low).wrapping_add(a_low * b_high);
    (a_low * b_low).wrapping_add(crossed << 32)
}

/// Returns the next output of splitmix64 from state `z`.
#[inline(always)]
#[must_use]
pub const fn splitmix64(z: u64) -> u64 {
    finalise(z.wrapping_add(GOLDEN))
}

/// The number of consecutive draws that [`Draws::lanes`] computes at once.
pub const LANES: usize = 8;

/// A sequence of independent 64-bit values, addressed by position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Draws {
    key: u64,
}

impl Draws {
    /// Returns the draws of one seed, purpose and fold.
    #[inline(always)]
    #[must_use]
    pub const fn new(seed: u64, purpose: Purpose, fold: u64) -> Self {
        Self { key: splitmix64(splitmix64(splitmix64(seed) ^ purpose.0) ^ fold) }
    }

    /// Returns the draw of a row.
    #[inline(always)]
    #[must_use]
    pub const fn at(self, row: u64) -> u64 {
        splitmix64(self.key.wrapping_add(row.wrapping_mul(GOLDEN)))
    }

    /// Returns the draws of [`LANES`] consecutive rows, the same as one by one but in vector registers.
    #[inline(always)]
    #[must_use]
    pub fn lanes(self, first: u64) -> [u64; LANES] {
        let state = self.key.wrapping_add(first.wrapping_add(1).wrapping_mul(GOLDEN));
        let mut draws = [0; LANES];
        for (lane, draw) in draws.iter_mut().enumerate() {
            *draw = finalise_in_lane(state.wrapping_add((lane as u64).wrapping_mul(GOLDEN)));
        }
        draws
    }

    /// Returns the draws of one row, if it needs more than one.
    #[inline(always)]
    #[must_use]
    pub const fn within(self, row: u64) -> Self {
        Self { key: self.at(row) }
    }

    /// Returns a uniform number in [0, 1) with 53 random bits.
    #[inline(always)]
    #[must_use]
    pub fn uniform(self, row: u64) -> f64 {
        unit(self.at(row))
    }

    /// Returns a uniform whole number in `0..n` (multiply and shift: the bias is below 2^-32 for any `n` up to 2^32).
    #[inline(always)]
    #[must_use]
    pub fn below(self, row: u64, n: u64) -> u64 {
        ((u128::from(self.at(row)) * u128::from(n)) >> 64) as u64
    }
}

/// Converts 64 random bits to a uniform number in [0, 1).
#[inline(always)]
#[must_use]
pub fn unit(bits: u64) -> f64 {
    (bits >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0)
}

/// Like [`unit`], for vector registers: AVX2 cannot convert 64-bit integers, so the halves are written into the
/// mantissas of 2^84 and 2^52, and those are subtracted again; every step is exact.
#[inline(always)]
#[must_use]
pub fn unit_in_lane(bits: u64) -> f64 {
    let whole = bits >> 11;
    let high = f64::from_bits((whole >> 32) | 0x4530_0000_0000_0000);
    let low = f64::from_bits((whole & 0xffff_ffff) | 0x4330_0000_0000_0000);
    let both = f64::from_bits(0x4530_0000_0010_0000);
    ((high - both) + low) * (1.0 / 9_007_199_254_740_992.0)
}

/// Returns the draw of one row: `draw(seed, purpose, fold, row)`.
#[inline(always)]
#[must_use]
pub const fn draw(seed: u64, purpose: Purpose, fold: u64, row: u64) -> u64 {
    Draws::new(seed, purpose, fold).at(row)
}

/// Returns the seed of a learner in a fold: independent over folds, equal for learners with the same `learner_seed`.
#[must_use]
pub const fn fold_seed(master: u64, fold: u64, learner_seed: u64) -> u64 {
    splitmix64(splitmix64(splitmix64(master) ^ fold) ^ learner_seed)
}

/// A Poisson distribution, sampled by inversion: the value is the number of cumulative thresholds that the draw
/// reaches.
#[derive(Debug, Clone)]
pub struct Poisson {
    /// One threshold per outcome; larger outcomes have less than 2^-53 of the mass.
    thresholds: Vec<u64>,
    /// The number of thresholds beyond which outcomes occur once in a million rows.
    n_common: usize,
}

impl Poisson {
    /// Creates the distribution of a mean in (0, 100].
    ///
    /// # Errors
    /// Returns [`KernelError::Option`] if the mean is outside.
    pub fn new(mean: f64) -> Result<Self, KernelError> {
        check_option("mean_weight", mean, mean > 0.0 && mean <= 100.0, "it must be a number in (0, 100]")?;
        let (mut mass, mut cumulative, mut n_common) = ((-mean).exp(), 0.0, 0);
        let mut thresholds = vec![];
        // Beyond the mean every outcome is rarer than the one before.
        for k in 0.. {
            cumulative += mass;
            thresholds.push((f64::min(cumulative, 1.0) * 9_007_199_254_740_992.0) as u64);
            n_common = if cumulative < 1.0 - 1e-6 { k + 1 } else { n_common };
            mass *= mean / f64::from(k + 1_u32);
            if f64::from(k) > mean && mass < 1e-16 {
                break;
            }
        }
        Ok(Self { thresholds, n_common: n_common as usize })
    }

    /// Returns the memory it uses on the heap in bytes.
    #[must_use]
    pub fn n_bytes(&self) -> usize {
        self.thresholds.capacity() * size_of::<u64>()
    }

    /// Returns the value for 64 random bits.
    #[inline(always)]
    #[must_use]
    pub fn quantile(&self, bits: u64) -> u32 {
        let uniform = bits >> 11;
        self.thresholds.iter().map(|&threshold| u32::from(uniform >= threshold)).sum()
    }

    /// Writes the values of consecutive rows, equal to those of [`Poisson::quantile`].
    pub fn fill(&self, draws: Draws, first: u64, values: &mut [f64]) {
        dispatch::run(
            #[inline(always)]
            || {
                let mut row = first;
                for block in values.chunks_mut(LANES) {
                    let bits = draws.lanes(row);
                    let mut counts = [0.0; LANES];
                    // 53 bits are positive as signed numbers, which vector registers can compare.
                    let uniform = bits.map(|bits| (bits >> 11) as i64);
                    for &threshold in &self.thresholds[..self.n_common] {
                        for lane in 0..LANES {
                            counts[lane] += if uniform[lane] >= threshold as i64 { 1.0 } else { 0.0 };
                        }
                    }
                    let rare = self.thresholds[self.n_common] as i64;
                    if uniform.iter().fold(false, |large, &uniform| large | (uniform >= rare)) {
                        counts = bits.map(|bits| f64::from(self.quantile(bits)));
                    }
                    block.copy_from_slice(&counts[..block.len()]);
                    row = row.wrapping_add(LANES as u64);
                }
            },
        );
    }
}

/// Returns the Poisson value of a mean of at most 100 for 64 random bits, by inversion; for means that change from row
/// to row, where [`Poisson`] would need a table each.
#[must_use]
pub fn poisson_quantile(mean: f64, bits: u64) -> u32 {
    let uniform = unit(bits);
    let (mut mass, mut cumulative, mut k) = ((-mean).exp(), 0.0, 0_u32);
    loop {
        cumulative += mass;
        k += 1;
        mass *= mean / f64::from(k);
        if uniform < cumulative || (f64::from(k) > mean && mass < 1e-16) {
            return k - 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fold_seeds_have_the_published_values() {
        assert_eq!(fold_seed(1, 0, 7), 16_039_768_801_272_104_445);
        assert_eq!(fold_seed(1, 1, 7), 7_125_996_428_116_321_486);
    }

    #[test]
    fn splitmix64_has_the_values_of_its_reference_code() {
        // The first three outputs of Vigna's splitmix64.c from state 1234567.
        let sequence = [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        for (i, expected) in sequence.into_iter().enumerate() {
            assert_eq!(splitmix64(1_234_567_u64.wrapping_add((i as u64).wrapping_mul(GOLDEN))), expected);
        }
    }

    #[test]
    fn draws_in_lanes_are_the_draws_one_by_one() {
        let draws = Draws::new(3, Purpose::named("lanes"), 1);
        for first in [0, 1, 12_345_678_901, u64::MAX - 3] {
            for (lane, bits) in draws.lanes(first).into_iter().enumerate() {
                assert_eq!(bits, draws.at(first.wrapping_add(lane as u64)));
                assert_eq!(unit_in_lane(bits).to_bits(), unit(bits).to_bits());
            }
        }
        for bits in [0, 1 << 11, u64::MAX] {
            assert_eq!(unit_in_lane(bits).to_bits(), unit(bits).to_bits());
        }
    }

    #[test]
    fn poisson_values_have_the_frequencies_of_their_mean() {
        for mean in [1.0, 6.0, 40.0] {
            let poisson = Poisson::new(mean).unwrap();
            let draws = Draws::new(1, Purpose::named("weights"), 3);
            let n = 1_000_000;
            let mut counts = [0_u32; 120];
            for row in 0..n {
                counts[poisson.quantile(draws.at(row)) as usize] += 1;
            }
            let mut mass = (-mean).exp();
            for (k, &count) in counts.iter().take(60).enumerate() {
                let expected = mass * n as f64;
                assert!((f64::from(count) - expected).abs() < 5.0 * expected.sqrt().max(1.0), "{k}: {count}");
                mass *= mean / (k + 1) as f64;
            }
        }
        assert!(Poisson::new(0.0).is_err() && Poisson::new(f64::NAN).is_err() && Poisson::new(101.0).is_err());
    }

    #[test]
    fn poisson_values_are_the_same_one_by_one_and_many_at_once() {
        let draws = Draws::new(5, Purpose::named("weights"), 2);
        for poisson in [1.0, 6.0, 100.0].map(|mean| Poisson::new(mean).unwrap()) {
            for n in [0, 1, 7, 8, 1000, 300_001] {
                let mut values = vec![0.0; n];
                poisson.fill(draws, 17, &mut values);
                assert!(
                    values.iter().zip(17..).all(|(&value, row)| value == f64::from(poisson.quantile(draws.at(row))))
                );
            }
        }
    }

    #[test]
    fn poisson_values_of_a_changing_mean_are_those_of_the_table() {
        let draws = Draws::new(5, Purpose::named("weights"), 2);
        for mean in [0.01, 1.0, 6.5, 100.0] {
            let poisson = Poisson::new(mean).unwrap();
            assert!((0..20_000).all(|row| poisson.quantile(draws.at(row)) == poisson_quantile(mean, draws.at(row))));
        }
        assert_eq!(poisson_quantile(0.0, u64::MAX), 0);
    }

    #[test]
    fn below_covers_its_range_evenly() {
        let draws = Draws::new(9, Purpose::named("below"), 0);
        let mut counts = [0_u32; 10];
        for row in 0..100_000 {
            counts[draws.below(row, 10) as usize] += 1;
        }
        assert!(counts.iter().all(|&count| count.abs_diff(10_000) < 500));
    }
}
