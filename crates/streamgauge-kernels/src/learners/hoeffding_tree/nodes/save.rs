//! Saving and loading of nodes.

use super::{FIRST_FROZEN, Nodes, SPLIT, Test};
use crate::KernelError;
use crate::codec::{Reader, Writer};
use crate::learners::Schema;

/// Tracks which leaves have a node while nodes are read: each must have exactly one.
#[derive(Debug)]
pub(in super::super) struct LeafClaims {
    n_active: usize,
    claimed: Vec<bool>,
}

impl LeafClaims {
    /// Creates claims for leaves without a node, some of them frozen.
    pub fn new(n_active: usize, n_frozen: usize) -> Self {
        Self { n_active, claimed: vec![false; n_active + n_frozen] }
    }

    /// Claims a leaf for a node.
    pub fn claim(&mut self, reader: &Reader<'_>, leaf: usize) -> Result<(), KernelError> {
        let index = if leaf < self.n_active { Some(leaf) } else { (leaf + self.n_active).checked_sub(FIRST_FROZEN) };
        let index = index.filter(|&index| leaf < self.n_active || index >= self.n_active);
        match index.and_then(|index| self.claimed.get_mut(index)) {
            Some(claimed) if !*claimed => *claimed = true,
            _ => return Err(reader.error("two nodes share a leaf")),
        }
        Ok(())
    }

    /// Checks that every leaf has a node.
    pub fn check(&self, reader: &Reader<'_>) -> Result<(), KernelError> {
        if self.claimed.contains(&false) { Err(reader.error("a leaf has no node")) } else { Ok(()) }
    }
}

impl Nodes {
    /// Writes all nodes.
    pub fn save(&self, writer: &mut Writer) {
        writer.u64(self.entries.len() as u64);
        for node in &self.entries {
            writer.u64(u64::from(node.leaf));
            if node.leaf != SPLIT {
                continue;
            }
            let (kind, value) = match node.test() {
                Test::AtMost(threshold) => (0, threshold),
                Test::Which(_) => (1, 0.0),
                Test::Is(code) => (2, f64::from(code)),
            };
            writer.u64(kind);
            writer.f64(value);
            for index in [node.attribute, node.first_child, node.heaviest_child] {
                writer.u64(u64::from(index));
            }
        }
    }

    /// Reads nodes, which must form one tree and one below each of the other roots, and claims their leaves.
    ///
    /// # Errors
    /// [`KernelError::Saved`] if they do not.
    pub fn load(
        mut self,
        reader: &mut Reader<'_>,
        schema: &Schema,
        roots: &[usize],
        leaves: &mut LeafClaims,
    ) -> Result<Self, KernelError> {
        let n = reader.usize()?;
        if n == 0 || n > reader.n_left() / 8 {
            return Err(reader.error("the number of nodes does not match its size"));
        }
        self.set_capacity(n);
        (0..n).for_each(|_| self.push_leaf(0, 0));
        // Children come after their parents, so that one pass finds nodes with no parent or with two.
        let mut has_parent = vec![false; n];
        for &root in std::iter::once(&0).chain(roots) {
            match has_parent.get_mut(root) {
                Some(has_parent) if !*has_parent => *has_parent = true,
                _ => return Err(reader.error("a tree has an invalid root")),
            }
        }
        for i in 0..n {
            let leaf = reader.u64()?;
            if leaf == u64::from(SPLIT) {
                self.load_split(reader, schema, i, &mut has_parent)?;
            } else {
                leaves.claim(reader, leaf as usize)?;
                self.set_leaf(i as u32, leaf as usize);
            }
            if !has_parent[i] {
                return Err(reader.error("a node has no parent"));
            }
        }
        Ok(self)
    }

    fn load_split(
        &mut self,
        reader: &mut Reader<'_>,
        schema: &Schema,
        node: usize,
        has_parent: &mut [bool],
    ) -> Result<(), KernelError> {
        let (kind, value) = (reader.u64()?, reader.f64()?);
        let (attribute, first, heaviest) = (reader.usize()?, reader.usize()?, reader.usize()?);
        let n_values = schema.n_values.get(attribute).copied();
        let test = match (kind, n_values) {
            (0, Some(0)) => Test::AtMost(value),
            (1, Some(n)) if n > 0 => Test::Which(n),
            (2, Some(n)) if n > 0 => Test::Is(value as u32),
            _ => return Err(reader.error("a node tests an attribute that the schema lacks")),
        };
        let children = first..first.saturating_add(test.n_branches());
        if first <= node || children.end > has_parent.len() || !children.contains(&heaviest) {
            return Err(reader.error("a node has invalid children"));
        }
        let depth = self.entries[node].depth + 1;
        for child in children {
            if std::mem::replace(&mut has_parent[child], true) {
                return Err(reader.error("a node has two parents"));
            }
            self.entries[child].depth = depth;
        }
        self.set_test(node, attribute as u32, test, first as u32, heaviest as u32);
        Ok(())
    }
}
