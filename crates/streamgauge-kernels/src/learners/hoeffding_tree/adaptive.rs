//! The Hoeffding adaptive tree: every node monitors its error, and a subtree whose error rises is replaced.
//!
//! A. Bifet and R. Gavaldà, Adaptive learning from evolving data streams, IDA 2009.

use super::budget::WrapperMemory;
use super::error_monitor::{CLOCK, ErrorMonitor};
use super::nodes::NO_NODE;
use super::row_by_row::RowByRow;
use super::{HoeffdingTree, Options};
use crate::KernelError;
use crate::adaptive_window::{AdaptiveWindow, Settings};
use crate::codec::{Reader, Writer};
use crate::dispatch;
use crate::learners::bayes::set_capacity;
use crate::learners::rows::{Layout, Row};
use crate::learners::{ABSTAINED, Learner, Schema, Step, learn_by_interleaving};
use crate::randomness::{Draws, Poisson, Purpose};

const NAME: &str = "HoeffdingAdaptiveTree";
const VERSION: u32 = 1;
/// A node and its alternate are compared once both windows hold more rows than this.
const MIN_WIDTH: f64 = 300.0;
/// The probability of finding a difference between two equal error rates.
const SWITCH_CONFIDENCE: f64 = 0.05;
/// The most bytes of a window of up to 2^50 values: at most eight buckets of 16 bytes on each of 48 levels, but 16 on
/// the first two.
const MAX_WINDOW_BYTES: usize = size_of::<AdaptiveWindow>() + 64 * size_of::<Vec<u8>>() + (46 * 8 + 2 * 16) * 16;

/// The options of a Hoeffding adaptive tree, with MOA's defaults.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AdaptiveOptions {
    /// The options of the tree itself.
    pub tree: Options,
    /// The significance level of ADWIN for a change of error.
    pub delta: f64,
    /// Whether leaves learn rows with Poisson weights.
    pub bootstrap: bool,
}

impl Default for AdaptiveOptions {
    fn default() -> Self {
        Self { tree: Options::default(), delta: 0.002, bootstrap: true }
    }
}

impl AdaptiveOptions {
    fn window(&self) -> Settings {
        Settings { delta: self.delta, clock: u64::from(CLOCK), max_buckets: 5, min_window_length: 5, grace_period: 10 }
    }
}

/// A Hoeffding adaptive tree: a Hoeffding tree whose nodes monitor their error with ADWIN.
///
/// - When the error of a split node rises, an alternate tree starts there and learns beside it. It replaces the node
///   as soon as it splits, or once both have seen more than 300 rows and its error is lower by more than `sqrt(2 e (1 -
///   e) ln(2 / 0.05) (1 / n + 1 / n'))`; it is dropped once its error is higher by as much. Another rise restarts it.
/// - With `bootstrap` a leaf learns a row with its weight times a Poisson(1) number, or once where that is 0.
/// - The tree stops growing, and starts no alternates, where it could otherwise exceed `max_bytes`.
#[derive(Debug, Clone)]
pub struct HoeffdingAdaptiveTree<const V: usize> {
    tree: HoeffdingTree<V>,
    options: AdaptiveOptions,
    /// Per node, the monitor of its errors.
    monitors: Vec<ErrorMonitor>,
    /// Per node, the root of its alternate tree, or [`NO_NODE`].
    alternates: Vec<u32>,
    draws: Draws,
    poisson: Poisson,
    /// The number of rows learnt, and of leaves that have learnt the current row.
    n_learnt: u64,
    n_leaves: u64,
    n_switched: u64,
    /// Whether there are nodes that no root reaches.
    has_orphans: bool,
}

/// Builds an untrained Hoeffding adaptive tree.
///
/// # Errors
/// [`KernelError::Option`] if a single leaf does not fit into `max_bytes`.
pub fn hoeffding_adaptive_tree(
    schema: Schema,
    options: AdaptiveOptions,
    seed: u64,
) -> Result<Box<dyn Learner>, KernelError> {
    let n_vectors = Layout::n_vectors(&schema, usize::MAX);
    Ok(with_vectors!(n_vectors, V => Box::new(HoeffdingAdaptiveTree::<V>::new(schema, options, seed)?)))
}

