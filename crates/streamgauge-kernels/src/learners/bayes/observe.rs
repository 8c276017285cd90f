//! Learning of a row.

use super::Models;
use super::gaussian::{Class, ClassPanel, is_safe};
use super::nominal::{self, LogProduct};
use crate::dispatch;
use crate::learners::f64x4::{F64x4, LANES};
use crate::learners::rows::{MAX_VECTORS, Row, columns_in_panel};
use crate::learners::vector_math::{HALF_LN_2PI, ln, ln_of_quotient, ln_of_weight};

/// Variances are computed in parallel up to this weight of a class: its 18th power does not overflow.
const MAX_WEIGHT: f64 = 1e15;

/// A scale greater than [`MIN_SCALE`] is divided by the square of lesser denominators without underflow.
const MAX_DENOMINATORS: f64 = 1e50;
const MIN_SCALE: f64 = 1e-200;

impl<const V: usize> Models<V> {
    /// Learns a row. Unless the model `VOTES`, what only predictions need is not refreshed: it must never predict again,
    /// and its majority must be found by [`Models::find_majority`].
    #[inline(always)]
    pub fn observe<const VOTES: bool>(&mut self, model: usize, row: Row<'_, V>, label: usize, weight: f64) {
        let range = self.panel_range(model, label);
        let class = &mut self.panels[range.start].class;
        class.weight += weight;
        class.observed += weight;
        let Class { weight: class_weight, observed, has_missing, .. } = *class;
        let summary = &mut self.summaries[model];
        let n_numeric = summary.n_numeric as usize;
        if VOTES {
            summary.count(label, class_weight, weight);
        } else {
            summary.weight += weight;
        }
        if row.has_missing() | has_missing | summary.fresh {
            return self.observe_slow::<VOTES>(model, row, label, weight);
        }
        if self.layout.n_columns > 0 {
            for (panel, x) in self.panels[range].iter_mut().zip(row.panels()) {
                panel.observe(&x.vectors(), weight, observed, self.keeps_ranges);
            }
        }
        if self.layout.n_counts > 0 {
            self.count(model, row, label, weight);
        }
        if VOTES {
            self.refresh_inlined(model, label, n_numeric);
        }
    }

    /// Counts a row's nominal values.
    #[inline(always)]
    fn count(&mut self, model: usize, row: Row<'_, V>, label: usize, weight: f64) {
        let counts = self.count_range(model);
        nominal::count(row.codes(), (label, self.n_classes), weight, &mut self.counts[counts]);
    }

    /// Learns a row that is the model's first, or has missing values, or whose class has; the weights are already
    /// added.
    #[cold]
    #[inline(never)]
    fn observe_slow<const VOTES: bool>(&mut self, model: usize, row: Row<'_, V>, label: usize, weight: f64) {
        if self.summaries[model].fresh {
            self.summaries[model].fresh = false;
            // After the first row, classes without observed rows have likelihood 0.
            for class in (0..self.n_classes).filter(|&class| class != label) {
                let first = self.panel_range(model, class).start;
                self.panels[first].class.log_base = f64::NEG_INFINITY;
            }
        }
        dispatch::run(
            #[inline(always)]
            || {
                self.observe_with_missing(model, row, label, weight);
                self.count(model, row, label, weight);
            },
        );
        if VOTES {
            self.refresh(model, label);
        }
    }

    /// Learns the numbers of a row; column by column if the row or the class has missing values.
    #[inline(always)]
    fn observe_with_missing(&mut self, model: usize, row: Row<'_, V>, label: usize, weight: f64) {
        let range = self.panel_range(model, label);
        let Class { observed, has_missing, .. } = self.panels[range.start].class;
        if !(row.has_missing() || has_missing) {
            for (panel, x) in self.panels[range].iter_mut().zip(row.panels()) {
                panel.observe(&x.vectors(), weight, observed, self.keeps_ranges);
            }
            return;
        }
        if self.known_weights.is_empty() {
            self.known_weights = vec![[F64x4::ZERO; V]; self.panels.len()];
        }
        if !has_missing {
            self.panels[range.start].class.has_missing = true;
            self.known_weights[range.clone()].fill([F64x4::splat(observed - weight); V]);
        }
        for (panel, x) in range.zip(row.panels()) {
            self.panels[panel].observe_with_missing(x, weight, &mut self.known_weights[panel]);
        }
    }

    /// Refreshes what predictions need of a class, with the same bits as during learning.
    pub fn refresh(&mut self, model: usize, label: usize) {
        let n_numeric = self.n_numeric(model);
        if self.panels[self.panel_range(model, label).start].class.has_missing {
            return self.refresh_by_column(model, label);
        }
        dispatch::run(
            #[inline(always)]
            || self.refresh_inlined(model, label, n_numeric),
        );
    }

    /// Does the same for a class without missing values.
    #[inline(always)]
    fn refresh_inlined(&mut self, model: usize, label: usize, n_numeric: usize) {
        let range = self.panel_range(model, label);
        let first = range.start;
        let denominators = self.multiply_denominators(&self.panels[first].class);
        let Some((log, divided)) = refresh(&mut self.panels[range], n_numeric, denominators) else {
            return self.refresh_by_column(model, label);
        };
        let rest = if divided { 0.0 } else { self.log_denominators(model, label) };
        self.panels[first].class.log_base = log - rest;
    }

