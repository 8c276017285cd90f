//! The Hoeffding tree (VFDT), with MOA's defaults.
//!
//! The README in this folder has the plain algorithm, and what each file rewrites for speed.
//!
//! P. Domingos and G. Hulten, Mining high-speed data streams, KDD 2000.

use super::bayes::{Models, Subspaces};
use super::rows::{BLOCK, Layout, MAX_VECTORS, Row, Rows};
use super::{ABSTAINED, Block, Learner, Schema, Step, learn_by_interleaving};
use crate::KernelError;
use crate::codec::{Reader, Writer};
use crate::dispatch;

mod adaptive;
mod budget;
mod criterion;
mod error_monitor;
mod extremely_fast;
mod frozen_leaves;
mod grow;
mod nodes;
mod options;
mod row_by_row;
mod screen;
mod split;
#[cfg(test)]
mod tests;
mod two_class;
mod two_class_votes;
mod voting;

pub use adaptive::{AdaptiveOptions, HoeffdingAdaptiveTree, hoeffding_adaptive_tree};
use budget::WrapperMemory;
pub use criterion::SplitCriterion;
pub use extremely_fast::{ExtremelyFastDecisionTree, ExtremelyFastOptions, extremely_fast_decision_tree};
use frozen_leaves::FrozenLeaves;
use nodes::{FIRST_FROZEN, LeafClaims, Nodes};
pub use options::{LeafPrediction, Options, Subspace};
use screen::SplitScreener;
use two_class::TwoClassBlock;
use voting::VoteBuffer;

const NAME: &str = "HoeffdingTree";
const VERSION: u32 = 2;

/// A Hoeffding tree: a leaf splits once its best split leads by more than the Hoeffding bound.
///
/// - Every `grace_period` of weight, a leaf that has seen two classes compares the best splits of its attributes by
///   information gain. It splits by the best if that leads the second best, and not splitting, by more than `sqrt(r^2
///   ln(1 / split_confidence) / (2 n))`, where n is the weight of the leaf and r the logarithm to base 2 of the number
///   of classes up to the last one seen, or if that bound is below `tie_threshold`. At least two branches must get more
///   than 0.01 of the weight.
/// - A numeric attribute has ten candidate thresholds at equal distances between its extremes; the weight of a class
///   below a threshold is that of a normal distribution. A nominal attribute has a branch per value, or one value
///   against the rest where that is better (always, with `binary_splits`).
/// - New leaves start with the weights of the classes that the split assigns to them; a leaf for a value never seen
///   votes for the majority of its parent.
/// - A row whose value is missing at a node goes to the child that was heaviest when the node split, and is learnt
///   there; in MOA it stops at the node.
/// - With a `subspace`, each leaf uses a random subset of the attributes, drawn when it is created, for its statistics,
///   its splits and its naive Bayes. If only one of them can split the leaf, nothing else is compared with it.
/// - The tree never holds more than `max_bytes`: the least promising leaves are frozen, and thawed when they become
///   promising. A frozen leaf only counts its classes and predicts the majority.
///
/// Votes add up to 1: posterior probabilities where naive Bayes predicts, shares of the classes' weights where the
/// majority does. All are 0 before the first row was learnt. `V` is the number of vectors in a row's first panel (see
/// `rows.rs`); [`hoeffding_tree`] chooses it.
#[derive(Debug, Clone)]
pub struct HoeffdingTree<const V: usize> {
    schema: Schema,
    options: Options,
    nodes: Nodes,
    models: Models<V>,
    rows: Rows<V>,
    /// All attributes of the rows, for routing, where leaves use a subset.
    full_rows: Option<Rows<MAX_VECTORS>>,
    /// The bytes of the rows, which are moved out while a block is processed.
    row_bytes: usize,
    screener: SplitScreener,
    /// The log-likelihoods of the rows of a block, for votes.
    logs: Vec<f64>,
    frozen: FrozenLeaves,
    /// The weight that frozen leaves have learnt since the last ranking.
    weight_since_ranking: f64,
    wrapper: WrapperMemory,
}

/// Builds an untrained Hoeffding tree.
///
/// # Errors
/// [`KernelError::Option`] if a single leaf does not fit into `max_bytes`.
pub fn hoeffding_tree(schema: Schema, options: Options) -> Result<Box<dyn Learner>, KernelError> {
    let size = options.subspace.map_or(usize::MAX, |subspace| subspace.size);
    let n_vectors = Layout::n_vectors(&schema, size);
    Ok(with_vectors!(n_vectors, V => Box::new(HoeffdingTree::<V>::new_checked(schema, options)?)))
}

