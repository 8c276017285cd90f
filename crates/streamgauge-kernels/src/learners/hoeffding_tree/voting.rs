//! Blocks of rows of which all votes are wanted: what naive Bayes says is worked out once, for voting and learning.

use super::{HoeffdingTree, LeafPrediction};
use crate::learners::bayes::{RULED_OUT, vote_of_log, votes_to_shares};
use crate::learners::rows::{BLOCK, Rows};
use crate::learners::{ABSTAINED, Block};

/// The vote of a row that is not one of naive Bayes.
const NO_CLASS: i32 = ABSTAINED;

impl<const L: usize> HoeffdingTree<L> {
    /// Test and learn a block of rows as [`HoeffdingTree::interleave_block`] does, and vote for those that are tested.
    #[inline(always)]
    pub(super) fn vote_block<const IN_SUBSPACES: bool>(
        &mut self,
        block: &Block<'_>,
        predictions: &mut [i32],
        votes: &mut [f64],
    ) {
        let (d, n_classes) = (self.schema.n_attributes(), self.schema.n_classes);
        let mut rows = std::mem::replace(&mut self.rows, Rows::empty());
        let mut logs = std::mem::take(&mut self.logs);
        logs.resize(BLOCK * n_classes, 0.0);
        let (mut ends, mut likeliest, mut most) = ([0; BLOCK], [NO_CLASS; BLOCK], [0.0; BLOCK]);
        let ends = &mut ends[..predictions.len()];
        self.route_rows::<IN_SUBSPACES>(block, &mut rows, ends);
        let slots = votes.chunks_exact_mut(n_classes).zip(logs.chunks_exact_mut(n_classes));
        for (i, ((prediction, &mut end), (votes, logs))) in predictions.iter_mut().zip(ends).zip(slots).enumerate() {
            let (node, leaf) = self.leaf_from(end, &block.x[i * d..(i + 1) * d]);
            if IN_SUBSPACES && node != end {
                self.gather(&mut rows, i, block, leaf);
            }
            let (row, tested) = (rows.row(i), block.tests[i % BLOCK]);
            let (label, weight) = (block.labels[i], block.weights[i % BLOCK]);
            let majority = self.models.site(leaf).majority;
            let majority_predicts = self.majority_predicts(leaf);
            let counts_bayes = weight > 0.0 && self.options.leaf_prediction == LeafPrediction::Adaptive;
            let mut class = majority;
            if counts_bayes || !majority_predicts {
                (class, most[i % BLOCK]) = self.models.log_likelihoods(leaf, row, logs);
            }
            let by_bayes = !majority_predicts && most[i % BLOCK] > RULED_OUT;
            if tested && by_bayes {
                likeliest[i % BLOCK] = class;
            } else if tested {
                self.models.vote_by_weight(leaf, votes);
            } else {
                votes.fill(0.0);
            }
            *prediction = if !tested {
                ABSTAINED
            } else if majority_predicts {
                majority
            } else {
                class
            };
            if weight > 0.0 {
                self.learn_at(node, leaf, row, label, weight, class);
            }
        }
        share_votes(&mut logs, &most, &likeliest[..predictions.len()], votes);
        (self.rows, self.logs) = (rows, logs);
    }
}

/// Turn the log-likelihoods of rows into votes, where a class is given that is the likeliest.
#[inline(always)]
fn share_votes(logs: &mut [f64], most: &[f64; BLOCK], likeliest: &[i32], votes: &mut [f64]) {
    let n_classes = logs.len() / BLOCK;
    for (logs, &most) in logs.chunks_exact_mut(n_classes).zip(most) {
        logs.iter_mut().for_each(|log| *log -= most);
    }
    // Side by side over rows and classes.
    for log in logs[..likeliest.len() * n_classes].iter_mut() {
        *log = vote_of_log(*log);
    }
    let rows = votes.chunks_exact_mut(n_classes).zip(logs.chunks_exact(n_classes));
    for ((votes, logs), &best) in rows.zip(likeliest) {
        if best != NO_CLASS {
            votes.copy_from_slice(logs);
            votes_to_shares(votes, best as usize);
        }
    }
}
