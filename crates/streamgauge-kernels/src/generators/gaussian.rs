//! Gaussian numbers from addressed draws (Box and Muller).
//!
//! `ln` and `sin` of the system's library differ between machines in the last bit. The functions here are polynomials
//! of fused multiply-adds: the same bits everywhere, without branches, so that a block of rows is computed in lanes.

use std::f64::consts::{FRAC_PI_2, LN_2, PI, SQRT_2};

use crate::randomness::{Draws, LANES, unit, unit_in_lane};

/// Numbers in a block: two per lane.
const BLOCK: usize = 2 * LANES;

/// Coefficients of 2 atanh(s) / s in powers of s squared: 2 / (2 k + 1).
const ATANH: [f64; 12] = {
    let mut coefficients = [0.0; 12];
    let mut k = 0;
    while k < coefficients.len() {
        coefficients[k] = 2.0 / (2 * k + 1) as f64;
        k += 1;
    }
    coefficients
};

/// Coefficients of sin(r) / r in powers of r squared: (-1)^k / (2 k + 1)!.
const SIN: [f64; 12] = {
    let mut coefficients = [1.0; 12];
    let mut k = 1;
    while k < coefficients.len() {
        coefficients[k] = -coefficients[k - 1] / (2 * k * (2 * k + 1)) as f64;
        k += 1;
    }
    coefficients
};

/// Coefficients of cos(r) in powers of r squared: (-1)^k / (2 k)!; up to pi / 4 the error is below 2e-15.
const COS: [f64; 8] = {
    let mut coefficients = [1.0; 8];
    let mut k = 1;
    while k < coefficients.len() {
        coefficients[k] = -coefficients[k - 1] / (2 * k * (2 * k - 1)) as f64;
        k += 1;
    }
    coefficients
};

/// The number of coefficients of the sine with an error below 3e-14 for angles up to pi / 4.
const N_SIN: usize = 7;
/// The number of coefficients of the logarithm with an error below 1e-15.
const N_ATANH: usize = 9;

/// Evaluates a polynomial by Horner's rule.
#[inline(always)]
fn polynomial(coefficients: &[f64], x: f64) -> f64 {
    let last = coefficients.len() - 1;
    let mut value = coefficients[last];
    for &coefficient in coefficients[..last].iter().rev() {
        value = value.mul_add(x, coefficient);
    }
    value
}

/// Returns the natural logarithm of a normal positive number: ln(2^e m) = e ln 2 + 2 atanh((m - 1) / (m + 1)) with m
/// near 1.
#[inline(always)]
fn ln(x: f64) -> f64 {
    ln_with(x, &ATANH)
}

/// Like [`ln`], with the given coefficients.
#[inline(always)]
fn ln_with(x: f64, coefficients: &[f64]) -> f64 {
    let bits = x.to_bits();
    let mantissa = f64::from_bits((bits & 0x000f_ffff_ffff_ffff) | 0x3ff0_0000_0000_0000);
    let large = mantissa > SQRT_2;
    let mantissa = if large { 0.5 * mantissa } else { mantissa };
    let exponent = f64::from((bits >> 52) as i32 - 1023 + i32::from(large));
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    exponent.mul_add(LN_2, s * polynomial(coefficients, s * s))
}

/// Returns the sine of an angle in [-pi / 2, pi / 2].
#[inline(always)]
pub fn sin(angle: f64) -> f64 {
    angle * polynomial(&SIN, angle * angle)
}

/// Returns a standard Gaussian number from two draws.
///
/// Box and Muller: sqrt(-2 ln u) is the radius, and the sine of an angle in a half turn is distributed like that in a
/// whole one. The largest possible number is 8.6.
#[inline(always)]
fn gaussian(radius: u64, angle: u64) -> f64 {
    let above_zero = ((radius >> 11) + 1) as f64 * (1.0 / 9_007_199_254_740_992.0);
    (-2.0 * ln(above_zero)).sqrt() * sin(PI * (unit(angle) - 0.5))
}

/// Writes standard Gaussian numbers, two draws each, for the rows from position `start` on.
#[inline(always)]
pub fn fill(draws: Draws, start: u64, values: &mut [f64]) {
    for (i, value) in values.iter_mut().enumerate() {
        let first = start.wrapping_add(i as u64).wrapping_mul(2);
        *value = gaussian(draws.at(first), draws.at(first.wrapping_add(1)));
    }
}

/// Returns two independent standard Gaussian numbers from two draws.
///
/// Box and Muller: the angle is uniform in a quarter turn, and the two lowest bits, which it does not use, select the
/// quarter.
#[inline(always)]
fn gaussian_pair(radius: u64, angle: u64) -> (f64, f64) {
    let above_zero = unit_in_lane(radius) + 0.5 / 9_007_199_254_740_992.0;
    let radius = (-2.0 * ln_with(above_zero, &ATANH[..N_ATANH])).sqrt();
    let radius = f64::from_bits(radius.to_bits() ^ (angle & 2) << 62);
    let turn = FRAC_PI_2 * (unit_in_lane(angle) - 0.5);
    let square = turn * turn;
    let (sine, cosine) = (radius * (turn * polynomial(&SIN[..N_SIN], square)), radius * polynomial(&COS, square));
    let swapped = 0_u64.wrapping_sub(angle & 1);
    let crossed = (sine.to_bits() ^ cosine.to_bits()) & swapped;
    (f64::from_bits(sine.to_bits() ^ crossed), f64::from_bits(cosine.to_bits() ^ crossed))
}

