//! The extremely fast decision tree: a leaf splits as soon as that helps, and nodes re-evaluate their splits.
//!
//! C. Manapragada, G. I. Webb and M. Salehi, Extremely fast decision tree, KDD 2018 (Hoeffding anytime tree).

use std::ops::Range;

use super::budget::WrapperMemory;
use super::grow::find_heaviest;
use super::row_by_row::RowByRow;
use super::split::Candidate;
use super::two_class::{StopReason, TwoClassBlock};
use super::voting::VoteBuffer;
use super::{HoeffdingTree, Options};
use crate::KernelError;
use crate::codec::{Reader, Writer};
use crate::dispatch;
use crate::learners::bayes::{observe_statistics, set_capacity};
use crate::learners::rows::{BLOCK, Layout, Row, Rows};
use crate::learners::{Block, Learner, Schema, Step, learn_by_interleaving};

const NAME: &str = "ExtremelyFastDecisionTree";
const VERSION: u32 = 1;
/// A split that gains less is not worth making.
const MIN_GAIN: f64 = 1e-10;

/// The options of an extremely fast decision tree, with MOA's defaults.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ExtremelyFastOptions {
    /// The options of the tree itself.
    pub tree: Options,
    /// The number of rows between two re-evaluations of the nodes on the path of a row.
    pub revision_period: u64,
}

impl Default for ExtremelyFastOptions {
    fn default() -> Self {
        Self { tree: Options::default(), revision_period: 2000 }
    }
}

/// An extremely fast decision tree (Hoeffding anytime tree).
///
/// - Every `grace_period` of weight, a leaf that has seen two classes splits by its best attribute if that is better
///   than not splitting by more than the Hoeffding bound, on average over its attempts, or if the bound is below
///   `tie_threshold`.
/// - Split nodes continue to learn. Every `revision_period` rows, the nodes on the path of the row compare their
///   attributes again: if another attribute leads the current one by more than the bound, or by half of `tie_threshold`
///   where the bound is below it, the node is split by that attribute and its subtree is dropped. The lead is the sum
///   of all gains so far divided by the number of attempts since the split.
/// - The tree stops growing where it would otherwise exceed `max_bytes`.
#[derive(Debug, Clone)]
pub struct ExtremelyFastDecisionTree<const V: usize> {
    tree: HoeffdingTree<V>,
    options: ExtremelyFastOptions,
    /// Per node, its model; that of a leaf is its leaf.
    node_models: Vec<u32>,
    /// Per node, the number of comparisons of its attributes.
    n_attempts: Vec<u32>,
    /// Per node and attribute, the sum of the gains.
    gains: Vec<f64>,
    n_learnt: u64,
    n_revised: u64,
}

/// Builds an untrained extremely fast decision tree.
///
/// # Errors
/// [`KernelError::Option`] if a single leaf does not fit into `max_bytes`.
pub fn extremely_fast_decision_tree(
    schema: Schema,
    options: ExtremelyFastOptions,
) -> Result<Box<dyn Learner>, KernelError> {
    let n_vectors = Layout::n_vectors(&schema, usize::MAX);
    Ok(with_vectors!(n_vectors, V => Box::new(ExtremelyFastDecisionTree::<V>::new(schema, options)?)))
}

impl<const V: usize> ExtremelyFastDecisionTree<V> {
    fn new(schema: Schema, options: ExtremelyFastOptions) -> Result<Self, KernelError> {
        let bytes_per_node = 2 * size_of::<u32>() + schema.n_attributes() * size_of::<f64>();
        // Leaves attempt to split in this module, not in the tree.
        let mut tree = HoeffdingTree::new(schema, Options { grace_period: f64::INFINITY, ..options.tree });
        tree.wrapper = WrapperMemory { bytes: size_of::<Self>() - size_of::<HoeffdingTree<V>>(), bytes_per_node };
        tree.check_budget()?;
        let (n_learnt, n_revised) = (0, 0);
        let mut learner =
            Self { tree, options, node_models: vec![], n_attempts: vec![], gains: vec![], n_learnt, n_revised };
        learner.resize_to_nodes();
        Ok(learner)
    }

