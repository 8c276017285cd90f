//! How a leaf becomes a node.

use std::f64::consts::LN_2;

use super::HoeffdingTree;
use super::split::{self, Candidate};
use crate::dispatch;
use crate::learners::Learner;

impl<const L: usize> HoeffdingTree<L> {
    /// Split a leaf if its best split leads by enough.
    #[cold]
    #[inline(never)]
    pub(super) fn attempt_to_split(&mut self, node: u32, leaf: usize) {
        self.models.site_mut(leaf).since = 0.0;
        let (mut n_seen, mut n_upto) = (0, 0);
        for (class, weight) in self.models.weights(leaf).enumerate() {
            if weight > 0.0 {
                (n_seen, n_upto) = (n_seen + 1, class + 1);
            }
        }
        if n_seen < 2 || self.n_bytes() >= self.options.max_bytes {
            return;
        }
        let range = (n_upto as f64).log2();
        let bound = hoeffding_bound(range, self.options.split_confidence, self.models.site(leaf).weight);
        let tie = bound < self.options.tie_threshold;
        if !tie && self.is_screened(leaf, bound * LN_2) {
            return;
        }
        let best = dispatch::run(
            #[inline(always)]
            || split::best(&self.models, leaf, self.schema.n_classes, self.options.binary_splits),
        );
        if let Some(best) = best.filter(|best| best.lead > bound * LN_2 || tie) {
            self.split(node, leaf, best.candidate);
        }
    }

    /// Whether a cheap look already says that no split leads by enough.
    fn is_screened(&mut self, leaf: usize, bound: f64) -> bool {
        let screened = self.models.layout().nominal.is_empty() && !self.models.has_gaps(leaf);
        screened
            && dispatch::run(
                #[inline(always)]
                || self.screen.rules_out(&self.models, leaf, self.schema.n_classes, bound),
            )
    }

    /// Put a node in the place of a leaf. The first branch takes over the leaf's record, the others get new ones.
    fn split(&mut self, node: u32, leaf: usize, candidate: Candidate) {
        let branches = dispatch::run(
            #[inline(always)]
            || split::branch_weights(&self.models, leaf, self.schema.n_classes, candidate),
        );
        let majority = self.models.site(leaf).majority;
        let (mut leaves, mut heaviest, mut most) = (vec![], 0, 0.0);
        for (branch, weights) in branches.iter().enumerate() {
            if branch == 0 {
                self.models.reset(leaf, weights, majority);
                leaves.push(leaf);
            } else {
                leaves.push(self.models.len());
                self.models.push(weights, majority);
            }
            let weight = weights.iter().sum::<f64>();
            if weight > most {
                (heaviest, most) = (branch, weight);
            }
        }
        self.nodes.split(node, candidate.attribute, candidate.test, &leaves, heaviest);
    }
}

/// The most by which a mean of n values within a range differs from its expectation, except with small probability.
fn hoeffding_bound(range: f64, confidence: f64, n: f64) -> f64 {
    (range * range * (1.0 / confidence).ln() / (2.0 * n)).sqrt()
}
