//! The most frequent class in a window.

use super::{Learner, Schema};
use crate::KernelError;
use crate::baselines::RecentLabels;
use crate::codec::{Reader, Writer};

const NAME: &str = "MajorityClass of a window";

/// Predicts the class with the greatest weight in a sliding window of the last rows, the first of equals.
#[derive(Debug, Clone)]
pub struct RecentMajority {
    schema: Schema,
    labels: RecentLabels,
}

impl RecentMajority {
    /// Creates an untrained learner with a window of `width` rows.
    ///
    /// # Errors
    /// [`KernelError::Option`] if `width` is 0.
    pub fn new(schema: Schema, width: usize) -> Result<Self, KernelError> {
        let labels = RecentLabels::new(schema.n_classes, width)?;
        Ok(Self { schema, labels })
    }
}

impl Learner for RecentMajority {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn vote(&self, _x: &[f64], votes: &mut [f64]) {
        votes.copy_from_slice(self.labels.weights());
    }

    fn learn(&mut self, _x: &[f64], label: usize, weight: f64) {
        self.labels.push(label as u32, weight);
    }

    fn n_bytes(&self) -> usize {
        size_of::<Schema>() + self.labels.n_bytes() + 4 * self.schema.n_values.capacity()
    }

    fn save(&self) -> Vec<u8> {
        let mut writer = Writer::new(NAME, 1);
        self.labels.write(&mut writer);
        writer.finish()
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), KernelError> {
        let mut reader = Reader::new(NAME, 1, bytes)?;
        let labels = self.labels.read(&mut reader)?;
        reader.finish()?;
        self.labels = labels;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::randomness::{Draws, Purpose};

    #[test]
    fn only_the_rows_of_the_window_count() {
        let draws = Draws::new(1, Purpose::named("labels"), 0);
        let mut learner = RecentMajority::new(Schema { n_values: vec![], n_classes: 3 }, 20).unwrap();
        let label = |row| draws.below(row, 3) as usize;
        for row in 0..500_u64 {
            learner.learn(&[], label(row), 0.1 * (1 + row % 7) as f64);
            let mut expected = [0.0; 3];
            for row in (0..=row).rev().take(20) {
                expected[label(row)] += 0.1 * (1 + row % 7) as f64;
            }
            let mut votes = [0.0; 3];
            learner.vote(&[], &mut votes);
            assert!(votes.iter().zip(expected).all(|(vote, weight)| (vote - weight).abs() < 1e-12));
        }
        assert!(RecentMajority::new(Schema { n_values: vec![], n_classes: 3 }, 0).is_err());
    }
}
