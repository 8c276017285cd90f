//! Blocks of rows, and the combination of the members' votes.

use std::ops::Range;

use crate::dispatch;
use crate::learners::bayes::sum_votes;
use crate::learners::f64x4::{F64x4, LANES};
use crate::learners::{ABSTAINED, Schema, Step, find_winner};
use crate::randomness::{Draws, Poisson, poisson_quantile};

/// The approximate number of votes of a member for a block.
const BLOCK_VOTES: usize = 2_048;

/// Returns the number of rows that members process at a time: enough for a model to stay in the cache, few enough for
/// the votes to do so.
pub(super) fn block_length(schema: &Schema) -> usize {
    (BLOCK_VOTES / schema.n_classes).clamp(32, 1_024)
}

/// Some rows of a step.
pub(super) struct Block<'a> {
    /// Their indices in the step.
    pub rows: Range<usize>,
    /// The rows, and which of them to test and to learn.
    pub step: Step<'a>,
    /// The indices of the rows to learn, within the block.
    pub learnt: Vec<usize>,
    /// The number of rows learnt before.
    pub n_learnt: u64,
    /// Whether any row is tested.
    pub tested: bool,
}

impl<'a> Block<'a> {
    fn new(schema: &Schema, step: &Step<'a>, rows: Range<usize>, n_learnt: u64) -> Self {
        let part = step.slice(rows.clone(), schema.n_attributes());
        let learnt = (0..rows.len()).filter(|&row| part.weight(row) > 0.0).collect();
        let tested = part.test.is_none_or(|test| test.contains(&true));
        Self { rows, step: part, learnt, n_learnt, tested }
    }

    /// Writes the weights with which a member learns the rows: those of the rows times Poisson numbers.
    pub fn draw_weights(&self, draws: Draws, poisson: &Poisson, weights: &mut [f64]) {
        poisson.fill(draws, self.n_learnt, &mut weights[..self.learnt.len()]);
        self.spread(weights);
    }

    /// Writes the weights with which a member learns the rows, if each learnt row has a Poisson mean of its own.
    pub fn draw_weights_of_means(&self, draws: Draws, means: &[f64], weights: &mut [f64]) {
        for ((weight, &mean), row) in weights.iter_mut().zip(means).zip(self.n_learnt..) {
            *weight = f64::from(poisson_quantile(mean, draws.at(row)));
        }
        self.spread(weights);
    }

    /// Moves a value per learnt row to its row, multiplied by the weight of the row; other rows get 0.
    fn spread(&self, weights: &mut [f64]) {
        // From the last row on, so that no number is overwritten before it is moved to its row.
        let mut end = weights.len();
        for (j, &row) in self.learnt.iter().enumerate().rev() {
            let weight = weights[j];
            weights[row + 1..end].fill(0.0);
            weights[row] = weight * self.step.weight(row);
            end = row;
        }
        weights[..end].fill(0.0);
    }
}

/// Splits a step into blocks. `n_learnt` is the number of rows learnt before the step.
pub(super) fn split_into_blocks<'a>(
    schema: &Schema,
    step: &Step<'a>,
    mut n_learnt: u64,
) -> impl Iterator<Item = Block<'a>> {
    let (n, length) = (step.y.len(), block_length(schema));
    (0..n).step_by(length).map(move |start| {
        let block = Block::new(schema, step, start..n.min(start + length), n_learnt);
        n_learnt += block.learnt.len() as u64;
        block
    })
}

