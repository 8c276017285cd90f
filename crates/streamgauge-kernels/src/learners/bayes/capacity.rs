//! The capacity of columns, and the removal of models.

use super::gaussian::ClassPanel;
use super::{F64x4, ModelSummary, Models, Subspaces};

/// Sets the capacity of a column to `length` values, or to its length if that is greater.
pub(in crate::learners) fn set_capacity<T>(column: &mut Vec<T>, length: usize) {
    column.shrink_to(length);
    column.reserve_exact(length.saturating_sub(column.len()));
}

/// Returns the capacity for a column that must hold `length` values and may grow: a quarter more, since models live
/// long and are rarely added.
pub(in crate::learners) fn grown_capacity(length: usize) -> usize {
    length + length / 4
}

/// Extends a column to `length` values, to the [`grown_capacity`] if it has to be reallocated.
pub(in crate::learners) fn grow_column<T: Clone>(column: &mut Vec<T>, length: usize, value: T) {
    if length > column.capacity() {
        column.reserve_exact(grown_capacity(length) - column.len());
    }
    column.resize(length, value);
}

impl<const V: usize> Models<V> {
    /// Keeps a bit per model and attribute that tells whether it is ignored; to be called before the first model is
    /// added.
    pub fn track_ignored(&mut self) {
        self.n_words = self.layout.n_attributes().div_ceil(u64::BITS as usize);
    }

    /// Returns whether a model ignores an attribute in its splits.
    #[inline(always)]
    pub fn is_ignored(&self, model: usize, attribute: usize) -> bool {
        self.n_words > 0 && self.ignored[model * self.n_words + attribute / 64] >> (attribute % 64) & 1 == 1
    }

    /// Makes a model ignore an attribute in its splits.
    pub fn ignore(&mut self, model: usize, attribute: usize) {
        if self.n_words > 0 {
            self.ignored[model * self.n_words + attribute / 64] |= 1 << (attribute % 64);
        }
    }

    /// Returns whether a value was missing in any row so far, so that the weights of columns are kept.
    pub fn tracks_missing(&self) -> bool {
        !self.known_weights.is_empty()
    }

    /// Returns the heap size of a model in bytes, including the weights of its columns if `with_missing` or if they are
    /// kept.
    pub fn bytes_per_entry(&self, with_missing: bool) -> usize {
        let missing_bytes = if with_missing || self.tracks_missing() { size_of::<[F64x4; V]>() } else { 0 };
        size_of::<ModelSummary>()
            + self.n_words * size_of::<u64>()
            + self.subspaces.as_ref().map_or(0, Subspaces::size) * size_of::<u32>()
            + self.n_classes * self.n_panels * (size_of::<ClassPanel<V>>() + missing_bytes)
            + self.count_range(0).len() * size_of::<F64x4>()
    }

    /// Sets the capacity to `n_models` models, or to the length if that is greater.
    pub fn set_capacity(&mut self, n_models: usize) {
        let n = n_models * self.n_classes;
        set_capacity(&mut self.summaries, n_models);
        set_capacity(&mut self.panels, n * self.n_panels);
        if self.tracks_missing() {
            set_capacity(&mut self.known_weights, n * self.n_panels);
        }
        let n_counts = self.count_range(n_models).start;
        set_capacity(&mut self.counts, n_counts);
        set_capacity(&mut self.ignored, n_models * self.n_words);
        if let Some(subspaces) = &mut self.subspaces {
            subspaces.set_capacity(n_models);
        }
    }

    /// Keeps only the marked models, in their order.
    pub fn retain(&mut self, kept: &[bool]) {
        let (n, n_panels, n_counts) = (self.n_classes, self.n_panels, self.count_range(0).len());
        retain_blocks(&mut self.summaries, kept, 1);
        retain_blocks(&mut self.panels, kept, n * n_panels);
        retain_blocks(&mut self.known_weights, kept, n * n_panels);
        retain_blocks(&mut self.counts, kept, n_counts);
        retain_blocks(&mut self.ignored, kept, self.n_words);
        if let Some(subspaces) = &mut self.subspaces {
            subspaces.retain(kept);
        }
    }
}

/// Keeps only the marked blocks of a column, in their order.
pub(in crate::learners) fn retain_blocks<T: Copy>(column: &mut Vec<T>, kept: &[bool], block: usize) {
    let mut to = 0;
    for (from, _) in kept.iter().enumerate().filter(|(_, kept)| **kept) {
        if from != to && !column.is_empty() {
            column.copy_within(from * block..(from + 1) * block, to * block);
        }
        to += 1;
    }
    column.truncate(to * block);
}
