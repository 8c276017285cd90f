//! Random trees (Domingos and Hulten, "Mining high-speed data streams", KDD 2000; MOA's `RandomTreeGenerator`).

use std::collections::VecDeque;

use super::{BlockGenerator, Source, fill_uniform};
use crate::KernelError;
use crate::error::check_option;
use crate::randomness::Draws;

/// Rows in a block.
const BLOCK: usize = 64;
/// Rows that descend the tree in parallel.
const ROWS_IN_PARALLEL: usize = 8;
/// The maximum number of nodes, so that options cannot exhaust memory.
const MAX_NODES: usize = 1_000_000;

/// The options of [`RandomTree`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RandomTreeOptions {
    /// The number of nominal attributes: the first ones.
    pub n_nominal: usize,
    /// The number of numeric attributes.
    pub n_numeric: usize,
    /// The number of values of a nominal attribute.
    pub n_values: usize,
    /// The number of classes.
    pub n_classes: usize,
    /// The depth of the tree; the root has depth 0.
    pub max_depth: usize,
    /// The smallest depth of a leaf.
    pub first_leaf_depth: usize,
    /// The probability that a node of that depth or more is a leaf.
    pub leaf_fraction: f64,
}

impl Default for RandomTreeOptions {
    fn default() -> Self {
        Self {
            n_nominal: 5,
            n_numeric: 5,
            n_values: 5,
            n_classes: 2,
            max_depth: 5,
            first_leaf_depth: 3,
            leaf_fraction: 0.15,
        }
    }
}

/// A node; the children of a split are consecutive.
///
/// The child of a nominal value is that of its code; the child of a number is the first, or the second if it reaches
/// the threshold. A leaf is its own child.
#[derive(Debug, Clone, Copy)]
struct Node {
    threshold: f64,
    attribute: u32,
    first_child: u32,
    /// All bits set if the attribute is nominal, else none.
    mask: u32,
    class: i32,
}

impl Node {
    fn leaf(index: usize, class: i32) -> Self {
        Self { threshold: f64::INFINITY, attribute: 0, first_child: index as u32, mask: 0, class }
    }
}

/// A random tree: uniform codes and uniform numbers in [0, 1); the class is that of their leaf.
#[derive(Debug, Clone)]
pub struct RandomTree {
    n_nominal: usize,
    n_attributes: usize,
    n_values: usize,
    depth: usize,
    nodes: Vec<Node>,
    attributes: Draws,
}

impl RandomTree {
    /// Creates a tree and rows from a seed.
    ///
    /// # Errors
    /// Returns [`KernelError::Option`] if an option is outside its range.
    pub fn new(options: RandomTreeOptions, source: impl Into<Source>) -> Result<Self, KernelError> {
        let RandomTreeOptions { n_nominal, n_numeric, n_values, .. } = options;
        let n_attributes = n_nominal + n_numeric;
        check_option("n_numeric", n_numeric, n_attributes > 0, "there must be at least one attribute")?;
        check_option("n_values", n_values, n_values > 1, "there must be at least two")?;
        let source = source.into();
        Ok(Self {
            n_nominal,
            n_attributes,
            n_values,
            depth: options.max_depth,
            nodes: TreeBuilder::new(options, source.concept("tree nodes")).build()?,
            attributes: source.rows("tree attributes"),
        })
    }

    /// Returns the child of a node for a value.
    #[inline(always)]
    fn find_child(node: &Node, value: f64) -> u32 {
        // Adding 2^52 leaves a whole number in the low bits: faster than a saturating conversion.
        let code = (value + 4_503_599_627_370_496.0).to_bits() as u32;
        node.first_child + (code & node.mask) + u32::from(value >= node.threshold)
    }

    /// Returns the class of one row, for tests.
    #[cfg(test)]
    pub(super) fn classify(&self, values: &[f64]) -> i32 {
        let mut node = &self.nodes[0];
        for _ in 0..self.depth {
            node = &self.nodes[Self::find_child(node, values[node.attribute as usize]) as usize];
        }
        node.class
    }

    /// Writes the classes of up to [`ROWS_IN_PARALLEL`] rows, which descend in parallel to hide the latency of memory.
    ///
    /// Every row takes as many steps as the tree is deep, so that no branch depends on the data.
    #[inline(always)]
    fn fill_classes(&self, x: &[f64], y: &mut [i32]) {
        let mut indexes = [0_u32; ROWS_IN_PARALLEL];
        for _ in 0..self.depth {
            for (values, index) in x.chunks_exact(self.n_attributes).zip(&mut indexes) {
                let node = &self.nodes[*index as usize];
                *index = Self::find_child(node, values[node.attribute as usize]);
            }
        }
        for (label, index) in y.iter_mut().zip(indexes) {
            *label = self.nodes[index as usize].class;
        }
    }
}