impl<const V: usize> HoeffdingTree<V> {
    fn new_checked(schema: Schema, options: Options) -> Result<Self, KernelError> {
        let tree = Self::new(schema, options);
        tree.check_budget().map(|()| tree)
    }

    fn new(schema: Schema, options: Options) -> Self {
        let mut models = Self::new_models(&schema, &options);
        models.set_capacity(1);
        models.push(&vec![0.0; schema.n_classes], ABSTAINED);
        let rows = Rows::new(models.layout(), BLOCK);
        let full_rows = options.subspace.map(|_| Rows::new(&Layout::new(&schema), BLOCK));
        let mut nodes = Nodes::new(&schema, options.max_bytes);
        nodes.set_capacity(1);
        let frozen = FrozenLeaves::new(schema.n_classes);
        Self {
            schema,
            options,
            nodes,
            models,
            row_bytes: rows.n_bytes() + full_rows.as_ref().map_or(0, Rows::n_bytes),
            rows,
            full_rows,
            screener: SplitScreener::default(),
            logs: vec![],
            frozen,
            weight_since_ranking: 0.0,
            wrapper: WrapperMemory::default(),
        }
    }

    fn new_models(schema: &Schema, options: &Options) -> Models<V> {
        let draw = |subspace: Subspace| Subspaces::new(subspace.size.min(schema.n_attributes()), subspace.seed);
        let mut models = Models::new(schema, true, options.subspace.map(draw));
        if options.remove_poor_attributes {
            models.track_ignored();
        }
        models
    }

    /// Returns whether the majority class predicts at a leaf.
    #[inline(always)]
    fn majority_predicts(&self, leaf: usize) -> bool {
        match self.options.leaf_prediction {
            LeafPrediction::Majority => true,
            LeafPrediction::NaiveBayes => false,
            LeafPrediction::Adaptive => self.models.summary(leaf).majority_hits > self.models.summary(leaf).bayes_hits,
        }
    }

    /// Predicts and learns a block of rows: routes all of them, then processes one after the other. With `IN_SUBSPACES`
    /// leaves use a subset of the attributes.
    #[inline(always)]
    fn interleave_block<const IN_SUBSPACES: bool>(
        &mut self,
        block: &Block<'_>,
        state: &mut TwoClassBlock,
        predictions: &mut [i32],
    ) {
        let mut rows = std::mem::replace(&mut self.rows, Rows::empty());
        let mut end_nodes = [0; BLOCK];
        let end_nodes = &mut end_nodes[..predictions.len()];
        let complete = self.route_rows::<IN_SUBSPACES>(block, &mut rows, (end_nodes, &mut state.leaves));
        if complete && self.has_two_class_path() {
            let mut vote_buffer = VoteBuffer::without_votes(predictions);
            self.interleave_two_class::<IN_SUBSPACES, false>(block, (&mut rows, end_nodes), state, &mut vote_buffer);
        } else {
            for (i, (prediction, &mut end)) in predictions.iter_mut().zip(end_nodes).enumerate() {
                let (node, leaf) = self.find_row_leaf::<IN_SUBSPACES>(end, block, &mut rows, i);
                *prediction = self.step_row(node, leaf, block, rows.row(i), i);
            }
        }
        self.rows = rows;
    }

    /// Predicts and learns a row of a block at its leaf.
    #[inline(always)]
    fn step_row(&mut self, node: u32, leaf: usize, block: &Block<'_>, row: Row<'_, V>, i: usize) -> i32 {
        let (label, weight) = (block.labels[i], block.weights[i % BLOCK]);
        let predicted = if leaf < FIRST_FROZEN {
            self.predict_and_learn(node, leaf, row, label, weight)
        } else {
            self.step_frozen(leaf, label, weight)
        };
        if block.tests[i % BLOCK] { predicted } else { ABSTAINED }
    }

    /// Finds the node and leaf of each row of a block, and fills the rows unless leaves use a subset of the attributes.
    /// Returns whether no value is missing.
    #[inline(always)]
    fn route_rows<const IN_SUBSPACES: bool>(
        &mut self,
        block: &Block<'_>,
        rows: &mut Rows<V>,
        end_nodes: (&mut [u32], &mut [u32; BLOCK]),
    ) -> bool {
        let d = self.schema.n_attributes();
        match &mut self.full_rows {
            Some(full_rows) if IN_SUBSPACES => {
                full_rows.fill(self.models.layout(), block.x, end_nodes.0.len());
                self.nodes.route_block(block.x, d, full_rows.panels(), full_rows.missing_rows(), end_nodes);
                full_rows.are_complete()
            }
            _ => {
                rows.fill(self.models.layout(), block.x, end_nodes.0.len());
                self.nodes.route_block(block.x, d, rows.panels(), rows.missing_rows(), end_nodes);
                rows.are_complete()
            }
        }
    }

