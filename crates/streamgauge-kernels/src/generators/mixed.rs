//! Two truth values and two numbers (Gama, Medas, Castillo and Rodrigues, "Learning with drift detection", SBIA 2004).

use super::sine::wave;
use super::{Generator, Source, fill_uniform};
use crate::dispatch;
use crate::randomness::Draws;

const N_ATTRIBUTES: usize = 4;

/// Truth values v and w, and x and y uniform in [0, 1); the class depends on whether at least two of v, w and y < 0.5 +
/// 0.3 sin(3 pi x) hold.
#[derive(Debug, Clone)]
pub struct Mixed {
    /// The class if at least two of the three hold.
    majority_class: i32,
    attributes: Draws,
}

impl Mixed {
    /// Creates concept 1 (class 0 if at least two of the three hold) or concept 2 (class 1).
    pub fn new(concept: usize, source: impl Into<Source>) -> Self {
        Self { majority_class: i32::from(concept == 2), attributes: source.into().rows("mixed attributes") }
    }

    #[inline(always)]
    fn finish(&self, x: &mut [f64], y: &mut [i32]) {
        let (rows, _) = x.as_chunks_mut::<N_ATTRIBUTES>();
        for (values, label) in rows.iter_mut().zip(y) {
            let (v, w) = (values[0] >= 0.5, values[1] >= 0.5);
            let below = values[3] < wave(values[2]);
            (values[0], values[1]) = (f64::from(u8::from(v)), f64::from(u8::from(w)));
            let majority_holds = u8::from(v) + u8::from(w) + u8::from(below) >= 2;
            *label = if majority_holds { self.majority_class } else { 1 - self.majority_class };
        }
    }
}

impl Generator for Mixed {
    fn n_attributes(&self) -> usize {
        N_ATTRIBUTES
    }

    fn fill(&self, start: u64, x: &mut [f64], y: &mut [i32]) {
        dispatch::run(
            #[inline(always)]
            || {
                fill_uniform(self.attributes, start.wrapping_mul(N_ATTRIBUTES as u64), 0.0, 1.0, x);
                self.finish(x, y);
            },
        );
    }
}