impl BlockGenerator for RandomTree {
    const BLOCK: usize = BLOCK;

    fn n_attributes(&self) -> usize {
        self.n_attributes
    }

    #[inline(always)]
    fn fill_block(&self, start: u64, x: &mut [f64], y: &mut [i32]) {
        fill_uniform(self.attributes, start.wrapping_mul(self.n_attributes as u64), 0.0, 1.0, x);
        let n_values = self.n_values as f64;
        for values in x.chunks_exact_mut(self.n_attributes) {
            for value in &mut values[..self.n_nominal] {
                *value = (n_values * *value).floor();
            }
        }
        for (x, y) in x.chunks(ROWS_IN_PARALLEL * self.n_attributes).zip(y.chunks_mut(ROWS_IN_PARALLEL)) {
            self.fill_classes(x, y);
        }
    }
}

/// A node that is still to be built.
#[derive(Debug, Clone)]
struct PendingNode {
    node: usize,
    depth: usize,
    /// The nominal attributes that no ancestor splits on.
    nominal: Vec<usize>,
    /// The range of each numeric attribute at this node.
    ranges: Vec<(f64, f64)>,
}

/// A builder of trees, level by level: node i uses the draws 3 i, 3 i + 1 and 3 i + 2.
struct TreeBuilder {
    options: RandomTreeOptions,
    draws: Draws,
    nodes: Vec<Node>,
    pending: VecDeque<PendingNode>,
}

impl TreeBuilder {
    fn new(options: RandomTreeOptions, draws: Draws) -> Self {
        Self { options, draws, nodes: Vec::new(), pending: VecDeque::new() }
    }

    fn build(mut self) -> Result<Vec<Node>, KernelError> {
        let ranges = vec![(0.0, 1.0); self.options.n_numeric];
        self.nodes.push(Node::leaf(0, 0));
        self.pending.push_back(PendingNode {
            node: 0,
            depth: 0,
            nominal: (0..self.options.n_nominal).collect(),
            ranges,
        });
        while let Some(pending_node) = self.pending.pop_front() {
            let fits = self.nodes.len() <= MAX_NODES;
            check_option("max_depth", self.options.max_depth, fits, "the tree would have more than a million nodes")?;
            let index = pending_node.node;
            self.nodes[index] = self.build_node(pending_node);
        }
        Ok(self.nodes)
    }

    fn build_node(&mut self, pending_node: PendingNode) -> Node {
        let first = 3 * pending_node.node as u64;
        let n_candidates = pending_node.nominal.len() + self.options.n_numeric;
        let may_be_leaf = pending_node.depth >= self.options.first_leaf_depth;
        let is_leaf = may_be_leaf && self.draws.uniform(first) < self.options.leaf_fraction;
        if is_leaf || pending_node.depth >= self.options.max_depth || n_candidates == 0 {
            return Node::leaf(pending_node.node, self.draws.below(first + 1, self.options.n_classes as u64) as i32);
        }
        let candidate = self.draws.below(first + 1, n_candidates as u64) as usize;
        if let Some(&attribute) = pending_node.nominal.get(candidate) {
            let mut nominal = pending_node.nominal.clone();
            nominal.remove(candidate);
            let child = PendingNode { node: 0, depth: pending_node.depth + 1, nominal, ranges: pending_node.ranges };
            return self.build_split(attribute, f64::INFINITY, vec![child; self.options.n_values]);
        }
        let numeric = candidate - pending_node.nominal.len();
        let (low, high) = pending_node.ranges[numeric];
        let threshold = low + (high - low) * self.draws.uniform(first + 2);
        let mut children = vec![PendingNode { depth: pending_node.depth + 1, ..pending_node }; 2];
        children[0].ranges[numeric] = (low, threshold);
        children[1].ranges[numeric] = (threshold, high);
        self.build_split(self.options.n_nominal + numeric, threshold, children)
    }

    fn build_split(&mut self, attribute: usize, threshold: f64, children: Vec<PendingNode>) -> Node {
        Node {
            threshold,
            attribute: attribute as u32,
            first_child: self.add_children(children) as u32,
            mask: if threshold.is_infinite() { u32::MAX } else { 0 },
            class: 0,
        }
    }

    /// Adds children that are still to be built; returns the index of the first.
    fn add_children(&mut self, children: Vec<PendingNode>) -> usize {
        let first = self.nodes.len();
        for (i, child) in children.into_iter().enumerate() {
            self.nodes.push(Node::leaf(0, 0));
            self.pending.push_back(PendingNode { node: first + i, ..child });
        }
        first
    }
}
