//! Steps with votes: the log-likelihoods of naive Bayes are computed once, for voting and learning.

use std::ops::Range;

use super::nodes::FIRST_FROZEN;
use super::two_class::TwoClassBlock;
use super::{HoeffdingTree, LeafPrediction};
use crate::dispatch;
use crate::learners::bayes::{RULED_OUT, normalise_likelihoods, normalise_weights, relative_likelihood};
use crate::learners::rows::{BLOCK, Row, Rows};
use crate::learners::{ABSTAINED, Block, Learner, Step, find_winner};

/// What the votes for a row still lack.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Votes {
    /// Nothing.
    Complete,
    /// They are weights, which must be scaled; the class has the greatest.
    Weights(i32),
    /// They must be computed from the log-likelihoods; the class has the greatest.
    LogLikelihoods(i32),
}

/// The predictions and votes for the rows of a block.
pub(super) struct VoteBuffer<'a> {
    /// Whether `predictions` are those after learning (a recheck) rather than before.
    pub rechecks: bool,
    pub predictions: &'a mut [i32],
    pub votes: &'a mut [f64],
    /// Per row and class, the log-likelihood.
    pub logs: &'a mut [f64],
    /// Per row, the greatest log-likelihood.
    pub max_logs: &'a mut [f64],
    /// Per row, what `votes` lack.
    pub states: &'a mut [Votes],
}

impl<const V: usize> HoeffdingTree<V> {
    /// Votes for the tested rows of a step and learns it. The predictions are those before learning or, if it
    /// `rechecks`, those of all labelled rows after learning.
    pub(super) fn vote_step(&mut self, step: &Step<'_>, predictions: &mut [i32], votes: &mut [f64], rechecks: bool) {
        let (d, n_classes) = (self.schema.n_attributes(), self.schema.n_classes);
        dispatch::run(
            #[inline(always)]
            || {
                let mut state = TwoClassBlock::new();
                for (block, predictions, votes) in step.blocks(d, n_classes, predictions, Some(&mut *votes)) {
                    let votes = votes.unwrap_or_default();
                    match self.options.subspace {
                        None => self.vote_block::<false>(&block, &mut state, predictions, votes, rechecks),
                        Some(_) => self.vote_block::<true>(&block, &mut state, predictions, votes, rechecks),
                    }
                }
            },
        );
    }

    /// Predicts and learns a block of rows like [`HoeffdingTree::interleave_block`], and votes for the tested ones.
    #[inline(always)]
    fn vote_block<const IN_SUBSPACES: bool>(
        &mut self,
        block: &Block<'_>,
        state: &mut TwoClassBlock,
        predictions: &mut [i32],
        votes: &mut [f64],
        rechecks: bool,
    ) {
        let mut rows = std::mem::replace(&mut self.rows, Rows::empty());
        let mut logs = std::mem::take(&mut self.logs);
        logs.resize(BLOCK * self.schema.n_classes, 0.0);
        let mut end_nodes = [0; BLOCK];
        let end_nodes = &mut end_nodes[..predictions.len()];
        let complete = self.route_rows::<IN_SUBSPACES>(block, &mut rows, (end_nodes, &mut state.leaves));
        let (max_logs, states) = (&mut [0.0; BLOCK][..], &mut [Votes::Complete; BLOCK][..]);
        let mut vote_buffer = VoteBuffer { rechecks, predictions, votes, logs: &mut logs, max_logs, states };
        if complete && self.has_two_class_path() {
            self.interleave_two_class::<IN_SUBSPACES, true>(block, (&mut rows, end_nodes), state, &mut vote_buffer);
        } else {
            for (i, &mut end) in end_nodes.iter_mut().enumerate() {
                let (node, leaf) = self.find_row_leaf::<IN_SUBSPACES>(end, block, &mut rows, i);
                self.vote_row(node, leaf, block, rows.row(i), i, &mut vote_buffer);
            }
            vote_buffer.normalise(0..end_nodes.len());
        }
        (self.rows, self.logs) = (rows, logs);
    }

