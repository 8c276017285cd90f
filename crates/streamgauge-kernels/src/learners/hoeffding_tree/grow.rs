//! How a leaf becomes a node.

use super::HoeffdingTree;
use super::criterion::SplitCriterion;
use super::nodes::FIRST_FROZEN;
use super::screen::SplitScreen;
use super::split::{self, Candidate, SplitEvaluator};
use crate::dispatch;
use crate::learners::rows::Slot;

/// A split that leads by enough.
#[derive(Debug, Clone, Copy)]
pub(super) struct Split {
    pub candidate: Candidate,
    /// With less merit, other splits of the leaf have no chance.
    pub least: f64,
}

impl<const V: usize> HoeffdingTree<V> {
    /// Split a leaf if its best split leads by enough.
    pub(super) fn attempt_to_split(&mut self, node: u32, leaf: usize) {
        if let Some(split) = self.find_split(leaf) {
            self.apply_split(node, leaf, split);
        }
    }

    /// The best split of a leaf, where it leads by enough.
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

    /// Split a leaf where there is room.
    #[cold]
    #[inline(never)]
    pub(super) fn apply_split(&mut self, node: u32, leaf: usize, split: Split) {
        match self.make_room_to_split(node, leaf, split.candidate) {
            Some(leaf) => self.split(node, leaf, split.candidate),
            None => self.remove_poor_attributes(leaf, split.least),
        }
    }

    /// How far apart merits must be to be told apart for good; `None` where a leaf has not seen two classes.
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

    /// What judges the splits of a leaf.
    #[inline(always)]
    pub(super) fn evaluator(&self, leaf: usize) -> SplitEvaluator<'_, V> {
        SplitEvaluator {
            models: &self.models,
            model: leaf,
            n_classes: self.schema.n_classes,
            binary: self.options.binary_splits,
            criterion: self.options.split_criterion,
        }
    }

    /// Whether a leaf looks at an attribute.
    #[inline(always)]
    pub(super) fn uses(&self, leaf: usize, attribute: usize) -> bool {
        !self.models.is_ignored(leaf, attribute)
    }

    /// The best split of a leaf by each attribute that it looks at.
    pub(super) fn find_candidates(&self, leaf: usize) -> Vec<Candidate> {
        dispatch::run(
            #[inline(always)]
            || self.evaluator(leaf).find_candidates(|attribute| self.uses(leaf, attribute)),
        )
    }

    /// Look at the splits of a leaf as far as that is cheap.
    fn screen_splits(&mut self, leaf: usize, bound: Option<f64>) -> SplitScreen {
        let all = self.options.split_criterion == SplitCriterion::InfoGain && !self.options.remove_poor_attributes;
        if !all || !self.models.layout().nominal.is_empty() || self.models.has_missing(leaf) {
            return SplitScreen::Unknown;
        }
        dispatch::run(
            #[inline(always)]
            || self.screener.screen(&self.models, leaf, self.schema.n_classes, bound),
        )
    }

    /// No longer look at the attributes of a leaf whose best split has less than some merit, where that is wanted.
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

    /// Put a node in the place of a leaf. The first branch takes over the leaf's record, the others get new ones.
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

    /// Drop the models that no leaf has.
    pub(super) fn drop_unused_models(&mut self) {
        let mut kept = vec![false; self.models.len()];
        self.nodes.leaves().for_each(|(_, leaf)| kept[leaf] = true);
        self.retain_models(&kept);
    }

    /// Keep only the models that are marked; per model the number it then has.
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

    /// The weight of each class in each branch of a split.
    pub(super) fn branch_weights(&self, leaf: usize, candidate: Candidate) -> Vec<Vec<f64>> {
        dispatch::run(
            #[inline(always)]
            || split::branch_weights(&self.models, leaf, self.schema.n_classes, candidate),
        )
    }
}

/// Returns the index that each entry has once those that are not `kept` are dropped; that of a dropped one means nothing.
pub(super) fn renumber(kept: &[bool]) -> Vec<usize> {
    let mut n_kept: usize = 0;
    let number = |&kept: &bool| {
        n_kept += usize::from(kept);
        n_kept.wrapping_sub(1)
    };
    kept.iter().map(number).collect()
}

/// The branch of the greatest weight, the first of equals.
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

/// The most by which a mean of n values within a range differs from its expectation, except with small probability.
fn hoeffding_bound(range: f64, confidence: f64, n: f64) -> f64 {
    (range * range * (1.0 / confidence).ln() / (2.0 * n)).sqrt()
}
