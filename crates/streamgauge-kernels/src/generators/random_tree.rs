//! Random trees (Domingos and Hulten, "Mining high-speed data streams", KDD 2000; MOA's `RandomTreeGenerator`).

use std::collections::VecDeque;

use super::{Generator, Source, check_option, fill_uniform};
use crate::KernelError;
use crate::dispatch;
use crate::randomness::Draws;

/// Rows worked on together: they stay in the first cache.
const BLOCK: usize = 64;
/// Rows that go down the tree side by side.
const ABREAST: usize = 8;
/// No tree has more nodes, so that options cannot ask for more memory than there is.
const MOST_NODES: usize = 1_000_000;

/// How a random tree is grown.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RandomTreeOptions {
    /// How many nominal attributes there are: the first.
    pub n_nominal: usize,
    /// How many numeric attributes there are.
    pub n_numeric: usize,
    /// How many values a nominal attribute has.
    pub n_values: usize,
    /// How many classes there are.
    pub n_classes: usize,
    /// How deep the tree is; the root has depth 0.
    pub max_depth: usize,
    /// From which depth on there may be leaves.
    pub first_leaf_depth: usize,
    /// With which probability a node of that depth or more is a leaf.
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

/// A node; the children of a split stand next to each other.
///
/// The child that a value leads to is that of its code where it is nominal, and the first, or the next where it reaches
/// the threshold, where it is a number. A leaf leads to itself.
#[derive(Debug, Clone, Copy)]
struct Node {
    threshold: f64,
    attribute: u32,
    first_child: u32,
    /// All bits where the attribute is nominal, and else none.
    mask: u32,
    class: i32,
}

impl Node {
    fn leaf(place: usize, class: i32) -> Self {
        Self { threshold: f64::INFINITY, attribute: 0, first_child: place as u32, mask: 0, class }
    }
}

/// Uniform codes and uniform numbers in [0, 1); the class is that of the leaf that they lead to.
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
    /// Tree and rows decided by a seed.
    ///
    /// # Errors
    /// [`KernelError::Option`] where an option is outside its range.
    pub fn new(options: RandomTreeOptions, source: impl Into<Source>) -> Result<Self, KernelError> {
        let RandomTreeOptions { n_nominal, n_numeric, n_values, n_classes, leaf_fraction, .. } = options;
        let n_attributes = n_nominal + n_numeric;
        check_option("n_numeric", n_numeric, n_attributes > 0, "there must be at least one attribute")?;
        check_option("n_values", n_values, n_values > 1, "there must be at least two")?;
        check_option("n_classes", n_classes, n_classes > 0, "there must be at least one")?;
        let in_range = (0.0..=1.0).contains(&leaf_fraction);
        check_option("leaf_fraction", leaf_fraction, in_range, "it must be a number in [0, 1]")?;
        let source = source.into();
        Ok(Self {
            n_nominal,
            n_attributes,
            n_values,
            depth: options.max_depth,
            nodes: Growth::new(options, source.concept("tree nodes")).grow()?,
            attributes: source.rows("tree attributes"),
        })
    }

    /// Where a value leads from a node.
    #[inline(always)]
    fn next(node: &Node, value: f64) -> u32 {
        // Adding 2^52 leaves a whole number in the low bits: quicker than a conversion that looks after its range.
        let code = (value + 4_503_599_627_370_496.0).to_bits() as u32;
        node.first_child + (code & node.mask) + u32::from(value >= node.threshold)
    }

    /// The class of one row, for tests.
    #[cfg(test)]
    pub(super) fn class_of(&self, values: &[f64]) -> i32 {
        let mut node = &self.nodes[0];
        for _ in 0..self.depth {
            node = &self.nodes[Self::next(node, values[node.attribute as usize]) as usize];
        }
        node.class
    }

    /// Write the classes of up to [`ABREAST`] rows, which go down side by side: one waits for memory, the others go on.
    ///
    /// Every row takes as many steps as the tree is deep, so that no branch depends on it.
    #[inline(always)]
    fn fill_classes(&self, x: &[f64], y: &mut [i32]) {
        let mut places = [0_u32; ABREAST];
        for _ in 0..self.depth {
            for (values, place) in x.chunks_exact(self.n_attributes).zip(&mut places) {
                let node = &self.nodes[*place as usize];
                *place = Self::next(node, values[node.attribute as usize]);
            }
        }
        for (label, place) in y.iter_mut().zip(places) {
            *label = self.nodes[place as usize].class;
        }
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
        for (x, y) in x.chunks(ABREAST * self.n_attributes).zip(y.chunks_mut(ABREAST)) {
            self.fill_classes(x, y);
        }
    }
}

