//! The weight of each class among labels that come and go.

use crate::learners::find_winner;

/// The weight of each class among some labels; a class that has none left weighs exactly 0.
#[derive(Debug, Clone)]
pub struct ClassWeights {
    weights: Vec<f64>,
    counts: Vec<usize>,
}

impl ClassWeights {
    /// Creates the weights of no labels.
    #[must_use]
    pub fn new(n_classes: usize) -> Self {
        Self { weights: vec![0.0; n_classes], counts: vec![0; n_classes] }
    }

    /// Returns the weight of each class.
    #[must_use]
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Returns the heaviest class, the first of equals, or [`ABSTAINED`](crate::learners::ABSTAINED) without labels.
    #[inline(always)]
    #[must_use]
    pub fn class(&self) -> i32 {
        find_winner(&self.weights)
    }

    /// Adds a label.
    #[inline(always)]
    pub fn add(&mut self, class: u32, weight: f64) {
        self.counts[class as usize] += 1;
        self.weights[class as usize] += weight;
    }

    /// Removes a label that was added before.
    #[inline(always)]
    pub fn remove(&mut self, class: u32, weight: f64) {
        let class = class as usize;
        self.counts[class] -= 1;
        self.weights[class] = if self.counts[class] == 0 { 0.0 } else { (self.weights[class] - weight).max(0.0) };
    }

    /// Computes the sums again from all labels, since subtractions accumulate rounding errors.
    pub fn recompute<'a>(&mut self, labels: impl Iterator<Item = &'a (u32, f64)>) {
        self.weights.fill(0.0);
        for &(class, weight) in labels {
            self.weights[class as usize] += weight;
        }
    }

    /// Replaces the sums by saved ones of the same labels.
    pub fn restore(&mut self, weights: Vec<f64>) {
        self.weights = weights;
    }

    /// Sets the weights to the counts of labels that all weigh 1, after both were changed by `change`.
    #[inline(always)]
    pub fn change_counts(&mut self, change: impl FnOnce(&mut [usize])) {
        change(&mut self.counts);
        for (weight, &count) in self.weights.iter_mut().zip(&self.counts) {
            *weight = count as f64;
        }
    }

    /// Returns the memory it uses on the heap in bytes.
    #[must_use]
    pub fn n_bytes(&self) -> usize {
        8 * (self.weights.capacity() + self.counts.capacity())
    }
}