    /// Adds entries for new nodes.
    fn resize_to_nodes(&mut self) {
        let (before, n, d) = (self.node_models.len(), self.tree.nodes.len(), self.tree.schema.n_attributes());
        set_capacity(&mut self.node_models, n);
        set_capacity(&mut self.n_attempts, n);
        set_capacity(&mut self.gains, n * d);
        let node_models = (before as u32..n as u32).map(|node| self.tree.nodes.leaf(node).unwrap_or(0) as u32);
        self.node_models.extend(node_models);
        self.n_attempts.resize(n, 0);
        self.gains.resize(n * d, 0.0);
    }

    /// Compares the attributes of a node and adds up their gains; returns the best, `None` if none can split it.
    fn compare_attributes(&mut self, node: u32) -> Option<Candidate> {
        let (model, d) = (self.node_models[node as usize] as usize, self.tree.schema.n_attributes());
        let candidates = self.tree.find_candidates(model);
        let unsplit = self.options.tree.split_criterion.merit_unsplit(self.tree.models.weights(model));
        self.n_attempts[node as usize] = self.n_attempts[node as usize].saturating_add(1);
        let gains = &mut self.gains[node as usize * d..(node as usize + 1) * d];
        let mut best: Option<Candidate> = None;
        for candidate in candidates {
            gains[candidate.attribute] += candidate.merit - unsplit;
            // Of equals the last attribute wins, as in MOA.
            if best.is_none_or(|best| candidate.merit >= best.merit) {
                best = Some(candidate);
            }
        }
        best.map(|best| Candidate { merit: best.merit - unsplit, ..best })
    }

    /// Returns the gain of an attribute at a node, averaged over its attempts.
    fn mean_gain(&self, node: u32, attribute: usize) -> f64 {
        let index = node as usize * self.tree.schema.n_attributes() + attribute;
        self.gains[index] / f64::from(self.n_attempts[node as usize].max(1))
    }

    /// Splits a leaf if that is better than not splitting.
    #[cold]
    #[inline(never)]
    fn attempt_to_split(&mut self, node: u32, leaf: usize) {
        self.tree.models.summary_mut(leaf).since = 0.0;
        let Some(bound) = self.tree.split_bound(leaf) else { return };
        let Some(best) = self.compare_attributes(node) else { return };
        let unit = self.options.tree.split_criterion.unit();
        let clear = self.mean_gain(node, best.attribute) > bound || bound < self.options.tree.tie_threshold * unit;
        let n_branches = best.test.n_branches();
        if best.merit >= MIN_GAIN * unit && clear && self.tree.make_room(n_branches, n_branches) {
            self.split(node, best);
        } else {
            self.tree.remove_poor_attributes(leaf, best.merit - bound);
        }
    }

    /// Splits a node again if another attribute leads its own; returns whether it did.
    #[cold]
    #[inline(never)]
    fn reevaluate_split(&mut self, node: u32) -> bool {
        let Some(bound) = self.tree.split_bound(self.node_models[node as usize] as usize) else { return false };
        let (Some(best), Some(current)) = (self.compare_attributes(node), self.tree.nodes.attribute(node)) else {
            return false;
        };
        let lead = self.mean_gain(node, best.attribute) - self.mean_gain(node, current);
        let tie = self.options.tree.tie_threshold * self.options.tree.split_criterion.unit();
        let n_branches = best.test.n_branches();
        let clear = lead > bound || (bound < tie && lead > tie / 2.0);
        if best.attribute == current || !clear || !self.tree.make_room(n_branches, n_branches) {
            return false;
        }
        self.split(node, best);
        self.drop_orphans();
        self.n_revised += 1;
        true
    }