/// Returns the numbers of the block at position `first`, a multiple of [`BLOCK`].
#[inline(always)]
fn gaussian_block(draws: Draws, first: u64) -> [f64; BLOCK] {
    let radii = draws.lanes(first);
    let angles = draws.lanes(first.wrapping_add(LANES as u64));
    let mut values = [0.0; BLOCK];
    for lane in 0..LANES {
        (values[lane], values[LANES + lane]) = gaussian_pair(radii[lane], angles[lane]);
    }
    values
}

/// Writes many standard Gaussian numbers from position `first` on, one draw each.
#[inline(always)]
pub fn fill_many(draws: Draws, first: u64, values: &mut [f64]) {
    let skipped = (first % BLOCK as u64) as usize;
    let mut position = first.wrapping_sub(skipped as u64);
    let head = if skipped == 0 { 0 } else { values.len().min(BLOCK - skipped) };
    let (head, rest) = values.split_at_mut(head);
    if !head.is_empty() {
        head.copy_from_slice(&gaussian_block(draws, position)[skipped..skipped + head.len()]);
        position = position.wrapping_add(BLOCK as u64);
    }
    let (blocks, tail) = rest.as_chunks_mut::<BLOCK>();
    for values in blocks {
        *values = gaussian_block(draws, position);
        position = position.wrapping_add(BLOCK as u64);
    }
    if !tail.is_empty() {
        tail.copy_from_slice(&gaussian_block(draws, position)[..tail.len()]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::randomness::Purpose;

    #[test]
    fn the_functions_agree_with_the_system_library() {
        for i in 1..=10_000_u32 {
            let x = f64::from(i) / 10_000.0;
            for x in [x, x * x * x, x * 1e-15] {
                let expected = x.ln();
                assert!((ln(x) - expected).abs() <= 4e-16 * expected.abs().max(0.1), "ln {x}");
            }
            let angle = PI * (x - 0.5);
            assert!((sin(angle) - angle.sin()).abs() <= 4e-16, "sin {angle}");
        }
        assert_eq!(ln(1.0).to_bits(), 0.0_f64.to_bits());
    }

    #[test]
    fn the_ends_of_the_draws_give_finite_numbers() {
        for radius in [0, u64::MAX] {
            for angle in [0, u64::MAX] {
                assert!(gaussian(radius, angle).abs() < 8.6);
            }
        }
    }

    #[test]
    fn the_moments_are_those_of_a_standard_gaussian() {
        let n = 1_000_000;
        let draws = Draws::new(1, Purpose::named("test"), 0);
        let (mut one_by_one, mut many) = (vec![0.0; n], vec![0.0; n]);
        fill(draws, 0, &mut one_by_one);
        fill_many(draws, 0, &mut many);
        for values in [one_by_one, many] {
            let moment = |k| values.iter().map(|value: &f64| value.powi(k)).sum::<f64>() / n as f64;
            for (k, expected, variance) in [(1, 0.0, 1.0), (2, 1.0, 2.0), (3, 0.0, 15.0), (4, 3.0, 96.0_f64)] {
                let tolerance = 5.0 * (variance / n as f64).sqrt();
                assert!((moment(k) - expected).abs() < tolerance, "moment {k}: {}", moment(k));
            }
        }
    }

    #[test]
    fn the_numbers_of_a_pair_are_independent_and_turn_all_the_way_round() {
        let draws = Draws::new(2, Purpose::named("test"), 0);
        let n = 800_000_u32;
        let mut octants = [0_u32; 8];
        for i in 0..u64::from(n) {
            let (x, y) = gaussian_pair(draws.at(2 * i), draws.at(2 * i + 1));
            octants[usize::from(x > 0.0) + 2 * usize::from(y > 0.0) + 4 * usize::from(x.abs() > y.abs())] += 1;
        }
        assert!(octants.iter().all(|count| count.abs_diff(n / 8) < 1_500), "{octants:?}");
    }

    #[test]
    fn many_numbers_are_the_same_from_any_position() {
        let draws = Draws::new(3, Purpose::named("test"), 0);
        let mut whole = vec![0.0; 100];
        fill_many(draws, 0, &mut whole);
        for start in [0, 1, 15, 16, 17, 40] {
            for n in [0, 1, 5, 16, 33] {
                let mut part = vec![0.0; n];
                fill_many(draws, start as u64, &mut part);
                assert_eq!(part, whole[start..start + n]);
            }
        }
    }
}
