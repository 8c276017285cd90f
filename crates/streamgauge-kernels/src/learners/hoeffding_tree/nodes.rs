//! The nodes of a tree, and the routing of rows to their leaves.

use crate::learners::Schema;
use crate::learners::bayes::{grow_column, set_capacity};
use crate::learners::f64x4::LANES;
use crate::learners::rows::{BLOCK, MAX_VECTORS, RowPanel, WHOLE};

mod restructure;
mod save;

pub(super) use restructure::NO_NODE;
pub(super) use save::LeafClaims;

/// The leaf of a split node, which has none.
const SPLIT: u32 = u32::MAX;

/// Leaves from this number on are frozen.
pub(super) const FIRST_FROZEN: usize = 1 << 31;

/// The share of the memory limit that a step table may take is one over this.
const STEP_MEMORY_SHARE: usize = 8;

/// The number of rows that descend in parallel, so that their cache misses overlap.
const GROUP: usize = 8;

/// The sizes of step tables, known to the compiler so that bounds need no check; larger trees have no step table.
const SMALL: usize = 1 << 10;
const MEDIUM: usize = 1 << 13;
const LARGE: usize = 1 << 16;

/// The test of a node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Test {
    /// Whether the number is at most this: then the first child, else the second.
    AtMost(f64),
    /// Which of this many nominal values: a child for each.
    Which(u32),
    /// Whether it is this nominal value: then the first child, else the second.
    Is(u32),
}

impl Test {
    /// Returns the number of children.
    pub fn n_branches(self) -> usize {
        if let Self::Which(n_values) = self { n_values as usize } else { 2 }
    }
}

/// A node.
#[derive(Debug, Clone, Copy)]
struct Node {
    /// Its leaf, from [`FIRST_FROZEN`] on if that is frozen, or [`SPLIT`].
    leaf: u32,
    depth: u32,
    attribute: u32,
    /// For a leaf, the node itself.
    first_child: u32,
    /// The child for rows whose value is missing.
    heaviest_child: u32,
    /// The number of children, if each is for a nominal value; else 0.
    n_values: u32,
    /// The range of values that lead to the first of two children; a single value to compare with. Unlimited if
    /// there are other children, or none.
    low: f64,
    high: f64,
}

/// A column of a row of up to 16 numbers. As an enum, so that the compiler knows the range and omits bounds checks.
#[derive(Debug, Clone, Copy)]
#[repr(u8)]
#[rustfmt::skip]
enum Column { C0, C1, C2, C3, C4, C5, C6, C7, C8, C9, C10, C11, C12, C13, C14, C15 }

/// All columns, in order.
#[rustfmt::skip]
const COLUMNS: [Column; MAX_VECTORS * LANES] = {
    use Column::{C0, C1, C2, C3, C4, C5, C6, C7, C8, C9, C10, C11, C12, C13, C14, C15};
    [C0, C1, C2, C3, C4, C5, C6, C7, C8, C9, C10, C11, C12, C13, C14, C15]
};

impl Node {
    fn new(leaf: u32, depth: u32, (attribute, test): (u32, Test), first_child: u32, heaviest_child: u32) -> Self {
        let (n_values, low, high) = match test {
            Test::AtMost(threshold) => (0, f64::NEG_INFINITY, threshold),
            Test::Which(n_values) => (n_values, f64::NEG_INFINITY, f64::INFINITY),
            Test::Is(code) => (0, f64::from(code), f64::from(code)),
        };
        Self { leaf, depth, attribute, first_child, heaviest_child, n_values, low, high }
    }

    /// Returns the test.
    fn test(&self) -> Test {
        match self {
            Self { n_values: 1.., .. } => Test::Which(self.n_values),
            Self { low: f64::NEG_INFINITY, .. } => Test::AtMost(self.high),
            _ => Test::Is(self.low as u32),
        }
    }

