//! Blocks of rows of two classes without gaps: learnt one after the other, then predicted together.

use super::{HoeffdingTree, LeafPrediction};
use crate::learners::bayes::Pending;
use crate::learners::rows::{BLOCK, Rows};
use crate::learners::{ABSTAINED, Block};

/// Rows that wait to be predicted, each with its leaf.
#[derive(Debug, Clone)]
pub(super) struct Waiting {
    pending: Pending,
    leaves: [u32; BLOCK],
}

impl Waiting {
    /// No rows.
    pub fn new() -> Self {
        Self { pending: Pending::new(), leaves: [0; BLOCK] }
    }
}

impl<const L: usize> HoeffdingTree<L> {
    /// Whether the predictions of rows without gaps can wait.
    #[inline(always)]
    pub(super) fn can_wait(&self) -> bool {
        self.models.can_wait() && self.options.leaf_prediction != LeafPrediction::Majority
    }

    /// Test and learn a block of rows that were routed to the given nodes.
    #[inline(always)]
    pub(super) fn interleave_together<const IN_SUBSPACES: bool>(
        &mut self,
        block: &Block<'_>,
        rows: &mut Rows<L>,
        ends: &[u32],
        predictions: &mut [i32],
    ) {
        let mut start = 0;
        for (i, &end) in ends.iter().enumerate() {
            let (node, leaf) = self.reach::<IN_SUBSPACES>(end, block, rows, i);
            let (label, weight) = (block.labels[i], block.weights[i % BLOCK]);
            match self.put_off(leaf, rows, i, (label, weight)) {
                Some(true) => {}
                Some(false) => {
                    self.settle(block, start, &mut predictions[start..=i]);
                    self.models.refresh(leaf, label as usize);
                    start = i + 1;
                }
                None => {
                    self.settle(block, start, &mut predictions[start..i]);
                    predictions[i] = self.step(node, leaf, block, rows.row(i), i);
                    start = i + 1;
                }
            }
        }
        self.settle(block, start, &mut predictions[start..]);
    }

    /// Learn a row and let its prediction wait. False where what it changed cannot wait; `None`, and nothing is done,
    /// where the leaf itself may change.
    #[inline(always)]
    fn put_off(&mut self, leaf: usize, rows: &Rows<L>, i: usize, (label, weight): (i32, f64)) -> Option<bool> {
        let (site, pair) = self.models.pair(leaf)?;
        let (x, since) = (rows.values().get(i)?, site.since + weight);
        if since >= self.options.grace_period {
            return None;
        }
        site.since = since;
        self.waiting.leaves[i % BLOCK] = leaf as u32;
        Some(self.waiting.pending.put_off::<L, true>(i, (site, pair), x, (label, weight)))
    }

    /// Predict rows that waited.
    #[inline(always)]
    fn settle(&mut self, block: &Block<'_>, start: usize, predictions: &mut [i32]) {
        let rows = start..start + predictions.len();
        let settled = self.waiting.pending.settle(rows, self.models.layout().n_columns);
        let adaptive = self.options.leaf_prediction == LeafPrediction::Adaptive;
        for (i, (prediction, &label)) in (start..).zip(predictions.iter_mut().zip(&block.labels[start..])) {
            let Some((site, pair)) = self.models.pair(self.waiting.leaves[i % BLOCK] as usize) else { continue };
            let (majority, weight) = (self.waiting.pending.majority(i), block.weights[i % BLOCK]);
            let likeliest = self.waiting.pending.likeliest(&settled, i, pair, (label, weight));
            let majority_predicts = adaptive & (site.majority_hits > site.bayes_hits);
            let predicted = if majority_predicts { majority } else { likeliest };
            *prediction = if block.tests[i % BLOCK] { predicted } else { ABSTAINED };
            site.majority_hits += if majority == label { weight } else { 0.0 };
            site.bayes_hits += if likeliest == label { weight } else { 0.0 };
        }
    }
}