    /// Returns the node and leaf of a row below a node, which may have split since the row was routed, and gathers the
    /// attributes that the leaf uses.
    #[inline(always)]
    fn find_row_leaf<const IN_SUBSPACES: bool>(
        &mut self,
        end: u32,
        block: &Block<'_>,
        rows: &mut Rows<V>,
        i: usize,
    ) -> (u32, usize) {
        let d = self.schema.n_attributes();
        let (node, mut leaf) = self.find_leaf(end, &block.x[i * d..(i + 1) * d]);
        if IN_SUBSPACES {
            self.gather(rows, i, block, leaf);
        }
        if rows.row(i).has_missing() && block.weights[i % BLOCK] > 0.0 && !self.models.tracks_missing() {
            // The leaf may have been frozen or renumbered.
            self.make_room_for_missing();
            leaf = self.nodes.leaf(node).unwrap_or(leaf);
            if IN_SUBSPACES {
                self.gather(rows, i, block, leaf);
            }
        }
        (node, leaf)
    }

    /// Gathers the attributes of a row that a leaf uses.
    #[inline(always)]
    fn gather(&self, rows: &mut Rows<V>, i: usize, block: &Block<'_>, leaf: usize) {
        let d = self.schema.n_attributes();
        if let Some(attributes) = self.subspace(leaf) {
            rows.gather(i, self.models.layout(), &block.x[i * d..(i + 1) * d], attributes);
        }
    }

    /// Returns the attributes that a leaf uses; `None` if it uses all of them, or is frozen.
    #[inline(always)]
    fn subspace(&self, leaf: usize) -> Option<&[u32]> {
        if leaf < FIRST_FROZEN { self.models.subspace(leaf) } else { None }
    }

    /// Returns the node and leaf below a node, which may have split since the row was routed.
    #[inline(always)]
    fn find_leaf(&self, node: u32, x: &[f64]) -> (u32, usize) {
        if let Some(leaf) = self.nodes.leaf(node) {
            return (node, leaf);
        }
        let node = self.nodes.route(node, x);
        (node, self.nodes.leaf(node).unwrap_or(0))
    }

    /// Predicts a row at its leaf, then learns it if its weight is above 0.
    #[inline(always)]
    fn predict_and_learn(&mut self, node: u32, leaf: usize, row: Row<'_, V>, label: i32, weight: f64) -> i32 {
        let majority = self.models.summary(leaf).majority;
        let majority_predicts = self.majority_predicts(leaf);
        let learns = weight > 0.0;
        let asks_bayes = match self.options.leaf_prediction {
            LeafPrediction::Majority => false,
            LeafPrediction::NaiveBayes => true,
            // Adaptive leaves score both predictions of a learnt row, whichever is used; this also saves a branch.
            LeafPrediction::Adaptive => learns || !majority_predicts,
        };
        let likeliest = if asks_bayes { self.models.find_likeliest(leaf, row) } else { majority };
        if learns {
            self.learn_at(node, leaf, row, label, weight, likeliest);
        }
        if majority_predicts { majority } else { likeliest }
    }

    /// Learns a row at its leaf; `likeliest` is the prediction of naive Bayes.
    #[inline(always)]
    fn learn_at(&mut self, node: u32, leaf: usize, row: Row<'_, V>, label: i32, weight: f64, likeliest: i32) {
        let majority = self.models.summary(leaf).majority;
        self.models.observe::<true>(leaf, row, label as usize, weight);
        let summary = self.models.summary_mut(leaf);
        summary.since += weight;
        summary.majority_hits += if majority == label { weight } else { 0.0 };
        summary.bayes_hits += if likeliest == label { weight } else { 0.0 };
        if summary.since >= self.options.grace_period {
            self.attempt_to_split(node, leaf);
        }
    }

    fn vote_at(&self, leaf: usize, row: Row<'_, V>, votes: &mut [f64]) {
        if leaf >= FIRST_FROZEN {
            self.frozen.vote(leaf - FIRST_FROZEN, votes);
        } else if self.majority_predicts(leaf) {
            self.models.vote_by_weight(leaf, votes);
        } else {
            self.models.vote(leaf, row, votes);
        }
    }
}

