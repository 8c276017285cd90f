//! Rows whose predictions are deferred until their logarithms are taken, for many rows at once.
//!
//! Learning a row is a long chain of dependent operations with a logarithm at its end, too long for the processor to
//! overlap it with the next row's chain. But the next row only depends on the first part, the means and decays; the
//! logarithms are needed for comparing classes, on which nothing depends. So they are deferred and computed in
//! parallel.

use std::ops::Range;

use super::gaussian::{ClassPanel, is_safe};
use super::observe::{has_variance, log_base, scale_log_base};
use super::{ModelSummary, Models, RULED_OUT};
use crate::learners::ABSTAINED;
use crate::learners::f64x4::{F64x4, LANES};
use crate::learners::rows::{BLOCK, RowPanel};

/// The two classes of a model; most streams have no more.
pub(in crate::learners) type ClassPair<const V: usize> = [ClassPanel<V>; 2];

/// The rows of a block that are learnt but not yet predicted, indexed by row.
#[derive(Debug, Clone)]
pub(in crate::learners) struct DeferredRows {
    /// The majority of the model before the row.
    majorities: [i32; BLOCK],
    /// The weight of the row's class after it, and its degrees of freedom: the observed weight minus 1.
    weights: [f64; BLOCK],
    dofs: [f64; BLOCK],
    /// The product of the squared deviations of the row's class after it.
    products: [f64; BLOCK],
    /// Per class, the sum of the log densities before the row.
    sums: [[f64; BLOCK]; 2],
    /// The same sums of the last four rows, lane by lane.
    vectors: [[F64x4; LANES]; 2],
    /// The part of the log-likelihood of the row's class after it that does not depend on a row; set by
    /// [`DeferredRows::take_logarithms`].
    log_bases: [f64; BLOCK],
}

impl DeferredRows {
    /// Creates an empty buffer.
    pub fn new() -> Self {
        Self {
            majorities: [ABSTAINED; BLOCK],
            weights: [1.0; BLOCK],
            dofs: [1.0; BLOCK],
            products: [1.0; BLOCK],
            sums: [[0.0; BLOCK]; 2],
            vectors: [[F64x4::ZERO; LANES]; 2],
            log_bases: [0.0; BLOCK],
        }
    }

    /// Defers the prediction of a row without missing values, and learns it if its weight is above 0.
    ///
    /// Returns false if its class must be refreshed at once: then all rows up to this one must be predicted first.
    #[inline(always)]
    pub fn learn<const V: usize>(
        &mut self,
        i: usize,
        summary: &mut ModelSummary,
        pair: &mut ClassPair<V>,
        x: &RowPanel,
        (label, weight): (i32, f64),
    ) -> bool {
        let (i, x) = (i % BLOCK, &x.vectors());
        // Stored only to make the compiler keep all four lanes in one vector.
        for (panel, vectors) in pair.iter().zip(&mut self.vectors) {
            vectors[i % LANES] = panel.add_log_densities(x, F64x4::ZERO);
        }
        for (sums, vectors) in self.sums.iter_mut().zip(&self.vectors) {
            sums[i] = vectors[i % LANES].sum();
        }
        self.majorities[i] = summary.majority;
        if weight <= 0.0 {
            return true;
        }
        let panel = &mut pair[label as usize % 2];
        panel.class.weight += weight;
        panel.class.observed += weight;
        let class = panel.class;
        panel.observe(x, weight, class.observed, true);
        let (products, inverses) = panel.refresh(class.observed - 1.0);
        summary.weight += weight;
        summary.set_majority([pair[0].class.weight, pair[1].class.weight]);
        self.weights[i] = class.weight;
        self.dofs[i] = class.observed - 1.0;
        self.products[i] = products.product();
        has_variance(&class) && is_safe(products, inverses)
    }

    /// Computes the logarithms of rows.
    #[inline(always)]
    pub fn take_logarithms(&mut self, rows: Range<usize>, n_columns: usize) {
        let fours = rows.start / LANES..rows.end.div_ceil(LANES).min(BLOCK / LANES);
        let rows = fours.start * LANES..fours.end * LANES;
        let weights = self.dofs[rows.clone()].iter().zip(&self.weights[rows.clone()]);
        let logs = self.log_bases[rows.clone()].iter_mut().zip(&self.products[rows]);
        for ((log, &product), (&dof, &weight)) in logs.zip(weights) {
            *log = log_base(product, scale_log_base(dof, n_columns, weight), n_columns);
        }
    }

    /// Returns the majority of a row's model before the row.
    #[inline(always)]
    pub fn majority(&self, i: usize) -> i32 {
        self.majorities[i % BLOCK]
    }

    /// Returns the log-likelihoods of a row, including the classes' weights, and applies what it changed to its class.
    /// The rows of a model must be finished in their order.
    #[inline(always)]
    pub fn finish_row<const V: usize>(
        &self,
        i: usize,
        pair: &mut ClassPair<V>,
        (label, weight): (i32, f64),
    ) -> [f64; 2] {
        let i = i % BLOCK;
        let logs = [0, 1].map(|class| pair[class].class.log_base + self.sums[class][i]);
        let class = &mut pair[label as usize % 2].class;
        class.log_base = if weight > 0.0 { self.log_bases[i] } else { class.log_base };
        logs
    }

    /// Returns the part of the log-likelihood of a row's class after the row that does not depend on a row.
    #[inline(always)]
    pub fn log_base(&self, i: usize) -> f64 {
        self.log_bases[i % BLOCK]
    }
}

/// Returns the likelier of two classes, the first of equals, or `otherwise` if both are ruled out; and the greater
/// log-likelihood.
#[inline(always)]
pub(in crate::learners) fn find_likelier([first, second]: [f64; 2], otherwise: i32) -> (i32, f64) {
    let most = if second > first { second } else { first };
    if most > RULED_OUT {
        // A conversion: a branch on the winner would be mispredicted.
        (i32::from(second > first), most)
    } else {
        rule_out_both(otherwise)
    }
}

/// Returns `otherwise`. Not inlined, so that the compiler emits a branch, which is predicted well.
#[cold]
#[inline(never)]
fn rule_out_both(otherwise: i32) -> (i32, f64) {
    (otherwise, RULED_OUT)
}

/// Learns a row of one class of a model that never predicts again, where [`Models::has_two_class_path`].
#[inline(always)]
pub(in crate::learners) fn observe_statistics<const V: usize>(
    summary: &mut ModelSummary,
    panel: &mut ClassPanel<V>,
    x: &[F64x4; V],
    weight: f64,
) {
    summary.weight += weight;
    panel.class.weight += weight;
    panel.class.observed += weight;
    panel.observe(x, weight, panel.class.observed, true);
}

impl<const V: usize> Models<V> {
    /// Returns whether rows without missing values can be deferred: there are two classes, and the attributes are
    /// numbers that fill one panel.
    #[inline(always)]
    pub fn has_two_class_path(&self) -> bool {
        (self.n_panels() == 1) & (self.layout.n_counts == 0) & (self.n_classes == 2) & self.known_weights.is_empty()
    }

    /// Returns all models of two classes: their summaries and classes.
    #[inline(always)]
    pub fn class_pairs(&mut self) -> (&mut [ModelSummary], &mut [ClassPair<V>]) {
        let pairs = self.panels.as_chunks_mut::<2>().0;
        // Both have the same length, so that one bounds check is enough.
        let n = pairs.len().min(self.summaries.len());
        (&mut self.summaries[..n], &mut pairs[..n])
    }
}
