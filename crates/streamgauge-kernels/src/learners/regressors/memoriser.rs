//! A lookup table of all rows and their targets.

use std::collections::HashMap;

use super::{Regressor, TargetMean};
use crate::KernelError;
use crate::codec::{Reader, Writer};
use crate::learners::row_hash::value_bits;

/// Remembers the target of every row it has learnt, and predicts the mean for the others.
///
/// Its memory grows with the stream: it serves to prove that an evaluation leaks nothing.
#[derive(Debug, Clone)]
pub struct TargetMemoriser {
    n_values: Vec<u32>,
    mean: TargetMean,
    /// The rows by their bits, in the order in which they were learnt first.
    positions: HashMap<Box<[u64]>, usize>,
    targets: Vec<f64>,
}

impl TargetMemoriser {
    const NAME: &str = "TargetMemoriser";

    /// Creates an untrained learner.
    #[must_use]
    pub fn new(n_values: Vec<u32>) -> Self {
        Self { n_values, mean: TargetMean::default(), positions: HashMap::new(), targets: vec![] }
    }

    fn remember(&mut self, row: Box<[u64]>, target: f64) {
        let next = self.targets.len();
        let position = *self.positions.entry(row).or_insert(next);
        if position == next {
            self.targets.push(target);
        } else {
            self.targets[position] = target;
        }
    }
}

fn to_bits(x: &[f64]) -> Box<[u64]> {
    x.iter().map(|&value| value_bits(value)).collect()
}

impl Regressor for TargetMemoriser {
    fn n_values(&self) -> &[u32] {
        &self.n_values
    }

    fn predict(&self, x: &[f64], predictions: &mut [f64]) {
        let d = self.n_values.len();
        for (i, prediction) in predictions.iter_mut().enumerate() {
            let known = self.positions.get(&to_bits(&x[i * d..(i + 1) * d]));
            *prediction = known.map_or_else(|| self.mean.value(), |&position| self.targets[position]);
        }
    }

    fn learn(&mut self, x: &[f64], target: f64, weight: f64) {
        self.mean.add(target, weight);
        self.remember(to_bits(x), target);
    }

    fn facts(&self) -> Vec<(&'static str, u64)> {
        vec![("n_rows", self.targets.len() as u64)]
    }

    fn n_bytes(&self) -> usize {
        let entry = size_of::<(Box<[u64]>, usize)>() + 8 * self.n_values.len() + 1;
        let values = 8 * self.targets.capacity() + 4 * self.n_values.capacity();
        size_of::<Self>() + entry * self.positions.capacity() + values
    }

    fn save(&self) -> Vec<u8> {
        let mut writer = Writer::new(Self::NAME, 1);
        self.mean.write(&mut writer);
        let mut rows: Vec<_> = self.positions.iter().collect();
        rows.sort_by_key(|&(_, &position)| position);
        let bits: Vec<u64> = rows.iter().flat_map(|(row, _)| row.iter().copied()).collect();
        writer.u64s(bits.into_iter());
        writer.f64s(&self.targets);
        writer.finish()
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), KernelError> {
        let mut reader = Reader::new(Self::NAME, 1, bytes)?;
        let mean = TargetMean::read(&mut reader)?;
        let (bits, targets) = (reader.u64s()?, reader.f64s()?);
        let d = self.n_values.len();
        let mut learner = Self { mean, ..Self::new(self.n_values.clone()) };
        if bits.len() == targets.len() * d {
            for (i, &target) in targets.iter().enumerate() {
                learner.remember(bits[i * d..(i + 1) * d].into(), target);
            }
        }
        if learner.targets.len() != targets.len() {
            return Err(reader.error("its rows have another schema"));
        }
        reader.finish()?;
        *self = learner;
        Ok(())
    }
}
