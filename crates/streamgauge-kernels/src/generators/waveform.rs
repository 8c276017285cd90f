//! Waveforms (Breiman, Friedman, Olshen and Stone, "Classification and Regression Trees", 1984).

use super::{BlockGenerator, Source, gaussian};
use crate::randomness::{Draws, unit};

const N_RELEVANT: usize = 21;
const N_IRRELEVANT: usize = 19;
const N_CLASSES: usize = 3;
/// Rows in a block.
const BLOCK: usize = 16;

/// The centres of the triangles, which have height 6.
const PEAKS: [usize; 3] = [6, 14, 10];
/// The two triangles that each class mixes.
const MIXED: [[usize; 2]; N_CLASSES] = [[0, 1], [0, 2], [1, 2]];

/// Waveforms: each class is a random mixture of two of three triangles, plus Gaussian noise; 19 more attributes may be
/// pure noise.
#[derive(Debug, Clone)]
pub struct Waveform {
    n_attributes: usize,
    /// The second triangle of each class.
    bases: [[f64; N_RELEVANT]; N_CLASSES],
    /// The difference of the two triangles of each class.
    differences: [[f64; N_RELEVANT]; N_CLASSES],
    classes: Draws,
    mixtures: Draws,
    noise: Draws,
}

impl Waveform {
    /// Creates waveforms of 21 attributes, or of 40 including irrelevant ones.
    pub fn new(with_irrelevant: bool, source: impl Into<Source>) -> Self {
        let source = source.into();
        let triangles = PEAKS.map(|peak| {
            let mut triangle = [0.0; N_RELEVANT];
            for (i, value) in triangle.iter_mut().enumerate() {
                *value = 6_usize.saturating_sub(i.abs_diff(peak)) as f64;
            }
            triangle
        });
        let mut differences = MIXED.map(|[first, _]| triangles[first]);
        let bases = MIXED.map(|[_, second]| triangles[second]);
        for (value, base) in differences.as_flattened_mut().iter_mut().zip(bases.as_flattened()) {
            *value -= base;
        }
        Self {
            n_attributes: if with_irrelevant { N_RELEVANT + N_IRRELEVANT } else { N_RELEVANT },
            bases,
            differences,
            classes: source.rows("waveform classes"),
            mixtures: source.rows("waveform mixtures"),
            noise: source.rows("waveform noise"),
        }
    }
}

impl BlockGenerator for Waveform {
    const BLOCK: usize = BLOCK;

    fn n_attributes(&self) -> usize {
        self.n_attributes
    }

    #[inline(always)]
    fn fill_block(&self, start: u64, x: &mut [f64], y: &mut [i32]) {
        gaussian::fill_many(self.noise, start.wrapping_mul(self.n_attributes as u64), x);
        for (i, (values, label)) in x.chunks_exact_mut(self.n_attributes).zip(y).enumerate() {
            let row = start.wrapping_add(i as u64);
            let class = self.classes.below(row, N_CLASSES as u64) as usize;
            let share = unit(self.mixtures.at(row));
            let (base, difference) = (&self.bases[class], &self.differences[class]);
            for ((value, &base), &difference) in values[..N_RELEVANT].iter_mut().zip(base).zip(difference) {
                *value += share.mul_add(difference, base);
            }
            *label = class as i32;
        }
    }
}
