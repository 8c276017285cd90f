//! The last class.

use super::{ABSTAINED, Learner, Schema, Step, UNLABELLED};
use crate::KernelError;
use crate::codec::{Reader, Writer};

const NAME: &str = "NoChange";

/// Predicts the class of the row it learnt last.
#[derive(Debug, Clone)]
pub struct NoChange {
    schema: Schema,
    last: i32,
}

impl NoChange {
    /// Creates an untrained learner.
    #[must_use]
    pub fn new(schema: Schema) -> Self {
        Self { schema, last: UNLABELLED }
    }
}

impl Learner for NoChange {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn vote(&self, _x: &[f64], votes: &mut [f64]) {
        votes.fill(0.0);
        if self.last >= 0 {
            votes[self.last as usize] = 1.0;
        }
    }

    fn learn(&mut self, _x: &[f64], label: usize, _weight: f64) {
        self.last = label as i32;
    }

    fn interleave(&mut self, step: &Step<'_>, predictions: &mut [i32], mut votes: Option<&mut [f64]>) {
        let n_classes = self.schema.n_classes;
        for (i, prediction) in predictions.iter_mut().enumerate() {
            let tested = step.tests(i);
            *prediction = if tested { self.last } else { ABSTAINED };
            if let (true, Some(votes)) = (tested, &mut votes) {
                self.vote(&[], &mut votes[i * n_classes..(i + 1) * n_classes]);
            }
            self.last = if step.weight(i) > 0.0 { step.y[i] } else { self.last };
        }
    }

    fn n_bytes(&self) -> usize {
        size_of::<Self>() + 4 * self.schema.n_values.capacity()
    }

    fn save(&self) -> Vec<u8> {
        let mut writer = Writer::new(NAME, 1);
        writer.u64(self.last as u64);
        writer.finish()
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), KernelError> {
        let mut reader = Reader::new(NAME, 1, bytes)?;
        let last = reader.u64()? as i32;
        if last >= self.schema.n_classes as i32 {
            return Err(reader.error("its last label is not a class"));
        }
        reader.finish()?;
        self.last = last;
        Ok(())
    }
}
