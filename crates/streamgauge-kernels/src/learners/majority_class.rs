//! The most frequent class so far.

use super::{ABSTAINED, Learner, Schema, Step};
use crate::KernelError;
use crate::baselines::Majority;
use crate::codec::{Reader, Writer};

const NAME: &str = "MajorityClass";

/// Predicts the class with the greatest weight so far, the first of equals.
#[derive(Debug, Clone)]
pub struct MajorityClass {
    schema: Schema,
    majority: Majority,
}

impl MajorityClass {
    /// Creates an untrained learner.
    #[must_use]
    pub fn new(schema: Schema) -> Self {
        let majority = Majority::new(schema.n_classes);
        Self { schema, majority }
    }
}

impl Learner for MajorityClass {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn vote(&self, _x: &[f64], votes: &mut [f64]) {
        votes.copy_from_slice(self.majority.weights());
    }

    fn learn(&mut self, _x: &[f64], label: usize, weight: f64) {
        self.majority.count(label as i32, weight);
    }

    fn interleave(&mut self, step: &Step<'_>, predictions: &mut [i32], mut votes: Option<&mut [f64]>) {
        let n_classes = self.schema.n_classes;
        if let Some(votes) = &mut votes {
            let mut majority = self.majority.clone();
            for (i, votes) in votes.chunks_exact_mut(n_classes).enumerate() {
                if step.tests(i) {
                    votes.copy_from_slice(majority.weights());
                }
                majority.count(step.y[i], step.weight(i));
            }
        }
        self.majority.run(step.y, step.weight, |span, class| predictions[span].fill(class));
        if let Some(test) = step.test {
            for (prediction, _) in predictions.iter_mut().zip(test).filter(|(_, tested)| !**tested) {
                *prediction = ABSTAINED;
            }
        }
    }

    fn n_bytes(&self) -> usize {
        size_of::<Self>() + size_of_val(self.majority.weights()) + 4 * self.schema.n_values.capacity()
    }

    fn save(&self) -> Vec<u8> {
        let mut writer = Writer::new(NAME, 1);
        writer.f64s(self.majority.weights());
        writer.u64(self.majority.class() as u64);
        writer.finish()
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), KernelError> {
        let mut reader = Reader::new(NAME, 1, bytes)?;
        let mut weights = vec![0.0; self.schema.n_classes];
        reader.f64s_into(&mut weights)?;
        let majority = reader.u64()? as i32;
        if majority >= weights.len() as i32 {
            return Err(reader.error("its majority is not a class"));
        }
        reader.finish()?;
        self.majority = Majority::from_weights(weights, majority);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn predictions_come_before_the_label_is_counted() {
        let mut learner = MajorityClass::new(Schema { n_values: vec![], n_classes: 3 });
        let y = [2, 1, 1, 0, 0, 0];
        let step = Step { x: &[], y: &y, test: None, weight: Some(&[1.0, 1.0, 0.0, 1.0, 1.0, 1.0]) };
        let mut predictions = [0; 6];
        learner.interleave(&step, &mut predictions, None);
        assert_eq!(predictions, [ABSTAINED, 2, 1, 1, 0, 0]);
    }
}
