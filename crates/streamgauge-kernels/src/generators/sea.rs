//! SEA concepts (Street and Kim, "A streaming ensemble algorithm (SEA) for large-scale classification", KDD 2001).

use super::{Bernoulli, Generator, Source, fill_uniform};
use crate::KernelError;
use crate::dispatch;
use crate::error::check_option;
use crate::randomness::Draws;

const N_ATTRIBUTES: usize = 3;

/// SEA concepts: three uniform attributes in [0, 10); class 1 if the sum of the first two exceeds a threshold, else
/// class 0, as in MOA and River. The third attribute is irrelevant.
#[derive(Debug, Clone)]
pub struct Sea {
    thresholds: Vec<f64>,
    drift_every: u64,
    noise: Bernoulli,
    attributes: Draws,
    flips: Draws,
}

impl Sea {
    /// Creates a stream that cycles through the thresholds, the next after every `drift_every` rows (0: never), and
    /// whose labels are flipped with probability `noise`.
    ///
    /// # Errors
    /// Returns [`KernelError::Option`] if an option is outside its range.
    pub fn new(
        thresholds: &[f64],
        drift_every: u64,
        noise: f64,
        source: impl Into<Source>,
    ) -> Result<Self, KernelError> {
        let source = source.into();
        check_option("thresholds", "[]", !thresholds.is_empty(), "there must be at least one")?;
        Ok(Self {
            thresholds: thresholds.to_vec(),
            drift_every: if drift_every == 0 { u64::MAX } else { drift_every },
            noise: Bernoulli::new(noise),
            attributes: source.rows("SEA attributes"),
            flips: source.rows("SEA noise"),
        })
    }

    /// Writes rows with one threshold.
    #[inline(always)]
    fn fill_concept(&self, threshold: f64, start: u64, x: &mut [f64], y: &mut [i32]) {
        fill_uniform(self.attributes, start.wrapping_mul(N_ATTRIBUTES as u64), 0.0, 10.0, x);
        for (i, (values, label)) in x.chunks_exact(N_ATTRIBUTES).zip(y).enumerate() {
            let above = values[0] + values[1] > threshold;
            let flipped = self.noise.happens(self.flips.at(start.wrapping_add(i as u64)));
            *label = i32::from(above ^ flipped);
        }
    }
}

impl Generator for Sea {
    fn n_attributes(&self) -> usize {
        N_ATTRIBUTES
    }

    fn fill(&self, start: u64, mut x: &mut [f64], mut y: &mut [i32]) {
        let mut row = start;
        while !y.is_empty() {
            let concept = (row / self.drift_every) as usize % self.thresholds.len();
            let left = self.drift_every - row % self.drift_every;
            let n = y.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            let (x_now, x_later) = x.split_at_mut(n * N_ATTRIBUTES);
            let (y_now, y_later) = y.split_at_mut(n);
            dispatch::run(
                #[inline(always)]
                || self.fill_concept(self.thresholds[concept], row, x_now, y_now),
            );
            (x, y, row) = (x_later, y_later, row.wrapping_add(n as u64));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_threshold_changes_at_its_rows_and_comes_round_again() {
        let thresholds = [8.0, 3.0, 15.0];
        let generator = Sea::new(&thresholds, 100, 0.0, 5).unwrap();
        let (x, y) = generator.rows(0, 1_000);
        for (row, label) in y.into_iter().enumerate() {
            let sum = x[3 * row] + x[3 * row + 1];
            assert_eq!(label, i32::from(sum > thresholds[row / 100 % 3]), "row {row}");
        }
    }
}