    /// Returns the child for a value that is not missing; any child, or the node itself if it is a leaf, for others.
    #[inline(always)]
    fn child_of_known(&self, value: f64) -> u32 {
        let code = (value + WHOLE).to_bits() as u32;
        let is_outside = (value < self.low) | (value > self.high);
        self.first_child + u32::from(is_outside) + code.min(self.n_values.max(1) - 1)
    }
}

/// What a descent reads of the nodes, for trees over up to 16 numbers: one column per field, indexed by node. A leaf is
/// its own child, since no number exceeds its threshold.
#[derive(Debug, Clone, Default)]
struct StepTable {
    thresholds: Vec<f64>,
    first_children: Vec<u32>,
    columns: Vec<Column>,
    /// A copy of the leaves of [`Node`], so that a finished descent reads no other table.
    leaves: Vec<u32>,
}

/// The size of a step in bytes.
const STEP_BYTES: usize = size_of::<f64>() + 2 * size_of::<u32>() + size_of::<Column>();

/// A [`StepTable`] of `N` entries. The compiler knows the size, so that an index modulo `N` needs no bounds check.
#[derive(Debug, Clone, Copy)]
struct FixedSteps<'a, const N: usize> {
    thresholds: &'a [f64; N],
    first_children: &'a [u32; N],
    columns: &'a [Column; N],
    leaves: &'a [u32; N],
}

impl StepTable {
    /// Returns the table, if it has `N` entries.
    #[inline(always)]
    fn as_fixed<const N: usize>(&self) -> Option<FixedSteps<'_, N>> {
        Some(FixedSteps {
            thresholds: self.thresholds[..].try_into().ok()?,
            first_children: self.first_children[..].try_into().ok()?,
            columns: self.columns[..].try_into().ok()?,
            leaves: self.leaves[..].try_into().ok()?,
        })
    }

    fn set(&mut self, index: usize, node: &Node) {
        (self.thresholds[index], self.first_children[index]) = (node.high, node.first_child);
        (self.columns[index], self.leaves[index]) = (COLUMNS[node.attribute as usize % COLUMNS.len()], node.leaf);
    }

    /// Extends the table to `n` entries.
    fn grow(&mut self, n: usize) {
        grow_column(&mut self.thresholds, n, f64::INFINITY);
        grow_column(&mut self.first_children, n, 0);
        grow_column(&mut self.columns, n, COLUMNS[0]);
        grow_column(&mut self.leaves, n, SPLIT);
    }

    /// Sets the capacity to `n` entries, or to the length if that is greater.
    fn set_capacity(&mut self, n: usize) {
        set_capacity(&mut self.thresholds, n);
        set_capacity(&mut self.first_children, n);
        set_capacity(&mut self.columns, n);
        set_capacity(&mut self.leaves, n);
    }

    /// Returns the heap size in bytes.
    fn n_bytes(&self) -> usize {
        self.thresholds.capacity() * size_of::<f64>()
            + (self.first_children.capacity() + self.leaves.capacity()) * size_of::<u32>()
            + self.columns.capacity() * size_of::<Column>()
    }
}

/// All nodes: the root first, siblings next to each other.
#[derive(Debug, Clone)]
pub(super) struct Nodes {
    steps: StepTable,
    entries: Vec<Node>,
    /// Whether all attributes are numbers and at most 16, so that there is a step table.
    has_steps: bool,
    /// The number of steps that a block of rows descends before each row is checked, in sixteenths.
    sixteenth_steps: usize,
    /// The greatest size of a step table that the memory limit allows.
    max_capacity: usize,
}

impl Nodes {
    /// Creates a root that is leaf 0, in a tree of at most `max_bytes` bytes.
    pub fn new(schema: &Schema, max_bytes: usize) -> Self {
        let mut nodes = Self::empty(schema, max_bytes);
        nodes.push_leaf(0, 0);
        nodes
    }

    pub(super) fn empty(schema: &Schema, max_bytes: usize) -> Self {
        let has_steps = schema.n_attributes() <= MAX_VECTORS * LANES && schema.n_values.iter().all(|&n| n == 0);
        let max_capacity = max_bytes / STEP_MEMORY_SHARE / STEP_BYTES;
        Self { steps: StepTable::default(), entries: vec![], has_steps, sixteenth_steps: 0, max_capacity }
    }

