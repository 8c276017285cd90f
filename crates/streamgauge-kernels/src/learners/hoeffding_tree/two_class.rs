//! Blocks of rows of two classes without missing values: learnt one after the other, then predicted together.
//!
//! [`DeferredRows`] explains why this is faster.

use std::ops::Range;

use super::two_class_votes::TwoClassVotes;
use super::voting::VoteBuffer;
use super::{HoeffdingTree, LeafPrediction};
use crate::dispatch;
use crate::learners::bayes::{DeferredRows, find_likelier};
use crate::learners::f64x4::F64x4;
use crate::learners::rows::{BLOCK, Rows};
use crate::learners::{ABSTAINED, Block};

/// The rows of a block that are learnt but not yet predicted, each with its leaf.
#[derive(Debug, Clone)]
pub(super) struct TwoClassBlock {
    pub deferred: DeferredRows,
    pub leaves: [u32; BLOCK],
    /// Per class, its weight before the row, for votes.
    pub weights: [[f64; BLOCK]; 2],
    /// The majority after the row, and the log densities of its class after it, for a recheck.
    pub majorities: [i32; BLOCK],
    pub recheck_sums: [F64x4; BLOCK],
    /// The predictions and votes of the leaves, for votes.
    votes: TwoClassVotes,
}

impl TwoClassBlock {
    /// Creates an empty block.
    pub fn new() -> Self {
        Self {
            deferred: DeferredRows::new(),
            leaves: [0; BLOCK],
            weights: [[0.0; BLOCK]; 2],
            majorities: [ABSTAINED; BLOCK],
            recheck_sums: [F64x4::ZERO; BLOCK],
            votes: TwoClassVotes::new(),
        }
    }
}

/// Why learning stopped before or after a row.
pub(super) enum StopReason {
    /// All rows of the block are learnt.
    BlockEnd,
    /// The last row needs a refresh of its class that cannot be deferred.
    NeedsRefresh,
    /// The leaf of the last row is due for an attempt to split.
    SplitDue,
    /// The next row cannot be deferred: its leaf is untrained or frozen, or has split.
    NeedsSingleStep,
}

impl<const V: usize> HoeffdingTree<V> {
    /// Returns whether the predictions of rows without missing values can be deferred.
    #[inline(always)]
    pub(super) fn has_two_class_path(&self) -> bool {
        self.models.has_two_class_path() && self.options.leaf_prediction != LeafPrediction::Majority
    }

    /// Predicts and learns a block of rows that were routed to the given nodes, with their votes if `FOR_VOTES`.
    #[inline(always)]
    pub(super) fn interleave_two_class<const IN_SUBSPACES: bool, const FOR_VOTES: bool>(
        &mut self,
        block: &Block<'_>,
        (rows, end_nodes): (&mut Rows<V>, &[u32]),
        state: &mut TwoClassBlock,
        vote_buffer: &mut VoteBuffer<'_>,
    ) {
        self.gather_block::<IN_SUBSPACES>(block, rows, &state.leaves[..end_nodes.len()]);
        // Rows from `first_unpredicted` to `start` are learnt but not predicted.
        let (mut first_unpredicted, mut start) = (0, 0);
        while start < end_nodes.len() {
            let grace_period = self.options.grace_period;
            let (next, reason) =
                self.learn_rows::<FOR_VOTES>(block, rows, state, start, (grace_period, vote_buffer.rechecks));
            start = next;
            match reason {
                StopReason::BlockEnd => {}
                StopReason::SplitDue => {
                    let (node, leaf) = (end_nodes[next - 1], state.leaves[(next - 1) % BLOCK] as usize);
                    // Most attempts fail and change nothing, so that predictions can stay deferred.
                    if let Some(split) = self.find_split(leaf) {
                        self.predict_rows::<FOR_VOTES>(block, state, first_unpredicted..next, vote_buffer);
                        first_unpredicted = next;
                        self.apply_split(node, leaf, split);
                        self.recheck_after_split(node, block, next - 1, vote_buffer);
                        self.nodes.find_leaves(&end_nodes[next..], &mut state.leaves[next..]);
                    }
                }
                StopReason::NeedsRefresh => {
                    self.predict_rows::<FOR_VOTES>(block, state, first_unpredicted..next, vote_buffer);
                    first_unpredicted = next;
                    let (node, leaf) = (end_nodes[next - 1], state.leaves[(next - 1) % BLOCK] as usize);
                    self.refresh_leaf(node, leaf, block, rows, next - 1, vote_buffer);
                    self.nodes.find_leaves(&end_nodes[next..], &mut state.leaves[next..]);
                }
                StopReason::NeedsSingleStep => {
                    self.predict_rows::<FOR_VOTES>(block, state, first_unpredicted..next, vote_buffer);
                    let (node, leaf) = self.find_row_leaf::<IN_SUBSPACES>(end_nodes[next], block, rows, next);
                    if FOR_VOTES {
                        self.vote_row(node, leaf, block, rows.row(next), next, vote_buffer);
                        vote_buffer.normalise(next..next + 1);
                    } else {
                        vote_buffer.predictions[next] = self.step_row(node, leaf, block, rows.row(next), next);
                    }
                    (first_unpredicted, start) = (next + 1, next + 1);
                    self.nodes.find_leaves(&end_nodes[start..], &mut state.leaves[start..]);
                }
            }
        }
        self.predict_rows::<FOR_VOTES>(block, state, first_unpredicted..end_nodes.len(), vote_buffer);
    }

