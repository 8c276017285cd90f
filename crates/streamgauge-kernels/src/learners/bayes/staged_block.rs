//! Blocks of rows of two classes, learnt and predicted in stages: each stage processes all rows before the next begins.
//!
//! A row updates a model by a long chain of dependent operations: means, squared deviations, a division, densities, a
//! logarithm, a comparison. One such chain fills the processor's reorder window, so that rows hardly overlap. But only
//! its first part depends on the row before. So every state of a class within the block is stored on its own, and all
//! later parts are computed for several rows in parallel.

use super::deferred::{ClassPair, find_likelier};
use super::gaussian::{Class, Decays, Moments, is_safe};
use super::observe::{has_variance, log_base, scale_log_base};
use super::{ModelSummary, Models};
use crate::dispatch;
use crate::learners::f64x4::{F64x4, LANES, Mask, mask_first};
use crate::learners::rows::{BLOCK, MAX_VECTORS};
use crate::learners::{ABSTAINED, Block};

/// The number of states: one after each row and, at [`INITIAL`], those of both classes before all rows. A power of two,
/// so that a mask keeps indices in bounds.
const N_STATES: usize = 64;

/// The index of the states before all rows.
const INITIAL: usize = BLOCK;

/// The states of two classes within a block of rows.
#[derive(Debug, Clone)]
pub(in crate::learners) struct StagedBlock<const V: usize> {
    moments: [Moments<V>; N_STATES],
    decays: [Decays<V>; N_STATES],
    weights: [f64; N_STATES],
    observed: [f64; N_STATES],
    log_bases: [f64; N_STATES],
    /// The product of the squared deviations after each row.
    products: [f64; BLOCK],
    /// Per row, the states of both classes before it.
    before: [[u8; 2]; BLOCK],
    /// Per class and row, the log densities before it: lane by lane, and their sum.
    sums: [[F64x4; BLOCK]; 2],
    totals: [[f64; BLOCK]; 2],
}

impl<const V: usize> StagedBlock<V> {
    /// Creates an empty block.
    pub fn new() -> Self {
        Self {
            moments: [Moments::PADDING; N_STATES],
            decays: [[F64x4::ZERO; V]; N_STATES],
            weights: [1.0; N_STATES],
            observed: [2.0; N_STATES],
            log_bases: [0.0; N_STATES],
            products: [1.0; BLOCK],
            before: [[INITIAL as u8, INITIAL as u8 + 1]; BLOCK],
            sums: [[F64x4::ZERO; BLOCK]; 2],
            totals: [[0.0; BLOCK]; 2],
        }
    }

    /// Predicts and learns a block of rows.
    ///
    /// Returns false, and changes nothing, if the variances cannot be computed in parallel. That includes missing and
    /// infinite numbers, which make a variance NaN.
    #[inline(always)]
    pub fn interleave(
        &mut self,
        (summary, pair): (&mut ModelSummary, &mut ClassPair<V>),
        x: &RowTable<'_, V>,
        block: &Block<'_>,
        predictions: &mut [i32],
    ) -> bool {
        if !pair.iter_mut().all(|panel| has_variance(&panel.class) && has_safe_variances(&panel.moments, &panel.class))
        {
            return false;
        }
        let (last, weight) = self.learn(pair, summary.weight, x, block);
        let n = block.labels.len();
        if !(self.compute_decays(n) && last.iter().all(|&state| has_variance(&self.class(state)))) {
            return false;
        }
        self.compute_densities(x, n);
        self.take_logarithms(n, x.n_columns);
        self.predict(block, predictions);
        for (panel, state) in pair.iter_mut().zip(last) {
            panel.moments = self.moments[state % N_STATES];
            panel.decays = self.decays[state % N_STATES];
            panel.class = self.class(state);
        }
        summary.weight = weight;
        summary.set_majority([pair[0].class.weight, pair[1].class.weight]);
        true
    }

    /// Does the same for the last rows of a batch, from a padded copy: zeroing one for every block would take time.
    #[cold]
    #[inline(never)]
    fn interleave_last(
        &mut self,
        model: (&mut ModelSummary, &mut ClassPair<V>),
        n_columns: usize,
        block: &Block<'_>,
        predictions: &mut [i32],
    ) -> bool {
        let n = block.labels.len() * n_columns;
        let mut padded = [0.0; (BLOCK + 1) * MAX_VECTORS * LANES];
        padded[..n].copy_from_slice(&block.x[..n]);
        let table = RowTable::new(&padded, n_columns);
        dispatch::run(
            #[inline(always)]
            || self.interleave((&mut *model.0, &mut *model.1), &table, block, predictions),
        )
    }

    /// Returns the class in a state.
    #[inline(always)]
    fn class(&self, state: usize) -> Class {
        let state = state % N_STATES;
        let (weight, observed, log_base) = (self.weights[state], self.observed[state], self.log_bases[state]);
        Class { weight, observed, log_base, has_missing: false, has_points: false }
    }

