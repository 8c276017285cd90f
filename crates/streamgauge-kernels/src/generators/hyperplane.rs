//! The rotating hyperplane (Hulten, Spencer and Domingos, "Mining time-changing data streams", KDD 2001).

use std::sync::{Mutex, PoisonError};

use super::state_cache::{ProcessState, StateCache};
use super::{Bernoulli, Generator, Source, centred_product, fill_from, fill_uniform};
use crate::KernelError;
use crate::dispatch;
use crate::error::check_option;
use crate::randomness::Draws;

/// Rows in a block, whose reversals are drawn together.
const BLOCK: usize = 64;

/// The options of [`Hyperplane`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HyperplaneOptions {
    /// The number of attributes of a row.
    pub n_attributes: usize,
    /// The number of weights that move: those of the first attributes.
    pub n_drifting: usize,
    /// The distance each of them moves after every row.
    pub magnitude: f64,
    /// The probability that the direction of each is then reversed.
    pub reversal: f64,
    /// The probability that a label is flipped.
    pub noise: f64,
}

impl Default for HyperplaneOptions {
    fn default() -> Self {
        Self { n_attributes: 10, n_drifting: 2, magnitude: 0.0, reversal: 0.1, noise: 0.05 }
    }
}

/// A rotating hyperplane: uniform attributes in [0, 1); class 1 on and above a hyperplane through the middle of the
/// cube, whose weights start uniform in [0, 1) and then move, as in MOA.
#[derive(Debug)]
pub struct Hyperplane {
    options: HyperplaneOptions,
    /// The weights before row 0.
    weights: Vec<f64>,
    reversal: Bernoulli,
    noise: Bernoulli,
    attributes: Draws,
    flips: Draws,
    reversals: Draws,
    cache: Mutex<StateCache<Motion>>,
}

/// The state of the drifting weights: whole numbers of steps from the start, so that nothing is rounded.
#[derive(Debug, Clone)]
struct Motion {
    row: u64,
    steps: Vec<f64>,
    /// 1 or -1.
    directions: Vec<f64>,
}

impl ProcessState for Motion {
    fn row(&self) -> u64 {
        self.row
    }
}

impl Hyperplane {
    /// Creates a hyperplane whose start, motion and rows depend on a seed.
    ///
    /// # Errors
    /// Returns [`KernelError::Option`] if an option is outside its range.
    pub fn new(options: HyperplaneOptions, source: impl Into<Source>) -> Result<Self, KernelError> {
        let HyperplaneOptions { n_attributes, n_drifting, .. } = options;
        check_option("n_attributes", n_attributes, n_attributes > 0, "there must be at least one")?;
        check_option("n_drifting", n_drifting, n_drifting <= n_attributes, "it must not exceed n_attributes")?;
        let source = source.into();
        let mut weights = vec![0.0; n_attributes];
        fill_uniform(source.concept("hyperplane weights"), 0, 0.0, 1.0, &mut weights);
        let start = Motion { row: 0, steps: vec![0.0; n_drifting], directions: vec![1.0; n_drifting] };
        Ok(Self {
            options,
            weights,
            reversal: Bernoulli::new(options.reversal),
            noise: Bernoulli::new(options.noise),
            attributes: source.rows("hyperplane attributes"),
            flips: source.rows("hyperplane noise"),
            reversals: source.concept("hyperplane reversals"),
            cache: Mutex::new(StateCache::new(start)),
        })
    }

    /// Returns the motion before a row; adds new checkpoints to the cache on the way.
    fn motion_before(&self, row: u64) -> Motion {
        loop {
            let (mut motion, checkpoint) =
                self.with_cache(|cache| (cache.nearest_before(row), cache.next_checkpoint_row()));
            if motion.row == row {
                return motion;
            }
            let stop = if checkpoint > motion.row { checkpoint.min(row) } else { row };
            dispatch::run(
                #[inline(always)]
                || self.advance(&mut motion, stop),
            );
            if stop == row {
                return motion;
            }
            self.with_cache(|cache| cache.add_checkpoint(&motion));
        }
    }

