//! Attempts to split a leaf.

use super::HoeffdingTree;
use super::criterion::SplitCriterion;
use super::nodes::FIRST_FROZEN;
use super::screen::SplitScreen;
use super::split::{self, Candidate, SplitEvaluator};
use crate::dispatch;
use crate::learners::rows::Slot;

/// A split that leads by more than the bound.
#[derive(Debug, Clone, Copy)]
pub(super) struct Split {
    pub candidate: Candidate,
    /// Attributes whose merit is lower than this are poor.
    pub least: f64,
}

impl<const V: usize> HoeffdingTree<V> {
    /// Splits a leaf if its best split leads by more than the bound.
    pub(super) fn attempt_to_split(&mut self, node: u32, leaf: usize) {
        if let Some(split) = self.find_split(leaf) {
            self.apply_split(node, leaf, split);
        }
    }

    /// Returns the best split of a leaf if it leads by more than the bound.
    #[cold]
    #[inline(never)]
    pub(super) fn find_split(&mut self, leaf: usize) -> Option<Split> {
        self.models.summary_mut(leaf).since = 0.0;
        let bound = self.split_bound(leaf)?;
        let tie = bound < self.options.tie_threshold * self.options.split_criterion.unit();
        let screen = self.screen_splits(leaf, if tie { None } else { Some(bound) });
        if screen == SplitScreen::NoSplit {
            return None;
        }
        let counts = |attribute: usize, slot: Slot| match slot {
            Slot::Numeric(column) if screen != SplitScreen::Unknown => self.screener.is_contender(column),
            _ => self.uses(leaf, attribute),
        };
        let best = dispatch::run(
            #[inline(always)]
            || self.evaluator(leaf).find_best(counts),
        )?;
        let split = Split { candidate: best.candidate, least: best.candidate.merit - bound };
        if best.lead > bound || tie || screen == SplitScreen::Splits {
            return Some(split);
        }
        self.remove_poor_attributes(leaf, split.least);
        None
    }

    /// Splits a leaf if there is room.
    #[cold]
    #[inline(never)]
    pub(super) fn apply_split(&mut self, node: u32, leaf: usize, split: Split) {
        match self.make_room_to_split(node, leaf, split.candidate) {
            Some(leaf) => self.split(node, leaf, split.candidate),
            None => self.remove_poor_attributes(leaf, split.least),
        }
    }

    /// Returns the Hoeffding bound on the lead of a split; `None` for a leaf that has not seen two classes.
    pub(super) fn split_bound(&self, leaf: usize) -> Option<f64> {
        let (mut n_seen, mut n_upto) = (0, 0);
        for (class, weight) in self.models.weights(leaf).enumerate() {
            if weight > 0.0 {
                (n_seen, n_upto) = (n_seen + 1, class + 1);
            }
        }
        let criterion = self.options.split_criterion;
        let bound = || {
            let weight = self.models.summary(leaf).weight;
            hoeffding_bound(criterion.range(n_upto), self.options.split_confidence, weight) * criterion.unit()
        };
        (n_seen >= 2).then(bound)
    }

