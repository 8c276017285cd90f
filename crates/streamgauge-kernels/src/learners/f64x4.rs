//! Vectors of four numbers.
//!
//! The number of lanes is fixed, and sums over lanes have a fixed order, so that every instruction set computes the
//! same bits.

use std::ops::{Add, Mul, Sub};

/// The number of lanes of a vector.
pub(super) const LANES: usize = 4;

/// A vector of four numbers, aligned so that a load never crosses a cache line.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[repr(C, align(32))]
pub(super) struct F64x4(pub [f64; LANES]);

/// Which lanes to keep: all bits set, or none.
pub(super) type Mask = [u64; LANES];

/// Returns a mask that keeps the first `n` lanes.
pub(super) fn mask_first(n: usize) -> Mask {
    std::array::from_fn(|i| if i < n { u64::MAX } else { 0 })
}

impl F64x4 {
    /// Four zeros.
    pub const ZERO: Self = Self([0.0; LANES]);

    /// Returns a vector with the same number in all lanes.
    #[inline(always)]
    pub fn splat(value: f64) -> Self {
        Self([value; LANES])
    }

    /// Applies a function to each lane.
    #[inline(always)]
    pub fn map(self, f: impl Fn(f64) -> f64) -> Self {
        let [a, b, c, d] = self.0;
        Self([f(a), f(b), f(c), f(d)])
    }

    /// Applies a function to each pair of lanes.
    #[inline(always)]
    pub fn zip(self, other: Self, f: impl Fn(f64, f64) -> f64) -> Self {
        let ([a, b, c, d], [p, q, r, s]) = (self.0, other.0);
        Self([f(a, p), f(b, q), f(c, r), f(d, s)])
    }

    /// Returns `self * factor + term`, rounded once.
    #[inline(always)]
    pub fn mul_add(self, factor: Self, term: Self) -> Self {
        let mut sum = Self::ZERO;
        for i in 0..LANES {
            sum.0[i] = self.0[i].mul_add(factor.0[i], term.0[i]);
        }
        sum
    }

    /// Returns the lanes that a mask keeps, and 0 in the others.
    #[inline(always)]
    pub fn masked(self, mask: &Mask) -> Self {
        let ([a, b, c, d], [p, q, r, s]) = (self.0, mask);
        let keep = |number: f64, mask: &u64| f64::from_bits(number.to_bits() & mask);
        Self([keep(a, p), keep(b, q), keep(c, r), keep(d, s)])
    }

    /// Returns the sum of the lanes, in the order that suits vector instructions.
    #[inline(always)]
    pub fn sum(self) -> f64 {
        let [a, b, c, d] = self.0;
        (a + c) + (b + d)
    }

    /// Returns the product of the lanes, in the same order.
    #[inline(always)]
    pub fn product(self) -> f64 {
        let [a, b, c, d] = self.0;
        (a * c) * (b * d)
    }

    /// Returns the smaller of each pair of lanes. A comparison would be compiled to a masked store, which stalls the
    /// next load.
    #[inline(always)]
    pub fn min(self, other: Self) -> Self {
        self.zip(other, f64::min)
    }

    /// Returns the greater of each pair of lanes.
    #[inline(always)]
    pub fn max(self, other: Self) -> Self {
        self.zip(other, f64::max)
    }
}

impl Add for F64x4 {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.zip(other, |a, b| a + b)
    }
}

impl Sub for F64x4 {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.zip(other, |a, b| a - b)
    }
}

impl Mul for F64x4 {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self.zip(other, |a, b| a * b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_apply_to_each_lane() {
        let (a, b) = (F64x4([1.0, -2.0, 3.0, 0.5]), F64x4::splat(2.0));
        assert_eq!((a + b).0, [3.0, 0.0, 5.0, 2.5]);
        assert_eq!((a - b).0, [-1.0, -4.0, 1.0, -1.5]);
        assert_eq!((a * b).0, a.mul_add(b, F64x4::ZERO).0);
        assert_eq!((a.sum(), a.product()), (2.5, -3.0));
        assert_eq!(a.min(b).0, [1.0, -2.0, 2.0, 0.5]);
        assert_eq!(a.max(b).0, [2.0, 2.0, 3.0, 2.0]);
        assert_eq!(a.masked(&mask_first(2)).0, [1.0, -2.0, 0.0, 0.0]);
    }
}
