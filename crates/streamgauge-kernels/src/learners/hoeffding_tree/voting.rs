//! Blocks of rows of which all votes are wanted: what naive Bayes says is worked out once, for voting and learning.

use super::nodes::FROZEN;
use super::{HoeffdingTree, LeafPrediction};
use crate::dispatch;
use crate::learners::bayes::{RULED_OUT, vote_of_log, votes_to_shares};
use crate::learners::rows::{BLOCK, Row, Rows};
use crate::learners::{ABSTAINED, Block, Learner, Step, winner};

/// The vote of a row that is not one of naive Bayes.
const NO_CLASS: i32 = ABSTAINED;

impl<const L: usize> HoeffdingTree<L> {
    /// Vote for the tested rows of a step and learn it. The predictions are those before learning or, where it
    /// `reviews`, those of all rows with a label after they were learnt.
    pub(super) fn vote_step(&mut self, step: &Step<'_>, predictions: &mut [i32], votes: &mut [f64], reviews: bool) {
        let (d, n_classes) = (self.schema.n_attributes(), self.schema.n_classes);
        dispatch::run(
            #[inline(always)]
            || {
                for (block, predictions, votes) in step.blocks(d, n_classes, predictions, Some(&mut *votes)) {
                    let votes = votes.unwrap_or_default();
                    match self.options.subspace {
                        None => self.vote_block::<false>(&block, predictions, votes, reviews),
                        Some(_) => self.vote_block::<true>(&block, predictions, votes, reviews),
                    }
                }
            },
        );
    }

    /// Test and learn a block of rows as [`HoeffdingTree::interleave_block`] does, and vote for those that are tested.
    #[inline(always)]
    fn vote_block<const IN_SUBSPACES: bool>(
        &mut self,
        block: &Block<'_>,
        predictions: &mut [i32],
        votes: &mut [f64],
        reviews: bool,
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
            let (node, leaf) = self.reach::<IN_SUBSPACES>(end, block, &mut rows, i);
            let (row, tested) = (rows.row(i), block.tests[i % BLOCK]);
            let (label, weight) = (block.labels[i], block.weights[i % BLOCK]);
            let wanted = if reviews { label >= 0 } else { tested };
            if leaf >= FROZEN {
                votes.fill(0.0);
                if tested {
                    self.frozen.vote(leaf - FROZEN, votes);
                }
                let predicted = self.step_frozen(leaf, label, weight);
                let x = &block.x[i * d..(i + 1) * d];
                let predicted = if reviews && weight > 0.0 { self.predict_below(x) } else { predicted };
                *prediction = if wanted { predicted } else { ABSTAINED };
                continue;
            }
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
            let predicted = if majority_predicts { majority } else { class };
            *prediction = if wanted { predicted } else { ABSTAINED };
            if weight > 0.0 {
                let is_fresh = reviews && self.models.is_fresh(leaf);
                self.learn_at(node, leaf, row, label, weight, class);
                if reviews {
                    let logs = if is_fresh || row.gaps() { None } else { Some(&*logs) };
                    *prediction = match self.nodes.leaf(node) {
                        Some(_) => self.predict_again(leaf, row, label, logs),
                        None => self.predict_below(&block.x[i * d..(i + 1) * d]),
                    };
                }
            }
        }
        share_votes(&mut logs, &most, &likeliest[..predictions.len()], votes);
        (self.rows, self.logs) = (rows, logs);
    }

    /// Predict a row that its leaf has just learnt; `logs` are the log-likelihoods of the classes before that, where
    /// those of the other classes still hold.
    #[inline(always)]
    fn predict_again(&self, leaf: usize, row: Row<'_, L>, label: i32, logs: Option<&[f64]>) -> i32 {
        if self.majority_predicts(leaf) {
            return self.models.site(leaf).majority;
        }
        match logs {
            Some(logs) => self.models.likeliest_again(leaf, row, label as usize, logs),
            None => self.models.likeliest(leaf, row),
        }
    }

    /// Predict a row whose leaf has just split.
    #[cold]
    #[inline(never)]
    fn predict_below(&self, x: &[f64]) -> i32 {
        let mut votes = vec![0.0; self.schema.n_classes];
        self.vote(x, &mut votes);
        winner(&votes)
    }
}

/// Turn the log-likelihoods of rows into votes, where a class is given that is the likeliest.
#[inline(always)]
fn share_votes(logs: &mut [f64], most: &[f64; BLOCK], likeliest: &[i32], votes: &mut [f64]) {
    let n_classes = logs.len() / BLOCK;
    for (logs, &most) in logs.chunks_exact_mut(n_classes).zip(most) {
        for log in logs {
            *log -= most;
        }
    }
    // Side by side over rows and classes.
    for log in &mut logs[..likeliest.len() * n_classes] {
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