    /// Returns the product of the denominators of the nominal attributes; infinite if there are many, or not all are
    /// used or known.
    #[inline(always)]
    fn multiply_denominators(&self, class: &Class) -> f64 {
        let sizes = &self.layout.few_sizes;
        if class.has_missing || self.subspaces.is_some() || sizes.is_empty() {
            return f64::INFINITY;
        }
        let mut product = 1.0;
        for n_values in sizes {
            product *= class.observed + n_values;
        }
        product
    }

    /// Returns the logarithm of the denominators of the nominal attributes, which do not depend on the row.
    #[inline(always)]
    fn log_denominators(&self, model: usize, label: usize) -> f64 {
        if self.layout.n_counts == 0 {
            return 0.0;
        }
        let Class { observed, has_missing, .. } = self.panels[self.panel_range(model, label).start].class;
        if has_missing || self.subspaces.is_some() {
            return self.log_some_denominators(model, label);
        }
        // Usually many attributes have the same number of values: one logarithm.
        let (mut log, mut product, mut has_product) = (0.0, LogProduct::ONE, false);
        for &(n_values, n_tables) in &self.layout.table_sizes {
            let factor = observed + n_values as f64;
            if n_tables > 1 {
                log += n_tables as f64 * ln(factor);
            } else {
                product.multiply(factor);
                has_product = true;
            }
        }
        if has_product { log + product.log() } else { log }
    }

    /// Does the same if not all attributes are used or known.
    #[inline(never)]
    fn log_some_denominators(&self, model: usize, label: usize) -> f64 {
        let mut product = LogProduct::ONE;
        for table in self.tables(model) {
            product.multiply(self.known_weight(model, label, table) + table.n_values as f64);
        }
        product.log()
    }

    /// Refreshes what predictions need of a class, whatever its variances and missing values.
    #[cold]
    #[inline(never)]
    fn refresh_by_column(&mut self, model: usize, label: usize) {
        dispatch::run(
            #[inline(always)]
            || {
                let range = self.panel_range(model, label);
                let (first, n_numeric) = (range.start, self.n_numeric(model));
                let Class { weight, observed, has_missing, .. } = self.panels[first].class;
                let observed = [F64x4::splat(observed); V];
                let mut log = ln_of_weight(weight);
                for panel in range {
                    let known_weights = if has_missing { &self.known_weights[panel] } else { &observed };
                    log += self.panels[panel]
                        .refresh_by_column(columns_in_panel::<V>(n_numeric, panel - first), known_weights);
                }
                self.panels[first].class.log_base = log - self.log_denominators(model, label);
            },
        );
    }
}

/// Refreshes the decays of a class without missing values, with two divisions and a logarithm per panel; returns the
/// part of its log-likelihood that does not depend on the row, and whether that includes the denominators of the nominal
/// attributes: not if their product is too large.
///
/// Returns `None` if the variances are too far from 1.
#[inline(always)]
fn refresh<const V: usize>(panels: &mut [ClassPanel<V>], n_columns: usize, denominators: f64) -> Option<(f64, bool)> {
    let class = panels[0].class;
    // The weight and the denominators share the logarithm of the first panel.
    let (mut log, mut weight, mut n_left, mut has_points) = (0.0, class.weight, n_columns, false);
    let mut divided = denominators < MAX_DENOMINATORS;
    let mut divisor = if divided { denominators * denominators } else { 1.0 };
    if !has_variance(&class) {
        return None;
    }
    for panel in panels.iter_mut() {
        let n = if V < MAX_VECTORS { n_left } else { n_left.min(MAX_VECTORS * LANES) };
        let (mut products, mut inverses, mut n_points) = (F64x4::ZERO, F64x4::splat(f64::INFINITY), 0.0);
        if !class.has_points {
            (products, inverses) = panel.refresh(class.observed - 1.0);
        }
        if !is_safe(products, inverses) {
            (products, inverses, n_points) = panel.refresh_with_points(class.observed - 1.0);
            if !is_safe(products, inverses) {
                return None;
            }
        }
        has_points |= n_points > 0.0;
        // Stored to memory: otherwise the compiler uses vectors of two.
        let product = std::hint::black_box(products).product();
        let mut scale = scale_log_base(class.observed - 1.0, n, weight);
        if divisor > 1.0 {
            divided = scale > MIN_SCALE;
            scale = if divided { scale / divisor } else { scale };
        }
        log += log_base(product, scale, n) + n_points * HALF_LN_2PI;
        (weight, divisor, n_left) = (1.0, 1.0, n_left - n);
    }
    panels[0].class.has_points = has_points;
    Some((log, divided))
}

/// Returns whether the weight of a class allows its variances to be computed in parallel.
#[inline(always)]
pub(super) fn has_variance(class: &Class) -> bool {
    (class.observed > 1.0) & (class.weight < MAX_WEIGHT)
}

/// Returns the degrees of freedom to the power of `n` columns, times the square of the weight of the class.
#[inline(always)]
pub(super) fn scale_log_base(dof: f64, n: usize, weight: f64) -> f64 {
    power(dof, n) * (weight * weight)
}

/// Returns the part of a log-likelihood that does not depend on the row, from the product of the squared deviations of
/// `n` columns and from [`scale_log_base`].
#[inline(always)]
pub(super) fn log_base(product: f64, scale: f64, n: usize) -> f64 {
    0.5f64.mul_add(ln_of_quotient(scale, product), -(n as f64) * HALF_LN_2PI)
}

/// Returns a number to the power of at most 31.
#[inline(always)]
fn power(base: f64, exponent: usize) -> f64 {
    let (mut power, mut square) = (1.0, base);
    for bit in 0..5 {
        power *= if exponent >> bit & 1 == 1 { square } else { 1.0 };
        square *= square;
    }
    power
}