    /// Returns the size of the step table for `n` nodes: 0 if there is none.
    fn step_capacity(&self, n: usize) -> usize {
        let largest = if self.has_steps { self.max_capacity } else { 0 };
        [SMALL, MEDIUM, LARGE].into_iter().find(|&capacity| n <= capacity && capacity <= largest).unwrap_or(0)
    }

    fn push_leaf(&mut self, leaf: usize, depth: u32) {
        let (node, n) = (self.entries.len() as u32, self.entries.len() + 1);
        let leaf_node = Node::new(leaf as u32, depth, (0, Test::AtMost(f64::INFINITY)), node, node);
        grow_column(&mut self.entries, n, leaf_node);
        self.update_step(node as usize);
    }

    /// Copies a node that has changed to the step table.
    fn update_step(&mut self, node: usize) {
        let capacity = self.step_capacity(self.entries.len());
        if capacity < self.steps.leaves.len() {
            self.steps = StepTable::default();
        }
        if capacity > 0 {
            self.steps.grow(capacity);
            self.steps.set(node, &self.entries[node]);
        }
    }

    /// Returns the heap size of `n_nodes` nodes in bytes.
    pub fn bytes_for(&self, n_nodes: usize) -> usize {
        self.step_capacity(n_nodes) * STEP_BYTES + n_nodes * size_of::<Node>()
    }

    /// Sets the capacity to `n_nodes` nodes, or to the length if that is greater.
    pub fn set_capacity(&mut self, n_nodes: usize) {
        let capacity = self.step_capacity(n_nodes);
        self.steps.set_capacity(capacity);
        set_capacity(&mut self.entries, n_nodes);
    }

    /// Returns all leaf nodes with their leaves.
    pub fn leaves(&self) -> impl Iterator<Item = (u32, usize)> {
        (0..).zip(&self.entries).filter(|(_, node)| node.leaf != SPLIT).map(|(i, node)| (i, node.leaf as usize))
    }

    /// Sets the leaf of a leaf node.
    pub fn set_leaf(&mut self, node: u32, leaf: usize) {
        self.entries[node as usize].leaf = leaf as u32;
        self.update_step(node as usize);
    }

    /// Returns the number of nodes.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns the greatest depth of a node; that of the root is 0.
    pub fn depth(&self) -> u32 {
        self.entries.iter().map(|node| node.depth).max().unwrap_or(0)
    }

    /// Returns the leaf of a node; `None` if it has split.
    #[inline(always)]
    pub fn leaf(&self, node: u32) -> Option<usize> {
        let leaf = self.entries[node as usize].leaf;
        if leaf == SPLIT { None } else { Some(leaf as usize) }
    }

    /// Looks up the leaves of nodes again, some of which may have changed: [`FIRST_FROZEN`] or more where a leaf is
    /// frozen or the node has split.
    pub fn find_leaves(&self, nodes: &[u32], leaves: &mut [u32]) {
        for (&node, leaf) in nodes.iter().zip(leaves) {
            *leaf = self.entries[node as usize].leaf;
        }
    }

    /// Turns a leaf node into a split node, with a child for each of the given leaves.
    pub fn split(&mut self, node: u32, attribute: usize, test: Test, leaves: &[usize], heaviest: usize) {
        let first_child = self.entries.len() as u32;
        let depth = self.entries[node as usize].depth + 1;
        self.set_test(node as usize, attribute as u32, test, first_child, first_child + heaviest as u32);
        for &leaf in leaves {
            self.push_leaf(leaf, depth);
        }
    }

    fn set_test(&mut self, node: usize, attribute: u32, test: Test, first_child: u32, heaviest_child: u32) {
        let Node { depth, .. } = self.entries[node];
        self.entries[node] = Node::new(SPLIT, depth, (attribute, test), first_child, heaviest_child);
        self.update_step(node);
    }

