//! The normal distributions of the numeric attributes of one class, a panel of columns at a time.

use crate::learners::f64x4::{F64x4, LANES};
use crate::learners::rows::RowPanel;
use crate::learners::vector_math::{HALF_LN_2PI, ln, ln_of_weight};

/// Stands for -1/(2 variance) if the variance is 0: any value but the mean is ruled out.
pub(super) const POINT_DECAY: f64 = -1e300;

/// Variances up to this count as 0.
const MIN_VARIANCE: f64 = 1e-290;

/// The statistics of a class, apart from its attributes.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(32))]
pub(in crate::learners) struct Class {
    /// Its weight, including the initial weight of the model.
    pub weight: f64,
    /// The weight of the observed rows.
    pub observed: f64,
    /// The part of its log-likelihood that does not depend on the row, without nominal attributes.
    pub log_base: f64,
    /// Whether a value was missing in an observed row, so that the weights of its columns differ.
    pub has_missing: bool,
    /// Whether some columns had no variance when it was last refreshed; only saves time.
    pub has_points: bool,
}

impl Class {
    /// Creates a class of the given weight without observed rows.
    pub fn new(weight: f64) -> Self {
        let log_base = if weight > 0.0 { ln_of_weight(weight) } else { f64::NEG_INFINITY };
        Self { weight, observed: 0.0, log_base, has_missing: false, has_points: false }
    }
}

/// Up to `4 V` columns of one class: their means, squared deviations and ranges, in the layout of
/// [`rows`](crate::learners::rows).
///
/// A padding column has the value 0 and squared deviations of 1, which change neither sums nor products.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(in crate::learners) struct ClassPanel<const V: usize> {
    /// The statistics of the class itself; only those in its first panel count.
    pub class: Class,
    /// Keeps the distance of panels from being a power of two, which causes false store-to-load dependencies.
    _padding: F64x4,
    pub moments: Moments<V>,
    /// Stored, since predictions read them far more often than they change.
    pub decays: Decays<V>,
    min: [F64x4; V],
    max: [F64x4; V],
}

/// The means and squared deviations of up to `4 V` columns.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(in crate::learners) struct Moments<const V: usize> {
    mean: [F64x4; V],
    /// The sums of the weighted squared deviations from the mean.
    squares: [F64x4; V],
}

/// -1/(2 variance) of up to `4 V` columns.
pub(in crate::learners) type Decays<const V: usize> = [F64x4; V];

impl<const V: usize> Moments<V> {
    /// The moments of padding columns.
    pub const PADDING: Self = Self { mean: [F64x4::ZERO; V], squares: [F64x4([1.0; LANES]); V] };

    /// Returns the moments after a row without missing values, with which the class has the weight `observed`.
    #[inline(always)]
    pub fn with_row(&self, x: &[F64x4; V], weight: f64, observed: f64) -> Self {
        let (share, weight) = (F64x4::splat(weight / observed), F64x4::splat(weight));
        let mut with = *self;
        for (v, &x) in x.iter().enumerate() {
            let delta = x - self.mean[v];
            with.mean[v] = delta.mul_add(share, self.mean[v]);
            with.squares[v] = (weight * delta).mul_add(x - with.mean[v], self.squares[v]);
        }
        with
    }

    /// Returns the decays, all from one division: multiply up, invert once, multiply back.
    ///
    /// `dof` is the degrees of freedom: the weight of the class minus 1. Also returns the products of the squared
    /// deviations, lane by lane, and their inverses; unless those are [`is_safe`], the decays are wrong and
    /// [`ClassPanel::refresh_by_column`] must set them.
    #[inline(always)]
    pub fn decays(&self, dof: f64) -> (Decays<V>, F64x4, F64x4) {
        let mut products = self.squares;
        for v in 1..V {
            products[v] = products[v - 1] * self.squares[v];
        }
        let product = products[V - 1];
        let inverse = product.map(|product| 1.0 / product);
        let mut rest = inverse * F64x4::splat(-0.5 * dof);
        let mut decays = [F64x4::ZERO; V];
        for v in (1..V).rev() {
            decays[v] = rest * products[v - 1];
            rest = rest * self.squares[v];
        }
        decays[0] = rest;
        (decays, product, inverse)
    }

    /// Adds the log densities of a row to a sum, without their normalisers.
    #[inline(always)]
    pub fn add_log_densities(&self, decays: &Decays<V>, x: &[F64x4; V], mut sum: F64x4) -> F64x4 {
        for (v, &x) in x.iter().enumerate() {
            let delta = x - self.mean[v];
            sum = (delta * delta).mul_add(decays[v], sum);
        }
        sum
    }
}

