//! Online bagging.

use std::sync::Arc;

use super::combining::{Block, split_into_blocks};
use super::members::Members;
use crate::KernelError;
use crate::codec::{Reader, Writer};
use crate::learners::{Factory, Learner, Schema, Step, learn_by_interleaving};
use crate::randomness::Poisson;

const NAME: &str = "OzaBag";

/// Online bagging: every member learns each row with its own weight, drawn from Poisson(1).
///
/// The members' votes, each scaled to a sum of 1, are added up.
///
/// N. Oza and S. Russell, Online bagging and boosting, AISTATS 2001.
pub struct OzaBag {
    members: Members,
    poisson: Poisson,
}

impl OzaBag {
    /// Builds a bag of untrained members.
    ///
    /// # Errors
    /// [`KernelError`] if a member cannot be built.
    pub fn new(schema: Schema, factory: Arc<dyn Factory>, n_members: usize, seed: u64) -> Result<Self, KernelError> {
        let members = Members::new(schema.clone(), schema, factory, n_members, seed)?;
        Ok(Self { members, poisson: Poisson::new(1.0)? })
    }
}

impl Learner for OzaBag {
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
        let Self { members, poisson } = self;
        let blocks: Vec<Block<'_>> = split_into_blocks(&members.schema, step, members.n_learnt).collect();
        members.run_bag(&blocks, predictions, votes, |index, draws, weights| {
            blocks[index].draw_weights(draws, poisson, weights);
        });
    }

    fn is_native(&self) -> bool {
        self.members.is_native()
    }

    fn facts(&self) -> Vec<(&'static str, u64)> {
        self.members.facts()
    }

    fn n_bytes(&self) -> usize {
        size_of::<Self>() + self.members.n_bytes() + self.poisson.n_bytes()
    }

    fn save(&self) -> Vec<u8> {
        let mut writer = Writer::new(NAME, 1);
        self.members.save(&mut writer);
        writer.finish()
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), KernelError> {
        let mut reader = Reader::new(NAME, 1, bytes)?;
        let members = self.members.load(&mut reader)?;
        reader.finish()?;
        self.members = members;
        Ok(())
    }
}
