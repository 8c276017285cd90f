//! Blocks of rows of two classes without gaps: learnt one after the other, then predicted together.

use std::ops::Range;

use super::two_class_votes::TwoClassVotes;
use super::voting::VoteBuffer;
use super::{HoeffdingTree, LeafPrediction};
use crate::dispatch;
use crate::learners::bayes::{DeferredRows, find_likelier};
use crate::learners::f64x4::F64x4;
use crate::learners::rows::{BLOCK, Rows};
use crate::learners::{ABSTAINED, Block};

/// Rows that wait to be predicted, each with its leaf.
#[derive(Debug, Clone)]
pub(super) struct Waiting {
    pub deferred: DeferredRows,
    pub leaves: [u32; BLOCK],
    /// Per class, its weight before the row, where votes are wanted.
    pub weights: [[f64; BLOCK]; 2],
    /// The majority after the row, and the logarithms of the densities of its class then, where it is reviewed.
    pub majorities: [i32; BLOCK],
    pub again: [F64x4; BLOCK],
    /// What their leaves say of them, where votes are wanted.
    two_class_votes: TwoClassVotes,
}

impl Waiting {
    /// No rows.
    pub fn new() -> Self {
        Self {
            deferred: DeferredRows::new(),
            leaves: [0; BLOCK],
            weights: [[0.0; BLOCK]; 2],
            majorities: [ABSTAINED; BLOCK],
            again: [F64x4::ZERO; BLOCK],
            two_class_votes: TwoClassVotes::new(),
        }
    }
}

/// Why no more rows were put off.
enum Halt {
    /// There are no more.
    End,
    /// The last one has changed what cannot wait.
    Changed,
    /// With the last one its leaf has learnt enough to try and split.
    Due,
    /// The next one must be taken alone: its leaf is a fresh one, or frozen, or has split.
    Alone,
}

impl<const V: usize> HoeffdingTree<V> {
    /// Whether the predictions of rows without gaps can wait.
    #[inline(always)]
    pub(super) fn has_two_class_path(&self) -> bool {
        self.models.has_two_class_path() && self.options.leaf_prediction != LeafPrediction::Majority
    }

    /// Test and learn a block of rows that were routed to the given nodes, and vote for them where votes are wanted.
    #[inline(always)]
    pub(super) fn interleave_two_class<const IN_SUBSPACES: bool, const FOR_VOTES: bool>(
        &mut self,
        block: &Block<'_>,
        (rows, ends): (&mut Rows<V>, &[u32]),
        waiting: &mut Waiting,
        buffer: &mut VoteBuffer<'_>,
    ) {
        self.gather_all::<IN_SUBSPACES>(block, rows, &waiting.leaves[..ends.len()]);
        // Rows from the first of these on wait; those before the second have been learnt.
        let (mut waits_from, mut start) = (0, 0);
        while start < ends.len() {
            let (stop, halt) = self.put_off::<FOR_VOTES>(block, rows, waiting, start, buffer.reviews);
            start = stop;
            match halt {
                Halt::End => {}
                Halt::Due => {
                    let (node, leaf) = (ends[stop - 1], waiting.leaves[(stop - 1) % BLOCK] as usize);
                    // Most leaves stay as they are, and then nobody need stop waiting.
                    if let Some(split) = self.find_split(leaf) {
                        self.settle::<FOR_VOTES>(block, waiting, waits_from..stop, buffer);
                        waits_from = stop;
                        self.carry_out(node, leaf, split);
                        self.review_split(node, block, stop - 1, buffer);
                        self.nodes.find_leaves(&ends[stop..], &mut waiting.leaves[stop..]);
                    }
                }
                Halt::Changed => {
                    self.settle::<FOR_VOTES>(block, waiting, waits_from..stop, buffer);
                    waits_from = stop;
                    let (node, leaf) = (ends[stop - 1], waiting.leaves[(stop - 1) % BLOCK] as usize);
                    self.follow_change(node, leaf, block, rows, stop - 1, buffer);
                    self.nodes.find_leaves(&ends[stop..], &mut waiting.leaves[stop..]);
                }
                Halt::Alone => {
                    self.settle::<FOR_VOTES>(block, waiting, waits_from..stop, buffer);
                    let (node, leaf) = self.reach::<IN_SUBSPACES>(ends[stop], block, rows, stop);
                    if FOR_VOTES {
                        self.vote_row(node, leaf, block, rows.row(stop), stop, buffer);
                        buffer.share(stop..stop + 1);
                    } else {
                        buffer.predictions[stop] = self.step(node, leaf, block, rows.row(stop), stop);
                    }
                    (waits_from, start) = (stop + 1, stop + 1);
                    self.nodes.find_leaves(&ends[start..], &mut waiting.leaves[start..]);
                }
            }
        }
        self.settle::<FOR_VOTES>(block, waiting, waits_from..ends.len(), buffer);
    }

