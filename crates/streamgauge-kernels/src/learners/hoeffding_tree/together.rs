//! Blocks of rows of two classes without gaps: learnt one after the other, then predicted together.

use super::voting::{Ballot, NO_CLASS};
use super::{HoeffdingTree, LeafPrediction};
use crate::learners::bayes::{Pending, RULED_OUT, Settled, likelier, vote_by_weights};
use crate::learners::lanes::Lane;
use crate::learners::rows::{BLOCK, Rows};
use crate::learners::{ABSTAINED, Block};

/// Rows that wait to be predicted, each with its leaf.
#[derive(Debug, Clone)]
pub(super) struct Waiting {
    pending: Pending,
    leaves: [u32; BLOCK],
    /// Per class, its weight before the row, where votes are wanted.
    weights: [[f64; BLOCK]; 2],
    /// The majority after the row, and the logarithms of the densities of its class then, where votes are wanted.
    majorities: [i32; BLOCK],
    again: [Lane; BLOCK],
}

impl Waiting {
    /// No rows.
    pub fn new() -> Self {
        Self {
            pending: Pending::new(),
            leaves: [0; BLOCK],
            weights: [[0.0; BLOCK]; 2],
            majorities: [ABSTAINED; BLOCK],
            again: [Lane::ZERO; BLOCK],
        }
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
        (rows, ends): (&mut Rows<L>, &[u32]),
        waiting: &mut Waiting,
        predictions: &mut [i32],
    ) {
        self.gather_all::<IN_SUBSPACES>(block, rows, ends);
        let mut start = 0;
        while start < predictions.len() {
            let (stop, waits) = self.put_off::<false>(block, (rows, ends), waiting, start);
            self.settle(block, waiting, start, &mut predictions[start..stop]);
            start = stop;
            if !waits {
                let leaf = waiting.leaves[(stop - 1) % BLOCK] as usize;
                self.models.refresh(leaf, block.labels[stop - 1] as usize);
            } else if let Some(&end) = ends.get(stop) {
                let (node, leaf) = self.reach::<IN_SUBSPACES>(end, block, rows, stop);
                predictions[stop] = self.step(node, leaf, block, rows.row(stop), stop);
                start = stop + 1;
            }
        }
    }

