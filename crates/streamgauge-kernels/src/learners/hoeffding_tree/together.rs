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
    pub(super) fn interleave_together(
        &mut self,
        block: &Block<'_>,
        (rows, ends): (&mut Rows<L>, &[u32]),
        waiting: &mut Waiting,
        predictions: &mut [i32],
    ) {
        let mut start = 0;
        while start < predictions.len() {
            let (stop, waits) = self.put_off(block, (rows, ends), waiting, start);
            self.settle(block, waiting, start, &mut predictions[start..stop]);
            start = stop;
            if !waits {
                let leaf = waiting.leaves[(stop - 1) % BLOCK] as usize;
                self.models.refresh(leaf, block.labels[stop - 1] as usize);
            } else if let Some(&end) = ends.get(stop) {
                let (node, leaf) = self.reach::<false>(end, block, rows, stop);
                predictions[stop] = self.step(node, leaf, block, rows.row(stop), stop);
                start = stop + 1;
            }
        }
    }

    /// Learn rows from one on and let their predictions wait, until one may change its leaf; gives that row. Or until
    /// one has changed what cannot wait; gives the next and false.
    #[inline(always)]
    fn put_off(
        &mut self,
        block: &Block<'_>,
        (rows, ends): (&Rows<L>, &[u32]),
        waiting: &mut Waiting,
        start: usize,
    ) -> (usize, bool) {
        let (sites, pairs) = self.models.pairs();
        let Some(x) = rows.values().first_chunk::<BLOCK>() else { return (start, true) };
        let (leaf_of, grace_period) = (self.nodes.leaf_of(), self.options.grace_period);
        for (i, (&end, &label)) in (start..BLOCK).zip(ends[start..].iter().zip(&block.labels[start..])) {
            let (leaf, weight) = (leaf_of(end), block.weights[i]);
            let (Some(site), Some(pair)) = (sites.get_mut(leaf), pairs.get_mut(leaf)) else { return (i, true) };
            let since = site.since + weight;
            if site.fresh | (since >= grace_period) {
                return (i, true);
            }
            site.since = since;
            waiting.leaves[i] = leaf as u32;
            if !waiting.pending.put_off::<L, true>(i, site, pair, &x[i], (label, weight)) {
                return (i + 1, false);
            }
        }
        (ends.len(), true)
    }

    /// Predict rows that waited.
    #[inline(always)]
    fn settle(&mut self, block: &Block<'_>, waiting: &Waiting, start: usize, predictions: &mut [i32]) {
        let rows = start..start + predictions.len();
        let settled = waiting.pending.settle(rows, self.models.layout().n_columns);
        let adaptive = self.options.leaf_prediction == LeafPrediction::Adaptive;
        let (sites, pairs) = self.models.pairs();
        for (i, (prediction, &label)) in (start..BLOCK).zip(predictions.iter_mut().zip(&block.labels[start..])) {
            let (leaf, weight) = (waiting.leaves[i] as usize, block.weights[i]);
            let (site, majority) = (&mut sites[leaf], waiting.pending.majority(i));
            let likeliest = waiting.pending.likeliest(&settled, i, &mut pairs[leaf], (label, weight));
            let majority_predicts = adaptive & (site.majority_hits > site.bayes_hits);
            let predicted = if majority_predicts { majority } else { likeliest };
            *prediction = if block.tests[i] { predicted } else { ABSTAINED };
            site.majority_hits += if majority == label { weight } else { 0.0 };
            site.bayes_hits += if likeliest == label { weight } else { 0.0 };
        }
    }
}