    /// Returns an evaluator of the splits of a leaf.
    #[inline(always)]
    pub(super) fn evaluator(&self, leaf: usize) -> SplitEvaluator<'_, V> {
        SplitEvaluator::new(&self.models, leaf, self.schema.n_classes, &self.options)
    }

    /// Returns whether a leaf uses an attribute.
    #[inline(always)]
    pub(super) fn uses(&self, leaf: usize, attribute: usize) -> bool {
        !self.models.is_ignored(leaf, attribute)
    }

    /// Returns the best split of a leaf by each attribute it uses.
    pub(super) fn find_candidates(&self, leaf: usize) -> Vec<Candidate> {
        dispatch::run(
            #[inline(always)]
            || self.evaluator(leaf).find_candidates(|attribute| self.uses(leaf, attribute)),
        )
    }

    /// Screens the splits of a leaf in single precision.
    fn screen_splits(&mut self, leaf: usize, bound: Option<f64>) -> SplitScreen {
        let all = self.options.split_criterion == SplitCriterion::InfoGain && !self.options.remove_poor_attributes;
        if !all || self.models.has_missing(leaf) {
            return SplitScreen::Unknown;
        }
        if self.options.subspace.is_some() && !self.has_two_ranges(leaf) {
            return SplitScreen::Unknown;
        }
        dispatch::run(
            #[inline(always)]
            || {
                let evaluator = SplitEvaluator::new(&self.models, leaf, self.schema.n_classes, &self.options);
                self.screener.screen(
                    &self.models,
                    leaf,
                    self.schema.n_classes,
                    bound,
                    #[inline(always)]
                    || evaluator.find_nominal_merits(),
                )
            },
        )
    }

    /// Returns whether at least two numeric attributes of a leaf have more than one value.
    fn has_two_ranges(&self, leaf: usize) -> bool {
        let varies = |&column: &usize| {
            let (min, max) = split::find_range(&self.models, leaf, self.schema.n_classes, column);
            min < max
        };
        (0..self.models.n_numeric(leaf)).filter(varies).nth(1).is_some()
    }

    /// Ignores from now on the attributes of a leaf whose best split has a merit below `least`, if the option is set.
    pub(super) fn remove_poor_attributes(&mut self, leaf: usize, least: f64) {
        if !self.options.remove_poor_attributes {
            return;
        }
        for candidate in self.find_candidates(leaf) {
            if candidate.merit < least {
                self.models.ignore(leaf, candidate.attribute);
            }
        }
    }

    /// Turns a leaf into a split node. The first branch reuses the leaf's model, the others get new ones.
    fn split(&mut self, node: u32, leaf: usize, candidate: Candidate) {
        let branches = self.branch_weights(leaf, candidate);
        let majority = self.models.summary(leaf).majority;
        let mut leaves = vec![];
        for (branch, weights) in branches.iter().enumerate() {
            if branch == 0 {
                self.models.reset(leaf, weights, majority);
                leaves.push(leaf);
            } else {
                leaves.push(self.models.len());
                self.models.push(weights, majority);
            }
        }
        self.nodes.split(node, candidate.attribute, candidate.test, &leaves, find_heaviest(&branches));
    }

    /// Drops the models without a leaf.
    pub(super) fn drop_unused_models(&mut self) {
        let mut kept = vec![false; self.models.len()];
        self.nodes.leaves().for_each(|(_, leaf)| kept[leaf] = true);
        self.retain_models(&kept);
    }

    /// Keeps only the marked models; returns the new index of each.
    pub(super) fn retain_models(&mut self, kept: &[bool]) -> Vec<usize> {
        self.models.retain(kept);
        self.models.set_capacity(self.models.len());
        let numbers = renumber(kept);
        let leaves: Vec<(u32, usize)> = self.nodes.leaves().filter(|&(_, leaf)| leaf < FIRST_FROZEN).collect();
        for (node, leaf) in leaves.into_iter().filter(|&(_, leaf)| kept[leaf]) {
            self.nodes.set_leaf(node, numbers[leaf]);
        }
        numbers
    }

    /// Returns the weight of each class in each branch of a split.
    pub(super) fn branch_weights(&self, leaf: usize, candidate: Candidate) -> Vec<Vec<f64>> {
        dispatch::run(
            #[inline(always)]
            || split::branch_weights(&self.models, leaf, self.schema.n_classes, candidate),
        )
    }
}

/// Returns the index of each entry after those that are not `kept` are dropped; meaningless for a dropped one.
pub(super) fn renumber(kept: &[bool]) -> Vec<usize> {
    let mut n_kept: usize = 0;
    let number = |&kept: &bool| {
        n_kept += usize::from(kept);
        n_kept.wrapping_sub(1)
    };
    kept.iter().map(number).collect()
}

/// Returns the branch with the greatest weight, the first of equals.
pub(super) fn find_heaviest(branches: &[Vec<f64>]) -> usize {
    let (mut heaviest, mut most) = (0, 0.0);
    for (branch, weights) in branches.iter().enumerate() {
        let weight = weights.iter().sum::<f64>();
        if weight > most {
            (heaviest, most) = (branch, weight);
        }
    }
    heaviest
}

/// Returns the Hoeffding bound: a mean of `n` values within `range` exceeds its expectation by more with a probability
/// of at most `confidence`.
fn hoeffding_bound(range: f64, confidence: f64, n: f64) -> f64 {
    (range * range * (1.0 / confidence).ln() / (2.0 * n)).sqrt()
}