    /// Learn rows from one on and let their predictions wait, until one may change its leaf; gives that row. Or until
    /// one has changed what cannot wait; gives the next and false.
    #[inline(always)]
    fn put_off<const FOR_VOTES: bool>(
        &mut self,
        block: &Block<'_>,
        (rows, ends): (&Rows<L>, &[u32]),
        waiting: &mut Waiting,
        start: usize,
    ) -> (usize, bool) {
        let (sites, pairs) = self.models.pairs();
        let Some(x) = rows.values().first_chunk::<BLOCK>() else { return (start, true) };
        let (leaf_of, grace_period) = (self.nodes.leaf_of(), self.options.grace_period);
        let (d, mut ahead) = (self.schema.n_attributes(), 0.0);
        for (i, (&end, &label)) in (start..BLOCK).zip(ends[start..].iter().zip(&block.labels[start..])) {
            ahead += block.ahead(i, d);
            let (leaf, weight) = (leaf_of(end), block.weights[i]);
            let (Some(site), Some(pair)) = (sites.get_mut(leaf), pairs.get_mut(leaf)) else { return (i, true) };
            let since = site.since + weight;
            if site.fresh | (since >= grace_period) {
                return (i, true);
            }
            site.since = since;
            waiting.leaves[i] = leaf as u32;
            if FOR_VOTES {
                (waiting.weights[0][i], waiting.weights[1][i]) = (pair[0].class.weight, pair[1].class.weight);
            }
            if !waiting.pending.put_off::<L, true>(i, site, pair, &x[i], (label, weight)) {
                return (i + 1, false);
            }
            if FOR_VOTES {
                waiting.majorities[i] = site.majority;
                waiting.again[i] = pair[label as usize % 2].add_log_densities(&x[i], Lane::ZERO);
            }
        }
        std::hint::black_box(ahead);
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
            let logs = settled.logs(i, &mut pairs[leaf], (label, weight));
            let (likeliest, _) = likelier(logs, majority);
            let majority_predicts = adaptive & (site.majority_hits > site.bayes_hits);
            let predicted = if majority_predicts { majority } else { likeliest };
            *prediction = if block.tests[i] { predicted } else { ABSTAINED };
            site.majority_hits += if majority == label { weight } else { 0.0 };
            site.bayes_hits += if likeliest == label { weight } else { 0.0 };
        }
    }

    /// Make ready what the leaves look at in all rows of a block.
    #[inline(always)]
    fn gather_all<const IN_SUBSPACES: bool>(&self, block: &Block<'_>, rows: &mut Rows<L>, ends: &[u32]) {
        if IN_SUBSPACES {
            for (i, &end) in ends.iter().enumerate() {
                if let Some(leaf) = self.nodes.leaf(end) {
                    self.gather(rows, i, block, leaf);
                }
            }
        }
    }

    /// Vote for and learn a block of rows that were routed to the given nodes.
    #[inline(always)]
    pub(super) fn vote_together<const IN_SUBSPACES: bool>(
        &mut self,
        block: &Block<'_>,
        (rows, ends): (&mut Rows<L>, &[u32]),
        waiting: &mut Waiting,
        ballot: &mut Ballot<'_>,
    ) {
        self.gather_all::<IN_SUBSPACES>(block, rows, ends);
        let mut start = 0;
        while start < ends.len() {
            let (stop, waits) = self.put_off::<true>(block, (rows, ends), waiting, start);
            let settled = waiting.pending.settle(start..stop, self.models.layout().n_columns);
            for i in start..stop {
                self.vote_settled(block, waiting, &settled, i, ballot);
            }
            start = stop;
            if !waits {
                let (leaf, i) = (waiting.leaves[(stop - 1) % BLOCK] as usize, stop - 1);
                self.models.refresh(leaf, block.labels[i] as usize);
                if ballot.reviews {
                    ballot.predictions[i] = self.predict_again(leaf, rows.row(i), block.labels[i], None);
                }
            } else if let Some(&end) = ends.get(stop) {
                let (node, leaf) = self.reach::<IN_SUBSPACES>(end, block, rows, stop);
                self.vote_row(node, leaf, block, rows.row(stop), stop, ballot);
                start = stop + 1;
            }
        }
    }

    /// Vote for a row that waited and, where it is reviewed, predict it again.
    #[inline(always)]
    fn vote_settled(
        &mut self,
        block: &Block<'_>,
        waiting: &Waiting,
        settled: &Settled,
        i: usize,
        ballot: &mut Ballot<'_>,
    ) {
        let adaptive = self.options.leaf_prediction == LeafPrediction::Adaptive;
        let (label, i) = (block.labels[i], i % BLOCK);
        let (leaf, weight) = (waiting.leaves[i] as usize, block.weights[i]);
        let (sites, pairs) = self.models.pairs();
        let (site, majority) = (&mut sites[leaf], waiting.pending.majority(i));
        let mut logs = settled.logs(i, &mut pairs[leaf], (label, weight));
        let (likeliest, most) = likelier(logs, majority);
        let majority_predicts = adaptive & (site.majority_hits > site.bayes_hits);
        let by_bayes = !majority_predicts & (most > RULED_OUT);
        let predicted = if majority_predicts { majority } else { likeliest };
        ballot.logs[2 * i..2 * i + 2].copy_from_slice(&logs);
        ballot.most[i] = most;
        ballot.likeliest[i] = if by_bayes & block.tests[i] { likeliest } else { NO_CLASS };
        if ballot.likeliest[i] == NO_CLASS {
            let weights = waiting.weights.map(|weights| weights[i]);
            let majority = if block.tests[i] { majority } else { ABSTAINED };
            let votes = &mut ballot.votes[2 * i..2 * i + 2];
            vote_by_weights(weights.into_iter(), weights[0] + weights[1], majority, votes);
        }
        site.majority_hits += if majority == label { weight } else { 0.0 };
        site.bayes_hits += if likeliest == label { weight } else { 0.0 };
        let mut prediction = predicted;
        if ballot.reviews & (weight > 0.0) {
            let majority = waiting.majorities[i];
            logs[label as usize % 2] = settled.log_base(i) + waiting.again[i].sum();
            let (likeliest, _) = likelier(logs, majority);
            let majority_predicts = adaptive & (site.majority_hits > site.bayes_hits);
            prediction = if majority_predicts { majority } else { likeliest };
        }
        let wanted = if ballot.reviews { label >= 0 } else { block.tests[i] };
        ballot.predictions[i] = if wanted { prediction } else { ABSTAINED };
    }
}
