//! The test for a difference between two parts of a window.

use super::Settings;

/// The bound on the difference of the means of two parts of a window.
pub struct Bound {
    width: f64,
    total: f64,
    min_length: f64,
    /// The variance of the values.
    variance: f64,
    /// ln(2 ln(width) / delta).
    confidence: f64,
    /// See [`Bound::may_be_exceeded`].
    least: f64,
}

impl Bound {
    /// Computes the bound for a window of the given width, total and variance.
    pub fn new(settings: &Settings, width: f64, total: f64, variance: f64) -> Self {
        let min_length = settings.min_window_length as f64;
        let confidence = (2.0 * width.ln() / settings.delta).ln();
        let least = (2.0 - 1e-6) * variance * confidence * (width - 2.0 * min_length + 2.0);
        Self { width, total, min_length, variance, confidence, least }
    }

    /// Returns false if a split after the oldest `n` values cannot exceed the bound, which is nearly always so.
    ///
    /// With `a = n - min_length + 1` and `b` the same for the newer part, the bound is above the square root of
    /// `2 (1/a + 1/b) variance confidence`. Squared and multiplied out, with `a b` below the product of the lengths,
    /// this needs no division. The margin in `least` is far above the rounding error.
    #[inline(always)]
    pub fn may_be_exceeded(&self, n: f64, total: f64) -> bool {
        let difference = total * self.width - self.total * n;
        difference * difference > self.least * (n * (self.width - n))
    }

    /// Returns whether a split after the oldest `n` values, whose sum is `total`, exceeds the bound.
    #[inline(never)]
    pub fn is_exceeded(&self, n: f64, total: f64) -> bool {
        let (newer_n, newer_total) = (self.width - n, self.total - total);
        if n < self.min_length || newer_n < self.min_length {
            return false;
        }
        let difference = total / n - newer_total / newer_n;
        let m = 1.0 / (n - self.min_length + 1.0) + 1.0 / (newer_n - self.min_length + 1.0);
        let bound = (2.0 * m * self.variance * self.confidence).sqrt() + 2.0 / 3.0 * self.confidence * m;
        difference.abs() > bound
    }
}
