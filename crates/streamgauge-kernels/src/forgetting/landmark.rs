//! Nothing is forgotten.

use super::{Forgetting, Outcomes, Rows, whole};
use crate::KernelError;
use crate::codec::{Reader, Writer};

const NAME: &str = "Landmark";

/// Covers every row since the start.
#[derive(Debug, Clone)]
pub struct Landmark {
    outcomes: Outcomes,
    width: u64,
    /// The whole weights by outcome.
    counts: Vec<u64>,
    /// The other weights by outcome; empty until there is one.
    fractions: Vec<f64>,
}

impl Landmark {
    /// A state that has seen nothing.
    #[must_use]
    pub fn new(outcomes: Outcomes) -> Self {
        Self { outcomes, width: 0, counts: vec![0; outcomes.n_codes()], fractions: vec![] }
    }

    fn add(&mut self, code: u32, weight: f64) {
        if let Some(count) = whole(weight) {
            self.counts[code as usize] += count;
        } else {
            if self.fractions.is_empty() {
                self.fractions = vec![0.0; self.counts.len()];
            }
            self.fractions[code as usize] += weight;
        }
    }
}

impl Forgetting for Landmark {
    fn outcomes(&self) -> Outcomes {
        self.outcomes
    }

    fn take(&mut self, rows: &Rows<'_>) {
        self.width += rows.codes.len() as u64;
        match rows.weight {
            None => rows.codes.iter().for_each(|&code| self.counts[code as usize] += 1),
            Some(weight) => rows.codes.iter().zip(weight).for_each(|(&code, &weight)| self.add(code, weight)),
        }
    }

    fn weigh(&self, weights: &mut [f64]) -> u64 {
        weights.iter_mut().zip(&self.counts).for_each(|(weight, &count)| *weight = count as f64);
        weights.iter_mut().zip(&self.fractions).for_each(|(weight, &fraction)| *weight += fraction);
        self.width
    }

    fn n_bytes(&self) -> usize {
        size_of::<Self>() + 8 * (self.counts.capacity() + self.fractions.capacity())
    }

    fn save(&self) -> Vec<u8> {
        let mut writer = Writer::new(NAME, 1);
        self.outcomes.write(&mut writer);
        writer.u64(self.width);
        writer.u64s(self.counts.iter().copied());
        writer.f64s(&self.fractions);
        writer.finish()
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), KernelError> {
        let mut reader = Reader::new(NAME, 1, bytes)?;
        self.outcomes.check_saved(&mut reader)?;
        let (width, counts, fractions) = (reader.u64()?, reader.u64s()?, reader.f64s()?);
        if counts.len() != self.counts.len() || !(fractions.is_empty() || fractions.len() == counts.len()) {
            return Err(reader.error("it has a wrong number of sums"));
        }
        reader.finish()?;
        (self.width, self.counts, self.fractions) = (width, counts, fractions);
        Ok(())
    }
}
