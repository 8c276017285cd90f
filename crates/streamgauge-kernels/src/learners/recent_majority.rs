//! The most frequent class in a window.

use super::{Learner, Schema};
use crate::KernelError;
use crate::codec::{Reader, Writer};

const NAME: &str = "MajorityClass of a window";

/// Predicts the class with the greatest weight in a sliding window of the last rows, the first of equals.
#[derive(Debug, Clone)]
pub struct RecentMajority {
    schema: Schema,
    width: usize,
    /// The rows of the window; once it is full, the oldest is at `next`.
    rows: Vec<(u32, f64)>,
    next: usize,
    /// The weight of each class in the window.
    weights: Vec<f64>,
    /// The number of rows of each class in the window.
    counts: Vec<usize>,
}

impl RecentMajority {
    /// Creates an untrained learner with a window of `width` rows.
    ///
    /// # Errors
    /// [`KernelError::Option`] if `width` is 0, which would divide by 0.
    pub fn new(schema: Schema, width: usize) -> Result<Self, KernelError> {
        if width == 0 {
            let expected = "it must be a whole number of at least 1";
            return Err(KernelError::Option { option: "window", found: width.to_string(), expected });
        }
        let n_classes = schema.n_classes;
        Ok(Self { schema, width, rows: vec![], next: 0, weights: vec![0.0; n_classes], counts: vec![0; n_classes] })
    }

    fn push(&mut self, class: u32, weight: f64) {
        if self.rows.len() < self.width {
            self.rows.push((class, weight));
        } else {
            let (old, old_weight) = std::mem::replace(&mut self.rows[self.next], (class, weight));
            let old = old as usize;
            self.counts[old] -= 1;
            self.weights[old] = if self.counts[old] == 0 { 0.0 } else { (self.weights[old] - old_weight).max(0.0) };
        }
        self.counts[class as usize] += 1;
        self.weights[class as usize] += weight;
        self.next = (self.next + 1) % self.width;
        if self.next == 0 {
            // Subtractions accumulate rounding errors, so the sums are computed again once per window.
            self.weights.fill(0.0);
            for &(class, weight) in &self.rows {
                self.weights[class as usize] += weight;
            }
        }
    }
}

impl Learner for RecentMajority {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn vote(&self, _x: &[f64], votes: &mut [f64]) {
        votes.copy_from_slice(&self.weights);
    }

    fn learn(&mut self, _x: &[f64], label: usize, weight: f64) {
        self.push(label as u32, weight);
    }

    fn n_bytes(&self) -> usize {
        size_of::<Self>()
            + self.rows.capacity() * size_of::<(u32, f64)>()
            + 8 * (self.weights.capacity() + self.counts.capacity())
            + 4 * self.schema.n_values.capacity()
    }

    fn save(&self) -> Vec<u8> {
        let mut writer = Writer::new(NAME, 1);
        writer.u64s(self.rows.iter().map(|row| u64::from(row.0)));
        for row in &self.rows {
            writer.f64(row.1);
        }
        writer.u64(self.next as u64);
        writer.f64s(&self.weights);
        writer.finish()
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), KernelError> {
        let mut reader = Reader::new(NAME, 1, bytes)?;
        let (labels, n_classes) = (reader.u64s()?, self.schema.n_classes);
        let (mut rows, mut counts, mut weights) = (vec![], vec![0; n_classes], vec![0.0; n_classes]);
        for &label in &labels {
            let Some(count) = counts.get_mut(label as usize) else {
                return Err(reader.error("a label in its window is not a class"));
            };
            *count += 1;
            rows.push((label as u32, reader.f64()?));
        }
        let next = reader.usize()?;
        reader.f64s_into(&mut weights)?;
        let fits = if rows.len() < self.width { next == rows.len() } else { next < self.width };
        if rows.len() > self.width || !fits {
            return Err(reader.error("its window has another size"));
        }
        reader.finish()?;
        (self.rows, self.counts, self.next, self.weights) = (rows, counts, next, weights);
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
