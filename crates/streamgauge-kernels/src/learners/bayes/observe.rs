//! Learning of a row.

use super::gaussian::{Class, ClassPanel, is_safe};
use super::{Models, nominal};
use crate::dispatch;
use crate::learners::f64x4::{F64x4, LANES};
use crate::learners::rows::{MAX_VECTORS, Row, columns_in_panel};
use crate::learners::vector_math::{HALF_LN_2PI, ln_of_quotient, ln_of_weight};

/// Variances are computed in parallel up to this weight of a class: its 18th power does not overflow.
const MAX_WEIGHT: f64 = 1e15;

impl<const V: usize> Models<V> {
    /// Learns a row.
    #[inline(always)]
    pub fn observe(&mut self, model: usize, row: Row<'_, V>, label: usize, weight: f64) {
        let range = self.panel_range(model, label);
        let class = &mut self.panels[range.start].class;
        class.weight += weight;
        class.observed += weight;
        let Class { weight: class_weight, observed, has_missing, .. } = *class;
        let summary = &mut self.summaries[model];
        let n_numeric = summary.n_numeric as usize;
        summary.count(label, class_weight, weight);
        if row.has_missing() | has_missing | summary.fresh {
            return self.observe_slow(model, row, label, weight);
        }
        let panels = &mut self.panels[range];
        for (panel, x) in panels.iter_mut().zip(row.panels()) {
            panel.observe(&x.vectors(), weight, observed, self.keeps_ranges);
        }
        if !refresh(panels, n_numeric) {
            self.refresh_by_column(model, label);
        }
        if self.layout.n_counts > 0 {
            self.count(model, row, label, weight);
        }
    }

    /// Counts a row's nominal values.
    #[inline(always)]
    fn count(&mut self, model: usize, row: Row<'_, V>, label: usize, weight: f64) {
        let range = self.count_range(model, label);
        let (counts, logs) = (&mut self.counts[range.clone()], &mut self.logs[range]);
        nominal::observe(&self.layout.nominal, row.codes(), weight, counts, logs);
    }

    /// Learns a row that is the model's first, or has missing values, or whose class has; the weights are already
    /// added.
    #[cold]
    #[inline(never)]
    fn observe_slow(&mut self, model: usize, row: Row<'_, V>, label: usize, weight: f64) {
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
        self.refresh_by_column(model, label);
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
        let (range, n) = (self.panel_range(model, label), self.n_numeric(model));
        let panels = &mut self.panels[range];
        let has_missing = panels[0].class.has_missing;
        let done = !has_missing
            && dispatch::run(
                #[inline(always)]
                || refresh(panels, n),
            );
        if !done {
            self.refresh_by_column(model, label);
        }
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
                self.panels[first].class.log_base = log;
            },
        );
    }
}

/// Refreshes what predictions need of a class without missing values: two divisions and a logarithm per panel.
///
/// Returns false if the variances do not allow it, because some are 0 or too far from 1.
#[inline(always)]
fn refresh<const V: usize>(panels: &mut [ClassPanel<V>], n_columns: usize) -> bool {
    let class = panels[0].class;
    // The weight shares the logarithm of the first panel.
    let (mut log, mut weight, mut n_left) = (0.0, class.weight, n_columns);
    for panel in panels.iter_mut() {
        let n = if V < MAX_VECTORS { n_left } else { n_left.min(MAX_VECTORS * LANES) };
        let (products, inverses) = panel.refresh(class.observed - 1.0);
        if !(has_variance(&class) && is_safe(products, inverses)) {
            return false;
        }
        // Stored to memory: otherwise the compiler uses vectors of two.
        let product = std::hint::black_box(products).product();
        log += log_base(product, scale_log_base(class.observed - 1.0, n, weight), n);
        (weight, n_left) = (1.0, n_left - n);
    }
    panels[0].class.log_base = log;
    true
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
