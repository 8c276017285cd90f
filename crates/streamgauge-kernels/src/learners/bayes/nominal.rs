//! The counts of the nominal values of a model, with Laplace smoothing.
//!
//! The probability of a value in a class is `(count + 1) / (known weight + n_values)`. The logarithm of the numerator is
//! stored beside each count. Both have the classes innermost, so that a prediction adds one row of classes per
//! attribute, and learning changes one lane of it. The denominators do not depend on the row: they are part of the log
//! base of a class.

use crate::learners::f64x4::{F64x4, LANES, Mask};
use crate::learners::rows::{MAX_VECTORS, MISSING};
use crate::learners::vector_math::ln;

/// The number of classes whose logarithms are added in parallel.
pub(super) const MAX_CLASSES: usize = MAX_VECTORS * LANES;

/// Factors beyond this are not multiplied: the product of two lesser ones does not overflow.
const MAX_FACTOR: f64 = 1e150;

/// Computes the logarithms of the counts, in vectors of classes.
pub(super) fn refresh(counts: &[f64], n_classes: usize, logs: &mut [F64x4]) {
    let rows = logs.chunks_exact_mut(n_classes.div_ceil(LANES));
    for (logs, counts) in rows.zip(counts.chunks_exact(n_classes)) {
        for (log, count) in logs.iter_mut().flat_map(|logs| &mut logs.0).zip(counts) {
            *log = ln(count + 1.0);
        }
    }
}

/// Counts a row's values in a class of a model. The codes are padded to whole vectors.
#[inline(always)]
pub(super) fn observe(
    codes: &[u32],
    (label, n_classes): (usize, usize),
    weight: f64,
    counts: &mut [f64],
    logs: &mut [F64x4],
) {
    let (n_vectors, vector) = (n_classes.div_ceil(LANES), label / LANES);
    let own: Mask = std::array::from_fn(|i| if i == label % LANES { u64::MAX } else { 0 });
    let others = own.map(|mask| !mask);
    for &codes in codes.as_chunks::<LANES>().0 {
        let [a, b, c, d] = codes;
        // Stored to memory: otherwise the compiler takes the logarithms one by one.
        let mut numerators = std::hint::black_box(F64x4([
            add_to_count(counts, a, (label, n_classes), weight) + 1.0,
            add_to_count(counts, b, (label, n_classes), weight) + 1.0,
            add_to_count(counts, c, (label, n_classes), weight) + 1.0,
            add_to_count(counts, d, (label, n_classes), weight) + 1.0,
        ]));
        for numerator in &mut numerators.0 {
            *numerator = ln(*numerator);
        }
        for (code, log) in codes.into_iter().zip(numerators.0) {
            // The whole vector is stored: a load of the next row waits for a store that is narrower.
            if let Some(logs) = logs.get_mut(code as usize * n_vectors + vector) {
                *logs = logs.masked(&others) + F64x4::splat(log).masked(&own);
            }
        }
    }
}

/// Counts a row's values in a class of a model without the logarithms, which only predictions need.
#[inline(always)]
pub(super) fn count(codes: &[u32], class: (usize, usize), weight: f64, counts: &mut [f64]) {
    for &code in codes {
        add_to_count(counts, code, class, weight);
    }
}

/// Adds to the count of a value in a class; returns the count, or 0 if the value is missing.
#[inline(always)]
fn add_to_count(counts: &mut [f64], code: u32, (label, n_classes): (usize, usize), weight: f64) -> f64 {
    // The index of [`MISSING`] is out of bounds, as `u32::MAX` counts are far more than fit into memory.
    let Some(count) = counts.get_mut(code as usize * n_classes + label) else { return 0.0 };
    *count += weight;
    *count
}

/// Returns the sum of the logarithms of a row's known values for each of up to [`MAX_CLASSES`] classes, from `first` on.
#[inline(always)]
pub(super) fn sum_logs(codes: &[u32], logs: &[F64x4], n_classes: usize, first: usize) -> [F64x4; MAX_VECTORS] {
    let (n_vectors, vector) = (n_classes.div_ceil(LANES), first / LANES);
    let mut sums = [F64x4::ZERO; MAX_VECTORS];
    match n_vectors - vector {
        1 => sums[..1].copy_from_slice(&sum_vectors::<1>(codes, logs, n_vectors, vector)),
        2 => sums[..2].copy_from_slice(&sum_vectors::<2>(codes, logs, n_vectors, vector)),
        3 => sums[..3].copy_from_slice(&sum_vectors::<3>(codes, logs, n_vectors, vector)),
        _ => sums = sum_vectors::<MAX_VECTORS>(codes, logs, n_vectors, vector),
    }
    sums
}