    fn with_cache<T>(&self, operation: impl FnOnce(&mut StateCache<Motion>) -> T) -> T {
        // Every change leaves the cache consistent, so that a poisoned lock is safe to use.
        operation(&mut self.cache.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Writes 1 for each direction of the rows from `start` on that stays, and -1 for each that is reversed.
    #[inline(always)]
    fn fill_signs(&self, start: u64, signs: &mut [f64]) {
        let first = start.wrapping_mul(self.options.n_drifting as u64);
        fill_from(
            self.reversals,
            first,
            signs,
            #[inline(always)]
            |bits| self.sign(bits),
            #[inline(always)]
            |bits| self.sign(bits),
        );
    }

    #[inline(always)]
    fn sign(&self, bits: u64) -> f64 {
        if self.reversal.happens(bits) { -1.0 } else { 1.0 }
    }

    /// Advances the weights to the state before a later row.
    #[inline(always)]
    fn advance(&self, motion: &mut Motion, row: u64) {
        let k = self.options.n_drifting;
        let mut signs = vec![0.0; BLOCK * k];
        while motion.row < row {
            let n = (row - motion.row).min(BLOCK as u64);
            let signs = &mut signs[..n as usize * k];
            self.fill_signs(motion.row, signs);
            for signs in signs.chunks_exact(k) {
                motion.step(signs);
            }
            motion.row += n;
        }
    }

    #[inline(always)]
    fn label(&self, row: u64, weights: &[f64], values: &[f64]) -> i32 {
        // On or above the plane: the sum of w x >= half the sum of w.
        let is_above = centred_product(weights, values, 0.5) >= 0.0;
        i32::from(is_above ^ self.noise.happens(self.flips.at(row)))
    }

    #[inline(always)]
    fn label_steady(&self, start: u64, x: &[f64], y: &mut [i32]) {
        for (i, (values, label)) in x.chunks_exact(self.weights.len()).zip(y).enumerate() {
            *label = self.label(start.wrapping_add(i as u64), &self.weights, values);
        }
    }

    #[inline(always)]
    fn label_moving(&self, motion: &mut Motion, x: &[f64], y: &mut [i32]) {
        let (d, k, magnitude) = (self.options.n_attributes, self.options.n_drifting, self.options.magnitude);
        let mut signs = vec![0.0; BLOCK * k];
        let mut weights = self.weights.clone();
        for (x, y) in x.chunks(BLOCK * d).zip(y.chunks_mut(BLOCK)) {
            let signs = &mut signs[..y.len() * k];
            self.fill_signs(motion.row, signs);
            for ((values, signs), label) in x.chunks_exact(d).zip(signs.chunks_exact(k)).zip(y) {
                for ((weight, &start), &steps) in
                    weights[..k].iter_mut().zip(&self.weights[..k]).zip(&motion.steps[..k])
                {
                    *weight = magnitude.mul_add(steps, start);
                }
                *label = self.label(motion.row, &weights, values);
                motion.step(signs);
                motion.row += 1;
            }
        }
    }
}

impl Motion {
    /// Advances the steps by one row and updates the directions; the caller counts the row.
    #[inline(always)]
    fn step(&mut self, signs: &[f64]) {
        let k = signs.len();
        for ((step, direction), &sign) in self.steps[..k].iter_mut().zip(&mut self.directions[..k]).zip(signs) {
            *step += *direction;
            *direction *= sign;
        }
    }
}

impl Generator for Hyperplane {
    fn n_attributes(&self) -> usize {
        self.options.n_attributes
    }

    fn fill(&self, start: u64, x: &mut [f64], y: &mut [i32]) {
        let first = start.wrapping_mul(self.options.n_attributes as u64);
        dispatch::run(
            #[inline(always)]
            || fill_uniform(self.attributes, first, 0.0, 1.0, x),
        );
        if self.options.n_drifting == 0 || self.options.magnitude == 0.0 {
            dispatch::run(
                #[inline(always)]
                || self.label_steady(start, x, y),
            );
            return;
        }
        let mut motion = self.motion_before(start);
        dispatch::run(
            #[inline(always)]
            || self.label_moving(&mut motion, x, y),
        );
        self.with_cache(|cache| cache.remember(motion));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_that_read_here_and_there_see_the_same_rows() {
        let options = HyperplaneOptions { n_drifting: 4, magnitude: 0.01, ..HyperplaneOptions::default() };
        let in_order = Hyperplane::new(options, 1).unwrap();
        let expected: Vec<_> = (0..20).map(|i| in_order.rows(i * 17_000, 50)).collect();
        let shared = Hyperplane::new(options, 1).unwrap();
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let (shared, expected) = (&shared, &expected);
                scope.spawn(move || {
                    for i in (0..20).map(|i| (7 * i + 5 * thread) % 20) {
                        assert_eq!(shared.rows(i as u64 * 17_000, 50), expected[i]);
                    }
                });
            }
        });
    }
}