impl<const V: usize> Learner for HoeffdingTree<V> {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn vote(&self, x: &[f64], votes: &mut [f64]) {
        self.predict(x, votes);
    }

    fn predict(&self, x: &[f64], votes: &mut [f64]) {
        let d = self.schema.n_attributes();
        let mut rows = Rows::<V>::new(self.models.layout(), 1);
        for (i, votes) in votes.chunks_exact_mut(self.schema.n_classes).enumerate() {
            let x = &x[i * d..(i + 1) * d];
            let (_, leaf) = self.find_leaf(0, x);
            match self.subspace(leaf) {
                Some(attributes) => rows.gather(0, self.models.layout(), x, attributes),
                None => rows.fill(self.models.layout(), x, 1),
            }
            self.vote_at(leaf, rows.row(0), votes);
        }
    }

    fn learn(&mut self, x: &[f64], label: usize, weight: f64) {
        learn_by_interleaving(self, x, label, weight);
    }

    fn interleave(&mut self, step: &Step<'_>, predictions: &mut [i32], votes: Option<&mut [f64]>) {
        if let Some(votes) = votes {
            return self.vote_step(step, predictions, votes, false);
        }
        let (d, n_classes) = (self.schema.n_attributes(), self.schema.n_classes);
        dispatch::run(
            #[inline(always)]
            || {
                let mut state = TwoClassBlock::new();
                for (block, predictions, _) in step.blocks(d, n_classes, predictions, None) {
                    match self.options.subspace {
                        None => self.interleave_block::<false>(&block, &mut state, predictions),
                        Some(_) => self.interleave_block::<true>(&block, &mut state, predictions),
                    }
                }
            },
        );
    }

    fn recheck(&mut self, step: &Step<'_>, votes: &mut [f64], rechecked: &mut [i32]) {
        self.vote_step(step, rechecked, votes, true);
    }

    fn facts(&self) -> Vec<(&'static str, u64)> {
        vec![
            ("n_nodes", self.nodes.len() as u64),
            ("n_leaves", (self.models.len() + self.frozen.len()) as u64),
            ("n_frozen", self.frozen.len() as u64),
            ("depth", u64::from(self.nodes.depth())),
        ]
    }

    fn n_bytes(&self) -> usize {
        size_of::<Self>()
            + 4 * self.schema.n_values.capacity()
            + self.nodes.n_bytes()
            + self.models.n_bytes()
            + self.rows.n_bytes()
            + self.full_rows.as_ref().map_or(0, Rows::n_bytes)
            + 8 * self.logs.capacity()
            + self.screener.n_bytes()
            + self.frozen.n_bytes()
    }

    fn save(&self) -> Vec<u8> {
        let mut writer = Writer::new(NAME, VERSION);
        self.save_into(&mut writer);
        writer.finish()
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), KernelError> {
        let mut reader = Reader::new(NAME, VERSION, bytes)?;
        let mut loaded = Self::new(self.schema.clone(), self.options);
        let mut leaves = loaded.load_leaves(&mut reader)?;
        loaded.load_nodes(&mut reader, &[], &mut leaves)?;
        leaves.check(&reader)?;
        if loaded.n_bytes() > self.options.max_bytes {
            return Err(reader.error("it is larger than max_bytes"));
        }
        reader.finish()?;
        *self = loaded;
        Ok(())
    }
}

impl<const V: usize> HoeffdingTree<V> {
    /// Writes the state.
    fn save_into(&self, writer: &mut Writer) {
        self.models.save(writer);
        writer.f64(self.weight_since_ranking);
        self.frozen.save(writer);
        self.nodes.save(writer);
    }

    /// Reads all leaves into a new tree.
    fn load_leaves(&mut self, reader: &mut Reader<'_>) -> Result<LeafClaims, KernelError> {
        self.models = Self::new_models(&self.schema, &self.options);
        self.models.load(reader)?;
        self.weight_since_ranking = reader.f64()?;
        self.frozen.load(reader)?;
        Ok(LeafClaims::new(self.models.len(), self.frozen.len()))
    }

    /// Reads the nodes of the tree and of the subtrees below more roots.
    fn load_nodes(
        &mut self,
        reader: &mut Reader<'_>,
        roots: &[usize],
        leaves: &mut LeafClaims,
    ) -> Result<(), KernelError> {
        let nodes = Nodes::empty(&self.schema, self.options.max_bytes);
        self.nodes = nodes.load(reader, &self.schema, roots, leaves)?;
        Ok(())
    }
}
