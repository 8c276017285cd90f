//! The majority class of labels that fade.

use super::{Majority, MajorityBaseline};
use crate::KernelError;
use crate::codec::{Reader, Writer};

const NAME: &str = "Majority of fading labels";

/// The growth of the weights of labels after which all are scaled down.
const MAX_GROWTH: f64 = 18_446_744_073_709_551_616.0;

/// Labels whose weight fades by a factor with each chunk of labels that arrives.
///
/// New labels get growing weights instead: that does not change which class is the heaviest, so only the class of a new
/// label can take the lead.
#[derive(Debug, Clone)]
pub struct FadingLabels {
    factor: f64,
    /// Its reciprocal, since a multiplication takes a third of the time of a division.
    inverse: f64,
    chunk: u64,
    /// The weight of the next label.
    growth: f64,
    /// The number of labels in the current chunk.
    n_in_chunk: u64,
    majority: Majority,
}

impl FadingLabels {
    /// Creates a state that has seen no label.
    #[must_use]
    pub fn new(n_classes: usize, factor: f64, chunk: u64) -> Self {
        Self { factor, inverse: 1.0 / factor, chunk, growth: 1.0, n_in_chunk: 0, majority: Majority::new(n_classes) }
    }
}

impl MajorityBaseline for FadingLabels {
    fn n_classes(&self) -> usize {
        self.majority.weights.len()
    }

    #[inline(always)]
    fn class(&self) -> i32 {
        self.majority.class()
    }

    #[inline(always)]
    fn learn(&mut self, label: u32, weight: f64) {
        self.majority.count(label as i32, weight * self.growth);
        self.n_in_chunk += 1;
        if self.n_in_chunk < self.chunk {
            return;
        }
        self.n_in_chunk = 0;
        self.growth *= self.inverse;
        if self.growth > MAX_GROWTH {
            let scale = 1.0 / self.growth;
            self.majority.weights.iter_mut().for_each(|weight| *weight *= scale);
            self.growth = 1.0;
        }
    }

    fn save(&self) -> Vec<u8> {
        let mut writer = Writer::new(NAME, 1);
        writer.f64s(&[self.factor, self.growth]);
        writer.u64s([self.chunk, self.n_in_chunk].into_iter());
        self.majority.write(&mut writer);
        writer.finish()
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), KernelError> {
        let mut reader = Reader::new(NAME, 1, bytes)?;
        let mut numbers = [0.0; 2];
        reader.f64s_into(&mut numbers)?;
        if numbers[0] != self.factor || !(1.0..=MAX_GROWTH).contains(&numbers[1]) {
            return Err(reader.error("it has another factor"));
        }
        let counts = reader.u64s()?;
        let [chunk, n_in_chunk] = counts[..] else { return Err(reader.error("it has no chunk")) };
        if chunk != self.chunk || n_in_chunk >= chunk {
            return Err(reader.error("it has another chunk"));
        }
        let majority = self.majority.read(&mut reader)?;
        reader.finish()?;
        (self.growth, self.n_in_chunk, self.majority) = (numbers[1], n_in_chunk, majority);
        Ok(())
    }
}