    /// Replaces the branches of a node; its model stays.
    fn split(&mut self, node: u32, candidate: Candidate) {
        let model = self.node_models[node as usize] as usize;
        let (branches, majority) = (self.tree.branch_weights(model, candidate), self.tree.models.find_majority(model));
        let mut leaves = vec![];
        for weights in &branches {
            leaves.push(self.tree.models.len());
            self.tree.models.push(weights, majority);
        }
        self.tree.nodes.split(node, candidate.attribute, candidate.test, &leaves, find_heaviest(&branches));
        // As in MOA, the gains stay and the attempts are reset, so that a young node is quick to change its split.
        self.n_attempts[node as usize] = 0;
        self.resize_to_nodes();
    }

    /// Drops nodes that the root does not reach, and their models.
    fn drop_orphans(&mut self) {
        let (order, _) = self.tree.nodes.compact(&[]);
        let d = self.tree.schema.n_attributes();
        let mut kept = vec![false; self.tree.models.len()];
        for &old in &order {
            kept[self.node_models[old as usize] as usize] = true;
        }
        let numbers = self.tree.retain_models(&kept);
        self.node_models = order.iter().map(|&old| numbers[self.node_models[old as usize] as usize] as u32).collect();
        self.n_attempts = order.iter().map(|&old| self.n_attempts[old as usize]).collect();
        let gains = order.iter().flat_map(|&old| &self.gains[old as usize * d..(old as usize + 1) * d]);
        self.gains = gains.copied().collect();
        self.resize_to_nodes();
    }

    /// Predicts a row, then learns it if its weight is above 0, re-evaluating the splits on its path.
    #[cold]
    #[inline(never)]
    fn step_and_reevaluate(&mut self, x: &[f64], row: Row<'_, V>, label: i32, weight: f64) -> i32 {
        let (end, leaf) = self.tree.find_leaf(0, x);
        // Predict before the leaf may be dropped.
        let predicted = self.tree.step_at_leaf(end, leaf, row, label, 0.0);
        if weight <= 0.0 {
            return predicted;
        }
        self.n_learnt += 1;
        let mut node = 0;
        while self.tree.nodes.leaf(node).is_none() {
            let model = self.node_models[node as usize] as usize;
            dispatch::run(
                #[inline(always)]
                || self.tree.models.observe::<false>(model, row, label as usize, weight),
            );
            if self.reevaluate_split(node) {
                return predicted;
            }
            node = self.tree.nodes.child(node, x);
        }
        let predicted = self.tree.step_at_leaf(node, leaf, row, label, weight);
        if self.tree.models.summary(leaf).since >= self.options.tree.grace_period {
            self.attempt_to_split(node, leaf);
        }
        predicted
    }
}

impl<const V: usize> ExtremelyFastDecisionTree<V> {
    /// Predicts and learns a block of rows of two classes: routes all of them, learns them at their leaves, predicts
    /// them together, and learns them at the split nodes on their paths.
    #[inline(always)]
    fn interleave_two_class(
        &mut self,
        block: &Block<'_>,
        (rows, end_nodes): (&Rows<V>, &[u32]),
        state: &mut TwoClassBlock,
        predictions: &mut [i32],
    ) {
        let (grace_period, n_nodes) = (self.options.tree.grace_period, self.tree.nodes.len());
        let mut start = 0;
        // From a split on, the rows of the block are processed one by one: their nodes may have changed.
        while start < end_nodes.len() && self.tree.nodes.len() == n_nodes {
            let (next, reason) = self.tree.learn_rows::<false>(block, rows, state, start, (grace_period, false));
            let mut vote_buffer = VoteBuffer::without_votes(&mut *predictions);
            self.tree.predict_rows::<false>(block, state, start..next, &mut vote_buffer);
            self.learn_at_split_nodes(block, rows, end_nodes, start..next);
            start = next;
            match reason {
                StopReason::BlockEnd => {}
                StopReason::NeedsSingleStep => {
                    self.step_rows(block, rows, next..next + 1, predictions);
                    start += 1;
                }
                StopReason::SplitDue | StopReason::NeedsRefresh => {
                    let (node, leaf) = (end_nodes[next - 1], state.leaves[(next - 1) % BLOCK] as usize);
                    if matches!(reason, StopReason::NeedsRefresh) {
                        self.tree.models.refresh(leaf, block.labels[next - 1] as usize);
                    }
                    if self.tree.models.summary(leaf).since >= grace_period {
                        self.attempt_to_split(node, leaf);
                    }
                }
            }
        }
        self.step_rows(block, rows, start..end_nodes.len(), predictions);
    }