impl<const V: usize> HoeffdingAdaptiveTree<V> {
    fn new(schema: Schema, options: AdaptiveOptions, seed: u64) -> Result<Self, KernelError> {
        let mut tree = HoeffdingTree::new(schema, options.tree);
        let poisson = Poisson::new(1.0)?;
        tree.wrapper = WrapperMemory {
            bytes: size_of::<Self>() - size_of::<HoeffdingTree<V>>() + poisson.n_bytes(),
            bytes_per_node: size_of::<ErrorMonitor>() + size_of::<u32>() + MAX_WINDOW_BYTES,
        };
        tree.check_budget()?;
        let mut learner = Self {
            tree,
            options,
            monitors: vec![],
            alternates: vec![],
            draws: Draws::new(seed, Purpose::named("adaptive tree"), 0),
            poisson,
            n_learnt: 0,
            n_leaves: 0,
            n_switched: 0,
            has_orphans: false,
        };
        learner.resize_to_nodes();
        Ok(learner)
    }

    /// Adds entries for new nodes.
    fn resize_to_nodes(&mut self) {
        let n = self.tree.nodes.len();
        set_capacity(&mut self.monitors, n);
        set_capacity(&mut self.alternates, n);
        self.monitors.resize_with(n, ErrorMonitor::default);
        self.alternates.resize(n, NO_NODE);
    }

    /// Learns a row at the leaf below a node and at all alternates on the path; returns the leaf's prediction before
    /// learning. `path` is scratch memory.
    #[inline(always)]
    fn learn_below(
        &mut self,
        start: u32,
        path: &mut Vec<u32>,
        x: &[f64],
        row: Row<'_, V>,
        label: i32,
        weight: f64,
    ) -> i32 {
        path.clear();
        let mut node = start;
        let leaf = loop {
            if let Some(leaf) = self.tree.nodes.leaf(node) {
                break leaf;
            }
            path.push(node);
            node = self.tree.nodes.child(node, x);
        };
        let predicted = self.learn_at_leaf(node, leaf, row, label, weight);
        for &node in &*path {
            let has_risen = self.add_error(node, predicted != label);
            let has_alternate = self.alternates[node as usize] != NO_NODE;
            if (has_risen || has_alternate) && self.update_alternate(node, has_risen, x, row, label, weight) {
                break;
            }
        }
        predicted
    }

    /// Does the same below an alternate.
    #[inline(never)]
    fn learn_alternate(&mut self, start: u32, x: &[f64], row: Row<'_, V>, label: i32, weight: f64) {
        dispatch::run(
            #[inline(always)]
            || self.learn_below(start, &mut vec![], x, row, label, weight),
        );
    }

    /// Starts an alternate tree at a node whose error has risen, or compares it with the one it has, which learns the
    /// row; returns whether the node was replaced.
    #[cold]
    #[inline(never)]
    fn update_alternate(
        &mut self,
        node: u32,
        has_risen: bool,
        x: &[f64],
        row: Row<'_, V>,
        label: i32,
        weight: f64,
    ) -> bool {
        if has_risen {
            self.start_alternate(node);
        } else if self.compare_with_alternate(node) {
            self.learn_alternate(node, x, row, label, weight);
            return true;
        }
        let alternate = self.alternates[node as usize];
        if alternate == NO_NODE {
            return false;
        }
        let was_leaf = self.tree.nodes.leaf(alternate).is_some();
        self.learn_alternate(alternate, x, row, label, weight);
        let has_split = was_leaf && self.tree.nodes.leaf(alternate).is_none();
        if has_split {
            self.switch(node, alternate);
        }
        has_split
    }

