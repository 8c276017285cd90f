//! The digits of a seven-segment display (Breiman, Friedman, Olshen and Stone, "Classification and Regression Trees",
//! 1984), with irrelevant attributes that may be swapped with relevant ones (MOA's `LEDGeneratorDrift`).

use super::{Bernoulli, Generator, Source};
use crate::KernelError;
use crate::dispatch;
use crate::error::check_option;
use crate::randomness::{Draws, LANES};

const N_ATTRIBUTES: usize = 24;
const N_RELEVANT: usize = 7;
const N_DIGITS: usize = 10;

/// The event that the highest bit is 0.
const HALF: Bernoulli = Bernoulli(1 << 52);

/// The segments of each digit: top, upper left, upper right, middle, lower left, lower right, bottom.
const SEGMENTS: [[bool; N_RELEVANT]; N_DIGITS] = {
    let (on, off) = (true, false);
    [
        [on, on, on, off, on, on, on],
        [off, off, on, off, off, on, off],
        [on, off, on, on, on, off, on],
        [on, off, on, on, off, on, on],
        [off, on, on, on, off, on, off],
        [on, on, off, on, off, on, on],
        [on, on, off, on, on, on, on],
        [on, off, on, off, off, on, off],
        [on, on, on, on, on, on, on],
        [on, on, on, on, off, on, on],
    ]
};

/// Seven segments that are each wrong with a given probability, and seventeen attributes that are on half of the time.
///
/// A row needs eight draws: one per segment, and one for the digit and all other attributes.
#[derive(Debug, Clone)]
pub struct Led {
    n_drifting: usize,
    /// Per digit and segment, the event that it is on; the last lane is unused.
    lights: [[Bernoulli; LANES]; N_DIGITS],
    draws: Draws,
}

impl Led {
    /// Creates a display whose first `n_drifting` segments are swapped with as many irrelevant attributes.
    ///
    /// # Errors
    /// Returns [`KernelError::Option`] if an option is outside its range.
    pub fn new(n_drifting: usize, noise: f64, source: impl Into<Source>) -> Result<Self, KernelError> {
        check_option("n_drifting", n_drifting, n_drifting <= N_RELEVANT, "it must not exceed the seven segments")?;
        let (lit, dark) = (Bernoulli::new(1.0 - noise), Bernoulli::new(noise));
        let mut lights = [[dark; LANES]; N_DIGITS];
        for (lights, segments) in lights.iter_mut().zip(&SEGMENTS) {
            for (light, &on) in lights.iter_mut().zip(segments) {
                *light = if on { lit } else { dark };
            }
        }
        Ok(Self { n_drifting, lights, draws: source.into().rows("LED") })
    }

    #[inline(always)]
    fn fill_rows(&self, start: u64, x: &mut [f64], y: &mut [i32]) {
        let (rows, _) = x.as_chunks_mut::<N_ATTRIBUTES>();
        for (i, (values, label)) in rows.iter_mut().zip(y).enumerate() {
            let bits = self.draws.lanes(start.wrapping_add(i as u64).wrapping_mul(LANES as u64));
            // The highest bits of the last draw select the digit, the lowest the irrelevant attributes.
            let last = bits[LANES - 1];
            let digit = ((u128::from(last) * N_DIGITS as u128) >> 64) as usize;
            let lights = &self.lights[digit];
            for segment in 0..LANES {
                values[segment] = lights[segment].indicator(bits[segment]);
            }
            for (j, value) in values[N_RELEVANT..].iter_mut().enumerate() {
                *value = HALF.indicator(last << (63 - j));
            }
            for j in 0..self.n_drifting {
                values.swap(j, N_RELEVANT + j);
            }
            *label = digit as i32;
        }
    }
}

impl Generator for Led {
    fn n_attributes(&self) -> usize {
        N_ATTRIBUTES
    }

    fn fill(&self, start: u64, x: &mut [f64], y: &mut [i32]) {
        dispatch::run(
            #[inline(always)]
            || self.fill_rows(start, x, y),
        );
    }
}
