//! The weights of a linear model: per class, one for each number, one for each nominal value, and a bias.

use super::inputs::Inputs;
use crate::KernelError;
use crate::codec::{Reader, Writer};
use crate::learners::f64x4::{F64x4, LANES};
use crate::learners::moments::{LIMIT, load_vectors, save_vectors};

/// Weights of all classes.
#[derive(Debug, Clone)]
pub(in crate::learners) struct Weights {
    n_vectors: usize,
    /// The weights of the numbers, class by class.
    numbers: Vec<F64x4>,
    /// The weights of the nominal values: per value, one for each class.
    one_hot: Vec<f64>,
    biases: Vec<f64>,
}

impl Weights {
    /// Creates weights of 0.
    pub fn new(n_vectors: usize, n_one_hot: usize, n_classes: usize) -> Self {
        Self {
            n_vectors,
            numbers: vec![F64x4::ZERO; n_vectors * n_classes],
            one_hot: vec![0.0; n_one_hot * n_classes],
            biases: vec![0.0; n_classes],
        }
    }

    /// Sets every weight to `draw` of its class and position; `n_numbers` is the number of numbers in a row.
    pub fn fill(&mut self, n_numbers: usize, draw: impl Fn(usize, usize) -> f64) {
        let (n_classes, width) = (self.biases.len(), self.n_vectors * LANES);
        for class in 0..n_classes {
            let vectors = &mut self.numbers[class * self.n_vectors..(class + 1) * self.n_vectors];
            let numbers = vectors.iter_mut().flat_map(|vector| &mut vector.0);
            for (position, number) in numbers.take(n_numbers).enumerate() {
                *number = draw(class, position);
            }
            for (index, weights) in self.one_hot.chunks_exact_mut(n_classes).enumerate() {
                weights[class] = draw(class, width + index);
            }
            self.biases[class] = draw(class, width + self.one_hot.len() / n_classes);
        }
    }

    /// Computes the score of each class.
    #[inline(always)]
    pub fn scores(&self, inputs: &Inputs, scores: &mut [f64]) {
        let n_classes = self.biases.len();
        for (class, score) in scores.iter_mut().enumerate() {
            let weights = &self.numbers[class * self.n_vectors..(class + 1) * self.n_vectors];
            let mut sums = F64x4::ZERO;
            for (weight, &number) in weights.iter().zip(&inputs.numbers) {
                sums = weight.mul_add(number, sums);
            }
            *score = self.biases[class] + sums.sum();
        }
        for &index in &inputs.one_hot {
            let weights = &self.one_hot[index as usize * n_classes..(index as usize + 1) * n_classes];
            for (score, weight) in scores.iter_mut().zip(weights) {
                *score += weight;
            }
        }
    }

    /// Moves the weights of every class along the inputs, by its own amount.
    #[inline(always)]
    pub fn advance(&mut self, inputs: &Inputs, amounts: &[f64]) {
        let n_classes = self.biases.len();
        for (class, &amount) in amounts.iter().enumerate() {
            let amounts = F64x4::splat(amount);
            let weights = &mut self.numbers[class * self.n_vectors..(class + 1) * self.n_vectors];
            for (weight, &number) in weights.iter_mut().zip(&inputs.numbers) {
                *weight = amounts.mul_add(number, *weight).min(F64x4::splat(LIMIT)).max(F64x4::splat(-LIMIT));
            }
            self.biases[class] = (self.biases[class] + amount).clamp(-LIMIT, LIMIT);
        }
        for &index in &inputs.one_hot {
            let weights = &mut self.one_hot[index as usize * n_classes..(index as usize + 1) * n_classes];
            for (weight, amount) in weights.iter_mut().zip(amounts) {
                *weight = (*weight + amount).clamp(-LIMIT, LIMIT);
            }
        }
    }

    /// Multiplies all weights except the biases.
    #[inline(always)]
    pub fn shrink(&mut self, factor: f64) {
        for weight in &mut self.numbers {
            *weight = *weight * F64x4::splat(factor);
        }
        for weight in &mut self.one_hot {
            *weight *= factor;
        }
    }

    /// Returns the heap size in bytes.
    pub fn n_bytes(&self) -> usize {
        self.numbers.capacity() * size_of::<F64x4>() + 8 * (self.one_hot.capacity() + self.biases.capacity())
    }

    /// Writes all weights.
    pub fn save(&self, writer: &mut Writer) {
        save_vectors(writer, &self.numbers);
        writer.f64s(&self.one_hot);
        writer.f64s(&self.biases);
    }

    /// Reads all weights.
    ///
    /// # Errors
    /// [`KernelError::Saved`] if the bytes end or are of another schema.
    pub fn load(&mut self, reader: &mut Reader<'_>) -> Result<(), KernelError> {
        load_vectors(reader, &mut self.numbers)?;
        reader.f64s_into(&mut self.one_hot)?;
        reader.f64s_into(&mut self.biases)
    }
}
