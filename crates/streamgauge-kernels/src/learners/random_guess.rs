//! A class drawn with the frequencies so far.

use super::row_hash::row_draws;
use super::{Learner, Schema};
use crate::KernelError;
use crate::codec::{Reader, Writer};
use crate::randomness::Purpose;

const NAME: &str = "RandomGuess";
const GUESS: Purpose = Purpose::named("guess");

/// Guesses: draws a class with the frequencies of the learnt rows.
#[derive(Debug, Clone)]
pub struct RandomGuess {
    schema: Schema,
    seed: u64,
    weights: Vec<f64>,
    n_learnt: u64,
}

impl RandomGuess {
    /// Creates an untrained learner.
    #[must_use]
    pub fn new(schema: Schema, seed: u64) -> Self {
        let weights = vec![0.0; schema.n_classes];
        Self { schema, seed, weights, n_learnt: 0 }
    }
}

impl Learner for RandomGuess {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn vote(&self, x: &[f64], votes: &mut [f64]) {
        votes.fill(0.0);
        let total: f64 = self.weights.iter().sum();
        let mut left = row_draws(self.seed, GUESS, x, self.n_learnt).uniform(0) * total;
        // A remainder due to rounding goes to the last class seen.
        let mut guess = None;
        for (class, &weight) in self.weights.iter().enumerate().filter(|(_, weight)| **weight > 0.0) {
            guess = Some(class);
            if left < weight {
                break;
            }
            left -= weight;
        }
        if let Some(class) = guess {
            votes[class] = 1.0;
        }
    }

    fn learn(&mut self, _x: &[f64], label: usize, weight: f64) {
        self.weights[label] += weight;
        self.n_learnt += 1;
    }

    fn n_bytes(&self) -> usize {
        size_of::<Self>() + 8 * self.weights.capacity() + 4 * self.schema.n_values.capacity()
    }

    fn save(&self) -> Vec<u8> {
        let mut writer = Writer::new(NAME, 1);
        writer.f64s(&self.weights);
        writer.u64(self.n_learnt);
        writer.finish()
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), KernelError> {
        let mut reader = Reader::new(NAME, 1, bytes)?;
        let mut weights = vec![0.0; self.schema.n_classes];
        reader.f64s_into(&mut weights)?;
        let n_learnt = reader.u64()?;
        reader.finish()?;
        (self.weights, self.n_learnt) = (weights, n_learnt);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guesses_have_the_frequencies_learnt() {
        let mut learner = RandomGuess::new(Schema { n_values: vec![0], n_classes: 4 }, 7);
        let mut votes = [0.0; 4];
        learner.vote(&[1.0], &mut votes);
        assert_eq!(votes, [0.0; 4]);
        for (label, weight) in [(0, 1.0), (1, 4.0), (3, 5.0)] {
            learner.learn(&[0.0], label, weight);
        }
        let mut counts = [0.0; 4];
        for row in 0..10_000 {
            learner.vote(&[f64::from(row)], &mut votes);
            counts.iter_mut().zip(votes).for_each(|(count, vote)| *count += vote);
        }
        for (count, expected) in counts.into_iter().zip([1_000.0, 4_000.0, 0.0, 5_000.0]) {
            assert!((count - expected).abs() < 250.0, "{counts:?}");
        }
    }
}
