//! The tree's nodes, and how a row finds its leaf.

use crate::learners::Schema;
use crate::learners::bayes::{fit, grow};
use crate::learners::lanes::WIDTH;
use crate::learners::rows::{MAX_LANES, Values};

mod save;
mod surgery;

pub(super) use save::Leaves;
pub(super) use surgery::NO_NODE;

/// The place of a node that has split: it has no leaf.
const SPLIT: u32 = u32::MAX;

/// From this number on a leaf is a frozen one.
pub(super) const FROZEN: usize = 1 << 31;

/// A step table that rows run down may take this share of the memory.
const SHARE_OF_STEPS: usize = 8;

/// How many rows are routed abreast, so that their cache misses overlap.
const ABREAST: usize = 8;

/// The sizes of step tables that rows can run down without a check; larger ones are walked with care.
const SMALL: usize = 1 << 10;
const LARGE: usize = 1 << 16;

/// What a node asks of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Test {
    /// Is the number at most this? Then the first child, else the second.
    AtMost(f64),
    /// Which of so many nominal values? A child for each.
    Which(u32),
    /// Is it this nominal value? Then the first child, else the second.
    Is(u32),
}

impl Test {
    /// How many children the answers lead to.
    pub fn n_branches(self) -> usize {
        if let Self::Which(n_values) = self { n_values as usize } else { 2 }
    }
}

/// What all rows read of a node. A leaf is its own child: no number is greater than its threshold.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(16))]
struct Step {
    threshold: f64,
    attribute: u32,
    first_child: u32,
}

/// What else there is to a node.
#[derive(Debug, Clone, Copy)]
struct Detail {
    /// Its leaf, counted from [`FROZEN`] where that is frozen, or [`SPLIT`].
    leaf: u32,
    depth: u32,
    /// The child that rows go to whose value is missing.
    heaviest_child: u32,
    test: Test,
}

/// All nodes, the root first and children side by side.
#[derive(Debug, Clone)]
pub(super) struct Nodes {
    steps: Vec<Step>,
    details: Vec<Detail>,
    /// Whether all attributes are few numbers, so that rows without gaps can run down without looking.
    runs: bool,
    /// How many sixteenths of a step a block of rows runs down before each row looks whether it has arrived.
    run: usize,
    /// How many steps a table may have room for in excess of the nodes there are.
    largest_room: usize,
}

impl Nodes {
    /// A root that is leaf 0, in a tree that may hold so many bytes.
    pub fn new(schema: &Schema, max_bytes: usize) -> Self {
        let mut nodes = Self::empty(schema, max_bytes);
        nodes.push_leaf(0, 0);
        nodes
    }

    pub(super) fn empty(schema: &Schema, max_bytes: usize) -> Self {
        let runs = schema.n_attributes() <= MAX_LANES * WIDTH && schema.n_values.iter().all(|&n| n == 0);
        let largest_room = max_bytes / SHARE_OF_STEPS / size_of::<Step>();
        Self { steps: vec![], details: vec![], runs, run: 0, largest_room }
    }

    /// How many steps there is room for where there are `n` nodes.
    fn room(&self, n: usize) -> usize {
        [SMALL, LARGE].into_iter().find(|&room| n <= room && room <= self.largest_room).unwrap_or(n)
    }

    fn push_leaf(&mut self, leaf: usize, depth: u32) {
        let first_child = self.details.len() as u32;
        let n = self.details.len() + 1;
        let room = self.room(n);
        if room != self.steps.len() {
            grow(&mut self.steps, room, Step { threshold: f64::INFINITY, attribute: 0, first_child: 0 });
        }
        self.steps[first_child as usize] = Step { threshold: f64::INFINITY, attribute: 0, first_child };
        let detail = Detail { leaf: leaf as u32, depth, heaviest_child: first_child, test: Test::Which(1) };
        grow(&mut self.details, n, detail);
    }

    /// The bytes that so many nodes take on the heap.
    pub fn bytes_of(&self, n_nodes: usize) -> usize {
        self.room(n_nodes) * size_of::<Step>() + n_nodes * size_of::<Detail>()
    }

    /// Hold room for so many nodes, and no more than that unless there are more.
    pub fn fit(&mut self, n_nodes: usize) {
        let room = self.room(n_nodes);
        fit(&mut self.steps, room);
        fit(&mut self.details, n_nodes);
    }

    /// All nodes that are leaves, with their leaves.
    pub fn leaves(&self) -> impl Iterator<Item = (u32, usize)> {
        (0..).zip(&self.details).filter(|(_, node)| node.leaf != SPLIT).map(|(i, node)| (i, node.leaf as usize))
    }

