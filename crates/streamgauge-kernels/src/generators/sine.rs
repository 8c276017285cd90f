//! Points below and above a sine curve (Gama, Medas, Castillo and Rodrigues, "Learning with drift detection", SBIA
//! 2004).

use std::f64::consts::PI;

use super::{Generator, Source, fill_uniform, gaussian};
use crate::dispatch;
use crate::randomness::Draws;

/// Points below and above a curve: uniform attributes in [0, 1), of which the first two determine the class, as in MOA.
#[derive(Debug, Clone)]
pub struct Sine {
    n_attributes: usize,
    /// Whether the curve is 0.5 + 0.3 sin(3 pi a1) rather than sin(a1).
    wavy: bool,
    /// The class below the curve.
    below: i32,
    attributes: Draws,
}

impl Sine {
    /// Creates concepts 1 and 2 (the curve is sin(a1), and class 0 or class 1 lies below it) or 3 and 4 (the same with
    /// the curve 0.5 + 0.3 sin(3 pi a1)).
    pub fn new(concept: usize, n_irrelevant: usize, source: impl Into<Source>) -> Self {
        Self {
            n_attributes: 2 + n_irrelevant,
            wavy: concept > 2,
            below: i32::from(concept.is_multiple_of(2)),
            attributes: source.into().rows("sine attributes"),
        }
    }

    #[inline(always)]
    fn fill_labels(&self, x: &[f64], y: &mut [i32], curve: impl Fn(f64) -> f64) {
        for (values, label) in x.chunks_exact(self.n_attributes).zip(y) {
            *label = if values[1] < curve(values[0]) { self.below } else { 1 - self.below };
        }
    }
}

/// Returns the curve 0.5 + 0.3 sin(3 pi x) for x in [0, 1].
#[inline(always)]
pub(super) fn wave(x: f64) -> f64 {
    // sin(pi v) = (-1)^k sin(pi (v - k)) with the nearest whole k, for which v - k is exact.
    let v = 3.0 * x;
    let k = (v + 0.5).floor();
    let sine = gaussian::sin(PI * (v - k));
    let odd = k == 1.0 || k == 3.0;
    (if odd { -sine } else { sine }).mul_add(0.3, 0.5)
}

impl Generator for Sine {
    fn n_attributes(&self) -> usize {
        self.n_attributes
    }

    fn fill(&self, start: u64, x: &mut [f64], y: &mut [i32]) {
        dispatch::run(
            #[inline(always)]
            || {
                fill_uniform(self.attributes, start.wrapping_mul(self.n_attributes as u64), 0.0, 1.0, x);
                if self.wavy {
                    self.fill_labels(x, y, wave);
                } else {
                    self.fill_labels(x, y, gaussian::sin);
                }
            },
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wave_agrees_with_the_system_library() {
        for i in 0..=100_000_u32 {
            let x = f64::from(i) / 100_000.0;
            let expected = 0.5 + 0.3 * (3.0 * PI * x).sin();
            assert!((wave(x) - expected).abs() < 1e-15, "{x}");
        }
    }
}