    /// Learns a row at a leaf; returns its prediction before learning.
    #[inline(always)]
    fn learn_at_leaf(&mut self, node: u32, leaf: usize, row: Row<'_, V>, label: i32, weight: f64) -> i32 {
        let draw = self.draws.within(self.n_learnt).at(self.n_leaves);
        self.n_leaves += 1;
        let times = if self.options.bootstrap { self.poisson.quantile(draw).max(1) } else { 1 };
        let predicted = self.tree.predict_and_learn(node, leaf, row, label, weight * f64::from(times));
        self.add_error(node, predicted != label);
        if self.tree.nodes.len() > self.monitors.len() {
            // A node that has split monitors the error of its branches, not of the leaf it was.
            self.monitors[node as usize] = ErrorMonitor::default();
            self.resize_to_nodes();
        }
        predicted
    }

    /// Counts whether a node has erred; returns whether its error has risen.
    #[inline(always)]
    fn add_error(&mut self, node: u32, is_error: bool) -> bool {
        let monitor = &mut self.monitors[node as usize];
        monitor.add(is_error) && monitor.check(self.options.window())
    }

    /// Starts an alternate tree at a node, replacing any other.
    fn start_alternate(&mut self, node: u32) {
        if self.tree.make_room(1, 1) {
            self.has_orphans |= self.alternates[node as usize] != NO_NODE;
            let leaf = self.tree.models.len();
            self.tree.models.push(&vec![0.0; self.tree.schema.n_classes], ABSTAINED);
            self.alternates[node as usize] = self.tree.nodes.push_root(leaf, node);
            self.resize_to_nodes();
        }
    }

    /// Compares a node with its alternate tree and keeps the better one if they differ; returns whether that is the
    /// alternate.
    fn compare_with_alternate(&mut self, node: u32) -> bool {
        let alternate = self.alternates[node as usize];
        let [old, new] = [node, alternate].map(|node| self.monitors[node as usize].count());
        if old.n_rows <= MIN_WIDTH || new.n_rows <= MIN_WIDTH {
            return false;
        }
        let (error, n) = (old.rate(), 1.0 / old.n_rows + 1.0 / new.n_rows);
        let bound = (2.0 * error * (1.0 - error) * (2.0 / SWITCH_CONFIDENCE).ln() * n).sqrt();
        let gain = error - new.rate();
        if gain.abs() <= bound {
            return false;
        }
        if gain > 0.0 {
            self.switch(node, alternate);
        } else {
            self.has_orphans = true;
            self.alternates[node as usize] = NO_NODE;
        }
        gain > 0.0
    }

    /// Replaces a node by its alternate tree.
    fn switch(&mut self, node: u32, alternate: u32) {
        self.has_orphans = true;
        self.tree.nodes.replace_subtree(node, alternate);
        self.monitors[node as usize] = std::mem::take(&mut self.monitors[alternate as usize]);
        self.alternates[node as usize] = self.alternates[alternate as usize];
        self.n_switched += 1;
    }

    /// Drops nodes that no root reaches.
    fn drop_orphans(&mut self) {
        let (order, alternates) = self.tree.nodes.compact(&self.alternates);
        self.monitors = order.iter().map(|&old| std::mem::take(&mut self.monitors[old as usize])).collect();
        self.alternates = alternates;
        self.tree.drop_unused_models();
        self.has_orphans = false;
    }
}

impl<const V: usize> RowByRow<V> for HoeffdingAdaptiveTree<V> {
    fn tree(&mut self) -> &mut HoeffdingTree<V> {
        &mut self.tree
    }

    #[inline(always)]
    fn step(&mut self, path: &mut Vec<u32>, x: &[f64], row: Row<'_, V>, label: i32, weight: f64) -> i32 {
        if weight <= 0.0 {
            let (node, leaf) = self.tree.find_leaf(0, x);
            return self.tree.step_at_leaf(node, leaf, row, label, 0.0);
        }
        self.n_leaves = 0;
        let predicted = self.learn_below(0, path, x, row, label, weight);
        self.n_learnt += 1;
        if self.has_orphans {
            self.drop_orphans();
        }
        predicted
    }
}

