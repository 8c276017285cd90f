//! Logarithm, exponential and normal distribution without branches or library calls.
//!
//! Loops over these functions vectorise, and their bits are the same on every machine, unlike those of the system's
//! mathematical library.

use std::f64::consts::{FRAC_1_SQRT_2, LN_2, LOG2_E};

/// The logarithm of the square root of 2 pi.
pub(super) const HALF_LN_2PI: f64 = 0.918_938_533_204_672_8;

const SQRT_HALF_BITS: u64 = 0x3fe6_a09e_667f_3bcd;
const ONE_BITS: u64 = 0x3ff0_0000_0000_0000;
const MANTISSA: u64 = 0x000f_ffff_ffff_ffff;
/// Half a power of two, in bits.
const HALF_STEP: u64 = 1 << 51;
/// 2^52: a number whose last bit is worth 1, to convert small integers to floats by their bits.
const WHOLE: f64 = 4_503_599_627_370_496.0;
const WHOLE_BITS: u64 = 0x4330_0000_0000_0000;
/// 1.5 * 2^52: adding it rounds to an integer, which is then in the last bits.
const ROUND: f64 = 6_755_399_441_055_744.0;

/// Returns the natural logarithm of a positive, normal number.
#[inline(always)]
pub(super) fn ln(x: f64) -> f64 {
    // x = 2^k * m with m in [sqrt(1/2), sqrt(2)).
    let shifted = x.to_bits().wrapping_sub(SQRT_HALF_BITS);
    let k = f64::from_bits((shifted.wrapping_add(ONE_BITS) >> 52) | WHOLE_BITS) - (WHOLE + 1023.0);
    let m = f64::from_bits((shifted & MANTISSA).wrapping_add(SQRT_HALF_BITS));
    k.mul_add(LN_2, two_artanh((m - 1.0) / (m + 1.0)))
}

/// Returns the natural logarithm of the quotient of two positive, normal numbers; the quotient itself may overflow or
/// underflow.
#[inline(always)]
pub(super) fn ln_of_quotient(dividend: f64, divisor: f64) -> f64 {
    // The bits of a number are nearly its logarithm to base 2: their difference, rounded, is the k for which the
    // quotient is 2^k * m with m in [2/3, 3/2].
    let (a, b) = (dividend.to_bits(), divisor.to_bits());
    let powers = a.wrapping_sub(b).wrapping_add(HALF_STEP);
    let k = f64::from_bits((powers.wrapping_add(1 << 63) >> 52) | WHOLE_BITS) - (WHOLE + 2048.0);
    // Both over the power of two in the dividend.
    let over = ONE_BITS.wrapping_sub(a & !MANTISSA);
    let b = f64::from_bits(b.wrapping_add(powers & !MANTISSA).wrapping_add(over));
    let a = f64::from_bits(a.wrapping_add(over));
    k.mul_add(LN_2, two_artanh((a - b) / (a + b)))
}

/// Returns `2 artanh f`, which is the logarithm of `(1 + f) / (1 - f)`, by its series; for f of up to 0.2005.
#[inline(always)]
fn two_artanh(f: f64) -> f64 {
    // The powers of f^2 in parallel (Estrin's scheme), to shorten the chain of dependent operations.
    let s = f * f;
    let (s2, s4) = (s * s, (s * s) * (s * s));
    let low = s2.mul_add(s.mul_add(1.0 / 9.0, 1.0 / 7.0), s.mul_add(1.0 / 5.0, 1.0 / 3.0));
    let last = s.mul_add(1.0 / 19.0, 1.0 / 17.0);
    let high = s2.mul_add(s.mul_add(last, 1.0 / 15.0), s.mul_add(1.0 / 13.0, 1.0 / 11.0));
    let p = s4.mul_add(high, low);
    (2.0 * f * s).mul_add(p, 2.0 * f)
}

/// Returns the natural logarithm of any number of 0 or more; subnormal numbers count as the least normal one.
#[inline(always)]
pub(super) fn ln_of_weight(weight: f64) -> f64 {
    ln(if weight > f64::MIN_POSITIVE { weight } else { f64::MIN_POSITIVE })
}

