//! Random radial basis functions whose centres move (MOA's `RandomRBFGeneratorDrift`).

use super::picker::Picker;
use super::{BlockGenerator, Source, centred_product, fill_uniform, gaussian};
use crate::KernelError;
use crate::error::check_option;
use crate::randomness::Draws;

/// Rows in a block.
const BLOCK: usize = 64;

/// The options of [`RandomRbf`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RandomRbfOptions {
    /// The number of attributes of a row.
    pub n_attributes: usize,
    /// The number of classes; a centroid has one of them.
    pub n_classes: usize,
    /// The number of centroids.
    pub n_centroids: usize,
    /// The number of centroids that move: the first.
    pub n_drifting: usize,
    /// The distance each of them moves per row.
    pub speed: f64,
}

impl Default for RandomRbfOptions {
    fn default() -> Self {
        Self { n_attributes: 10, n_classes: 2, n_centroids: 50, n_drifting: 50, speed: 0.0 }
    }
}

/// Random radial basis functions: a row lies in a random direction and at a Gaussian distance from a centroid, which is
/// picked by weight.
///
/// A coordinate of a moving centre oscillates between 0 and 1 at constant speed: a triangle wave of the row number, so
/// that any row costs the same.
#[derive(Debug, Clone)]
pub struct RandomRbf {
    n_attributes: usize,
    /// Per centroid and attribute, the position at row 0.
    centres: Vec<f64>,
    /// Per centroid and attribute, the distance per row.
    velocities: Vec<f64>,
    classes: Vec<i32>,
    deviations: Vec<f64>,
    picker: Picker,
    picks: Draws,
    directions: Draws,
    distances: Draws,
}

impl RandomRbf {
    /// Creates centroids, motion and rows from a seed.
    ///
    /// # Errors
    /// Returns [`KernelError::Option`] if an option is outside its range.
    pub fn new(options: RandomRbfOptions, source: impl Into<Source>) -> Result<Self, KernelError> {
        let RandomRbfOptions { n_attributes, n_classes, n_centroids, n_drifting, speed } = options;
        check_option("n_attributes", n_attributes, n_attributes > 0, "there must be at least one")?;
        check_option("n_centroids", n_centroids, n_centroids > 0, "there must be at least one")?;
        check_option("n_drifting", n_drifting, n_drifting <= n_centroids, "it must not exceed n_centroids")?;
        let source = source.into();
        let (positions, headings) = (source.concept("RBF centres"), source.concept("RBF headings"));
        let (classes, deviations, weights) =
            (source.concept("RBF classes"), source.concept("RBF deviations"), source.concept("RBF weights"));
        let mut centres = vec![0.0; n_centroids * n_attributes];
        fill_uniform(positions, 0, 0.0, 1.0, &mut centres);
        let mut velocities = vec![0.0; n_centroids * n_attributes];
        fill_uniform(headings, 0, 0.0, 1.0, &mut velocities[..n_drifting * n_attributes]);
        for velocity in velocities[..n_drifting * n_attributes].chunks_exact_mut(n_attributes) {
            let scale = speed / length(velocity);
            for value in velocity.iter_mut() {
                *value *= scale;
            }
        }
        let centroids = 0..n_centroids as u64;
        // One minus a draw is in (0, 1]: no centroid has weight 0.
        let weights: Vec<f64> = centroids.clone().map(|i| 1.0 - weights.uniform(i)).collect();
        Ok(Self {
            n_attributes,
            centres,
            velocities,
            classes: centroids.clone().map(|i| classes.below(i, n_classes as u64) as i32).collect(),
            deviations: centroids.map(|i| deviations.uniform(i)).collect(),
            picker: Picker::new(&weights),
            picks: source.rows("RBF picks"),
            directions: source.rows("RBF directions"),
            distances: source.rows("RBF distances"),
        })
    }
}

impl BlockGenerator for RandomRbf {
    const BLOCK: usize = BLOCK;

    fn n_attributes(&self) -> usize {
        self.n_attributes
    }

    #[inline(always)]
    fn fill_block(&self, start: u64, x: &mut [f64], y: &mut [i32]) {
        let d = self.n_attributes;
        let mut distances = [0.0; BLOCK];
        let distances = &mut distances[..y.len()];
        gaussian::fill(self.distances, start, distances);
        fill_uniform(self.directions, start.wrapping_mul(d as u64), -1.0, 2.0, x);
        for (i, (values, label)) in x.chunks_exact_mut(d).zip(y).enumerate() {
            let row = start.wrapping_add(i as u64);
            let centroid = self.picker.pick(self.picks.at(row));
            *label = self.classes[centroid];
            let scale = distances[i] * self.deviations[centroid] / length(values);
            let centre = &self.centres[centroid * d..(centroid + 1) * d];
            let velocity = &self.velocities[centroid * d..(centroid + 1) * d];
            let row = row as f64;
            for ((value, &centre), &velocity) in values.iter_mut().zip(centre).zip(velocity) {
                *value = scale.mul_add(*value, reflect(velocity.mul_add(row, centre)));
            }
        }
    }
}

/// Returns the length of a vector; a tiny number if it is 0, so that it can be divided by.
#[inline(always)]
fn length(vector: &[f64]) -> f64 {
    centred_product(vector, vector, 0.0).max(f64::MIN_POSITIVE).sqrt()
}

/// Reflects a position at 0 and 1 until it lies between them.
#[inline(always)]
fn reflect(position: f64) -> f64 {
    let phase = (-2.0_f64).mul_add((0.5 * position).floor(), position);
    1.0 - (1.0 - phase).abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reflected_point_goes_to_and_fro_between_0_and_1() {
        for (position, expected) in [(0.25, 0.25), (1.25, 0.75), (2.25, 0.25), (-0.25, 0.25), (7.5, 0.5), (1.0, 1.0)] {
            assert_eq!(reflect(position), expected);
        }
    }
}
