//! The memory limit of a tree: the least promising leaves are frozen, and thawed when they become promising.
//!
//! A leaf is as promising as the weight of the rows that its majority class gets wrong: a split could gain that much. A
//! frozen leaf keeps only the weights of its classes; it updates them and predicts the majority. Leaves are ranked at
//! every split of a full tree, and from time to time while rows reach frozen leaves.

use super::HoeffdingTree;
use super::frozen_leaves::FrozenLeaves;
use super::grow::renumber;
use super::nodes::FIRST_FROZEN;
use super::screen::SplitScreener;
use super::split::Candidate;
use crate::KernelError;
use crate::learners::bayes::grown_capacity;
use crate::learners::rows::BLOCK;

/// One node in this many is allocated in advance, so that memory is not moved at every split.
const SPARE_DIVISOR: usize = 16;
/// Leaves are ranked again once frozen leaves have learnt this many rows per leaf.
const ROWS_BEFORE_RANKING: f64 = 4.0;

/// The memory of a learner that wraps a tree. Such a tree freezes no leaves: it stops growing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct WrapperMemory {
    /// The bytes held whatever the size of the tree.
    pub bytes: usize,
    /// The most bytes held per node.
    pub bytes_per_node: usize,
}

impl<const V: usize> HoeffdingTree<V> {
    /// Returns the bytes held with the given numbers of nodes, active leaves and frozen leaves.
    fn bytes_for(&self, n_nodes: usize, n_active: usize, n_frozen: usize) -> usize {
        self.fixed_bytes()
            + self.nodes.bytes_for(n_nodes)
            + n_active * self.models.bytes_per_entry(self.wrapper != WrapperMemory::default())
            + n_frozen * FrozenLeaves::bytes_per_entry(self.schema.n_classes)
            + n_nodes * self.wrapper.bytes_per_node
    }

    /// Returns the bytes held whatever the number of nodes.
    fn fixed_bytes(&self) -> usize {
        size_of::<Self>()
            + 4 * self.schema.n_values.capacity()
            + self.models.layout().n_bytes()
            + self.row_bytes
            + BLOCK * self.schema.n_classes * size_of::<f64>()
            + SplitScreener::bytes_for(self.models.layout().numeric.len())
            + self.wrapper.bytes
    }

    /// Checks that a single leaf fits into the limit.
    pub(super) fn check_budget(&self) -> Result<(), KernelError> {
        let missing_bytes = self.models.bytes_per_entry(true) - self.models.bytes_per_entry(false);
        let least = self.bytes_for(1, 1, 0) + missing_bytes;
        if least <= self.options.max_bytes {
            return Ok(());
        }
        let found = format!("{} for a schema that needs {least}", self.options.max_bytes);
        Err(KernelError::Option { option: "max_bytes", found, expected: "a tree needs room for a leaf" })
    }

    /// Makes room for the branches of a split; returns the new number of the leaf, `None` if there is no room.
    pub(super) fn make_room_to_split(&mut self, node: u32, leaf: usize, candidate: Candidate) -> Option<usize> {
        let n_branches = candidate.test.n_branches();
        if self.make_room(n_branches, n_branches - 1) {
            return Some(leaf);
        }
        let may_freeze = self.wrapper == WrapperMemory::default();
        if may_freeze && self.rank_leaves(Some(node), n_branches, false) { self.nodes.leaf(node) } else { None }
    }

    /// Makes room for more nodes and models without freezing leaves; returns false if that is impossible.
    pub(super) fn make_room(&mut self, more_nodes: usize, more_models: usize) -> bool {
        let (n_nodes, n_models) = (self.nodes.len() + more_nodes, self.models.len() + more_models);
        if self.frozen.len() > 0 || self.bytes_for(n_nodes, n_models, 0) > self.options.max_bytes {
            return false;
        }
        self.frozen.set_capacity(0);
        // Columns grow with spare capacity unless that exceeds the limit. The quarter of a column of several values per
        // model may be one value more than a quarter of the models.
        let spare = |n: usize| grown_capacity(n) + 1;
        if self.bytes_for(spare(n_nodes), spare(n_models), 0) > self.options.max_bytes {
            self.models.set_capacity(n_models);
            self.nodes.set_capacity(n_nodes);
        }
        true
    }

    /// Makes room for the weights of columns, which are kept from the first row with missing values on.
    #[cold]
    #[inline(never)]
    pub(super) fn make_room_for_missing(&mut self) {
        let (n_nodes, n_active, n_frozen) = (self.nodes.len(), self.models.len(), self.frozen.len());
        let missing_bytes = n_active * (self.models.bytes_per_entry(true) - self.models.bytes_per_entry(false));
        if self.bytes_for(n_nodes, n_active, n_frozen) + missing_bytes > self.options.max_bytes {
            self.rank_leaves(None, 0, true);
        } else {
            self.models.set_capacity(n_active);
            self.nodes.set_capacity(n_nodes);
            self.frozen.set_capacity(n_frozen);
        }
    }

