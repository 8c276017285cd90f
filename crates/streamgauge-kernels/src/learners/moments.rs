//! Running mean and deviation of numbers, four at a time.

use super::f64x4::F64x4;
use crate::KernelError;
use crate::codec::{Reader, Writer};

/// Numbers are clamped to this magnitude, so that no sum or product overflows.
pub(super) const LIMIT: f64 = 1e100;

/// The statistics of four numbers.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Moments {
    /// The weight of their known values.
    weight: F64x4,
    /// The weighted means; 0 while nothing is known.
    pub mean: F64x4,
    /// The weighted sums of the squared deviations from the mean.
    squares: F64x4,
    /// 1 over the standard deviation; 0 while that is 0.
    pub scale: F64x4,
}

impl Moments {
    /// Adds four numbers, NaN for a missing one (Welford's method).
    #[inline(always)]
    pub fn observe(&mut self, numbers: F64x4, weight: f64) {
        let before = self.mean;
        let added = numbers.map(|number| if number.is_nan() { 0.0 } else { weight });
        let known = self.fill(numbers);
        let total = self.weight + added;
        let share = added.zip(total, |added, total| added / if total > 0.0 { total } else { 1.0 });
        let off = known - before;
        let mean = off.mul_add(share, before);
        let squares = (added * off).mul_add(known - mean, self.squares);
        *self = Self { weight: total, mean, squares, scale: total.zip(squares, inverse_deviation) };
    }

    /// Returns the numbers with the mean in place of a missing one.
    #[inline(always)]
    pub fn fill(&self, numbers: F64x4) -> F64x4 {
        numbers.zip(self.mean, |number, mean| if number.is_nan() { mean } else { number })
    }

    /// Writes the statistics of many numbers.
    pub fn save_all(all: &[Self], writer: &mut Writer) {
        let vectors: Vec<F64x4> = all.iter().flat_map(|m| [m.weight, m.mean, m.squares]).collect();
        save_vectors(writer, &vectors);
    }

    /// Reads the statistics of many numbers.
    ///
    /// # Errors
    /// [`KernelError::Saved`] if the bytes end or are of another schema.
    pub fn load_all(all: &mut [Self], reader: &mut Reader<'_>) -> Result<(), KernelError> {
        let mut vectors = vec![F64x4::ZERO; 3 * all.len()];
        load_vectors(reader, &mut vectors)?;
        for (moments, &[weight, mean, squares]) in all.iter_mut().zip(vectors.as_chunks::<3>().0) {
            *moments = Self { weight, mean, squares, scale: weight.zip(squares, inverse_deviation) };
        }
        Ok(())
    }
}

/// Returns 1 over the standard deviation, from a weight and a sum of squares; 0 if all values were the same.
#[inline(always)]
fn inverse_deviation(weight: f64, squares: f64) -> f64 {
    if squares > 0.0 { (weight / squares).sqrt() } else { 0.0 }
}

/// Writes vectors.
pub(super) fn save_vectors(writer: &mut Writer, vectors: &[F64x4]) {
    writer.u64(vectors.len() as u64);
    for &number in vectors.iter().flat_map(|vector| &vector.0) {
        writer.f64(number);
    }
}

/// Reads vectors.
///
/// # Errors
/// [`KernelError::Saved`] if there are more or fewer.
pub(super) fn load_vectors(reader: &mut Reader<'_>, vectors: &mut [F64x4]) -> Result<(), KernelError> {
    if reader.usize()? != vectors.len() {
        return Err(reader.error("it has another number of columns"));
    }
    for number in vectors.iter_mut().flat_map(|vector| &mut vector.0) {
        *number = reader.f64()?;
    }
    Ok(())
}
