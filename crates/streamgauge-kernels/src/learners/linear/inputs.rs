//! The inputs of a linear model: numbers in vectors, and the index of each nominal value.

use crate::KernelError;
use crate::codec::{Reader, Writer};
use crate::learners::Schema;
use crate::learners::f64x4::{F64x4, LANES};
use crate::learners::moments::{LIMIT, Moments};
use crate::learners::vector_math::clamp_finite;

/// A nominal attribute: one weight per value, of which a row uses one.
#[derive(Debug, Clone, Copy)]
struct Nominal {
    attribute: usize,
    n_values: u32,
    /// The index of its first value.
    start: u32,
}

/// The inputs of a row.
#[derive(Debug, Clone, Default)]
pub(in crate::learners) struct Inputs {
    /// The numbers of the row, NaN if missing; 0 in the rest of the last vector.
    raw: Vec<F64x4>,
    /// The numbers that are weighted.
    pub numbers: Vec<F64x4>,
    /// The indices of the known nominal values.
    pub one_hot: Vec<u32>,
}

/// Converts rows to inputs, and keeps the mean and deviation of each number.
#[derive(Debug, Clone)]
pub(in crate::learners) struct Encoder {
    numeric: Vec<usize>,
    nominal: Vec<Nominal>,
    standardise: bool,
    moments: Vec<Moments>,
}

impl Encoder {
    /// Creates an untrained encoder.
    pub fn new(schema: &Schema, standardise: bool) -> Self {
        let (mut numeric, mut nominal, mut start) = (vec![], vec![], 0);
        for (attribute, &n_values) in schema.n_values.iter().enumerate() {
            if n_values == 0 {
                numeric.push(attribute);
            } else {
                nominal.push(Nominal { attribute, n_values, start });
                start += n_values;
            }
        }
        let moments = vec![Moments::default(); numeric.len().div_ceil(LANES)];
        Self { numeric, nominal, standardise, moments }
    }

    /// Returns the number of vectors of a row's numbers.
    pub fn n_vectors(&self) -> usize {
        self.moments.len()
    }

    /// Returns the number of nominal values.
    pub fn n_one_hot(&self) -> usize {
        self.nominal.iter().map(|nominal| nominal.n_values as usize).sum()
    }

    /// Allocates the inputs of a row.
    pub fn new_inputs(&self) -> Inputs {
        let vectors = vec![F64x4::ZERO; self.n_vectors()];
        Inputs { raw: vectors.clone(), numbers: vectors, one_hot: Vec::with_capacity(self.nominal.len()) }
    }

    /// Separates the values of a row; a value is missing if it is not finite or not a value of its attribute.
    #[inline(always)]
    pub fn read(&self, x: &[f64], inputs: &mut Inputs) {
        if self.nominal.is_empty() {
            let (vectors, rest) = x.as_chunks::<LANES>();
            for (raw, &values) in inputs.raw.iter_mut().zip(vectors) {
                *raw = F64x4(values).map(|value| clamp_finite(value, LIMIT));
            }
            if let Some(last) = inputs.raw.get_mut(vectors.len()) {
                for (number, &value) in last.0.iter_mut().zip(rest) {
                    *number = clamp_finite(value, LIMIT);
                }
            }
            return;
        }
        let raw = inputs.raw.iter_mut().flat_map(|vector| &mut vector.0);
        for (number, &attribute) in raw.zip(&self.numeric) {
            *number = clamp_finite(x[attribute], LIMIT);
        }
        inputs.one_hot.clear();
        for nominal in &self.nominal {
            let value = x[nominal.attribute];
            if value >= 0.0 && value < f64::from(nominal.n_values) {
                inputs.one_hot.push(nominal.start + value as u32);
            }
        }
    }

    /// Computes the numbers to weight: standardised or not, the mean in place of a missing one.
    #[inline(always)]
    pub fn scale(&self, inputs: &mut Inputs) {
        for ((number, raw), moments) in inputs.numbers.iter_mut().zip(&inputs.raw).zip(&self.moments) {
            let known = moments.fill(*raw);
            *number = if self.standardise { (known - moments.mean) * moments.scale } else { known };
        }
    }

    /// Updates mean and deviation with the numbers of a row (Welford's method).
    #[inline(always)]
    pub fn observe(&mut self, inputs: &Inputs, weight: f64) {
        for (raw, moments) in inputs.raw.iter().zip(&mut self.moments) {
            moments.observe(*raw, weight);
        }
    }

    /// Returns the heap size in bytes.
    pub fn n_bytes(&self) -> usize {
        self.moments.capacity() * size_of::<Moments>()
            + self.numeric.capacity() * size_of::<usize>()
            + self.nominal.capacity() * size_of::<Nominal>()
    }

    /// Writes the state.
    pub fn save(&self, writer: &mut Writer) {
        Moments::save_all(&self.moments, writer);
    }

    /// Reads the state.
    ///
    /// # Errors
    /// [`KernelError::Saved`] if the bytes end or are of another schema.
    pub fn load(&mut self, reader: &mut Reader<'_>) -> Result<(), KernelError> {
        Moments::load_all(&mut self.moments, reader)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_standardised_and_missing_ones_replaced_by_their_mean() {
        let schema = Schema { n_values: vec![0, 3, 0], n_classes: 2 };
        let mut encoder = Encoder::new(&schema, true);
        let mut inputs = encoder.new_inputs();
        for (x, weight) in [([1.0, 0.0, 5.0], 1.0), ([3.0, 2.0, f64::NAN], 1.0), ([5.0, 1.0, 5.0], 2.0)] {
            encoder.read(&x, &mut inputs);
            encoder.observe(&inputs, weight);
        }
        // Of 1, 3, 5, 5: mean 3.5, variance 11 / 4.
        encoder.read(&[6.0, f64::NAN, f64::INFINITY], &mut inputs);
        encoder.scale(&mut inputs);
        assert!((inputs.numbers[0].0[0] - 2.5 / (11.0_f64 / 4.0).sqrt()).abs() < 1e-15);
        assert_eq!(inputs.numbers[0].0[1..], [0.0; 3]);
        assert!(inputs.one_hot.is_empty());
        let mut plain = Encoder::new(&schema, false);
        plain.read(&[2.0, 1.0, 7.0], &mut inputs);
        plain.observe(&inputs, 1.0);
        plain.read(&[f64::NAN, 2.0, 9.0], &mut inputs);
        plain.scale(&mut inputs);
        assert_eq!((inputs.numbers[0].0, inputs.one_hot.as_slice()), ([2.0, 9.0, 0.0, 0.0], [2].as_slice()));
    }
}