    /// Give a leaf's node another leaf.
    pub fn set_leaf(&mut self, node: u32, leaf: usize) {
        self.details[node as usize].leaf = leaf as u32;
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.details.len()
    }

    /// The depth of the deepest node; that of the root is 0.
    pub fn depth(&self) -> u32 {
        self.details.iter().map(|node| node.depth).max().unwrap_or(0)
    }

    /// The leaf of a node, where it is one.
    #[inline(always)]
    pub fn leaf(&self, node: u32) -> Option<usize> {
        let leaf = self.details[node as usize].leaf;
        if leaf == SPLIT { None } else { Some(leaf as usize) }
    }

    /// The leaf of each node, from [`FROZEN`] on where it is frozen or there is none.
    #[inline(always)]
    pub fn leaf_of(&self) -> impl Fn(u32) -> usize {
        |node| self.details[node as usize].leaf as usize
    }

    /// Turn a leaf's node into one that asks, with a child for each of the given leaves.
    pub fn split(&mut self, node: u32, attribute: usize, test: Test, leaves: &[usize], heaviest: usize) {
        let first_child = self.details.len() as u32;
        let depth = self.details[node as usize].depth + 1;
        self.set_test(node as usize, attribute as u32, test, first_child, first_child + heaviest as u32);
        for &leaf in leaves {
            self.push_leaf(leaf, depth);
        }
    }

    fn set_test(&mut self, node: usize, attribute: u32, test: Test, first_child: u32, heaviest_child: u32) {
        let threshold = if let Test::AtMost(threshold) = test { threshold } else { f64::NAN };
        self.steps[node] = Step { threshold, attribute, first_child };
        self.details[node] = Detail { leaf: SPLIT, heaviest_child, test, ..self.details[node] };
    }

    /// The node where a row's way ends, from any node on.
    #[inline(never)]
    pub fn route(&self, mut node: u32, x: &[f64]) -> u32 {
        while self.details[node as usize].leaf == SPLIT {
            node = self.child(node, x);
        }
        node
    }

    /// The child of a node that is no leaf to which a row goes.
    #[inline(always)]
    pub fn child(&self, node: u32, x: &[f64]) -> u32 {
        let Step { threshold, attribute, first_child } = self.steps[node as usize];
        let Detail { heaviest_child, test, .. } = self.details[node as usize];
        let value = x[attribute as usize];
        match test {
            _ if value.is_nan() => heaviest_child,
            Test::AtMost(_) => first_child + u32::from(value > threshold),
            Test::Which(n_values) if value < f64::from(n_values) => first_child + value as u32,
            Test::Which(_) => heaviest_child,
            Test::Is(code) => first_child + u32::from(value != f64::from(code)),
        }
    }

    /// The nodes where the ways of a block of rows end. `values` are the same rows, padded.
    #[inline(always)]
    pub fn route_block(
        &mut self,
        x: &[f64],
        d: usize,
        values: &[Values],
        gaps: impl Fn(usize) -> bool,
        ends: &mut [u32],
    ) {
        ends.fill(0);
        if self.details.len() == 1 {
            return;
        }
        if self.runs {
            self.run_down(values, ends);
        }
        let mut n_late = 0;
        for (i, end) in ends.iter_mut().enumerate() {
            if gaps(i) || !self.runs {
                // A row with gaps ran past them: it starts again, and looks where it goes.
                *end = self.route(0, &x[i * d..(i + 1) * d]);
            } else if self.details[*end as usize].leaf == SPLIT {
                *end = self.walk_down(*end, &values[i]);
                n_late += 1;
            }
        }
        // So that in the long run one row of two blocks must walk: that costs about as much as a step of all rows.
        self.run = (self.run + 2 * n_late).saturating_sub(1);
    }

    /// Take a row without gaps down to its leaf, in a tree that asks for numbers only.
    #[inline(always)]
    fn walk_down(&self, mut node: u32, values: &Values) -> u32 {
        loop {
            let Step { threshold, attribute, first_child } = self.steps[node as usize];
            let next = first_child + u32::from(values.0[attribute as usize % (MAX_LANES * WIDTH)] > threshold);
            if next == node {
                return node;
            }
            node = next;
        }
    }

    /// Take rows some steps down, several side by side. A step table of known size needs no check of its bounds.
    #[inline(always)]
    fn run_down(&self, values: &[Values], ends: &mut [u32]) {
        let eights = values.as_chunks::<ABREAST>().0.iter().zip(ends.as_chunks_mut::<ABREAST>().0);
        if let Some(steps) = self.steps.first_chunk::<SMALL>().filter(|_| self.steps.len() == SMALL) {
            eights.for_each(|(values, ends)| *ends = run_down(steps, values, self.run / 16));
        } else if let Some(steps) = self.steps.first_chunk::<LARGE>().filter(|_| self.steps.len() == LARGE) {
            eights.for_each(|(values, ends)| *ends = run_down(steps, values, self.run / 16));
        }
    }

