//! The counts of the nominal values of a model, with Laplace smoothing.
//!
//! The probability of a value in a class is `(count + 1) / (known weight + n_values)`. The counts have the classes
//! innermost, so that a prediction multiplies one row of classes per attribute, then takes one logarithm per class;
//! learning changes one lane of a row per attribute. The denominators do not depend on the row: they are part of the log
//! base of a class.

use crate::learners::f64x4::{F64x4, LANES};
use crate::learners::rows::MAX_VECTORS;
use crate::learners::vector_math::ln;

/// The number of classes whose products are computed in parallel.
pub(super) const MAX_CLASSES: usize = MAX_VECTORS * LANES;

/// Factors beyond this are not multiplied: the product of two lesser ones does not overflow.
const MAX_FACTOR: f64 = 1e150;

/// A product of less than 2 to the power of this does not overflow, whatever the rounding of its factors.
const MAX_BITS: usize = 1_000;

/// Counts a row's values in a class of a model.
#[inline(always)]
pub(super) fn count(codes: &[u32], (label, n_classes): (usize, usize), weight: f64, counts: &mut [F64x4]) {
    let (n_vectors, vector) = (n_classes.div_ceil(LANES), label / LANES);
    let own = F64x4(std::array::from_fn(|i| if i == label % LANES { weight } else { 0.0 }));
    for &code in codes {
        // The index of `MISSING` is out of bounds, as `u32::MAX` counts are far more than fit into memory.
        if let Some(counts) = counts.get_mut(code as usize * n_vectors + vector) {
            // The whole vector is stored: a load of the next row waits for a store that is narrower.
            *counts = *counts + own;
        }
    }
}

/// Returns how many factors of `n` are multiplied before a logarithm is taken, in a model whose classes have less than
/// the given weight: all of them, unless the product could overflow.
#[inline(always)]
pub(super) fn group_length(n: usize, weight: f64) -> usize {
    let n_bits = ((weight + 1.0).to_bits() >> 52).saturating_sub(1_022) as usize;
    if n * n_bits <= MAX_BITS { n.max(1) } else { (MAX_BITS / n_bits).max(1) }
}

/// Returns the logarithm of the product of `count + 1` over a row's known values for each of up to [`MAX_CLASSES`]
/// classes, from `first` on. Groups of `length` factors are multiplied.
#[inline(always)]
pub(super) fn log_products(
    (codes, length): (&[u32], usize),
    counts: &[F64x4],
    n_classes: usize,
    first: usize,
) -> [F64x4; MAX_VECTORS] {
    let (n_vectors, vector) = (n_classes.div_ceil(LANES), first / LANES);
    let mut logs = [F64x4::ZERO; MAX_VECTORS];
    let mut rest = codes;
    while !rest.is_empty() {
        let (codes, others) = rest.split_at(length.min(rest.len()));
        rest = others;
        match n_vectors - vector {
            1 => add_logs::<1>(&mut logs, codes, counts, n_vectors, vector),
            2 => add_logs::<2>(&mut logs, codes, counts, n_vectors, vector),
            3 => add_logs::<3>(&mut logs, codes, counts, n_vectors, vector),
            _ => add_logs::<MAX_VECTORS>(&mut logs, codes, counts, n_vectors, vector),
        }
    }
    logs
}

/// Adds the logarithms of the products of one group, for `N` vectors of classes.
#[inline(always)]
fn add_logs<const N: usize>(
    logs: &mut [F64x4; MAX_VECTORS],
    codes: &[u32],
    counts: &[F64x4],
    n_vectors: usize,
    vector: usize,
) {
    let mut products = [F64x4::splat(1.0); N];
    if n_vectors == N {
        // The usual case: the rows of a table are whole arrays.
        let rows = counts.as_chunks::<N>().0;
        for &code in codes {
            multiply(&mut products, rows.get(code as usize));
        }
    } else {
        for &code in codes {
            let start = code as usize * n_vectors + vector;
            multiply(&mut products, counts.get(start..).and_then(<[F64x4]>::first_chunk));
        }
    }
    // Stored to memory: otherwise the compiler takes the logarithms one by one.
    let mut products = std::hint::black_box(products);
    for (log, product) in logs.iter_mut().zip(&mut products) {
        for lane in &mut product.0 {
            *lane = ln(*lane);
        }
        *log = *log + *product;
    }
}