/// Returns `x ln x`, and 0 if x is 0.
#[inline(always)]
pub(super) fn x_ln_x(x: f64) -> f64 {
    let positive = if x > 1e-300 { x } else { 1.0 };
    positive * ln(positive)
}

/// Clamps a number to `-limit..=limit`; returns NaN, which means missing, unless it is finite.
#[inline(always)]
pub(super) fn clamp_finite(value: f64, limit: f64) -> f64 {
    if value.is_finite() { value.clamp(-limit, limit) } else { f64::NAN }
}

/// Returns `e^x` for x in [-700, 700].
#[inline(always)]
pub(super) fn exp(x: f64) -> f64 {
    let rounded = x.mul_add(LOG2_E, ROUND);
    let n = rounded - ROUND;
    // ln 2 in two parts, so that the remainder is exact to the last bit.
    let r = (-n).mul_add(1.908_214_929_270_587_7e-10, (-n).mul_add(6.931_471_803_691_238e-1, x));
    let mut p = 1.0 / 479_001_600.0;
    for c in [
        1.0 / 39_916_800.0,
        1.0 / 3_628_800.0,
        1.0 / 362_880.0,
        1.0 / 40_320.0,
        1.0 / 5_040.0,
        1.0 / 720.0,
        1.0 / 120.0,
        1.0 / 24.0,
        1.0 / 6.0,
        0.5,
        1.0,
        1.0,
    ] {
        p = f64::mul_add(p, r, c);
    }
    p * f64::from_bits(rounded.to_bits().wrapping_add(1023) << 52)
}

/// Returns the share of a normal distribution below z standard deviations.
#[inline(always)]
pub(super) fn normal_cdf(z: f64) -> f64 {
    // erfc(a) = e^(-a^2) P(u) / (1 + 2 a) with u = (a - 2) / (a + 2) mapped to [-1, 1] and P a fitted polynomial.
    const P: [f64; 19] = [
        1.287_027_217_559_415,
        0.018_145_896_722_558_31,
        -0.173_064_303_225_392,
        0.088_917_421_558_017_18,
        -0.011_716_551_100_570_446,
        -0.004_374_131_741_308_023,
        0.000_827_363_318_305_391_9,
        0.000_395_027_216_756_418_26,
        -2.113_952_347_016_335e-5,
        -3.902_218_259_734_737e-5,
        -6.076_075_938_987_03e-6,
        2.422_906_540_758_455e-6,
        1.288_618_697_867_831_8e-6,
        1.221_844_410_110_067_6e-7,
        -1.062_798_633_806_400_8e-7,
        -5.060_073_022_781_922e-8,
        -4.041_937_173_902_562e-9,
        4.639_821_549_976_537e-9,
        1.454_253_934_134_667_4e-9,
    ];
    let a = z.abs() * FRAC_1_SQRT_2;
    let a = if a < 6.0 { a } else { 6.0 };
    let u = ((a - 2.0) / (a + 2.0) + 0.25) * (1.0 / 0.75);
    let mut p = P[18];
    for i in (0..18).rev() {
        p = p.mul_add(u, P[i]);
    }
    let tail = 0.5 * p / (1.0 + 2.0 * a) * exp(-a * a);
    if z > 0.0 { 1.0 - tail } else { tail }
}

/// Returns `x ln x` in single precision, and 0 if x is 0. A number that rounding has made slightly negative counts as
/// almost 0, too.
#[inline(always)]
pub(super) fn x_ln_x_f32(x: f32) -> f32 {
    // Whatever the bits, the logarithm is finite, so that the product is 0 if x is.
    let shifted = x.to_bits().wrapping_sub(0x3f35_04f3);
    let k = (shifted.cast_signed() >> 23) as f32;
    let m = f32::from_bits((shifted & 0x007f_ffff).wrapping_add(0x3f35_04f3));
    let f = (m - 1.0) / (m + 1.0);
    let s = f * f;
    let p = (1.0_f32 / 9.0).mul_add(s, 1.0 / 7.0).mul_add(s, 1.0 / 5.0).mul_add(s, 1.0 / 3.0);
    x * k.mul_add(std::f32::consts::LN_2, (2.0 * f * s).mul_add(p, 2.0 * f))
}

