//! The class seen most often so far.

use super::{ABSTAINED, Learner, Schema, Step};
use crate::KernelError;
use crate::codec::{Reader, Writer};

const NAME: &str = "MajorityClass";

/// Predicts the class with the greatest weight so far, the first of equals.
#[derive(Debug, Clone)]
pub struct MajorityClass {
    schema: Schema,
    weights: Vec<f64>,
    majority: i32,
}

impl MajorityClass {
    /// A learner that has seen nothing.
    #[must_use]
    pub fn new(schema: Schema) -> Self {
        let weights = vec![0.0; schema.n_classes];
        Self { schema, weights, majority: ABSTAINED }
    }

    #[inline(always)]
    fn count(&mut self, label: usize, weight: f64) {
        self.weights[label] += weight;
        let most = if self.majority < 0 { 0.0 } else { self.weights[self.majority as usize] };
        let now = self.weights[label];
        if now > most || (now == most && (label as i32) < self.majority) {
            self.majority = label as i32;
        }
    }
}

impl Learner for MajorityClass {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn vote(&self, _x: &[f64], votes: &mut [f64]) {
        votes.copy_from_slice(&self.weights);
    }

    fn learn(&mut self, _x: &[f64], label: usize, weight: f64) {
        self.count(label, weight);
    }

    fn interleave(&mut self, step: &Step<'_>, predictions: &mut [i32], mut votes: Option<&mut [f64]>) {
        let n_classes = self.schema.n_classes;
        for (i, prediction) in predictions.iter_mut().enumerate() {
            let tested = step.tests(i);
            *prediction = if tested { self.majority } else { ABSTAINED };
            if let (true, Some(votes)) = (tested, &mut votes) {
                votes[i * n_classes..(i + 1) * n_classes].copy_from_slice(&self.weights);
            }
            let weight = step.weight(i);
            if weight > 0.0 {
                self.count(step.y[i] as usize, weight);
            }
        }
    }

    fn n_bytes(&self) -> usize {
        size_of::<Self>() + 8 * self.weights.capacity() + 4 * self.schema.n_values.capacity()
    }

    fn save(&self) -> Vec<u8> {
        let mut writer = Writer::new(NAME, 1);
        writer.f64s(&self.weights);
        writer.u64(self.majority as u64);
        writer.finish()
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), KernelError> {
        let mut reader = Reader::new(NAME, 1, bytes)?;
        let mut weights = vec![0.0; self.weights.len()];
        reader.f64s_into(&mut weights)?;
        let majority = reader.u64()? as i32;
        if majority >= weights.len() as i32 {
            return Err(reader.error("its majority is not a class"));
        }
        reader.finish()?;
        (self.weights, self.majority) = (weights, majority);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_predicts_the_heaviest_class_before_it_sees_the_label() {
        let mut learner = MajorityClass::new(Schema { n_values: vec![], n_classes: 3 });
        let y = [2, 1, 1, 0, 0, 0];
        let step = Step { x: &[], y: &y, test: None, weight: Some(&[1.0, 1.0, 0.0, 1.0, 1.0, 1.0]) };
        let mut predictions = [0; 6];
        learner.interleave(&step, &mut predictions, None);
        assert_eq!(predictions, [ABSTAINED, 2, 1, 1, 0, 0]);
    }
}