    /// Learns rows at the split nodes above the nodes they were routed to, as [`Models::observe`] does there.
    ///
    /// [`Models::observe`]: crate::learners::bayes::Models::observe
    #[inline(never)]
    fn learn_at_split_nodes(&mut self, block: &Block<'_>, rows: &Rows<V>, end_nodes: &[u32], range: Range<usize>) {
        let (d, HoeffdingTree { nodes, models, .. }) = (self.tree.schema.n_attributes(), &mut self.tree);
        let (summaries, pairs) = models.class_pairs();
        let (node_models, n_learnt) = (&self.node_models, &mut self.n_learnt);
        dispatch::run(
            #[inline(always)]
            || {
                for (i, (panel, &end)) in
                    rows.panels().iter().zip(end_nodes).enumerate().take(range.end).skip(range.start)
                {
                    let (label, weight, x) = (block.labels[i], block.weights[i % BLOCK], &block.x[i * d..(i + 1) * d]);
                    if weight <= 0.0 {
                        continue;
                    }
                    *n_learnt += 1;
                    let (mut node, numbers) = (0, panel.vectors());
                    while node != end {
                        let model = node_models[node as usize] as usize;
                        observe_statistics(
                            &mut summaries[model],
                            &mut pairs[model][label as usize % 2],
                            &numbers,
                            weight,
                        );
                        node = nodes.child(node, x);
                    }
                }
            },
        );
    }

    /// Returns whether no row of a block is due for a re-evaluation of the splits on its path.
    #[inline(always)]
    fn keeps_splits(&self, block: &Block<'_>) -> bool {
        let n_learnt = block.weights[..block.labels.len()].iter().filter(|&&weight| weight > 0.0).count() as u64;
        let since = self.n_learnt % self.options.revision_period;
        since > 0 && since + n_learnt <= self.options.revision_period
    }
}

impl<const V: usize> RowByRow<V> for ExtremelyFastDecisionTree<V> {
    fn tree(&mut self) -> &mut HoeffdingTree<V> {
        &mut self.tree
    }

    #[inline(always)]
    fn step(&mut self, _: &mut Vec<u32>, x: &[f64], row: Row<'_, V>, label: i32, weight: f64) -> i32 {
        if weight <= 0.0 || self.n_learnt.is_multiple_of(self.options.revision_period) {
            return self.step_and_reevaluate(x, row, label, weight);
        }
        self.n_learnt += 1;
        let mut node = 0;
        // The way to the leaf does not depend on what its nodes learn.
        let leaf = loop {
            let child = match self.tree.nodes.leaf_or_child(node, x) {
                Ok(leaf) => break leaf,
                Err(child) => child,
            };
            // A split node never votes again.
            let model = self.node_models[node as usize] as usize;
            self.tree.models.observe::<false>(model, row, label as usize, weight);
            node = child;
        };
        let predicted = self.tree.predict_and_learn(node, leaf, row, label, weight);
        if self.tree.models.summary(leaf).since >= self.options.tree.grace_period {
            self.attempt_to_split(node, leaf);
        }
        predicted
    }
}

impl<const V: usize> Learner for ExtremelyFastDecisionTree<V> {
    fn schema(&self) -> &Schema {
        &self.tree.schema
    }

    fn vote(&self, x: &[f64], votes: &mut [f64]) {
        self.tree.predict(x, votes);
    }

    fn predict(&self, x: &[f64], votes: &mut [f64]) {
        self.tree.predict(x, votes);
    }

    fn learn(&mut self, x: &[f64], label: usize, weight: f64) {
        learn_by_interleaving(self, x, label, weight);
    }