/// Does the same for `N` vectors of classes.
#[inline(always)]
fn sum_vectors<const N: usize>(codes: &[u32], logs: &[F64x4], n_vectors: usize, vector: usize) -> [F64x4; N] {
    let mut sums = [F64x4::ZERO; N];
    if n_vectors == N {
        // The usual case: the rows of a table are whole arrays.
        let rows = logs.as_chunks::<N>().0;
        for &code in codes {
            add_logs(&mut sums, rows.get(code as usize));
        }
    } else {
        for &code in codes {
            let start = code as usize * n_vectors + vector;
            add_logs(&mut sums, logs.get(start..).and_then(<[F64x4]>::first_chunk));
        }
    }
    sums
}

/// Adds the logarithms of a value; none if it is missing.
#[inline(always)]
fn add_logs<const N: usize>(sums: &mut [F64x4; N], logs: Option<&[F64x4; N]>) {
    if let Some(logs) = logs {
        for (sum, &log) in sums.iter_mut().zip(logs) {
            *sum = *sum + log;
        }
    }
}

/// Returns the sum of the logarithms of a row's known values for one class, with the same bits.
#[inline(always)]
pub(super) fn sum_logs_of_class(codes: &[u32], logs: &[F64x4], n_classes: usize, class: usize) -> f64 {
    let mut sum = 0.0;
    for &code in codes {
        if code != MISSING {
            sum += logs[code as usize * n_classes.div_ceil(LANES) + class / LANES].0[class % LANES];
        }
    }
    sum
}

/// The logarithm of a product of factors of at least 1, by few logarithms.
#[derive(Debug, Clone, Copy)]
pub(super) struct LogProduct {
    log: f64,
    product: f64,
}

impl LogProduct {
    /// The product without factors.
    pub const ONE: Self = Self { log: 0.0, product: 1.0 };

    /// Multiplies by a factor.
    #[inline(always)]
    pub fn multiply(&mut self, factor: f64) {
        if factor > MAX_FACTOR {
            self.log += ln(factor);
            return;
        }
        self.product *= factor;
        if self.product > MAX_FACTOR {
            self.log += ln(self.product);
            self.product = 1.0;
        }
    }

    /// Returns the logarithm.
    #[inline(always)]
    pub fn log(self) -> f64 {
        self.log + ln(self.product)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_follow_the_counts_of_a_class_and_missing_values_are_left_out() {
        // Two attributes of three and two values, five classes.
        let n_classes = 5;
        let (mut counts, mut logs) = ([0.0; 25], [F64x4::ZERO; 10]);
        for codes in [[0, 3, MISSING, MISSING], [0, MISSING, MISSING, MISSING], [2, 4, MISSING, MISSING]] {
            for label in [3, 4] {
                observe(&codes, (label, n_classes), 2.0 * (label - 2) as f64, &mut counts, &mut logs);
            }
        }
        let sum = |codes: [u32; 2], class: usize| {
            let sum = sum_logs_of_class(&codes, &logs, n_classes, class);
            assert_eq!(sum, sum_logs(&codes, &logs, n_classes, 0)[class / LANES].0[class % LANES]);
            sum
        };
        assert!((sum([0, 3], 3) - (5.0_f64 * 3.0).ln()).abs() < 1e-15);
        assert!((sum([0, 3], 4) - (9.0_f64 * 5.0).ln()).abs() < 1e-15);
        assert!((sum([2, MISSING], 3) - 3.0_f64.ln()).abs() < 1e-15);
        assert_eq!((sum([1, MISSING], 3), sum([0, 3], 2), sum([MISSING, MISSING], 3)), (0.0, 0.0, 0.0));
        let mut refreshed = [F64x4::ZERO; 10];
        refresh(&counts, n_classes, &mut refreshed);
        assert_eq!(refreshed, logs);
    }

    #[test]
    fn the_logarithm_of_a_product_neither_overflows_nor_loses_factors() {
        for factors in [vec![], vec![2.0; 24], vec![1e9; 40], vec![1e200, 3.0, f64::MAX, 1e149, 1e149, 7.0]] {
            let expected: f64 = factors.iter().map(|factor: &f64| factor.ln()).sum();
            let mut product = LogProduct::ONE;
            for factor in factors {
                product.multiply(factor);
            }
            assert!((product.log() - expected).abs() <= 1e-13 * expected.max(1.0));
        }
    }
}