/// The statistics of one column of one class.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::learners) struct Column {
    /// The weight of its values.
    pub weight: f64,
    /// Their mean.
    pub mean: f64,
    /// The sum of their weighted squared deviations from the mean.
    pub squares: f64,
    /// The least value.
    pub min: f64,
    /// The greatest value.
    pub max: f64,
}

/// The statistics of four columns of one class, all of the same weight.
#[derive(Debug, Clone, Copy)]
pub(in crate::learners) struct Columns {
    /// The weight of the values of each column.
    pub weight: f64,
    /// The means.
    pub mean: F64x4,
    /// The sums of the weighted squared deviations from the mean.
    pub squares: F64x4,
    /// The least values.
    pub min: F64x4,
    /// The greatest values.
    pub max: F64x4,
}

impl<const V: usize> ClassPanel<V> {
    /// Creates an untrained panel with `n_columns` columns that are not padding.
    pub fn new(class: Class, n_columns: usize) -> Self {
        let mut panel = Self {
            class,
            _padding: F64x4::ZERO,
            moments: Moments::PADDING,
            decays: [F64x4::ZERO; V],
            min: [F64x4::splat(f64::INFINITY); V],
            max: [F64x4::splat(f64::NEG_INFINITY); V],
        };
        for column in 0..n_columns {
            panel.moments.squares[column / LANES].0[column % LANES] = 0.0;
        }
        panel
    }

    /// Returns the statistics of a column whose values have the given weight.
    #[inline(always)]
    pub fn column(&self, column: usize, weight: f64) -> Column {
        let (vector, i) = (column / LANES, column % LANES);
        Column {
            weight,
            mean: self.moments.mean[vector].0[i],
            squares: self.moments.squares[vector].0[i],
            min: self.min[vector].0[i],
            max: self.max[vector].0[i],
        }
    }

    /// Returns the statistics of the columns of vector `v`, whose values have the given weight.
    #[inline(always)]
    pub fn columns(&self, v: usize, weight: f64) -> Columns {
        let Moments { mean, squares, .. } = &self.moments;
        Columns { weight, mean: mean[v], squares: squares[v], min: self.min[v], max: self.max[v] }
    }

    /// Learns a row without missing values, after which the class has the weight `observed`.
    #[inline(always)]
    pub fn observe(&mut self, x: &[F64x4; V], weight: f64, observed: f64, keeps_ranges: bool) {
        if keeps_ranges {
            self.widen_ranges(x);
        }
        self.moments = self.moments.with_row(x, weight, observed);
    }

    /// Extends the ranges by a row.
    #[inline(always)]
    fn widen_ranges(&mut self, x: &[F64x4; V]) {
        let (mut min, mut max) = (self.min, self.max);
        for v in 0..V {
            min[v] = x[v].zip(min[v], |x, min| if x < min { x } else { min });
            max[v] = x[v].zip(max[v], |x, max| if x > max { x } else { max });
        }
        // A barrier: without it the compiler emits masked stores, which are slow and stall the next load.
        std::hint::black_box(());
        (self.min, self.max) = (min, max);
    }

    /// Learns a row that may have missing values; `known_weights` are the weights of the values of each column.
    #[inline(always)]
    pub fn observe_with_missing(&mut self, x: &RowPanel, weight: f64, known_weights: &mut [F64x4; V]) {
        for (v, known_weights) in known_weights.iter_mut().enumerate() {
            for i in 0..LANES {
                let value = x.vector(v).0[i];
                if value.is_nan() {
                    continue;
                }
                known_weights.0[i] += weight;
                let delta = value - self.moments.mean[v].0[i];
                let mean = delta.mul_add(weight / known_weights.0[i], self.moments.mean[v].0[i]);
                self.moments.mean[v].0[i] = mean;
                self.moments.squares[v].0[i] = (weight * delta).mul_add(value - mean, self.moments.squares[v].0[i]);
                self.min[v].0[i] = self.min[v].0[i].min(value);
                self.max[v].0[i] = self.max[v].0[i].max(value);
            }
        }
    }

    /// Sets the decays from the squared deviations; returns the products and inverses of [`Moments::decays`].
    #[inline(always)]
    pub fn refresh(&mut self, dof: f64) -> (F64x4, F64x4) {
        let (decays, products, inverses) = self.moments.decays(dof);
        self.decays = decays;
        (products, inverses)
    }