    /// Make ready what a row has changed that could not wait, and do what follows on it.
    #[cold]
    #[inline(never)]
    fn follow_change(
        &mut self,
        node: u32,
        leaf: usize,
        block: &Block<'_>,
        rows: &Rows<V>,
        i: usize,
        buffer: &mut VoteBuffer<'_>,
    ) {
        let label = block.labels[i];
        self.models.refresh(leaf, label as usize);
        if buffer.reviews {
            buffer.predictions[i] = self.predict_again(leaf, rows.row(i), label, None);
        }
        if self.models.summary(leaf).since >= self.options.grace_period {
            self.attempt_to_split(node, leaf);
            self.review_split(node, block, i, buffer);
        }
    }

    /// Predict a row again whose leaf may have split, where it is reviewed.
    fn review_split(&self, node: u32, block: &Block<'_>, i: usize, buffer: &mut VoteBuffer<'_>) {
        if buffer.reviews && self.nodes.leaf(node).is_none() {
            let d = self.schema.n_attributes();
            buffer.predictions[i] = self.predict_below(&block.x[i * d..(i + 1) * d]);
        }
    }

    /// Learn rows from one on and let their predictions wait, as long as that can be; gives the row after the last.
    ///
    /// A function of its own, as is [`HoeffdingTree::settle`]: the processor's registers are few.
    #[inline(never)]
    fn put_off<const FOR_VOTES: bool>(
        &mut self,
        block: &Block<'_>,
        rows: &Rows<V>,
        waiting: &mut Waiting,
        start: usize,
        reviews: bool,
    ) -> (usize, Halt) {
        dispatch::run(
            #[inline(always)]
            || {
                if block.plain {
                    self.put_off_rows::<FOR_VOTES, true>(block, rows, waiting, start, reviews)
                } else {
                    self.put_off_rows::<FOR_VOTES, false>(block, rows, waiting, start, reviews)
                }
            },
        )
    }

    /// The same where it is known or not whether the block is plain.
    #[inline(always)]
    fn put_off_rows<const FOR_VOTES: bool, const PLAIN: bool>(
        &mut self,
        block: &Block<'_>,
        rows: &Rows<V>,
        waiting: &mut Waiting,
        start: usize,
        reviews: bool,
    ) -> (usize, Halt) {
        let Some(x) = rows.panels().first_chunk::<BLOCK>() else { return (start, Halt::Alone) };
        let grace_period = self.options.grace_period;
        let (summaries, pairs) = self.models.class_pairs();
        for (i, &label) in (start..).zip(&block.labels[start..]) {
            let i = i % BLOCK;
            let (leaf, weight) = (waiting.leaves[i] as usize, if PLAIN { 1.0 } else { block.weights[i] });
            let Some((summary, pair)) =
                summaries.get_mut(leaf).zip(pairs.get_mut(leaf)).filter(|(summary, _)| !summary.fresh)
            else {
                return (i, Halt::Alone);
            };
            let since = summary.since + weight;
            summary.since = since;
            if FOR_VOTES {
                (waiting.weights[0][i], waiting.weights[1][i]) = (pair[0].class.weight, pair[1].class.weight);
            }
            if !waiting.deferred.learn(i, summary, pair, &x[i], (label, weight)) {
                return (i + 1, Halt::Changed);
            }
            if FOR_VOTES && reviews {
                waiting.majorities[i] = summary.majority;
                waiting.again[i] = pair[label as usize % 2].add_log_densities(&x[i].vectors(), F64x4::ZERO);
            }
            // An attempt takes it back to 0, so that it can only be reached by a row that was learnt.
            if since >= grace_period {
                return (i + 1, Halt::Due);
            }
        }
        (block.labels.len(), Halt::End)
    }

    /// Predict rows that waited, and vote for them where votes are wanted.
    #[inline(never)]
    fn settle<const FOR_VOTES: bool>(
        &mut self,
        block: &Block<'_>,
        waiting: &mut Waiting,
        rows: Range<usize>,
        buffer: &mut VoteBuffer<'_>,
    ) {
        dispatch::run(
            #[inline(always)]
            || self.settle_rows::<FOR_VOTES>(block, waiting, rows.clone(), buffer),
        );
    }