    /// Votes for a row of a block at its leaf, and learns it.
    #[inline(always)]
    pub(super) fn vote_row(
        &mut self,
        node: u32,
        leaf: usize,
        block: &Block<'_>,
        row: Row<'_, V>,
        i: usize,
        vote_buffer: &mut VoteBuffer<'_>,
    ) {
        let (d, n_classes) = (self.schema.n_attributes(), self.schema.n_classes);
        let (x, tested) = (&block.x[i * d..(i + 1) * d], block.tests[i % BLOCK]);
        let (label, weight) = (block.labels[i], block.weights[i % BLOCK]);
        let wanted = if vote_buffer.rechecks { label >= 0 } else { tested };
        let votes = &mut vote_buffer.votes[i * n_classes..(i + 1) * n_classes];
        let logs = &mut vote_buffer.logs[i * n_classes..(i + 1) * n_classes];
        let (prediction, most) = (&mut vote_buffer.predictions[i], &mut vote_buffer.max_logs[i % BLOCK]);
        if leaf >= FIRST_FROZEN {
            votes.fill(0.0);
            if tested {
                self.frozen.vote(leaf - FIRST_FROZEN, votes);
            }
            let predicted = self.step_frozen(leaf, label, weight);
            let predicted = if vote_buffer.rechecks && weight > 0.0 { self.predict_from_root(x) } else { predicted };
            *prediction = if wanted { predicted } else { ABSTAINED };
            return;
        }
        let majority = self.models.summary(leaf).majority;
        let majority_predicts = self.majority_predicts(leaf);
        let counts_bayes = weight > 0.0 && self.options.leaf_prediction == LeafPrediction::Adaptive;
        let mut class = majority;
        if counts_bayes || !majority_predicts {
            (class, *most) = self.models.log_likelihoods(leaf, row, logs);
        }
        let by_bayes = !majority_predicts && *most > RULED_OUT;
        if tested && by_bayes {
            vote_buffer.states[i % BLOCK] = Votes::LogLikelihoods(class);
        } else if tested {
            if self.models.write_weights(leaf, votes) {
                vote_buffer.states[i % BLOCK] = Votes::Weights(majority);
            }
        } else {
            votes.fill(0.0);
        }
        let predicted = if majority_predicts { majority } else { class };
        *prediction = if wanted { predicted } else { ABSTAINED };
        if weight > 0.0 {
            let before = if vote_buffer.rechecks {
                Some((self.models.is_fresh(leaf), self.models.group_length(leaf)))
            } else {
                None
            };
            self.learn_at(node, leaf, row, label, weight, class);
            if let Some((is_fresh, length)) = before {
                *prediction = if self.nodes.leaf(node).is_some() {
                    let still_valid = !is_fresh && !row.has_missing() && self.models.group_length(leaf) == length;
                    self.recheck_row(leaf, row, label, if still_valid { Some(&*logs) } else { None })
                } else {
                    self.predict_from_root(x)
                };
            }
        }
    }

    /// Predicts a row that its leaf has just learnt; `logs` are the log-likelihoods before learning, if those of the
    /// other classes are still valid.
    #[inline(always)]
    pub(super) fn recheck_row(&self, leaf: usize, row: Row<'_, V>, label: i32, logs: Option<&[f64]>) -> i32 {
        if self.majority_predicts(leaf) {
            return self.models.summary(leaf).majority;
        }
        match logs {
            Some(logs) => self.models.find_likeliest_after(leaf, row, label as usize, logs),
            None => self.models.find_likeliest(leaf, row),
        }
    }

    /// Predicts a row whose leaf has just split or is frozen.
    #[cold]
    #[inline(never)]
    pub(super) fn predict_from_root(&self, x: &[f64]) -> i32 {
        let mut votes = vec![0.0; self.schema.n_classes];
        self.vote(x, &mut votes);
        find_winner(&votes)
    }
}

impl<'a> VoteBuffer<'a> {
    /// Creates a buffer for predictions before learning, without votes.
    #[inline(always)]
    pub fn without_votes(predictions: &'a mut [i32]) -> Self {
        Self { rechecks: false, predictions, votes: &mut [], logs: &mut [], max_logs: &mut [], states: &mut [] }
    }

    /// Completes the votes for rows.
    #[inline(always)]
    pub fn normalise(&mut self, rows: Range<usize>) {
        if self.states[rows.clone()].iter().all(|&state| state == Votes::Complete) {
            return;
        }
        // The most frequent case, with loops of a constant length.
        if self.logs.len() == 2 * BLOCK {
            self.normalise_classes(rows, 2);
        } else {
            self.normalise_classes(rows, self.logs.len() / BLOCK);
        }
    }

    /// Does the same for a number of classes.
    #[inline(always)]
    fn normalise_classes(&mut self, rows: Range<usize>, n_classes: usize) {
        let (range, states) = (rows.start * n_classes..rows.end * n_classes, &self.states[rows.clone()]);
        let logs = &mut self.logs[range.clone()];
        if states.iter().any(|state| matches!(state, Votes::LogLikelihoods(_))) {
            for (logs, &most) in logs.chunks_exact_mut(n_classes).zip(&self.max_logs[rows]) {
                for log in logs {
                    *log -= most;
                }
            }
            // In one loop over all rows and classes, which the compiler vectorises.
            for log in logs.iter_mut() {
                *log = relative_likelihood(*log);
            }
        }
        let shares = self.votes[range].chunks_exact_mut(n_classes).zip(logs.chunks_exact(n_classes));
        for ((votes, logs), &state) in shares.zip(states) {
            match state {
                Votes::Complete => {}
                Votes::Weights(best) => normalise_weights(votes, best as usize),
                Votes::LogLikelihoods(best) => {
                    votes.copy_from_slice(logs);
                    normalise_likelihoods(votes, best as usize);
                }
            }
        }
    }
}
