//! Online bagging that resamples imbalanced classes: OOB and UOB.

use std::sync::Arc;

use super::combining::{Block, split_into_blocks};
use super::members::Members;
use crate::KernelError;
use crate::codec::{Reader, Writer};
use crate::learners::{Factory, Learner, Schema, Step, learn_by_interleaving};

const NAME: &str = "ResamplingBag";

/// The greatest mean of a weight.
const MAX_MEAN: f64 = 100.0;

/// Which rows have a Poisson mean other than 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resampling {
    /// Rows of smaller classes, above 1: the size of the largest class divided by that of their class.
    Over,
    /// Rows of larger classes, below 1: the size of the smallest class divided by that of their class.
    Under,
}

/// Oversampling- and undersampling-based online bagging: every member learns each row with a Poisson weight, whose mean
/// follows from the sizes of the classes. A size is the share of a class among the latest rows: it fades by `decay` at
/// every row, and that of the row's class gains `1 - decay`. A class that has not occurred yet has no size.
///
/// S. Wang, L. L. Minku and X. Yao, Resampling-based ensemble methods for online class imbalance learning, TKDE 2015;
/// more than two classes as in their Dealing with multiple classes in online class imbalance learning, IJCAI 2016.
pub struct ResamplingBag {
    members: Members,
    resampling: Resampling,
    decay: f64,
    sizes: Vec<f64>,
}

impl ResamplingBag {
    /// Builds a bag of untrained members.
    ///
    /// # Errors
    /// [`KernelError`] if a member cannot be built.
    pub fn new(
        schema: Schema,
        factory: Arc<dyn Factory>,
        n_members: usize,
        resampling: Resampling,
        decay: f64,
        seed: u64,
    ) -> Result<Self, KernelError> {
        let sizes = vec![0.0; schema.n_classes];
        let members = Members::new(schema.clone(), schema, factory, n_members, seed)?;
        Ok(Self { members, resampling, decay, sizes })
    }

    /// Counts the learnt rows of a block and returns the mean of the weights of each.
    fn count_rows(&mut self, block: &Block<'_>) -> Vec<f64> {
        let mut means = Vec::with_capacity(block.learnt.len());
        for &row in &block.learnt {
            let label = block.step.y[row] as usize;
            for size in self.sizes.iter_mut().filter(|size| **size > 0.0) {
                // A class that has occurred keeps a size, however small.
                *size = f64::max(*size * self.decay, f64::MIN_POSITIVE);
            }
            self.sizes[label] += 1.0 - self.decay;
            let known = self.sizes.iter().copied().filter(|&size| size > 0.0);
            let reference = match self.resampling {
                Resampling::Over => known.fold(0.0, f64::max),
                Resampling::Under => known.fold(f64::INFINITY, f64::min),
            };
            means.push(f64::min(reference / self.sizes[label], MAX_MEAN));
        }
        means
    }
}

impl Learner for ResamplingBag {
    fn schema(&self) -> &Schema {
        &self.members.schema
    }

    fn vote(&self, x: &[f64], votes: &mut [f64]) {
        self.members.predict(x, votes);
    }

    fn predict(&self, x: &[f64], votes: &mut [f64]) {
        self.members.predict(x, votes);
    }

    fn learn(&mut self, x: &[f64], label: usize, weight: f64) {
        learn_by_interleaving(self, x, label, weight);
    }

    fn interleave(&mut self, step: &Step<'_>, predictions: &mut [i32], votes: Option<&mut [f64]>) {
        let blocks: Vec<Block<'_>> = split_into_blocks(&self.members.schema, step, self.members.n_learnt).collect();
        let means: Vec<Vec<f64>> = blocks.iter().map(|block| self.count_rows(block)).collect();
        self.members.run_bag(&blocks, predictions, votes, |index, draws, weights| {
            blocks[index].draw_weights_of_means(draws, &means[index], weights);
        });
    }

    fn is_native(&self) -> bool {
        self.members.is_native()
    }

    fn facts(&self) -> Vec<(&'static str, u64)> {
        self.members.facts()
    }

    fn n_bytes(&self) -> usize {
        size_of::<Self>() + self.members.n_bytes() + self.sizes.capacity() * size_of::<f64>()
    }

    fn save(&self) -> Vec<u8> {
        let mut writer = Writer::new(NAME, 1);
        self.members.save(&mut writer);
        writer.f64s(&self.sizes);
        writer.finish()
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), KernelError> {
        let mut reader = Reader::new(NAME, 1, bytes)?;
        let members = self.members.load(&mut reader)?;
        let mut sizes = vec![0.0; self.sizes.len()];
        reader.f64s_into(&mut sizes)?;
        if !sizes.iter().all(|size| (0.0..=1.0).contains(size)) {
            return Err(reader.error("the size of a class is not in [0, 1]"));
        }
        reader.finish()?;
        (self.members, self.sizes) = (members, sizes);
        Ok(())
    }
}