    /// Learns all rows, each into its own state; returns the last state of each class, and `total` plus the
    /// weights of all rows.
    ///
    /// A row of weight 0 leaves its class unchanged, bit for bit, so that no branch is needed, which would be
    /// mispredicted.
    #[inline(always)]
    fn learn(
        &mut self,
        pair: &ClassPair<V>,
        mut total: f64,
        x: &RowTable<'_, V>,
        block: &Block<'_>,
    ) -> ([usize; 2], f64) {
        for (state, panel) in (INITIAL..).zip(pair) {
            self.moments[state % N_STATES] = panel.moments;
            self.decays[state % N_STATES] = panel.decays;
            self.weights[state % N_STATES] = panel.class.weight;
            self.observed[state % N_STATES] = panel.class.observed;
            self.log_bases[state % N_STATES] = panel.class.log_base;
        }
        let mut last = [INITIAL, INITIAL + 1];
        for (i, &label) in (0..BLOCK).zip(block.labels) {
            self.before[i] = last.map(|state| state as u8);
            let [first, second] = last;
            let is_second = label & 1 == 1;
            let from = if is_second { second } else { first } % N_STATES;
            last = if is_second { [first, i] } else { [i, second] };
            let weight = block.weights[i];
            total += weight;
            let observed = self.observed[from] + weight;
            (self.weights[i], self.observed[i]) = (self.weights[from] + weight, observed);
            self.moments[i] = self.moments[from].with_row(&x.row(i), weight, observed);
        }
        (last, total)
    }

    /// Computes the decays after each row; returns false if that is not safe.
    #[inline(always)]
    fn compute_decays(&mut self, n: usize) -> bool {
        for i in 0..n.min(BLOCK) {
            let (decays, products, inverses) = self.moments[i].decays(self.observed[i] - 1.0);
            (self.decays[i], self.products[i]) = (decays, products.product());
            // Within the loop: otherwise the compiler processes four rows at a time, which it has to transpose.
            if !is_safe(products, inverses) {
                return false;
            }
        }
        true
    }

    /// Computes the log densities of both classes before each row.
    #[inline(always)]
    fn compute_densities(&mut self, x: &RowTable<'_, V>, n: usize) {
        for i in 0..n.min(BLOCK) {
            let (x, before) = (x.row(i), self.before[i]);
            for (sums, state) in self.sums.iter_mut().zip(before) {
                let state = state as usize % N_STATES;
                sums[i] = self.moments[state].add_log_densities(&self.decays[state], &x, F64x4::ZERO);
            }
            for (totals, sums) in self.totals.iter_mut().zip(&self.sums) {
                totals[i] = sums[i].sum();
            }
        }
    }

    /// Computes the part of the log-likelihoods that does not depend on a row.
    #[inline(always)]
    fn take_logarithms(&mut self, n: usize, n_columns: usize) {
        // In multiples of four, so that the compiler vectorises the loop.
        let n = n.next_multiple_of(4).min(BLOCK);
        for i in 0..n {
            let scale = scale_log_base(self.observed[i] - 1.0, n_columns, self.weights[i]);
            self.log_bases[i] = log_base(self.products[i], scale, n_columns);
        }
    }

    /// Compares the classes and predicts.
    #[inline(always)]
    fn predict(&self, block: &Block<'_>, predictions: &mut [i32]) {
        for (i, prediction) in (0..BLOCK).zip(predictions) {
            let [first, second] = self.before[i].map(|state| state as usize % N_STATES);
            let logs = [self.log_bases[first] + self.totals[0][i], self.log_bases[second] + self.totals[1][i]];
            let majority = i32::from(self.weights[second] > self.weights[first]);
            let (likeliest, _) = find_likelier(logs, majority);
            *prediction = if block.tests[i] { likeliest } else { ABSTAINED };
        }
    }
}

/// The rows of a batch, numbers only, one after the other.
#[derive(Debug, Clone, Copy)]
pub(in crate::learners) struct RowTable<'a, const V: usize> {
    numbers: &'a [f64],
    n_columns: usize,
    /// Clears what follows a row in its last vector.
    mask: Mask,
}

impl<'a, const V: usize> RowTable<'a, V> {
    /// Creates a table of rows, followed by enough numbers for whole panels to be read.
    fn new(numbers: &'a [f64], n_columns: usize) -> Self {
        // Hidden from the compiler, which would otherwise compare indices instead of using the bits.
        Self { numbers, n_columns, mask: std::hint::black_box(mask_first(n_columns - (V - 1) * LANES)) }
    }

    /// Returns a row, padded with 0.
    #[inline(always)]
    fn row(&self, i: usize) -> [F64x4; V] {
        let start = i * self.n_columns;
        let numbers = &self.numbers[start..][..MAX_VECTORS * LANES].as_chunks::<LANES>().0;
        let mut vectors = std::array::from_fn(|v| F64x4(numbers[v]));
        vectors[V - 1] = vectors[V - 1].masked(&self.mask);
        vectors
    }
}

/// Returns whether the decays of a class can be computed in parallel.
#[inline(always)]
fn has_safe_variances<const V: usize>(moments: &Moments<V>, class: &Class) -> bool {
    let (_, products, inverses) = moments.decays(class.observed - 1.0);
    is_safe(products, inverses)
}

impl<const V: usize> Models<V> {
    /// Predicts and learns a block of rows at the only model, by [`StagedBlock::interleave`]; returns false if that is
    /// impossible, also because a number is missing.
    #[inline(always)]
    pub fn interleave_staged(
        &mut self,
        staged: &mut StagedBlock<V>,
        block: &Block<'_>,
        predictions: &mut [i32],
    ) -> bool {
        let (n, n_columns) = (block.labels.len(), self.layout.n_columns);
        let ([summary, ..], [pair, ..]) = self.class_pairs() else { return false };
        if summary.fresh {
            return false;
        }
        // A row is followed by the next one, except at the end of the batch.
        if block.x.len() >= n * n_columns + MAX_VECTORS * LANES {
            staged.interleave((summary, pair), &RowTable::new(block.x, n_columns), block, predictions)
        } else {
            staged.interleave_last((summary, pair), n_columns, block, predictions)
        }
    }
}
