//! Frozen leaves: they keep only the weights of their classes.

use crate::KernelError;
use crate::codec::{Reader, Writer};
use crate::learners::ABSTAINED;
use crate::learners::bayes::{grow_column, retain_blocks, set_capacity, vote_by_weights};

/// Leaves that keep only the weights of their classes.
#[derive(Debug, Clone)]
pub(super) struct FrozenLeaves {
    n_classes: usize,
    weights: Vec<f64>,
    majorities: Vec<i32>,
}

impl FrozenLeaves {
    /// Creates an empty store.
    pub fn new(n_classes: usize) -> Self {
        Self { n_classes, weights: vec![], majorities: vec![] }
    }

    /// Returns the number of leaves.
    pub fn len(&self) -> usize {
        self.majorities.len()
    }

    /// Returns the heap size of a leaf in bytes.
    pub fn bytes_per_entry(n_classes: usize) -> usize {
        n_classes * size_of::<f64>() + size_of::<i32>()
    }

    /// Sets the capacity to `n_leaves` leaves, or to the length if that is greater.
    pub fn set_capacity(&mut self, n_leaves: usize) {
        set_capacity(&mut self.weights, n_leaves * self.n_classes);
        set_capacity(&mut self.majorities, n_leaves);
    }

    /// Adds a leaf with the weights of its classes and the class it predicts.
    pub fn push(&mut self, weights: &[f64], majority: i32) {
        let n = self.len() + 1;
        grow_column(&mut self.majorities, n, majority);
        grow_column(&mut self.weights, n * self.n_classes, 0.0);
        self.weights[(n - 1) * self.n_classes..].copy_from_slice(weights);
    }

    /// Keeps only the marked leaves, in their order.
    pub fn retain(&mut self, kept: &[bool]) {
        retain_blocks(&mut self.weights, kept, self.n_classes);
        retain_blocks(&mut self.majorities, kept, 1);
    }

    /// Returns the weights of the classes of a leaf.
    pub fn weights(&self, leaf: usize) -> &[f64] {
        &self.weights[leaf * self.n_classes..(leaf + 1) * self.n_classes]
    }

    /// Returns the class that a leaf predicts.
    pub fn majority(&self, leaf: usize) -> i32 {
        self.majorities[leaf]
    }

    /// Counts a row at a leaf.
    pub fn count(&mut self, leaf: usize, label: usize, weight: f64) {
        let weights = &mut self.weights[leaf * self.n_classes..(leaf + 1) * self.n_classes];
        weights[label] += weight;
        let majority = self.majorities[leaf];
        let most = if majority < 0 { 0.0 } else { weights[majority as usize] };
        let first = weights[label] == most && (label as i32) < majority;
        if weights[label] > most || first {
            self.majorities[leaf] = label as i32;
        }
    }

    /// Writes the shares of the classes of a leaf.
    pub fn vote(&self, leaf: usize, votes: &mut [f64]) {
        let weights = self.weights(leaf).iter().copied();
        vote_by_weights(weights, self.weights(leaf).iter().sum(), self.majority(leaf), votes);
    }

    /// Returns the heap size in bytes.
    pub fn n_bytes(&self) -> usize {
        self.weights.capacity() * size_of::<f64>() + self.majorities.capacity() * size_of::<i32>()
    }

    /// Writes all leaves.
    pub fn save(&self, writer: &mut Writer) {
        writer.f64s(&self.weights);
        self.majorities.iter().for_each(|&majority| writer.u64(majority as u64));
    }

    /// Reads leaves into an empty store.
    ///
    /// # Errors
    /// [`KernelError::Saved`] if the bytes are damaged.
    pub fn load(&mut self, reader: &mut Reader<'_>) -> Result<(), KernelError> {
        let weights = reader.f64s()?;
        self.set_capacity(weights.len() / self.n_classes.max(1));
        for weights in weights.chunks(self.n_classes.max(1)) {
            let majority = reader.u64()? as i32;
            if weights.len() != self.n_classes || !(ABSTAINED..self.n_classes as i32).contains(&majority) {
                return Err(reader.error("a frozen leaf has another number of classes"));
            }
            self.push(weights, majority);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::randomness::{Draws, Purpose};

    /// Returns the first class of the greatest weight.
    fn first_of_greatest(weights: &[f64]) -> i32 {
        let greatest = weights.iter().copied().fold(0.0, f64::max);
        weights.iter().position(|&weight| weight == greatest && weight > 0.0).map_or(ABSTAINED, |class| class as i32)
    }

    #[test]
    fn a_frozen_leaf_predicts_the_majority_of_plain_counts() {
        let draws = Draws::new(1, Purpose::named("frozen"), 0);
        let (mut frozen, mut plain) = (FrozenLeaves::new(3), vec![vec![0.0; 3]; 4]);
        for weights in &plain {
            frozen.push(weights, ABSTAINED);
        }
        for row in 0..500 {
            let (leaf, label) = (draws.below(3 * row, 4) as usize, draws.below(3 * row + 1, 3) as usize);
            let weight = draws.below(3 * row + 2, 3) as f64;
            frozen.count(leaf, label, weight);
            plain[leaf][label] += weight;
            for (leaf, weights) in plain.iter().enumerate().filter(|(_, weights)| weights.iter().sum::<f64>() > 0.0) {
                assert_eq!((frozen.weights(leaf), frozen.majority(leaf)), (&weights[..], first_of_greatest(weights)));
            }
        }
        frozen.retain(&[true, false, true, false]);
        assert_eq!((frozen.len(), frozen.weights(1)), (2, &plain[2][..]));
    }
}