impl Generator for RandomTree {
    fn n_attributes(&self) -> usize {
        self.n_attributes
    }

    fn fill(&self, start: u64, x: &mut [f64], y: &mut [i32]) {
        dispatch::run(
            #[inline(always)]
            || {
                let blocks = x.chunks_mut(BLOCK * self.n_attributes).zip(y.chunks_mut(BLOCK));
                for (i, (x, y)) in blocks.enumerate() {
                    self.fill_block(start.wrapping_add((i * BLOCK) as u64), x, y);
                }
            },
        );
    }
}

/// A node that is still to be grown.
#[derive(Debug, Clone)]
struct Bud {
    node: usize,
    depth: usize,
    /// The nominal attributes that no node above has split on.
    nominal: Vec<usize>,
    /// The range of each numeric attribute that can still come here.
    ranges: Vec<(f64, f64)>,
}

/// Grows a tree level by level: node i is made of the draws 3 i, 3 i + 1 and 3 i + 2.
struct Growth {
    options: RandomTreeOptions,
    draws: Draws,
    nodes: Vec<Node>,
    buds: VecDeque<Bud>,
}

impl Growth {
    fn new(options: RandomTreeOptions, draws: Draws) -> Self {
        Self { options, draws, nodes: Vec::new(), buds: VecDeque::new() }
    }

    fn grow(mut self) -> Result<Vec<Node>, KernelError> {
        let ranges = vec![(0.0, 1.0); self.options.n_numeric];
        self.nodes.push(Node::leaf(0, 0));
        self.buds.push_back(Bud { node: 0, depth: 0, nominal: (0..self.options.n_nominal).collect(), ranges });
        while let Some(bud) = self.buds.pop_front() {
            let few = self.nodes.len() <= MOST_NODES;
            check_option("max_depth", self.options.max_depth, few, "the tree would have more than a million nodes")?;
            let place = bud.node;
            self.nodes[place] = self.node(bud);
        }
        Ok(self.nodes)
    }

    fn node(&mut self, bud: Bud) -> Node {
        let first = 3 * bud.node as u64;
        let n_candidates = bud.nominal.len() + self.options.n_numeric;
        let may_be_leaf = bud.depth >= self.options.first_leaf_depth;
        let is_leaf = may_be_leaf && self.draws.uniform(first) < self.options.leaf_fraction;
        if is_leaf || bud.depth >= self.options.max_depth || n_candidates == 0 {
            return Node::leaf(bud.node, self.draws.below(first + 1, self.options.n_classes as u64) as i32);
        }
        let candidate = self.draws.below(first + 1, n_candidates as u64) as usize;
        if let Some(&attribute) = bud.nominal.get(candidate) {
            let mut nominal = bud.nominal.clone();
            nominal.remove(candidate);
            let child = Bud { node: 0, depth: bud.depth + 1, nominal, ranges: bud.ranges };
            return self.split(attribute, f64::INFINITY, vec![child; self.options.n_values]);
        }
        let numeric = candidate - bud.nominal.len();
        let (low, high) = bud.ranges[numeric];
        let threshold = low + (high - low) * self.draws.uniform(first + 2);
        let mut children = vec![Bud { depth: bud.depth + 1, ..bud }; 2];
        children[0].ranges[numeric] = (low, threshold);
        children[1].ranges[numeric] = (threshold, high);
        self.split(self.options.n_nominal + numeric, threshold, children)
    }

    fn split(&mut self, attribute: usize, threshold: f64, children: Vec<Bud>) -> Node {
        Node {
            threshold,
            attribute: attribute as u32,
            first_child: self.add(children) as u32,
            mask: if threshold.is_infinite() { u32::MAX } else { 0 },
            class: 0,
        }
    }

    /// Add children that are still to be grown; gives the place of the first.
    fn add(&mut self, children: Vec<Bud>) -> usize {
        let first = self.nodes.len();
        for (i, child) in children.into_iter().enumerate() {
            self.nodes.push(Node::leaf(0, 0));
            self.buds.push_back(Bud { node: first + i, ..child });
        }
        first
    }
}
