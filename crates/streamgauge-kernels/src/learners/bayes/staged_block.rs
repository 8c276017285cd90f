//! Blocks of rows of two classes, learnt and predicted in stages: each stage goes over all rows before the next begins.
//!
//! What a row does to a model is a long chain of operations: means, squared deviations, a division, densities, a
//! logarithm, a comparison. One row's chain fills what the processor looks ahead, so that rows hardly overlap. But only
//! the first links wait for the row before. So every state of a class within the block is kept in a slot of its own, and
//! all later links are worked out for one row beside the other.

use super::deferred::{ClassPair, find_likelier};
use super::gaussian::{Class, Decays, Moments, is_safe};
use super::observe::{has_variance, log_base, scale_log_base};
use super::{ModelSummary, Models};
use crate::dispatch;
use crate::learners::f64x4::{F64x4, LANES, Mask, mask_first};
use crate::learners::rows::{BLOCK, MAX_VECTORS};
use crate::learners::{ABSTAINED, Block};

/// How many states there are room for: those after each row and, at [`INITIAL`], those of both classes before all rows.
/// A power of two, so that a mask keeps indices in bounds.
const N_STATES: usize = 64;

/// Where the states before all rows stand.
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
    /// Per row, the slots of both classes before it.
    before: [[u8; 2]; BLOCK],
    /// Per class and row, the logarithms of the densities before it: lane by lane, and added up.
    sums: [[F64x4; BLOCK]; 2],
    totals: [[f64; BLOCK]; 2],
}

impl<const V: usize> StagedBlock<V> {
    /// No rows.
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

    /// Predict and learn a block of rows.
    ///
    /// False where variances do not allow to work them out quickly; then nothing has changed. So it is where a number is
    /// missing or infinite, since no variance is a number then.
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

    /// The same for the last rows of a batch, of which a copy is made: to clear room for one in every block takes time.
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

    /// What is known of a class in a slot.
    #[inline(always)]
    fn class(&self, state: usize) -> Class {
        let state = state % N_STATES;
        let (weight, observed, log_base) = (self.weights[state], self.observed[state], self.log_bases[state]);
        Class { weight, observed, log_base, has_missing: false }
    }

    /// Take in all rows, each into a slot of its own; gives the last slot of each class, and `total` with the weights
    /// of all rows added.
    ///
    /// A row of weight 0 leaves its class as it is, bit for bit, so that no branch is needed, which would be guessed wrong.
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

    /// Set the decays after each row; false where that does not work.
    #[inline(always)]
    fn compute_decays(&mut self, n: usize) -> bool {
        for i in 0..n.min(BLOCK) {
            let (decays, products, inverses) = self.moments[i].decays(self.observed[i] - 1.0);
            (self.decays[i], self.products[i]) = (decays, products.product());
            // At once: else the compiler works on four rows at a time, which it first has to transpose.
            if !is_safe(products, inverses) {
                return false;
            }
        }
        true
    }

    /// Work out the densities of both classes before each row.
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

    /// Work out what does not depend on a row.
    #[inline(always)]
    fn take_logarithms(&mut self, n: usize, n_columns: usize) {
        // In whole fours, which the compiler then works out side by side.
        let n = n.next_multiple_of(4).min(BLOCK);
        for i in 0..n {
            let scale = scale_log_base(self.observed[i] - 1.0, n_columns, self.weights[i]);
            self.log_bases[i] = log_base(self.products[i], scale, n_columns);
        }
    }

    /// Compare the classes.
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

/// Rows of numbers, one after the other, as they stand in a batch.
#[derive(Debug, Clone, Copy)]
pub(in crate::learners) struct RowTable<'a, const V: usize> {
    numbers: &'a [f64],
    n_columns: usize,
    /// Hides what follows a row in its last lane.
    mask: Mask,
}

impl<'a, const V: usize> RowTable<'a, V> {
    /// Rows, and enough after them that lanes can be read.
    fn new(numbers: &'a [f64], n_columns: usize) -> Self {
        // Hidden from the compiler, which would otherwise compare places rather than use the bits.
        Self { numbers, n_columns, mask: std::hint::black_box(mask_first(n_columns - (V - 1) * LANES)) }
    }

    /// A row, padded with 0.
    #[inline(always)]
    fn row(&self, i: usize) -> [F64x4; V] {
        let start = i * self.n_columns;
        let numbers = &self.numbers[start..][..MAX_VECTORS * LANES].as_chunks::<LANES>().0;
        let mut vectors = std::array::from_fn(|v| F64x4(numbers[v]));
        vectors[V - 1] = vectors[V - 1].masked(&self.mask);
        vectors
    }
}

/// Whether the decays of a class can be set quickly.
#[inline(always)]
fn has_safe_variances<const V: usize>(moments: &Moments<V>, class: &Class) -> bool {
    let (_, products, inverses) = moments.decays(class.observed - 1.0);
    is_safe(products, inverses)
}

impl<const V: usize> Models<V> {
    /// Predict and learn a block of rows at the only model, as [`StagedBlock::interleave`] does; false also where a number is
    /// missing.
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
        // What follows a row is the next one, unless all ends there.
        if block.x.len() >= n * n_columns + MAX_VECTORS * LANES {
            staged.interleave((summary, pair), &RowTable::new(block.x, n_columns), block, predictions)
        } else {
            staged.interleave_last((summary, pair), n_columns, block, predictions)
        }
    }
}
