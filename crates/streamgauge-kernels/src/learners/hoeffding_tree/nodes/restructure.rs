//! Replacing and dropping nodes, for trees that change their splits.

use super::{Node, Nodes, SPLIT, StepTable};

/// Stands for no node.
pub(in super::super) const NO_NODE: u32 = u32::MAX;

impl Nodes {
    /// Returns the attribute of a node's test; `None` for a leaf.
    pub fn attribute(&self, node: u32) -> Option<usize> {
        let split = self.entries[node as usize].leaf == SPLIT;
        split.then(|| self.entries[node as usize].attribute as usize)
    }

    /// Adds a leaf without a parent, at the depth of a node; returns its index.
    pub fn push_root(&mut self, leaf: usize, node: u32) -> u32 {
        self.push_leaf(leaf, self.entries[node as usize].depth);
        self.entries.len() as u32 - 1
    }

    /// Replaces the subtree of a node by that of another node.
    pub fn replace_subtree(&mut self, node: u32, other: u32) {
        let depth = self.entries[node as usize].depth;
        let source = self.entries[other as usize];
        let is_leaf = source.leaf != SPLIT;
        let heaviest_child = if is_leaf { node } else { source.heaviest_child };
        let first_child = if is_leaf { node } else { source.first_child };
        self.entries[node as usize] = Node { depth, first_child, heaviest_child, ..source };
        self.update_step(node as usize);
    }

    /// Drops all nodes that no root reaches. `alternates` has, per node, one more root below it, or [`NO_NODE`].
    ///
    /// Returns, per remaining node, its former index and its alternate.
    pub fn compact(&mut self, alternates: &[u32]) -> (Vec<u32>, Vec<u32>) {
        let (mut order, mut moved) = (vec![0], vec![]);
        let mut nodes = vec![];
        let mut depths = vec![0];
        let mut i = 0;
        while i < order.len() {
            let (old, depth) = (order[i] as usize, depths[i]);
            let mut node = Node { depth, ..self.entries[old] };
            let first_child = if node.leaf == SPLIT { order.len() } else { i } as u32;
            node.heaviest_child = node.heaviest_child - node.first_child + first_child;
            if node.leaf == SPLIT {
                let n_branches = node.test().n_branches() as u32;
                order.extend(node.first_child..node.first_child + n_branches);
                depths.resize(order.len(), depth + 1);
            }
            node.first_child = first_child;
            let alternate = alternates.get(old).copied().unwrap_or(NO_NODE);
            moved.push(if alternate == NO_NODE { NO_NODE } else { order.len() as u32 });
            if alternate != NO_NODE {
                order.push(alternate);
                depths.push(depth);
            }
            nodes.push(node);
            i += 1;
        }
        let n = nodes.len();
        (self.steps, self.entries) = (StepTable::default(), nodes);
        self.set_capacity(n);
        (0..n).for_each(|node| self.update_step(node));
        (order, moved)
    }

    /// Returns the number of nodes and of leaves below the root, and the greatest depth.
    pub fn count_reachable(&self) -> (u64, u64, u64) {
        let (mut n_nodes, mut n_leaves, mut deepest, mut stack) = (0, 0, 0, vec![(0_u32, 0)]);
        while let Some((node, depth)) = stack.pop() {
            let entry = &self.entries[node as usize];
            let (leaf, first, n_branches) = (entry.leaf, entry.first_child, entry.test().n_branches() as u32);
            (n_nodes, deepest) = (n_nodes + 1, deepest.max(depth));
            if leaf == SPLIT {
                stack.extend((first..first + n_branches).map(|child| (child, depth + 1)));
            } else {
                n_leaves += 1;
            }
        }
        (n_nodes, n_leaves, deepest)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Test;
    use super::*;
    use crate::learners::Schema;

    #[test]
    fn orphans_are_dropped_and_rows_still_reach_their_leaves() {
        let schema = Schema { n_values: vec![0, 3], n_classes: 2 };
        let mut nodes = Nodes::new(&schema, 1 << 25);
        nodes.split(0, 0, Test::AtMost(0.5), &[0, 1], 1);
        nodes.split(1, 1, Test::Which(3), &[0, 2, 3], 2);
        let root = nodes.push_root(4, 2);
        nodes.split(root, 0, Test::AtMost(0.7), &[4, 5], 0);
        let alternates = [NO_NODE, NO_NODE, root, NO_NODE, NO_NODE, NO_NODE, NO_NODE, NO_NODE, NO_NODE];
        let (order, moved) = nodes.compact(&alternates);
        assert_eq!((order.len(), nodes.len(), moved[2]), (9, 9, 6));
        assert_eq!(nodes.count_reachable(), (6, 4, 2));
        // The alternate replaces the right half.
        nodes.replace_subtree(2, moved[2]);
        let (order, _) = nodes.compact(&[]);
        assert_eq!((order.len(), nodes.count_reachable()), (8, (8, 5, 2)));
        let leaf = |x: [f64; 2]| nodes.leaf(nodes.route(0, &x)).unwrap();
        assert_eq!((leaf([0.4, 0.0]), leaf([0.4, 2.0])), (0, 3));
        assert_eq!((leaf([0.6, 0.0]), leaf([0.8, 0.0]), leaf([0.4, f64::NAN])), (4, 5, 3));
        nodes.replace_subtree(0, 2);
        nodes.replace_subtree(0, 6);
        let (order, _) = nodes.compact(&[]);
        assert_eq!((order.len(), nodes.leaf(0)), (1, Some(4)));
    }
}
