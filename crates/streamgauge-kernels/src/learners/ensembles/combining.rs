//! Blocks of rows, and the combination of the members' votes.

use crate::dispatch;
use crate::learners::{ABSTAINED, Schema, Step, find_winner};

/// The approximate number of votes of a member for a block.
const BLOCK_VOTES: usize = 2_048;

/// Returns the number of rows that members process at a time: enough for a model to stay in the cache, few enough for
/// the votes to do so.
pub(super) fn block_length(schema: &Schema) -> usize {
    (BLOCK_VOTES / schema.n_classes).clamp(32, 1_024)
}

/// Some rows of a step.
pub(super) struct Block<'a> {
    /// The rows, and which of them to test and to learn.
    pub step: Step<'a>,
    /// The indices of the rows to learn, within the block.
    pub learnt: Vec<usize>,
    /// Whether any row is tested.
    pub tested: bool,
}

impl Block<'_> {
    /// Moves a value per learnt row to its row, multiplied by the weight of the row; other rows get 0.
    pub fn spread(&self, weights: &mut [f64]) {
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

/// Splits a step into blocks, and calls `visit` with each block and its part of the predictions and votes.
pub(super) fn for_each_block(
    schema: &Schema,
    step: &Step<'_>,
    predictions: &mut [i32],
    mut votes: Option<&mut [f64]>,
    mut visit: impl FnMut(&Block<'_>, &mut [i32], Option<&mut [f64]>),
) {
    let (d, n_classes, length) = (schema.n_attributes(), schema.n_classes, block_length(schema));
    for (i, predictions) in predictions.chunks_mut(length).enumerate() {
        let rows = i * length..i * length + predictions.len();
        let part = step.slice(rows.clone(), d);
        let learnt = (0..rows.len()).filter(|&row| part.weight(row) > 0.0).collect();
        let tested = part.test.is_none_or(|test| test.contains(&true));
        let votes = votes.as_deref_mut().map(|votes| &mut votes[rows.start * n_classes..rows.end * n_classes]);
        visit(&Block { step: part, learnt, tested }, predictions, votes);
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
    for (combined, votes) in combined.chunks_exact_mut(n_classes).zip(votes.chunks_exact(n_classes)) {
        add_share(votes, 1.0, combined);
    }
}

/// Adds a member's votes for one row, scaled to a sum of `weight`.
pub(super) fn add_share(votes: &[f64], weight: f64, combined: &mut [f64]) {
    let sum: f64 = votes.iter().sum();
    let scale = if sum > 0.0 { sum } else { 1.0 };
    for (combined, vote) in combined.iter_mut().zip(votes) {
        *combined += weight * (vote / scale);
    }
}

/// Predicts the winners of the tested rows.
pub(super) fn predict_winners(n_classes: usize, step: &Step<'_>, combined: &[f64], predictions: &mut [i32]) {
    for (i, (prediction, votes)) in predictions.iter_mut().zip(combined.chunks_exact(n_classes)).enumerate() {
        *prediction = if step.tests(i) { find_winner(votes) } else { ABSTAINED };
    }
}
