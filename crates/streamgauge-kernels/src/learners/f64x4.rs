//! Four numbers side by side: the unit in which rows are stored and worked on.
//!
//! The lane count is fixed, and sums over lanes have a fixed order, so that no instruction set changes a bit.

use std::ops::{Add, Mul, Sub};

/// How many numbers a lane holds.
pub(super) const LANES: usize = 4;

/// Four numbers, aligned so that a load never crosses a cache line.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[repr(C, align(32))]
pub(super) struct F64x4(pub [f64; LANES]);

/// Which numbers of a lane count: all bits set, or none.
pub(super) type Mask = [u64; LANES];

/// A mask that lets the first `n` numbers through.
pub(super) fn mask_first(n: usize) -> Mask {
    std::array::from_fn(|i| if i < n { u64::MAX } else { 0 })
}

impl F64x4 {
    /// Four zeros.
    pub const ZERO: Self = Self([0.0; LANES]);

    /// The same number four times.
    #[inline(always)]
    pub fn splat(value: f64) -> Self {
        Self([value; LANES])
    }

    /// A function of each number.
    #[inline(always)]
    pub fn map(self, f: impl Fn(f64) -> f64) -> Self {
        let [a, b, c, d] = self.0;
        Self([f(a), f(b), f(c), f(d)])
    }

    /// A function of each pair of numbers.
    #[inline(always)]
    pub fn zip(self, other: Self, f: impl Fn(f64, f64) -> f64) -> Self {
        let ([a, b, c, d], [p, q, r, s]) = (self.0, other.0);
        Self([f(a, p), f(b, q), f(c, r), f(d, s)])
    }

    /// `self * factor + term`, rounded once.
    #[inline(always)]
    pub fn mul_add(self, factor: Self, term: Self) -> Self {
        let mut sum = Self::ZERO;
        for i in 0..LANES {
            sum.0[i] = self.0[i].mul_add(factor.0[i], term.0[i]);
        }
        sum
    }

    /// The numbers that a mask lets through, and 0 for the others.
    #[inline(always)]
    pub fn masked(self, mask: &Mask) -> Self {
        let ([a, b, c, d], [p, q, r, s]) = (self.0, mask);
        let keep = |number: f64, mask: &u64| f64::from_bits(number.to_bits() & mask);
        Self([keep(a, p), keep(b, q), keep(c, r), keep(d, s)])
    }

    /// The sum of the four numbers, in the order a vector unit likes.
    #[inline(always)]
    pub fn sum(self) -> f64 {
        let [a, b, c, d] = self.0;
        (a + c) + (b + d)
    }

    /// The product of the four numbers, in the same order.
    #[inline(always)]
    pub fn product(self) -> f64 {
        let [a, b, c, d] = self.0;
        (a * c) * (b * d)
    }

    /// The smaller of each pair. A comparison written out would become a masked store, which stalls the next load.
    #[inline(always)]
    pub fn min(self, other: Self) -> Self {
        self.zip(other, f64::min)
    }

    /// The greater of each pair.
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