    /// Returns the leaf node of a row below a node.
    #[inline(never)]
    pub fn route(&self, mut node: u32, x: &[f64]) -> u32 {
        while self.entries[node as usize].leaf == SPLIT {
            node = self.child(node, x);
        }
        node
    }

    /// Returns the child of a split node for a row.
    #[inline(always)]
    pub fn child(&self, node: u32, x: &[f64]) -> u32 {
        self.child_of(&self.entries[node as usize], x)
    }

    /// Returns the leaf of a node, or the child for a row as an error if it has split.
    #[inline(always)]
    pub fn leaf_or_child(&self, node: u32, x: &[f64]) -> Result<usize, u32> {
        let node = &self.entries[node as usize];
        if node.leaf == SPLIT { Err(self.child_of(node, x)) } else { Ok(node.leaf as usize) }
    }

    #[inline(always)]
    fn child_of(&self, node: &Node, x: &[f64]) -> u32 {
        let value = x[node.attribute as usize];
        if self.has_steps {
            // The usual case: all tests are of numbers.
            let child = node.first_child + u32::from(value > node.high);
            return if value.is_nan() { node.heaviest_child } else { child };
        }
        // Without a branch on the kind of test, which would be mispredicted.
        let is_missing = value.is_nan() | ((node.n_values > 0) & (value >= f64::from(node.n_values)));
        if is_missing { node.heaviest_child } else { node.child_of_known(value) }
    }

    /// Finds the leaf nodes and leaves of a block of rows. `panels` are the same rows, padded.
    #[inline(always)]
    pub fn route_block(
        &mut self,
        x: &[f64],
        d: usize,
        panels: &[RowPanel],
        missing: Option<&[bool; BLOCK]>,
        (end_nodes, leaves): (&mut [u32], &mut [u32; BLOCK]),
    ) {
        let descended = self.has_steps && self.descend_block(panels, end_nodes, leaves);
        let n_unfinished = if descended {
            self.finish_descents(panels, end_nodes, leaves)
        } else {
            self.descend_any_block(x, d, end_nodes, leaves)
        };
        // In the long run one row in two blocks is unfinished: that costs about as much as one more step of all rows.
        self.sixteenth_steps = (self.sixteenth_steps + 2 * n_unfinished).saturating_sub(1);
        if let Some(missing) = missing {
            // Blocks are descended as if no value were missing: such rows start again from the root.
            for (i, (end, _)) in end_nodes.iter_mut().zip(missing).enumerate().filter(|(_, (_, missing))| **missing) {
                *end = self.route(0, &x[i * d..(i + 1) * d]);
                leaves[i % BLOCK] = self.entries[*end as usize].leaf;
            }
        }
    }

    /// Descends a block of rows to their leaves by any tests; returns how many rows had not reached them in the usual
    /// number of steps.
    #[inline(never)]
    fn descend_any_block(&self, x: &[f64], d: usize, end_nodes: &mut [u32], leaves: &mut [u32; BLOCK]) -> usize {
        end_nodes.fill(0);
        // Several rows step by step, so that their cache misses overlap; a leaf is its own child.
        for (i, ends) in end_nodes.chunks_mut(GROUP).enumerate() {
            let x = &x[i * GROUP * d..];
            for _ in 0..self.sixteenth_steps / 16 {
                for (end, x) in ends.iter_mut().zip(x.chunks_exact(d)) {
                    let node = &self.entries[*end as usize];
                    *end = node.child_of_known(x[node.attribute as usize]);
                }
            }
        }
        let mut n_unfinished = 0;
        for (i, (end, leaf)) in end_nodes.iter_mut().zip(leaves).enumerate() {
            if self.entries[*end as usize].leaf == SPLIT {
                *end = self.route(*end, &x[i * d..(i + 1) * d]);
                n_unfinished += 1;
            }
            *leaf = self.entries[*end as usize].leaf;
        }
        n_unfinished
    }

