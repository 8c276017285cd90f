//! A lookup table of all rows.

use super::row_hash::{row_draws, row_hash, value_bits};
use super::{Learner, Schema};
use crate::KernelError;
use crate::codec::{Reader, Writer};
use crate::randomness::Purpose;

const NAME: &str = "Memoriser";
const GUESS: Purpose = Purpose::named("guess");

/// An empty slot.
const EMPTY: u32 = u32::MAX;

/// Remembers every row it has learnt, and guesses the others.
///
/// Its memory grows with the stream: it serves to prove that an evaluation leaks nothing.
#[derive(Debug, Clone)]
pub struct Memoriser {
    schema: Schema,
    seed: u64,
    /// The rows learnt, one after the other, as bits.
    rows: Vec<u64>,
    labels: Vec<u32>,
    /// Per slot, the index of a row: an open-addressing hash table, at most half full.
    slots: Vec<u32>,
}

impl Memoriser {
    /// Creates an untrained learner.
    #[must_use]
    pub fn new(schema: Schema, seed: u64) -> Self {
        Self { schema, seed, rows: vec![], labels: vec![], slots: vec![EMPTY; 16] }
    }

    /// Returns the slot of a row: the one that holds it, or the empty one for it.
    fn find_slot(&self, x: &[f64]) -> usize {
        let (d, mask) = (self.schema.n_attributes(), self.slots.len() - 1);
        let mut slot = row_hash(x) as usize & mask;
        while self.slots[slot] != EMPTY {
            let row = &self.rows[self.slots[slot] as usize * d..][..d];
            if row.iter().zip(x).all(|(&known, &value)| known == value_bits(value)) {
                break;
            }
            slot = (slot + 1) & mask;
        }
        slot
    }

    /// Doubles the number of slots.
    fn grow(&mut self) {
        self.slots = vec![EMPTY; 2 * self.slots.len()];
        let d = self.schema.n_attributes();
        for row in 0..self.labels.len() {
            let x: Vec<f64> =
                self.rows[row * d..(row + 1) * d].iter().map(|&value_bits| f64::from_bits(value_bits)).collect();
            let slot = self.find_slot(&x);
            self.slots[slot] = row as u32;
        }
    }
}

impl Learner for Memoriser {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn vote(&self, x: &[f64], votes: &mut [f64]) {
        votes.fill(0.0);
        let class = match self.slots[self.find_slot(x)] {
            EMPTY => row_draws(self.seed, GUESS, x, 0).below(0, self.schema.n_classes as u64) as usize,
            row => self.labels[row as usize] as usize,
        };
        votes[class] = 1.0;
    }

    fn learn(&mut self, x: &[f64], label: usize, _weight: f64) {
        let slot = self.find_slot(x);
        if self.slots[slot] != EMPTY {
            self.labels[self.slots[slot] as usize] = label as u32;
            return;
        }
        self.slots[slot] = self.labels.len() as u32;
        self.rows.extend(x.iter().map(|&value| value_bits(value)));
        self.labels.push(label as u32);
        if 2 * self.labels.len() > self.slots.len() {
            self.grow();
        }
    }

    fn facts(&self) -> Vec<(&'static str, u64)> {
        vec![("n_rows", self.labels.len() as u64)]
    }

    fn n_bytes(&self) -> usize {
        size_of::<Self>()
            + 8 * self.rows.capacity()
            + 4 * (self.labels.capacity() + self.slots.capacity() + self.schema.n_values.capacity())
    }

    fn save(&self) -> Vec<u8> {
        let mut writer = Writer::new(NAME, 1);
        writer.u64s(self.rows.iter().copied());
        writer.u64s(self.labels.iter().map(|&label| u64::from(label)));
        writer.finish()
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), KernelError> {
        let mut reader = Reader::new(NAME, 1, bytes)?;
        let (rows, labels) = (reader.u64s()?, reader.u64s()?);
        let d = self.schema.n_attributes();
        if rows.len() != labels.len() * d || labels.iter().any(|&label| label >= self.schema.n_classes as u64) {
            return Err(reader.error("its rows have another schema"));
        }
        reader.finish()?;
        let mut learner = Self::new(self.schema.clone(), self.seed);
        for (row, &label) in labels.iter().enumerate() {
            let x: Vec<f64> =
                rows[row * d..(row + 1) * d].iter().map(|&value_bits| f64::from_bits(value_bits)).collect();
            learner.learn(&x, label as usize, 1.0);
        }
        *self = learner;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_label_of_every_row_is_remembered() {
        let mut learner = Memoriser::new(Schema { n_values: vec![0, 0], n_classes: 3 }, 1);
        let label = |row: usize| (row * 7 / 5) % 3;
        for row in 0..1_000 {
            learner.learn(&[row as f64, f64::NAN], (label(row) + 1) % 3, 1.0);
            learner.learn(&[row as f64, f64::NAN], label(row), 1.0);
        }
        assert_eq!(learner.facts(), [("n_rows", 1_000)]);
        let mut votes = [0.0; 3];
        for row in 0..1_000 {
            learner.vote(&[row as f64, f64::NAN], &mut votes);
            assert_eq!(votes[label(row)], 1.0);
        }
    }
}