    /// Refreshes the class of a row that could not be deferred, and attempts to split its leaf if that is due.
    #[cold]
    #[inline(never)]
    fn refresh_leaf(
        &mut self,
        node: u32,
        leaf: usize,
        block: &Block<'_>,
        rows: &Rows<V>,
        i: usize,
        vote_buffer: &mut VoteBuffer<'_>,
    ) {
        let label = block.labels[i];
        self.models.refresh(leaf, label as usize);
        if vote_buffer.rechecks {
            vote_buffer.predictions[i] = self.recheck_row(leaf, rows.row(i), label, None);
        }
        if self.models.summary(leaf).since >= self.options.grace_period {
            self.attempt_to_split(node, leaf);
            self.recheck_after_split(node, block, i, vote_buffer);
        }
    }

    /// Rechecks a row whose leaf may have split, if rows are rechecked.
    fn recheck_after_split(&self, node: u32, block: &Block<'_>, i: usize, vote_buffer: &mut VoteBuffer<'_>) {
        if vote_buffer.rechecks && self.nodes.leaf(node).is_none() {
            let d = self.schema.n_attributes();
            vote_buffer.predictions[i] = self.predict_from_root(&block.x[i * d..(i + 1) * d]);
        }
    }

    /// Learns rows from `start` on and defers their predictions, as far as possible; returns the row after the last
    /// one. Attempts to split are due after `grace_period`.
    ///
    /// Not inlined, like [`HoeffdingTree::predict_rows`]: each loop needs all registers.
    #[inline(never)]
    pub(super) fn learn_rows<const FOR_VOTES: bool>(
        &mut self,
        block: &Block<'_>,
        rows: &Rows<V>,
        state: &mut TwoClassBlock,
        start: usize,
        (grace_period, rechecks): (f64, bool),
    ) -> (usize, StopReason) {
        dispatch::run(
            #[inline(always)]
            || {
                if block.plain {
                    self.learn_rows_inlined::<FOR_VOTES, true>(block, rows, state, start, (grace_period, rechecks))
                } else {
                    self.learn_rows_inlined::<FOR_VOTES, false>(block, rows, state, start, (grace_period, rechecks))
                }
            },
        )
    }

    /// Does the same; with `PLAIN` all weights are 1.
    #[inline(always)]
    fn learn_rows_inlined<const FOR_VOTES: bool, const PLAIN: bool>(
        &mut self,
        block: &Block<'_>,
        rows: &Rows<V>,
        state: &mut TwoClassBlock,
        start: usize,
        (grace_period, rechecks): (f64, bool),
    ) -> (usize, StopReason) {
        let Some(x) = rows.panels().first_chunk::<BLOCK>() else { return (start, StopReason::NeedsSingleStep) };
        let (summaries, pairs) = self.models.class_pairs();
        for (i, &label) in (start..).zip(&block.labels[start..]) {
            let i = i % BLOCK;
            let (leaf, weight) = (state.leaves[i] as usize, if PLAIN { 1.0 } else { block.weights[i] });
            let Some((summary, pair)) =
                summaries.get_mut(leaf).zip(pairs.get_mut(leaf)).filter(|(summary, _)| !summary.fresh)
            else {
                return (i, StopReason::NeedsSingleStep);
            };
            let since = summary.since + weight;
            summary.since = since;
            if FOR_VOTES {
                (state.weights[0][i], state.weights[1][i]) = (pair[0].class.weight, pair[1].class.weight);
            }
            if !state.deferred.learn(i, summary, pair, &x[i], (label, weight)) {
                return (i + 1, StopReason::NeedsRefresh);
            }
            if FOR_VOTES && rechecks {
                state.majorities[i] = summary.majority;
                state.recheck_sums[i] = pair[label as usize % 2].add_log_densities(&x[i].vectors(), F64x4::ZERO);
            }
            // An attempt resets it to 0, so that only a learnt row can reach the grace period.
            if since >= grace_period {
                return (i + 1, StopReason::SplitDue);
            }
        }
        (block.labels.len(), StopReason::BlockEnd)
    }

    /// Predicts deferred rows, with their votes if `FOR_VOTES`.
    #[inline(never)]
    pub(super) fn predict_rows<const FOR_VOTES: bool>(
        &mut self,
        block: &Block<'_>,
        state: &mut TwoClassBlock,
        rows: Range<usize>,
        vote_buffer: &mut VoteBuffer<'_>,
    ) {
        dispatch::run(
            #[inline(always)]
            || self.predict_rows_inlined::<FOR_VOTES>(block, state, rows.clone(), vote_buffer),
        );
    }

