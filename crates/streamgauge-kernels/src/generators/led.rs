//! The digits of a seven-segment display (Breiman, Friedman, Olshen and Stone, "Classification and Regression Trees",
//! 1984), with attributes that say nothing and may have changed places with those that do (MOA's `LEDGeneratorDrift`).

use super::{Chance, Generator, Source, check_option};
use crate::KernelError;
use crate::dispatch;
use crate::randomness::{Draws, LANES};

const N_ATTRIBUTES: usize = 24;
const N_RELEVANT: usize = 7;
const N_DIGITS: usize = 10;

/// Which segments each digit lights: top, upper left, upper right, middle, lower left, lower right, bottom.
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

/// Seven segments that are each wrong with a probability, and seventeen attributes that are on half of the time.
#[derive(Debug, Clone)]
pub struct Led {
    /// Per digit and attribute, the event that it is on.
    lights: [[Chance; N_ATTRIBUTES]; N_DIGITS],
    digits: Draws,
    attributes: Draws,
}

impl Led {
    /// A display whose first `n_drifting` segments have changed places with as many of the other attributes.
    ///
    /// # Errors
    /// [`KernelError::Option`] where an option is outside its range.
    pub fn new(n_drifting: usize, noise: f64, source: impl Into<Source>) -> Result<Self, KernelError> {
        check_option("n_drifting", n_drifting, n_drifting <= N_RELEVANT, "there are only seven segments")?;
        let source = source.into();
        let (lit, dark) = (Chance::new("noise", 1.0 - noise)?, Chance::new("noise", noise)?);
        let mut lights = [[Chance::new("half", 0.5)?; N_ATTRIBUTES]; N_DIGITS];
        for (lights, segments) in lights.iter_mut().zip(&SEGMENTS) {
            for (j, &on) in segments.iter().enumerate() {
                let place = if j < n_drifting { N_RELEVANT + j } else { j };
                lights[place] = if on { lit } else { dark };
            }
        }
        Ok(Self { lights, digits: source.rows("LED digits"), attributes: source.rows("LED attributes") })
    }

    #[inline(always)]
    fn fill_rows(&self, start: u64, x: &mut [f64], y: &mut [i32]) {
        for (i, (values, label)) in x.chunks_exact_mut(N_ATTRIBUTES).zip(y).enumerate() {
            let row = start.wrapping_add(i as u64);
            let digit = self.digits.below(row, N_DIGITS as u64) as usize;
            let first = row.wrapping_mul(N_ATTRIBUTES as u64);
            let (values, _) = values.as_chunks_mut::<LANES>();
            let (lights, _) = self.lights[digit].as_chunks::<LANES>();
            for (part, (values, lights)) in values.iter_mut().zip(lights).enumerate() {
                let bits = self.attributes.lanes(first.wrapping_add((part * LANES) as u64));
                for lane in 0..LANES {
                    values[lane] = if lights[lane].happens(bits[lane]) { 1.0 } else { 0.0 };
                }
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