    #[inline(always)]
    fn settle_rows<const FOR_VOTES: bool>(
        &mut self,
        block: &Block<'_>,
        waiting: &mut Waiting,
        rows: Range<usize>,
        buffer: &mut VoteBuffer<'_>,
    ) {
        if rows.is_empty() {
            return;
        }
        waiting.deferred.take_logarithms(rows.clone(), self.models.layout().n_columns);
        if FOR_VOTES {
            self.record_votes(block, waiting, rows.clone(), buffer.reviews);
            let two_class_votes = &waiting.two_class_votes;
            two_class_votes.vote(waiting, block, rows.clone(), &mut buffer.votes[2 * rows.start..2 * rows.end]);
            let predictions = &mut buffer.predictions[rows.clone()];
            if buffer.reviews {
                two_class_votes.predict_again(waiting, block, rows, predictions);
            } else {
                two_class_votes.predict(block, rows, predictions);
            }
        } else {
            let (start, predictions) = (rows.start, &mut buffer.predictions[rows]);
            if block.plain {
                self.predict_settled::<true>(block, waiting, start, predictions);
            } else {
                self.predict_settled::<false>(block, waiting, start, predictions);
            }
        }
    }

    /// Predict rows that waited, of a block of which it is known or not whether it is plain.
    #[inline(always)]
    fn predict_settled<const PLAIN: bool>(
        &mut self,
        block: &Block<'_>,
        waiting: &Waiting,
        start: usize,
        predictions: &mut [i32],
    ) {
        let adaptive = self.options.leaf_prediction == LeafPrediction::Adaptive;
        let (summaries, pairs) = self.models.class_pairs();
        for (i, (prediction, &label)) in (start..).zip(predictions.iter_mut().zip(&block.labels[start..])) {
            let i = i % BLOCK;
            let (leaf, weight) = (waiting.leaves[i] as usize, if PLAIN { 1.0 } else { block.weights[i] });
            let (summary, majority) = (&mut summaries[leaf], waiting.deferred.majority(i));
            let logs = waiting.deferred.finish_row(i, &mut pairs[leaf], (label, weight));
            let (likeliest, _) = find_likelier(logs, majority);
            let majority_predicts = adaptive & (summary.majority_hits > summary.bayes_hits);
            *prediction = if majority_predicts { majority } else { likeliest };
            summary.majority_hits += if majority == label { weight } else { 0.0 };
            summary.bayes_hits += if likeliest == label { weight } else { 0.0 };
        }
        if PLAIN {
            return;
        }
        // In a loop of its own, which takes several rows at a time.
        for (prediction, &tested) in predictions.iter_mut().zip(&block.tests[start..]) {
            *prediction = if tested { *prediction } else { ABSTAINED };
        }
    }

    /// Make ready what the leaves look at in all rows of a block.
    #[inline(always)]
    fn gather_all<const IN_SUBSPACES: bool>(&self, block: &Block<'_>, rows: &mut Rows<V>, leaves: &[u32]) {
        if IN_SUBSPACES {
            let d = self.schema.n_attributes();
            for (i, (&leaf, x)) in leaves.iter().zip(block.x.chunks_exact(d)).enumerate() {
                if let Some(attributes) = self.subspace(leaf as usize) {
                    rows.gather_complete(i, self.models.layout(), x, attributes);
                }
            }
        }
    }

    /// Find out what the leaves say of rows that waited.
    #[inline(always)]
    fn record_votes(&mut self, block: &Block<'_>, waiting: &mut Waiting, rows: Range<usize>, reviews: bool) {
        let adaptive = self.options.leaf_prediction == LeafPrediction::Adaptive;
        let (summaries, pairs) = self.models.class_pairs();
        let two_class_votes = &mut waiting.two_class_votes;
        for (i, &label) in (rows.start..BLOCK).zip(&block.labels[rows.clone()]) {
            let (leaf, weight) = (waiting.leaves[i] as usize, block.weights[i]);
            let (summary, majority) = (&mut summaries[leaf], waiting.deferred.majority(i));
            let logs = waiting.deferred.finish_row(i, &mut pairs[leaf], (label, weight));
            let (likeliest, most) = find_likelier(logs, majority);
            let majority_predicts = adaptive & (summary.majority_hits > summary.bayes_hits);
            two_class_votes.note(
                i,
                logs,
                most,
                if majority_predicts { majority } else { likeliest },
                majority_predicts,
            );
            summary.majority_hits += if majority == label { weight } else { 0.0 };
            summary.bayes_hits += if likeliest == label { weight } else { 0.0 };
            if reviews {
                let majority_predicts = adaptive & (summary.majority_hits > summary.bayes_hits);
                two_class_votes.note_again(i, waiting.deferred.log_base(i), majority_predicts);
            }
        }
    }
}
