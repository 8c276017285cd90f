//! STAGGER concepts (Schlimmer and Granger, "Incremental learning from noisy data", Machine Learning 1, 1986).

use super::{Generator, Source};
use crate::randomness::Draws;

const N_ATTRIBUTES: usize = 3;
/// Sizes, colours and shapes: three values each.
const N_COMBINATIONS: usize = 27;

/// STAGGER concepts: uniform size, colour and shape; class 1 if the concept is true for them.
#[derive(Debug, Clone)]
pub struct Stagger {
    rows: [([f64; N_ATTRIBUTES], i32); N_COMBINATIONS],
    picks: Draws,
}

impl Stagger {
    /// Creates concept 1 (small and red), 2 (green or circular) or 3 (medium or large).
    pub fn new(concept: usize, source: impl Into<Source>) -> Self {
        let mut rows = [([0.0; N_ATTRIBUTES], 0); N_COMBINATIONS];
        for (i, (values, label)) in rows.iter_mut().enumerate() {
            let (size, colour, shape) = (i / 9, i / 3 % 3, i % 3);
            *values = [size as f64, colour as f64, shape as f64];
            *label = i32::from(match concept {
                1 => size == 0 && colour == 0,
                2 => colour == 2 || shape == 0,
                _ => size != 0,
            });
        }
        Self { rows, picks: source.into().rows("STAGGER attributes") }
    }
}

impl Generator for Stagger {
    fn n_attributes(&self) -> usize {
        N_ATTRIBUTES
    }

    fn fill(&self, start: u64, x: &mut [f64], y: &mut [i32]) {
        for (i, (values, label)) in x.chunks_exact_mut(N_ATTRIBUTES).zip(y).enumerate() {
            let pick = self.picks.below(start.wrapping_add(i as u64), N_COMBINATIONS as u64) as usize;
            let (combination, class) = &self.rows[pick];
            values.copy_from_slice(combination);
            *label = *class;
        }
    }
}