/// Multiplies by the factors of a value; by none if it is missing.
#[inline(always)]
fn multiply<const N: usize>(products: &mut [F64x4; N], counts: Option<&[F64x4; N]>) {
    if let Some(counts) = counts {
        for (product, &count) in products.iter_mut().zip(counts) {
            *product = *product * (count + F64x4::splat(1.0));
        }
    }
}

/// Returns the same logarithm for one class, with the same bits.
#[inline(always)]
pub(super) fn log_product_of_class(
    (codes, length): (&[u32], usize),
    counts: &[F64x4],
    n_classes: usize,
    class: usize,
) -> f64 {
    let (n_vectors, vector) = (n_classes.div_ceil(LANES), class / LANES);
    let mut log = 0.0;
    for codes in codes.chunks(length) {
        let mut product = 1.0;
        for &code in codes {
            if let Some(counts) = counts.get(code as usize * n_vectors + vector) {
                product *= counts.0[class % LANES] + 1.0;
            }
        }
        log += ln(product);
    }
    log
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
    use crate::learners::rows::MISSING;

    #[test]
    fn logarithms_follow_the_counts_of_a_class_and_missing_values_are_left_out() {
        // Two attributes of three and two values, five classes.
        let n_classes = 5;
        let mut counts = [F64x4::ZERO; 10];
        for codes in [[0, 3], [0, MISSING], [2, 4]] {
            for label in [3, 4] {
                count(&codes, (label, n_classes), 2.0 * (label - 2) as f64, &mut counts);
            }
        }
        let log = |codes: [u32; 2], class: usize| {
            let log = log_product_of_class((&codes, 2), &counts, n_classes, class);
            assert_eq!(log, log_products((&codes, 2), &counts, n_classes, 0)[class / LANES].0[class % LANES]);
            log
        };
        assert!((log([0, 3], 3) - (5.0_f64 * 3.0).ln()).abs() < 1e-15);
        assert!((log([0, 3], 4) - (9.0_f64 * 5.0).ln()).abs() < 1e-15);
        assert!((log([2, MISSING], 3) - 3.0_f64.ln()).abs() < 1e-15);
        assert_eq!((log([1, MISSING], 3), log([0, 3], 2), log([MISSING, MISSING], 3)), (0.0, 0.0, 0.0));
    }

    #[test]
    fn products_that_could_overflow_are_taken_in_groups() {
        for weight in [1.0, 1e6, 1e40, 1e200, f64::MAX] {
            // 100 attributes of two values, 18 classes.
            let (n_classes, codes) = (18, (0..100).map(|i| 2 * i).collect::<Vec<u32>>());
            let mut counts = vec![F64x4::ZERO; 200 * 5];
            for label in [0, 7, 16, 17] {
                count(&codes, (label, n_classes), weight, &mut counts);
            }
            let group = (&codes[..], group_length(codes.len(), weight));
            for class in 0..n_classes {
                let expected = if [0, 7, 16, 17].contains(&class) { 100.0 * (weight + 1.0).ln() } else { 0.0 };
                let log = log_product_of_class(group, &counts, n_classes, class);
                assert!((log - expected).abs() <= 1e-13 * expected, "{class}: {log} and {expected}");
                let first = class / MAX_CLASSES * MAX_CLASSES;
                let logs = log_products(group, &counts, n_classes, first);
                assert_eq!(log, logs[(class - first) / LANES].0[class % LANES]);
            }
        }
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
