//! Gaussian numbers from addressed draws (Box and Muller).
//!
//! `ln` and `sin` of the system's library differ between machines in the last bit. Those here are polynomials of
//! fused multiply-adds: the same bits everywhere, without branches, so that a block of rows is computed in lanes.

use std::f64::consts::{LN_2, PI, SQRT_2};

use crate::randomness::{Draws, unit};

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

/// A polynomial by Horner's rule.
#[inline(always)]
fn polynomial(coefficients: &[f64; 12], x: f64) -> f64 {
    let mut value = coefficients[11];
    for &coefficient in coefficients[..11].iter().rev() {
        value = value.mul_add(x, coefficient);
    }
    value
}

/// The natural logarithm of a normal positive number: ln(2^e m) = e ln 2 + 2 atanh((m - 1) / (m + 1)) with m near 1.
#[inline(always)]
fn ln(x: f64) -> f64 {
    let bits = x.to_bits();
    let mantissa = f64::from_bits((bits & 0x000f_ffff_ffff_ffff) | 0x3ff0_0000_0000_0000);
    let large = mantissa > SQRT_2;
    let mantissa = if large { 0.5 * mantissa } else { mantissa };
    let exponent = f64::from((bits >> 52) as i32 - 1023 + i32::from(large));
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    exponent.mul_add(LN_2, s * polynomial(&ATANH, s * s))
}

/// The sine of an angle in [-pi / 2, pi / 2].
#[inline(always)]
pub fn sin(angle: f64) -> f64 {
    angle * polynomial(&SIN, angle * angle)
}

/// A standard Gaussian number from two draws.
///
/// Box and Muller: sqrt(-2 ln u) is the radius, and the sine of an angle in a half turn is distributed like that in
/// a whole one. The largest number that can come out is 8.6.
#[inline(always)]
fn gaussian(radius: u64, angle: u64) -> f64 {
    let above_zero = ((radius >> 11) + 1) as f64 * (1.0 / 9_007_199_254_740_992.0);
    (-2.0 * ln(above_zero)).sqrt() * sin(PI * (unit(angle) - 0.5))
}

/// Write standard Gaussian numbers, two draws each, those of the rows from position `start` on.
#[inline(always)]
pub fn fill(draws: Draws, start: u64, values: &mut [f64]) {
    for (i, value) in values.iter_mut().enumerate() {
        let first = start.wrapping_add(i as u64).wrapping_mul(2);
        *value = gaussian(draws.at(first), draws.at(first.wrapping_add(1)));
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
        let mut values = vec![0.0; n];
        fill(Draws::new(1, Purpose::named("test"), 0), 0, &mut values);
        let moment = |k| values.iter().map(|value: &f64| value.powi(k)).sum::<f64>() / n as f64;
        for (k, expected, variance) in [(1, 0.0, 1.0), (2, 1.0, 2.0), (3, 0.0, 15.0), (4, 3.0, 96.0_f64)] {
            let tolerance = 5.0 * (variance / n as f64).sqrt();
            assert!((moment(k) - expected).abs() < tolerance, "moment {k}: {}", moment(k));
        }
    }
}