    /// Does the same if some columns are points: their squared deviations count as `dof`, so that the variance is 1 and
    /// its logarithm 0. Also returns the number of points.
    #[inline(always)]
    pub fn refresh_with_points(&mut self, dof: f64) -> (F64x4, F64x4, f64) {
        let (mut moments, mut points) = (self.moments, F64x4::ZERO);
        for squares in &mut moments.squares {
            for i in 0..LANES {
                let is_point = squares.0[i] == 0.0;
                points.0[i] += if is_point { 1.0 } else { 0.0 };
                squares.0[i] = if is_point { dof } else { squares.0[i] };
            }
        }
        let (mut decays, products, inverses) = moments.decays(dof);
        for (decays, squares) in decays.iter_mut().zip(&self.moments.squares) {
            for i in 0..LANES {
                decays.0[i] = if squares.0[i] == 0.0 { POINT_DECAY } else { decays.0[i] };
            }
        }
        self.decays = decays;
        (products, inverses, points.sum())
    }

    /// Adds the log densities of a row to a sum, without their normalisers.
    #[inline(always)]
    pub fn add_log_densities(&self, x: &[F64x4; V], sum: F64x4) -> F64x4 {
        self.moments.add_log_densities(&self.decays, x, sum)
    }

    /// Does the same for the first `n` vectors of a row, which hold all columns that are not padding.
    #[inline(always)]
    pub fn add_first_log_densities(&self, x: &RowPanel, n: usize, mut sum: F64x4) -> F64x4 {
        for v in 0..n.min(V) {
            let delta = x.vector(v) - self.moments.mean[v];
            sum = (delta * delta).mul_add(self.decays[v], sum);
        }
        sum
    }

    /// Sets the decays column by column, whatever the variances and weights; returns the sum of the log normalisers.
    ///
    /// A column without variance is a point: its mean has density 1, any other value 0. A column without values is left
    /// out.
    #[inline(always)]
    pub fn refresh_by_column(&mut self, n_columns: usize, known_weights: &[F64x4; V]) -> f64 {
        let mut sum = F64x4::ZERO;
        for (v, known_weights) in known_weights.iter().enumerate() {
            for i in 0..LANES {
                let weight = known_weights.0[i];
                let variance = if weight > 1.0 { self.moments.squares[v].0[i] / (weight - 1.0) } else { 0.0 };
                let silent = v * LANES + i >= n_columns || !(weight > 0.0 && variance.is_finite());
                let has_variance = variance > MIN_VARIANCE;
                let decay = if has_variance { -0.5 / variance } else { POINT_DECAY };
                self.decays[v].0[i] = if silent { 0.0 } else { decay };
                sum.0[i] += log_normaliser(self.decays[v].0[i]);
            }
        }
        sum.sum()
    }

    /// Adds the log densities of a row with missing values to a sum, without the normalisers, and subtracts the
    /// normalisers of the missing columns.
    #[inline(always)]
    pub fn add_log_densities_with_missing(&self, x: &RowPanel, mut sum: F64x4) -> F64x4 {
        for v in 0..V {
            for i in 0..LANES {
                let (value, decay) = (x.vector(v).0[i], self.decays[v].0[i]);
                let delta = value - self.moments.mean[v].0[i];
                sum.0[i] += if value.is_nan() { -log_normaliser(decay) } else { delta * delta * decay };
            }
        }
        sum
    }

    /// Returns all vectors that must be saved; the decays are derived from them.
    pub fn saved_vectors(&self) -> impl Iterator<Item = &F64x4> {
        self.moments.mean.iter().chain(&self.moments.squares).chain(&self.min).chain(&self.max)
    }

    /// Returns the same vectors for writing.
    pub fn saved_vectors_mut(&mut self) -> impl Iterator<Item = &mut F64x4> {
        self.moments.mean.iter_mut().chain(&mut self.moments.squares).chain(&mut self.min).chain(&mut self.max)
    }
}

/// Returns whether the products of squared deviations, and their inverses, are far enough from overflow and underflow
/// for all four lanes to be multiplied.
#[inline(always)]
pub(super) fn is_safe(products: F64x4, inverses: F64x4) -> bool {
    let most = products.zip(inverses, |product, inverse| if product > inverse { product } else { inverse });
    let bad = most.0.map(|most| if most < 1e70 { 0 } else { u64::MAX });
    bad[0] | bad[1] | bad[2] | bad[3] == 0
}