    /// The bytes it holds on the heap.
    pub fn n_bytes(&self) -> usize {
        self.steps.capacity() * size_of::<Step>() + self.details.capacity() * size_of::<Detail>()
    }
}

/// Take eight rows some steps down, side by side and without a branch, so that their cache misses overlap.
#[inline(always)]
fn run_down<const N: usize>(steps: &[Step; N], values: &[Values; ABREAST], n_steps: usize) -> [u32; ABREAST] {
    let mut at = [0; ABREAST];
    for _ in 0..n_steps {
        for (at, values) in at.iter_mut().zip(values) {
            let step = &steps[*at as usize % N];
            let value = values.0[step.attribute as usize % (MAX_LANES * WIDTH)];
            *at = step.first_child + u32::from(value > step.threshold);
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::{Reader, Writer};
    use crate::learners::rows::{Layout, Rows};

    /// Attribute 0 is a number, attribute 1 has three values.
    fn schema() -> Schema {
        Schema { n_values: vec![0, 3], n_classes: 2 }
    }

    fn tree() -> Nodes {
        let mut nodes = Nodes::new(&schema(), 1 << 25);
        nodes.split(0, 0, Test::AtMost(0.5), &[0, 1], 1);
        nodes.split(1, 1, Test::Which(3), &[0, 2, 3], 2);
        nodes.split(2, 1, Test::Is(2), &[1, 4], 0);
        nodes
    }

    #[test]
    fn rows_find_their_leaves_and_gaps_lead_to_the_heaviest_child() {
        let nodes = tree();
        let leaf = |x: [f64; 2]| nodes.leaf(nodes.route(0, &x)).unwrap();
        assert_eq!((leaf([0.5, 0.0]), leaf([0.5, 1.0]), leaf([0.5, 2.0])), (0, 2, 3));
        assert_eq!((leaf([0.6, 2.0]), leaf([0.6, 1.0])), (1, 4));
        assert_eq!((leaf([f64::NAN, 1.0]), leaf([0.0, f64::NAN]), leaf([0.0, 7.0])), (4, 3, 3));
        assert_eq!((nodes.len(), nodes.depth()), (8, 2));
    }

    #[test]
    fn a_block_of_rows_arrives_where_each_row_alone_does() {
        let schema = Schema { n_values: vec![0, 0], n_classes: 2 };
        let mut nodes = Nodes::new(&schema, 1 << 25);
        nodes.split(0, 1, Test::AtMost(0.5), &[0, 1], 1);
        nodes.split(2, 0, Test::AtMost(-0.5), &[1, 2], 0);
        let x: Vec<f64> = (0..2 * 21).map(|i| if i == 13 { f64::NAN } else { (f64::from(i) * 1.7).sin() }).collect();
        let mut ends = [0; 21];
        for _ in 0..2 {
            let mut rows = Rows::<1>::new(&Layout::new(&schema), 32);
            rows.fill(&Layout::new(&schema), &x, 21);
            nodes.route_block(&x, 2, rows.values(), |i| rows.row(i).gaps(), &mut ends);
            for (i, &end) in ends.iter().enumerate() {
                assert_eq!(end, nodes.route(0, &x[2 * i..2 * i + 2]));
            }
        }
    }

    #[test]
    fn nodes_are_saved_and_a_graph_that_is_no_tree_is_refused() {
        let mut writer = Writer::new("nodes", 1);
        tree().save(&mut writer);
        let bytes = writer.finish();
        let load = |bytes: &[u8], n_leaves: usize| {
            let mut reader = Reader::new("nodes", 1, bytes)?;
            let mut leaves = Leaves::new(n_leaves, 0);
            let nodes = Nodes::empty(&schema(), 1 << 25).load(&mut reader, &schema(), &[], &mut leaves)?;
            leaves.check(&reader).map(|()| nodes)
        };
        let loaded = load(&bytes, 5).unwrap();
        assert_eq!((loaded.len(), loaded.depth()), (8, 2));
        assert_eq!(loaded.route(0, &[0.6, 2.0]), tree().route(0, &[0.6, 2.0]));
        assert!(load(&bytes, 4).is_err() && load(&bytes, 6).is_err());
        let mut twice = tree();
        twice.steps[2].first_child = 3;
        let mut writer = Writer::new("nodes", 1);
        twice.save(&mut writer);
        assert!(load(&writer.finish(), 5).is_err());
    }
}