    #[inline(always)]
    fn predict_rows_inlined<const FOR_VOTES: bool>(
        &mut self,
        block: &Block<'_>,
        state: &mut TwoClassBlock,
        rows: Range<usize>,
        vote_buffer: &mut VoteBuffer<'_>,
    ) {
        if rows.is_empty() {
            return;
        }
        state.deferred.take_logarithms(rows.clone(), self.models.layout().n_columns);
        if FOR_VOTES {
            self.record_votes(block, state, rows.clone(), vote_buffer.rechecks);
            let votes = &state.votes;
            votes.vote(state, block, rows.clone(), &mut vote_buffer.votes[2 * rows.start..2 * rows.end]);
            let predictions = &mut vote_buffer.predictions[rows.clone()];
            if vote_buffer.rechecks {
                votes.recheck(state, block, rows, predictions);
            } else {
                votes.predict(block, rows, predictions);
            }
        } else {
            let (start, predictions) = (rows.start, &mut vote_buffer.predictions[rows]);
            if block.plain {
                self.predict_deferred::<true>(block, state, start, predictions);
            } else {
                self.predict_deferred::<false>(block, state, start, predictions);
            }
        }
    }

    /// Predicts deferred rows; with `PLAIN` all are tested and all weights are 1.
    #[inline(always)]
    fn predict_deferred<const PLAIN: bool>(
        &mut self,
        block: &Block<'_>,
        state: &TwoClassBlock,
        start: usize,
        predictions: &mut [i32],
    ) {
        let adaptive = self.options.leaf_prediction == LeafPrediction::Adaptive;
        let (summaries, pairs) = self.models.class_pairs();
        for (i, (prediction, &label)) in (start..).zip(predictions.iter_mut().zip(&block.labels[start..])) {
            let i = i % BLOCK;
            let (leaf, weight) = (state.leaves[i] as usize, if PLAIN { 1.0 } else { block.weights[i] });
            let (summary, majority) = (&mut summaries[leaf], state.deferred.majority(i));
            let logs = state.deferred.finish_row(i, &mut pairs[leaf], (label, weight));
            let (likeliest, _) = find_likelier(logs, majority);
            let majority_predicts = adaptive & (summary.majority_hits > summary.bayes_hits);
            *prediction = if majority_predicts { majority } else { likeliest };
            summary.majority_hits += if majority == label { weight } else { 0.0 };
            summary.bayes_hits += if likeliest == label { weight } else { 0.0 };
        }
        if PLAIN {
            return;
        }
        // A separate loop, which the compiler vectorises.
        for (prediction, &tested) in predictions.iter_mut().zip(&block.tests[start..]) {
            *prediction = if tested { *prediction } else { ABSTAINED };
        }
    }

    /// Gathers the attributes that the leaves use, for all rows of a block.
    #[inline(always)]
    fn gather_block<const IN_SUBSPACES: bool>(&self, block: &Block<'_>, rows: &mut Rows<V>, leaves: &[u32]) {
        if IN_SUBSPACES {
            let d = self.schema.n_attributes();
            for (i, (&leaf, x)) in leaves.iter().zip(block.x.chunks_exact(d)).enumerate() {
                if let Some(attributes) = self.subspace(leaf as usize) {
                    rows.gather_complete(i, self.models.layout(), x, attributes);
                }
            }
        }
    }

    /// Computes the predictions of deferred rows for their votes.
    #[inline(always)]
    fn record_votes(&mut self, block: &Block<'_>, state: &mut TwoClassBlock, rows: Range<usize>, rechecks: bool) {
        let adaptive = self.options.leaf_prediction == LeafPrediction::Adaptive;
        let (summaries, pairs) = self.models.class_pairs();
        let votes = &mut state.votes;
        for (i, &label) in (rows.start..BLOCK).zip(&block.labels[rows.clone()]) {
            let (leaf, weight) = (state.leaves[i] as usize, block.weights[i]);
            let (summary, majority) = (&mut summaries[leaf], state.deferred.majority(i));
            let logs = state.deferred.finish_row(i, &mut pairs[leaf], (label, weight));
            let (likeliest, most) = find_likelier(logs, majority);
            let majority_predicts = adaptive & (summary.majority_hits > summary.bayes_hits);
            votes.record(i, logs, most, if majority_predicts { majority } else { likeliest }, majority_predicts);
            summary.majority_hits += if majority == label { weight } else { 0.0 };
            summary.bayes_hits += if likeliest == label { weight } else { 0.0 };
            if rechecks {
                let majority_predicts = adaptive & (summary.majority_hits > summary.bayes_hits);
                votes.record_recheck(i, state.deferred.log_base(i), majority_predicts);
            }
        }
    }
}