/// Returns the logarithm of `1 / sqrt(2 pi variance)`, from `-1 / (2 variance)`; 0 for points and columns that are left
/// out.
#[inline(always)]
fn log_normaliser(decay: f64) -> f64 {
    let normal = decay < 0.0 && decay > POINT_DECAY;
    let precision = if normal { -2.0 * decay } else { 1.0 };
    if normal { 0.5f64.mul_add(ln(precision), -HALF_LN_2PI) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(first: &[f64]) -> RowPanel {
        let mut values = RowPanel([0.0; 16]);
        values.0[..first.len()].copy_from_slice(first);
        values
    }

    fn rows() -> Vec<RowPanel> {
        let row = |t: f64| values(&[t.sin(), 100.0 * t.cos(), 1e-3 * (2.0 * t).sin(), t, t * t]);
        (0..50).map(|i| row(f64::from(i))).collect()
    }

    #[test]
    fn moments_equal_two_passes_and_both_refreshes_agree() {
        let (rows, mut panel, mut careful) =
            (rows(), ClassPanel::<2>::new(Class::new(0.0), 5), ClassPanel::<2>::new(Class::new(0.0), 5));
        let mut known_weights = [F64x4::ZERO; 2];
        for (i, x) in rows.iter().enumerate() {
            panel.observe(&x.vectors(), 1.0, (i + 1) as f64, true);
            careful.observe_with_missing(x, 1.0, &mut known_weights);
        }
        let n = rows.len() as f64;
        let mut log = 0.0;
        for column in 0..5 {
            let values: Vec<f64> = rows.iter().map(|x| x.0[column]).collect();
            let mean = values.iter().sum::<f64>() / n;
            let squares = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>();
            let result = panel.column(column, n);
            assert!((result.mean - mean).abs() < 1e-12 * mean.abs().max(1.0));
            assert!((result.squares / squares - 1.0).abs() < 1e-12);
            assert_eq!(result.min, values.iter().copied().fold(f64::INFINITY, f64::min));
            assert_eq!(result.max, values.iter().copied().fold(f64::NEG_INFINITY, f64::max));
            assert_eq!(result, careful.column(column, n));
            log += -0.5 * (squares / (n - 1.0)).ln() - HALF_LN_2PI;
        }
        let product = panel.refresh(n - 1.0).0.product();
        let fast = 0.5 * (5.0 * (n - 1.0).ln() - product.ln()) - 5.0 * HALF_LN_2PI;
        let slow = careful.refresh_by_column(5, &known_weights);
        assert!((fast - log).abs() < 1e-12 && (slow - log).abs() < 1e-12);
        let sum = |panel: &ClassPanel<2>| panel.add_log_densities(&rows[7].vectors(), F64x4::ZERO).sum();
        assert!((sum(&panel) - sum(&careful)).abs() < 1e-12 * sum(&panel).abs());
    }

    #[test]
    fn constant_columns_are_refreshed_as_column_by_column() {
        let new = || ClassPanel::<2>::new(Class::new(0.0), 5);
        let (mut together, mut alone) = (new(), new());
        for (i, mut x) in rows().into_iter().enumerate() {
            (x.0[0], x.0[3]) = (7.0, -1.5);
            for panel in [&mut together, &mut alone] {
                panel.observe(&x.vectors(), 1.0, (i + 1) as f64, true);
            }
        }
        let n = rows().len() as f64;
        let (products, _, n_points) = together.refresh_with_points(n - 1.0);
        let log = 0.5 * (5.0 * (n - 1.0).ln() - products.product().ln()) - (5.0 - n_points) * HALF_LN_2PI;
        let expected = alone.refresh_by_column(5, &[F64x4::splat(n); 2]);
        assert!(n_points == 2.0 && (log - expected).abs() < 1e-12);
        for column in 0..5 {
            let [together, alone] = [&together, &alone].map(|panel| panel.decays[column / LANES].0[column % LANES]);
            assert!((together / alone - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn a_constant_column_admits_only_its_value_and_a_missing_one_adds_nothing() {
        let (mut panel, mut known_weights) = (ClassPanel::<1>::new(Class::new(0.0), 2), [F64x4::ZERO]);
        for i in 0..10 {
            panel.observe_with_missing(&values(&[3.5, f64::from(i)]), 1.0, &mut known_weights);
        }
        panel.refresh_by_column(2, &known_weights);
        let log = |a: f64, b: f64| panel.add_log_densities_with_missing(&values(&[a, b]), F64x4::ZERO).sum();
        assert_eq!(log(3.5, 4.5), 0.0);
        assert!(log(3.6, 4.5) < -1e200);
        assert_eq!(log(f64::NAN, 4.5), 0.0);
        let variance = 82.5 / 9.0;
        assert!((log(3.5, f64::NAN) - 0.5 * (2.0 * std::f64::consts::PI * variance).ln()).abs() < 1e-12);
    }
}
