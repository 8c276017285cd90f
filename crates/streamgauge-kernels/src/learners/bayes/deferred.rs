//! Rows whose predictions wait until the logarithms that they need are taken, for many rows at once.
//!
//! To learn a row takes a long chain of operations, the logarithm at its end, and the next row's chain does not fit into
//! the processor's window beside it. But the next row only needs the first links, the means and decays; the logarithms
//! are needed to compare classes, which nothing waits for. So they are put off, and then taken side by side.

use std::ops::Range;

use super::gaussian::{ClassPanel, is_safe};
use super::observe::{has_variance, log_base, scale_log_base};
use super::{ModelSummary, Models, RULED_OUT};
use crate::learners::ABSTAINED;
use crate::learners::f64x4::{F64x4, LANES};
use crate::learners::rows::{BLOCK, RowPanel};

/// The two classes of a model, most streams having no more.
pub(in crate::learners) type ClassPair<const V: usize> = [ClassPanel<V>; 2];

/// Rows of a block that were learnt but not yet predicted, each in its place.
#[derive(Debug, Clone)]
pub(in crate::learners) struct DeferredRows {
    /// The majority of its model before it.
    majorities: [i32; BLOCK],
    /// The weight of its class after it, and that which was observed less 1.
    weights: [f64; BLOCK],
    dofs: [f64; BLOCK],
    /// The product of the squared deviations of its class after it.
    products: [f64; BLOCK],
    /// Per class, the sum of the logarithms of the densities before it.
    sums: [[f64; BLOCK]; 2],
    /// The same of the last rows, lane by lane.
    vectors: [[F64x4; LANES]; 2],
    /// Once it is settled: the part of the log-likelihood of its class after it that does not depend on a row.
    log_bases: [f64; BLOCK],
}

impl DeferredRows {
    /// No rows.
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

    /// Let the prediction of a row without gaps wait, and learn it where its weight is above 0.
    ///
    /// False where what it changed cannot wait: it must be settled and its class refreshed at once.
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
        // Kept for nobody: without a place for all four numbers the compiler works out one after the other.
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

    /// Take the logarithms of rows.
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

    /// The majority at a row's model before it.
    #[inline(always)]
    pub fn majority(&self, i: usize) -> i32 {
        self.majorities[i % BLOCK]
    }

    /// The logarithms of the classes' weights times the likelihood of a settled row. Rows of a model must be asked for in
    /// their order: what it changed is then made known to those that follow.
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

    /// The part of the log-likelihood of a row's class after it that does not depend on a row.
    #[inline(always)]
    pub fn log_base(&self, i: usize) -> f64 {
        self.log_bases[i % BLOCK]
    }
}

/// The likelier of two classes, the first of equals; `otherwise` where both are ruled out. And the greater logarithm.
#[inline(always)]
pub(in crate::learners) fn find_likelier([first, second]: [f64; 2], otherwise: i32) -> (i32, f64) {
    let most = if second > first { second } else { first };
    if most > RULED_OUT {
        // As a number: a branch on which of the two wins would be guessed wrong.
        (i32::from(second > first), most)
    } else {
        rule_out_both(otherwise)
    }
}

/// A function of its own, so that the compiler makes a branch of it, which is guessed right.
#[cold]
#[inline(never)]
fn rule_out_both(otherwise: i32) -> (i32, f64) {
    (otherwise, RULED_OUT)
}

impl<const V: usize> Models<V> {
    /// Whether rows without gaps can wait at models: where there are two classes, and no more numbers than fill a panel.
    #[inline(always)]
    pub fn has_two_class_path(&self) -> bool {
        (self.n_panels() == 1) & (self.layout.n_counts == 0) & (self.n_classes == 2) & self.known_weights.is_empty()
    }

    /// All models of two classes: what each knows, and the classes.
    #[inline(always)]
    pub fn class_pairs(&mut self) -> (&mut [ModelSummary], &mut [ClassPair<V>]) {
        let pairs = self.panels.as_chunks_mut::<2>().0;
        // Of one length, so that one check is enough.
        let n = pairs.len().min(self.summaries.len());
        (&mut self.summaries[..n], &mut pairs[..n])
    }
}