impl<const V: usize> Learner for HoeffdingAdaptiveTree<V> {
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
        self.interleave_rows(step, predictions, votes);
    }

    fn facts(&self) -> Vec<(&'static str, u64)> {
        let (n_nodes, n_leaves, depth) = self.tree.nodes.count_reachable();
        let n_alternates = self.alternates.iter().filter(|&&root| root != NO_NODE).count() as u64;
        vec![
            ("n_nodes", n_nodes),
            ("n_leaves", n_leaves),
            ("depth", depth),
            ("n_alternates", n_alternates),
            ("n_switched", self.n_switched),
        ]
    }

    fn n_bytes(&self) -> usize {
        size_of::<Self>() - size_of::<HoeffdingTree<V>>()
            + self.tree.n_bytes()
            + self.monitors.capacity() * size_of::<ErrorMonitor>()
            + self.alternates.capacity() * size_of::<u32>()
            + self.monitors.iter().map(ErrorMonitor::n_bytes).sum::<usize>()
    }

    fn save(&self) -> Vec<u8> {
        let mut writer = Writer::new(NAME, VERSION);
        writer.u64(self.n_learnt);
        writer.u64(self.n_switched);
        writer.u64s(self.alternates.iter().map(|&root| u64::from(root)));
        for monitor in &self.monitors {
            let window = monitor.to_window(self.options.window());
            writer.u64(u64::from(window.is_some()));
            if let Some(window) = window {
                window.write(&mut writer);
            }
        }
        self.tree.save_into(&mut writer);
        writer.finish()
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), KernelError> {
        let mut reader = Reader::new(NAME, VERSION, bytes)?;
        let mut loaded = Self::new(self.tree.schema.clone(), self.options, 0)?;
        loaded.draws = self.draws;
        (loaded.n_learnt, loaded.n_switched) = (reader.u64()?, reader.u64()?);
        loaded.alternates = reader.u64s()?.into_iter().map(|root| root as u32).collect();
        // The root of an alternate comes after its node, so that no tree is its own alternate.
        if (0..).zip(&loaded.alternates).any(|(node, &root)| root <= node) {
            return Err(reader.error("an alternate tree has an invalid root"));
        }
        let fresh = AdaptiveWindow::binary(self.options.window())?;
        loaded.monitors = (0..loaded.alternates.len())
            .map(|_| match reader.u64()? {
                0 => Ok(ErrorMonitor::default()),
                _ => fresh.read(&mut reader).map(ErrorMonitor::resume),
            })
            .collect::<Result<_, _>>()?;
        let roots = loaded.alternates.iter().filter(|&&root| root != NO_NODE).map(|&root| root as usize);
        let roots: Vec<usize> = roots.collect();
        let mut leaves = loaded.tree.load_leaves(&mut reader)?;
        loaded.tree.load_nodes(&mut reader, &roots, &mut leaves)?;
        leaves.check(&reader)?;
        if loaded.tree.nodes.len() != loaded.monitors.len() || loaded.tree.frozen.len() > 0 {
            return Err(reader.error("the numbers of nodes differ"));
        }
        loaded.resize_to_nodes();
        if loaded.n_bytes() > self.options.tree.max_bytes {
            return Err(reader.error("it is larger than max_bytes"));
        }
        reader.finish()?;
        *self = loaded;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_alternate_replaces_its_node_at_its_first_split() {
        let schema = Schema { n_values: vec![0, 0], n_classes: 2 };
        let options = AdaptiveOptions { bootstrap: false, ..Default::default() };
        let mut tree = HoeffdingAdaptiveTree::<1>::new(schema, options, 1).unwrap();
        let draws = Draws::new(1, Purpose::named("rows"), 0);
        let mut n_started = 0;
        for row in 0..12_000 {
            let row_draws = draws.within(row);
            let x = [row_draws.uniform(0), row_draws.uniform(1)];
            let label = usize::from((x[(row / 4_000 % 2) as usize] > 0.5) != (row > 8_000));
            tree.learn(&x, label, 1.0);
            let roots = tree.alternates.iter().filter(|&&root| root != NO_NODE);
            n_started += roots.clone().count();
            assert!(roots.clone().all(|&root| tree.tree.nodes.leaf(root).is_some()));
        }
        assert!(n_started > 0 && tree.n_switched > 0);
    }
}