    /// Keeps the most promising leaves active, as many as fit when `splitting` gets `n_branches` branches.
    ///
    /// Returns false, and changes nothing, if not all branches would fit.
    fn rank_leaves(&mut self, splitting: Option<u32>, n_branches: usize, with_missing: bool) -> bool {
        self.weight_since_ranking = 0.0;
        let n_nodes = self.nodes.len() + n_branches;
        let n_leaves = self.models.len() + self.frozen.len() + n_branches - usize::from(splitting.is_some());
        let plan = [n_nodes / SPARE_DIVISOR, 0].into_iter().find_map(|spare| {
            let n_active = self.max_active_leaves(n_nodes + spare, n_leaves + spare, with_missing)?.min(n_leaves);
            (n_active >= n_branches.max(1)).then_some((n_active, spare))
        });
        let Some((n_active, spare)) = plan else { return false };
        let mut others: Vec<(f64, u32, usize)> = self
            .nodes
            .leaves()
            .filter(|&(node, _)| Some(node) != splitting)
            .map(|(node, leaf)| (self.misclassified_weight(leaf), node, leaf))
            .collect();
        // Of equals, active leaves stay active.
        others.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.2.cmp(&b.2)));
        let (active, rest) = others.split_at((n_active - n_branches).min(others.len()));
        let to_freeze: Vec<(u32, usize)> =
            rest.iter().filter(|leaf| leaf.2 < FIRST_FROZEN).map(|l| (l.1, l.2)).collect();
        let to_thaw: Vec<(u32, usize)> =
            active.iter().filter(|leaf| leaf.2 >= FIRST_FROZEN).map(|l| (l.1, l.2)).collect();
        if !to_freeze.is_empty() {
            self.freeze(&to_freeze);
        }
        if !to_thaw.is_empty() {
            self.thaw(&to_thaw);
        }
        self.models.set_capacity(n_active);
        self.frozen.set_capacity(n_leaves - n_active + spare);
        self.nodes.set_capacity(n_nodes + spare);
        true
    }

    /// Returns how many of `n_leaves` leaves can be active; `None` if they do not fit even when all are frozen.
    fn max_active_leaves(&self, n_nodes: usize, n_leaves: usize, with_missing: bool) -> Option<usize> {
        let frozen = FrozenLeaves::bytes_per_entry(self.schema.n_classes);
        let left = self.options.max_bytes.checked_sub(self.bytes_for(n_nodes, 0, n_leaves))?;
        Some(left / (self.models.bytes_per_entry(with_missing) - frozen))
    }

    /// Returns the weight of the rows that the majority class of a leaf gets wrong.
    fn misclassified_weight(&self, leaf: usize) -> f64 {
        let wrong = |weights: &mut dyn Iterator<Item = f64>| {
            let (mut total, mut most) = (0.0, 0.0_f64);
            for weight in weights {
                total += weight;
                most = most.max(weight);
            }
            total - most
        };
        match leaf.checked_sub(FIRST_FROZEN) {
            Some(frozen) => wrong(&mut self.frozen.weights(frozen).iter().copied()),
            None => wrong(&mut self.models.weights(leaf)),
        }
    }

    /// Freezes leaves, keeping only the weights of their classes.
    fn freeze(&mut self, leaves: &[(u32, usize)]) {
        let mut kept = vec![true; self.models.len()];
        let weights: Vec<Vec<f64>> = leaves.iter().map(|&(_, leaf)| self.models.weights(leaf).collect()).collect();
        let majorities: Vec<i32> = leaves.iter().map(|&(_, leaf)| self.models.summary(leaf).majority).collect();
        for &(_, leaf) in leaves {
            kept[leaf] = false;
        }
        // Models are dropped first, to free the memory that frozen leaves need.
        self.retain_models(&kept);
        self.frozen.set_capacity(self.frozen.len() + leaves.len());
        for ((&(node, _), weights), majority) in leaves.iter().zip(&weights).zip(majorities) {
            self.nodes.set_leaf(node, FIRST_FROZEN + self.frozen.len());
            self.frozen.push(weights, majority);
        }
    }

    /// Makes frozen leaves active again, starting from the weights of their classes.
    fn thaw(&mut self, leaves: &[(u32, usize)]) {
        let mut kept = vec![true; self.frozen.len()];
        self.models.set_capacity(self.models.len() + leaves.len());
        for &(node, leaf) in leaves {
            kept[leaf - FIRST_FROZEN] = false;
            self.nodes.set_leaf(node, self.models.len());
            self.models.push(self.frozen.weights(leaf - FIRST_FROZEN), self.frozen.majority(leaf - FIRST_FROZEN));
        }
        let numbers = renumber(&kept);
        self.frozen.retain(&kept);
        let rest: Vec<(u32, usize)> = self.nodes.leaves().filter(|&(_, leaf)| leaf >= FIRST_FROZEN).collect();
        for (node, leaf) in rest {
            self.nodes.set_leaf(node, FIRST_FROZEN + numbers[leaf - FIRST_FROZEN]);
        }
    }

    /// Predicts a row at a frozen leaf, then counts it if its weight is above 0.
    #[cold]
    #[inline(never)]
    pub(super) fn step_frozen(&mut self, leaf: usize, label: i32, weight: f64) -> i32 {
        let majority = self.frozen.majority(leaf - FIRST_FROZEN);
        if weight > 0.0 {
            self.frozen.count(leaf - FIRST_FROZEN, label as usize, weight);
            self.weight_since_ranking += weight;
            let n_leaves = self.models.len() + self.frozen.len();
            if self.weight_since_ranking >= self.options.grace_period + ROWS_BEFORE_RANKING * n_leaves as f64 {
                self.rank_leaves(None, 0, false);
            }
        }
        majority
    }
}