    /// Descends the rows that have not reached a leaf; returns how many there were.
    #[inline(always)]
    fn finish_descents(&self, panels: &[RowPanel], end_nodes: &mut [u32], leaves: &mut [u32; BLOCK]) -> usize {
        let mut n_unfinished = 0;
        if leaves[..end_nodes.len()].iter().fold(false, |late, &leaf| late | (leaf == SPLIT)) {
            for ((end, leaf), panel) in
                end_nodes.iter_mut().zip(leaves).zip(panels).filter(|((_, leaf), _)| **leaf == SPLIT)
            {
                // A row with missing values may have passed the last node.
                *end = self.descend(*end % self.steps.leaves.len() as u32, panel);
                *leaf = self.steps.leaves[*end as usize];
                n_unfinished += 1;
            }
        }
        n_unfinished
    }

    /// Returns the leaf node of a row without missing values, from a node on, in a tree over numbers.
    #[inline(always)]
    fn descend(&self, mut node: u32, panel: &RowPanel) -> u32 {
        loop {
            let (column, threshold) = (self.steps.columns[node as usize], self.steps.thresholds[node as usize]);
            let value = panel.0[column as usize];
            let next = self.steps.first_children[node as usize] + u32::from(value > threshold);
            if next == node {
                return node;
            }
            node = next;
        }
    }

    /// Descends a block of rows some steps; returns false if there is no step table.
    #[inline(always)]
    fn descend_block(&self, panels: &[RowPanel], end_nodes: &mut [u32], leaves: &mut [u32; BLOCK]) -> bool {
        self.descend_block_in::<SMALL>(panels, end_nodes, leaves)
            || self.descend_block_in::<MEDIUM>(panels, end_nodes, leaves)
            || self.descend_block_in::<LARGE>(panels, end_nodes, leaves)
    }

    /// Descends a block of rows if the step table has `N` entries; returns false otherwise.
    ///
    /// Not inlined, since its loop needs all registers.
    #[inline(never)]
    fn descend_block_in<const N: usize>(
        &self,
        panels: &[RowPanel],
        end_nodes: &mut [u32],
        leaves: &mut [u32; BLOCK],
    ) -> bool {
        let Some(steps) = self.steps.as_fixed::<N>() else { return false };
        // Rows beyond the last whole group stay at the root, unfinished.
        end_nodes.fill(0);
        leaves.fill(steps.leaves[0]);
        let chunks = panels.as_chunks::<GROUP>().0.iter().zip(leaves.as_chunks_mut::<GROUP>().0);
        for ((panels, leaves), end_nodes) in chunks.zip(end_nodes.as_chunks_mut::<GROUP>().0) {
            *end_nodes = descend_group(steps, panels, self.sixteenth_steps / 16);
            *leaves = end_nodes.map(|end| steps.leaves[end as usize % N]);
        }
        true
    }

    /// Returns the heap size in bytes.
    pub fn n_bytes(&self) -> usize {
        self.steps.n_bytes() + self.entries.capacity() * size_of::<Node>()
    }
}

/// Descends eight rows some steps in parallel and without branches, so that their cache misses overlap.
#[inline(always)]
fn descend_group<const N: usize>(steps: FixedSteps<'_, N>, panels: &[RowPanel; GROUP], n_steps: usize) -> [u32; GROUP] {
    let mut positions = [0; GROUP];
    for _ in 0..n_steps {
        for (position, panel) in positions.iter_mut().zip(panels) {
            let node = *position as usize % N;
            let value = panel.0[steps.columns[node] as usize];
            // Not `value > threshold`: the negated comparison sets the carry flag, which the processor adds in one
            // instruction.
            #[expect(clippy::neg_cmp_op_on_partial_ord, reason = "a row with missing values is routed again")]
            let is_more = !(steps.thresholds[node] >= value);
            *position = steps.first_children[node] + u32::from(is_more);
        }
    }
    positions
}

#[cfg(test)]
mod tests;