    fn interleave(&mut self, step: &Step<'_>, predictions: &mut [i32], votes: Option<&mut [f64]>) {
        let (d, n_classes) = (self.tree.schema.n_attributes(), self.tree.schema.n_classes);
        // Without attributes, blocks would be learnt as a row of zeros.
        if votes.is_some() || d == 0 || !self.tree.has_two_class_path() {
            return self.interleave_rows(step, predictions, votes);
        }
        let mut rows = std::mem::replace(&mut self.tree.rows, Rows::empty());
        dispatch::run(
            #[inline(always)]
            || {
                let mut state = TwoClassBlock::new();
                for (block, predictions, _) in step.blocks(d, n_classes, predictions, None) {
                    let mut end_nodes = [0; BLOCK];
                    let end_nodes = &mut end_nodes[..predictions.len()];
                    let nodes = (&mut *end_nodes, &mut state.leaves);
                    let complete = self.tree.route_rows::<false>(&block, &mut rows, nodes);
                    if complete && self.tree.has_two_class_path() && self.keeps_splits(&block) {
                        self.interleave_two_class(&block, (&rows, end_nodes), &mut state, predictions);
                    } else {
                        self.step_rows(&block, &rows, 0..predictions.len(), predictions);
                    }
                }
            },
        );
        self.tree.rows = rows;
    }

    fn facts(&self) -> Vec<(&'static str, u64)> {
        let (n_nodes, n_leaves, depth) = self.tree.nodes.count_reachable();
        vec![("n_nodes", n_nodes), ("n_leaves", n_leaves), ("depth", depth), ("n_revised", self.n_revised)]
    }

    fn n_bytes(&self) -> usize {
        size_of::<Self>() - size_of::<HoeffdingTree<V>>()
            + self.tree.n_bytes()
            + (self.node_models.capacity() + self.n_attempts.capacity()) * size_of::<u32>()
            + self.gains.capacity() * size_of::<f64>()
    }

    fn save(&self) -> Vec<u8> {
        let mut writer = Writer::new(NAME, VERSION);
        writer.u64(self.n_learnt);
        writer.u64(self.n_revised);
        writer.u64s(self.node_models.iter().map(|&model| u64::from(model)));
        writer.u64s(self.n_attempts.iter().map(|&n| u64::from(n)));
        writer.f64s(&self.gains);
        self.tree.save_into(&mut writer);
        writer.finish()
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), KernelError> {
        let mut reader = Reader::new(NAME, VERSION, bytes)?;
        let mut loaded = Self::new(self.tree.schema.clone(), self.options)?;
        (loaded.n_learnt, loaded.n_revised) = (reader.u64()?, reader.u64()?);
        loaded.node_models = reader.u64s()?.into_iter().map(|model| model as u32).collect();
        loaded.n_attempts = reader.u64s()?.into_iter().map(|n| n as u32).collect();
        loaded.gains = reader.f64s()?;
        let mut leaves = loaded.tree.load_leaves(&mut reader)?;
        loaded.tree.load_nodes(&mut reader, &[], &mut leaves)?;
        let (n, d) = (loaded.tree.nodes.len(), self.tree.schema.n_attributes());
        let same = loaded.node_models.len() == n && loaded.n_attempts.len() == n && loaded.gains.len() == n * d;
        if !same || loaded.tree.frozen.len() > 0 {
            return Err(reader.error("the numbers of nodes differ"));
        }
        loaded.resize_to_nodes();
        for node in 0..n {
            match loaded.tree.nodes.leaf(node as u32) {
                Some(leaf) if leaf == loaded.node_models[node] as usize => {}
                Some(_) => return Err(reader.error("the model of a leaf is not its own")),
                None => leaves.claim(&reader, loaded.node_models[node] as usize)?,
            }
        }
        leaves.check(&reader)?;
        if loaded.n_bytes() > self.options.tree.max_bytes {
            return Err(reader.error("it is larger than max_bytes"));
        }
        reader.finish()?;
        *self = loaded;
        Ok(())
    }
}
