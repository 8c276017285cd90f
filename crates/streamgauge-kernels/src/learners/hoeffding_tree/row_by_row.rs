//! Trees that visit every node on the path of a row, one row after the other.

use std::ops::Range;

use super::HoeffdingTree;
use crate::dispatch;
use crate::learners::rows::{BLOCK, Row, Rows};
use crate::learners::{ABSTAINED, Block, Step};

/// A learner that wraps a tree and processes rows one by one.
pub(super) trait RowByRow<const V: usize> {
    /// Returns the tree, whose nodes route rows to their leaves.
    fn tree(&mut self) -> &mut HoeffdingTree<V>;

    /// Predicts a row, then learns it if its weight is above 0. `path` is scratch memory.
    fn step(&mut self, path: &mut Vec<u32>, x: &[f64], row: Row<'_, V>, label: i32, weight: f64) -> i32;

    /// Predicts each tested row of a step, then learns it.
    fn interleave_rows(&mut self, step: &Step<'_>, predictions: &mut [i32], mut votes: Option<&mut [f64]>) {
        let (d, n_classes) = (self.tree().schema.n_attributes(), self.tree().schema.n_classes);
        let mut rows = std::mem::replace(&mut self.tree().rows, Rows::empty());
        let mut path = vec![];
        dispatch::run(
            #[inline(always)]
            || {
                for (block, predictions, votes) in step.blocks(d, n_classes, predictions, votes.as_deref_mut()) {
                    rows.fill(self.tree().models.layout(), block.x, predictions.len());
                    self.interleave_block(&block, &rows, &mut path, predictions, votes);
                }
            },
        );
        self.tree().rows = rows;
    }

    /// Predicts each tested row of a block, then learns it.
    #[inline(always)]
    fn interleave_block(
        &mut self,
        block: &Block<'_>,
        rows: &Rows<V>,
        path: &mut Vec<u32>,
        predictions: &mut [i32],
        votes: Option<&mut [f64]>,
    ) {
        let (d, n_classes) = (self.tree().schema.n_attributes(), self.tree().schema.n_classes);
        let mut votes = votes.map(|votes| votes.chunks_exact_mut(n_classes));
        for (i, prediction) in predictions.iter_mut().enumerate() {
            if let Some(votes) = votes.as_mut().and_then(Iterator::next) {
                votes.fill(0.0);
                if block.tests[i % BLOCK] {
                    let (_, leaf) = self.tree().find_leaf(0, &block.x[i * d..(i + 1) * d]);
                    self.tree().vote_at(leaf, rows.row(i), votes);
                }
            }
            *prediction = self.step_row(block, rows, path, i);
        }
    }

    /// Predicts each tested row of a part of a block, then learns it. Not inlined: for rare paths.
    #[inline(never)]
    fn step_rows(&mut self, block: &Block<'_>, rows: &Rows<V>, part: Range<usize>, predictions: &mut [i32]) {
        dispatch::run(
            #[inline(always)]
            || {
                for i in part.clone() {
                    predictions[i] = self.step_row(block, rows, &mut vec![], i);
                }
            },
        );
    }

    /// Predicts a row of a block if it is tested, then learns it.
    #[inline(always)]
    fn step_row(&mut self, block: &Block<'_>, rows: &Rows<V>, path: &mut Vec<u32>, i: usize) -> i32 {
        let d = self.tree().schema.n_attributes();
        let (tested, weight) = (block.tests[i % BLOCK], block.weights[i % BLOCK]);
        if weight <= 0.0 && !tested {
            return ABSTAINED;
        }
        let predicted = self.step(path, &block.x[i * d..(i + 1) * d], rows.row(i), block.labels[i], weight);
        if tested { predicted } else { ABSTAINED }
    }
}

impl<const V: usize> HoeffdingTree<V> {
    /// Predicts a row at a leaf, then learns it if its weight is above 0. Not inlined: for rare paths.
    #[inline(never)]
    pub(super) fn step_at_leaf(&mut self, node: u32, leaf: usize, row: Row<'_, V>, label: i32, weight: f64) -> i32 {
        dispatch::run(
            #[inline(always)]
            || self.predict_and_learn(node, leaf, row, label, weight),
        )
    }
}
