//! Weighted random choice.

/// Weighted random choice in constant time from one draw (Walker's alias method).
#[derive(Debug, Clone)]
pub struct Picker {
    /// Per index, the part of 2^64 that selects it; the rest selects its alias.
    thresholds: Vec<u64>,
    aliases: Vec<usize>,
}

impl Picker {
    /// Creates a picker for weights of 0 or more, not all 0.
    pub fn new(weights: &[f64]) -> Self {
        let n = weights.len();
        let total: f64 = weights.iter().sum();
        let mut shares: Vec<f64> = weights.iter().map(|weight| weight / total * n as f64).collect();
        let (mut small, mut large): (Vec<usize>, Vec<usize>) = (0..n).partition(|&i| shares[i] < 1.0);
        let mut picker = Self { thresholds: vec![u64::MAX; n], aliases: (0..n).collect() };
        while let (Some(index), Some(&donor)) = (small.pop(), large.last()) {
            picker.thresholds[index] = (shares[index] * 18_446_744_073_709_551_616.0) as u64;
            picker.aliases[index] = donor;
            shares[donor] -= 1.0 - shares[index];
            if shares[donor] < 1.0 {
                small.extend(large.pop());
            }
        }
        picker
    }

    /// Returns the index for 64 random bits: the high half of `bits * n` is an index, the low half selects it or its
    /// alias.
    #[inline(always)]
    pub fn pick(&self, bits: u64) -> usize {
        let product = u128::from(bits) * self.thresholds.len() as u128;
        let (index, rest) = ((product >> 64) as usize, product as u64);
        if rest < self.thresholds[index] { index } else { self.aliases[index] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::randomness::{Draws, Purpose};

    #[test]
    fn a_picker_picks_by_weight() {
        let weights = [0.1, 3.0, 1.0, 0.5, 2.4, 1e-9];
        let picker = Picker::new(&weights);
        let draws = Draws::new(1, Purpose::named("test"), 0);
        let n = 1_000_000;
        let mut counts = [0_u32; 6];
        for row in 0..n {
            counts[picker.pick(draws.at(row))] += 1;
        }
        for (count, weight) in counts.into_iter().zip(weights) {
            let expected = weight / 7.0 * n as f64;
            assert!((f64::from(count) - expected).abs() <= 5.0 * expected.sqrt(), "{count} against {expected}");
        }
    }
}
