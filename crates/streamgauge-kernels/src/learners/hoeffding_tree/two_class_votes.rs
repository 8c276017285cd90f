//! The votes for rows of two classes, computed for four rows at a time.

use std::ops::Range;

use super::two_class::TwoClassBlock;
use crate::learners::bayes::{RULED_OUT, find_likelier, relative_likelihood};
use crate::learners::f64x4::LANES;
use crate::learners::rows::BLOCK;
use crate::learners::{ABSTAINED, Block};

/// The log-likelihoods and predictions of the rows of a block. Booleans are words with all bits set or none, so that a
/// selection needs no branch.
#[derive(Debug, Clone)]
pub(super) struct TwoClassVotes {
    /// Per class, the log-likelihoods.
    logs: [[f64; BLOCK]; 2],
    /// Whether the second class wins.
    second_wins: [u64; BLOCK],
    /// Whether the weights of the classes vote, rather than naive Bayes.
    majority_votes: [u64; BLOCK],
    /// The part of the log-likelihood of a row's class after the row that does not depend on a row.
    log_bases: [f64; BLOCK],
    /// Whether the majority predicts after the row.
    majority_rechecks: [bool; BLOCK],
}

impl TwoClassVotes {
    /// Creates a buffer.
    pub fn new() -> Self {
        Self {
            logs: [[0.0; BLOCK]; 2],
            second_wins: [0; BLOCK],
            majority_votes: [0; BLOCK],
            log_bases: [0.0; BLOCK],
            majority_rechecks: [false; BLOCK],
        }
    }

    /// Records the log-likelihoods of a row, the greater one, the predicted class and whether the majority predicts it.
    #[inline(always)]
    pub fn record(&mut self, i: usize, logs: [f64; 2], most: f64, predicted: i32, majority_predicts: bool) {
        let i = i % BLOCK;
        (self.logs[0][i], self.logs[1][i]) = (logs[0], logs[1]);
        self.second_wins[i] = to_mask(predicted > 0);
        self.majority_votes[i] = to_mask(majority_predicts | (most <= RULED_OUT));
    }

    /// Records the prediction of a row after it was learnt.
    #[inline(always)]
    pub fn record_recheck(&mut self, i: usize, log_base: f64, majority_predicts: bool) {
        self.log_bases[i % BLOCK] = log_base;
        self.majority_rechecks[i % BLOCK] = majority_predicts;
    }

    /// Predicts rows.
    #[inline(always)]
    pub fn predict(&self, block: &Block<'_>, rows: Range<usize>, predictions: &mut [i32]) {
        for (i, prediction) in (rows.start..BLOCK).zip(predictions) {
            *prediction = if block.tests[i] { (self.second_wins[i] & 1) as i32 } else { ABSTAINED };
        }
    }

    /// Predicts rows after they were learnt.
    #[inline(always)]
    pub fn recheck(&self, state: &TwoClassBlock, block: &Block<'_>, rows: Range<usize>, predictions: &mut [i32]) {
        let labels = &block.labels[rows.clone()];
        for (i, (prediction, &label)) in (rows.start..BLOCK).zip(predictions.iter_mut().zip(labels)) {
            let now = self.log_bases[i] + state.recheck_sums[i].sum();
            let mut logs = [self.logs[0][i], self.logs[1][i]];
            // Only the log-likelihood of the row's class has changed.
            let own_log = &mut logs[label as usize % 2];
            *own_log = if block.weights[i] > 0.0 { now } else { *own_log };
            let majority = state.majorities[i];
            let (likeliest, _) = find_likelier(logs, majority);
            let predicted = if self.majority_rechecks[i] { majority } else { likeliest };
            *prediction = if label >= 0 { predicted } else { ABSTAINED };
        }
    }

    /// Writes the votes for rows: shares that add up to 1, the winner ahead of an earlier class.
    #[inline(always)]
    pub fn vote(&self, state: &TwoClassBlock, block: &Block<'_>, rows: Range<usize>, votes: &mut [f64]) {
        let mut shares = [[0.0; 2]; BLOCK];
        let fours = rows.start / LANES..rows.end.div_ceil(LANES).min(BLOCK / LANES);
        let [first, second] = &state.weights;
        for i in fours.start * LANES..fours.end * LANES {
            let second_wins = self.second_wins[i];
            let (winner, loser) = swap_if(second_wins, cap_weight(first[i]), cap_weight(second[i]));
            let by_weight = loser / winner;
            let (winner, loser) = swap_if(second_wins, self.logs[0][i], self.logs[1][i]);
            // The likelihood of the winner relative to itself is 1.
            let loser = select(self.majority_votes[i], by_weight, relative_likelihood(loser - winner));
            let sum = 1.0 + loser;
            let (winner, loser) = (1.0 / sum, loser / sum);
            // Of equals the first class wins, so that the second must be ahead to win.
            let most = f64::from_bits(winner.to_bits().wrapping_sub(second_wins & 1));
            let loser = if loser < most { loser } else { most };
            (shares[i][0], shares[i][1]) = swap_if(second_wins, winner, loser);
        }
        for (i, (votes, shares)) in rows.clone().zip(votes.as_chunks_mut::<2>().0.iter_mut().zip(&shares[rows])) {
            *votes = if block.tests[i % BLOCK] { *shares } else { [0.0; 2] };
        }
    }
}

/// Returns a word with all bits set, or none.
#[inline(always)]
fn to_mask(truth: bool) -> u64 {
    u64::from(truth).wrapping_neg()
}

/// Returns `first` where the mask is set, else `second`, without a branch.
#[inline(always)]
fn select(mask: u64, first: f64, second: f64) -> f64 {
    f64::from_bits((first.to_bits() & mask) | (second.to_bits() & !mask))
}

/// Returns two numbers, swapped where the mask is set.
#[inline(always)]
fn swap_if(mask: u64, first: f64, second: f64) -> (f64, f64) {
    (select(mask, second, first), select(mask, first, second))
}

/// Returns a weight, or the greatest number if it is infinite.
#[inline(always)]
fn cap_weight(weight: f64) -> f64 {
    if weight < f64::MAX { weight } else { f64::MAX }
}