/// Returns the share of a normal distribution below z standard deviations, in single precision.
#[inline(always)]
pub(super) fn normal_cdf_f32(z: f32) -> f32 {
    // erfc(a) = 1 / P(a)^16 (Abramowitz and Stegun, 7.1.28), with the root of 1/2 in the coefficients: no exponential.
    const P: [f32; 6] = [5.382_975e-6, 4.889_063_7e-5, 3.800_357_4e-5, 3.277_626_4e-3, 2.114_100_6e-2, 4.986_734_7e-2];
    let a = z.abs();
    let mut p = P[0];
    for c in &P[1..] {
        p = p.mul_add(a, *c);
    }
    p = p.mul_add(a, 1.0);
    for _ in 0..4 {
        p *= p;
    }
    let tail = 0.5 / p;
    if z > 0.0 { 1.0 - tail } else { tail }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_agree_with_the_library() {
        for i in -3000..3000 {
            let x = 10f64.powf(f64::from(i) / 10.0) * 1.234_567;
            let scale = x.ln().abs().max(1.0);
            assert!((ln(x) - x.ln()).abs() < 4e-16 * scale, "{x}: {} and {}", ln(x), x.ln());
            let (quotient, divisor) = (ln_of_quotient(x, 3.7e150), 3.7e150_f64.ln());
            assert!((quotient - (x.ln() - divisor)).abs() < 4e-16 * (scale + divisor), "{x}");
        }
        assert_eq!((ln(1.0), x_ln_x(0.0), x_ln_x(1.0)), (0.0, 0.0, 0.0));
        assert!(ln_of_weight(0.0) < -708.0);
    }

    #[test]
    fn logarithms_of_quotients_are_as_good() {
        for i in 0..10_000 {
            // All combinations of mantissas, and quotients about 1.
            let (a, b) = (1.0 + f64::from(i % 100) / 100.0, 1.0 + f64::from(i / 100) / 100.0);
            let expected = (a / b).ln();
            assert!((ln_of_quotient(a, b) - expected).abs() < 4e-16, "{a} {b}");
            assert!((ln_of_quotient(1e-300 * a, 1e300 * b) - (expected - 600.0 * 10f64.ln())).abs() < 1e-12);
        }
        assert_eq!(ln_of_quotient(7.5, 7.5), 0.0);
    }

    #[test]
    fn exponentials_agree_with_the_library() {
        for i in -70_000..70_000 {
            let x = f64::from(i) / 100.0;
            assert!((exp(x) / x.exp() - 1.0).abs() < 1e-15, "{x}");
        }
        assert_eq!(exp(0.0), 1.0);
    }

    /// Compares with erfc of `libm`.
    #[test]
    fn the_normal_distribution_agrees_with_the_library() {
        for i in -800..800 {
            let z = f64::from(i) / 100.0;
            let expected = 0.5 * libm::erfc(-z * FRAC_1_SQRT_2);
            assert!((normal_cdf(z) - expected).abs() < 3e-16 + 1e-13 * expected.min(1.0 - expected), "{z}");
        }
        assert_eq!((normal_cdf(-50.0) < 1e-16, normal_cdf(50.0)), (true, 1.0));
    }

    #[test]
    fn single_precision_is_good_to_six_digits() {
        for i in 0..20_000 {
            let z = f64::from(i) / 1000.0 - 10.0;
            assert!((f64::from(normal_cdf_f32(z as f32)) - normal_cdf(z)).abs() < 1e-6, "{z}");
            let x = f64::from(i) / 20_000.0;
            assert!((f64::from(x_ln_x_f32(x as f32)) - x_ln_x(x)).abs() < 1e-6, "{x}");
        }
        for nearly_nothing in [0.0, -0.0, f32::MIN_POSITIVE / 8.0, 1e-30, -1e-30, -1e-8] {
            assert!(x_ln_x_f32(nearly_nothing).abs() < 2e-6, "{nearly_nothing}");
        }
    }
}