/// Calls `visit` with each block of a step and its part of the predictions and votes.
pub(super) fn for_each_block(
    schema: &Schema,
    step: &Step<'_>,
    predictions: &mut [i32],
    mut votes: Option<&mut [f64]>,
    mut visit: impl FnMut(&Block<'_>, &mut [i32], Option<&mut [f64]>),
) {
    let n_classes = schema.n_classes;
    for block in split_into_blocks(schema, step, 0) {
        let rows = block.rows.clone();
        let votes = votes.as_deref_mut().map(|votes| &mut votes[rows.start * n_classes..rows.end * n_classes]);
        visit(&block, &mut predictions[rows], votes);
    }
}

/// Adds a member's votes for rows to `combined`, those of each row scaled to a sum of 1.
pub(super) fn add_shares(n_classes: usize, votes: &[f64], combined: &mut [f64]) {
    if n_classes == 2 {
        // The most frequent case, without an inner loop.
        return dispatch::run(
            #[inline(always)]
            || {
                for (combined, votes) in combined.as_chunks_mut::<2>().0.iter_mut().zip(votes.as_chunks::<2>().0) {
                    let sum = votes[0] + votes[1];
                    let scale = if sum > 0.0 { sum } else { 1.0 };
                    combined[0] += votes[0] / scale;
                    combined[1] += votes[1] / scale;
                }
            },
        );
    }
    dispatch::run(
        #[inline(always)]
        || {
            for (combined, votes) in combined.chunks_exact_mut(n_classes).zip(votes.chunks_exact(n_classes)) {
                add_share(votes, 1.0, combined);
            }
        },
    );
}

/// Adds a member's votes for one row, scaled to a sum of `weight`.
#[inline(always)]
pub(super) fn add_share(votes: &[f64], weight: f64, combined: &mut [f64]) {
    let sum = sum_votes(votes);
    let scale = if sum > 0.0 { sum } else { 1.0 };
    let ((fours, rest), (votes, last)) = (combined.as_chunks_mut::<LANES>(), votes.as_chunks::<LANES>());
    for (combined, &votes) in fours.iter_mut().zip(votes) {
        *combined = F64x4(*combined).zip(F64x4(votes), |combined, vote| combined + weight * (vote / scale)).0;
    }
    for (combined, vote) in rest.iter_mut().zip(last) {
        *combined += weight * (vote / scale);
    }
}

/// Where an ensemble adds up the votes of its members, block by block.
pub(super) struct Output<'a> {
    n_classes: usize,
    predictions: &'a mut [i32],
    votes: Option<&'a mut [f64]>,
    /// The votes for a block, if the caller does not ask for them.
    scratch: Vec<f64>,
}

impl<'a> Output<'a> {
    /// Wraps the columns of a step.
    pub fn new(n_classes: usize, predictions: &'a mut [i32], votes: Option<&'a mut [f64]>) -> Self {
        Self { n_classes, predictions, votes, scratch: vec![] }
    }

    /// Adds the votes of a member for a block, those of each row scaled to a sum of 1; those of the first member
    /// replace what was there.
    pub fn add(&mut self, block: &Block<'_>, i: usize, member_votes: &[f64]) {
        let n_classes = self.n_classes;
        let combined = self.combined(block);
        if i == 0 {
            combined.fill(0.0);
        }
        if block.tested {
            add_shares(n_classes, member_votes, combined);
        }
    }

    /// Predicts the winners of the tested rows of a block.
    pub fn finish(&mut self, block: &Block<'_>) {
        let n_classes = self.n_classes;
        let predictions = std::mem::take(&mut self.predictions);
        predict_winners(n_classes, &block.step, self.combined(block), &mut predictions[block.rows.clone()]);
        self.predictions = predictions;
    }

    fn combined(&mut self, block: &Block<'_>) -> &mut [f64] {
        let (start, end) = (block.rows.start * self.n_classes, block.rows.end * self.n_classes);
        if let Some(votes) = &mut self.votes {
            return &mut votes[start..end];
        }
        self.scratch.resize(end - start, 0.0);
        &mut self.scratch
    }
}

/// Predicts the winners of the tested rows.
pub(super) fn predict_winners(n_classes: usize, step: &Step<'_>, combined: &[f64], predictions: &mut [i32]) {
    for (i, (prediction, votes)) in predictions.iter_mut().zip(combined.chunks_exact(n_classes)).enumerate() {
        *prediction = if step.tests(i) { find_winner(votes) } else { ABSTAINED };
    }
}
