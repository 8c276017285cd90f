//! The members of an ensemble.

use std::sync::Arc;

use super::combining::{Block, add_shares, block_length, predict_winners};
use crate::KernelError;
use crate::codec::{Reader, Writer};
use crate::learners::{Factory, Learner, Schema, Step, add_member_facts};
use crate::randomness::{Draws, Poisson, Purpose, poisson_quantile};

/// The purpose of the draws of seeds.
const MEMBER: Purpose = Purpose::named("member");
/// The purpose of the draws of weights.
const WEIGHT: Purpose = Purpose::named("member weight");

/// Learners of one kind, with a seed each, and the factory for new ones.
pub(super) struct Members {
    pub schema: Schema,
    /// The schema of the members.
    member_schema: Schema,
    factory: Arc<dyn Factory>,
    seed: u64,
    learners: Vec<Box<dyn Learner>>,
    /// The number of rows learnt, each with its own weight per member.
    pub n_learnt: u64,
    /// The number of replacements of members.
    pub n_replaced: u64,
}

impl Members {
    /// Builds untrained members.
    pub fn new(
        schema: Schema,
        member_schema: Schema,
        factory: Arc<dyn Factory>,
        n_members: usize,
        seed: u64,
    ) -> Result<Self, KernelError> {
        let learners =
            (0..n_members).map(|i| factory.build(&member_schema, member_seed(seed, i, 0))).collect::<Result<_, _>>()?;
        Ok(Self { schema, member_schema, factory, seed, learners, n_learnt: 0, n_replaced: 0 })
    }

    /// Returns the number of members.
    pub fn len(&self) -> usize {
        self.learners.len()
    }

    /// Returns the members.
    pub fn iter(&self) -> impl Iterator<Item = &dyn Learner> {
        self.learners.iter().map(AsRef::as_ref)
    }

    /// Returns a member.
    pub fn get(&self, i: usize) -> &dyn Learner {
        self.learners[i].as_ref()
    }

    /// Swaps two members.
    pub fn swap(&mut self, i: usize, j: usize) {
        self.learners.swap(i, j);
    }

    /// Returns a member for writing.
    pub fn get_mut(&mut self, i: usize) -> &mut dyn Learner {
        self.learners[i].as_mut()
    }

    /// Returns the draws of the weights of a member.
    pub fn draws(&self, i: usize) -> Draws {
        Draws::new(self.seed, WEIGHT, i as u64)
    }

    /// Writes the weights with which a member learns the rows of a block: those of the rows times Poisson numbers.
    pub fn draw_weights(&self, i: usize, poisson: &Poisson, block: &Block<'_>, weights: &mut [f64]) {
        poisson.fill(self.draws(i), self.n_learnt, &mut weights[..block.learnt.len()]);
        block.spread(weights);
    }

    /// Writes the weights with which a member learns the rows of a block, if each learnt row has a Poisson mean of its
    /// own.
    pub fn draw_weights_of_means(&self, i: usize, means: &[f64], block: &Block<'_>, weights: &mut [f64]) {
        let draws = self.draws(i);
        for ((weight, &mean), row) in weights.iter_mut().zip(means).zip(self.n_learnt..) {
            *weight = f64::from(poisson_quantile(mean, draws.at(row)));
        }
        block.spread(weights);
    }

    /// Replaces a member by a new learner.
    ///
    /// Only Python code can fail to build what it has built before, and its exception reaches the caller another way.
    pub fn replace(&mut self, i: usize) {
        self.n_replaced += 1;
        if let Ok(fresh) = self.factory.build(&self.member_schema, member_seed(self.seed, i, self.n_replaced)) {
            self.learners[i] = fresh;
        }
    }

    /// Writes the sum of the members' shares for rows.
    pub fn predict(&self, x: &[f64], votes: &mut [f64]) {
        let (d, n_classes, length) = (self.schema.n_attributes(), self.schema.n_classes, block_length(&self.schema));
        votes.fill(0.0);
        let mut buffer = vec![0.0; votes.len().min(length * n_classes)];
        for (i, votes) in votes.chunks_mut(length * n_classes).enumerate() {
            let member_votes = &mut buffer[..votes.len()];
            let n = votes.len() / n_classes;
            let x = &x[i * length * d..(i * length + n) * d];
            for member in &self.learners {
                member.predict(x, member_votes);
                add_shares(n_classes, member_votes, votes);
            }
        }
    }

    /// Returns the facts of the ensemble and its members.
    pub fn facts(&self) -> Vec<(&'static str, u64)> {
        let mut facts = vec![("n_members", self.len() as u64), ("n_replaced", self.n_replaced)];
        add_member_facts(&mut facts, self.learners.iter().flat_map(|member| member.facts()));
        facts
    }

    /// Returns the heap size in bytes.
    pub fn n_bytes(&self) -> usize {
        self.learners.capacity() * size_of::<Box<dyn Learner>>()
            + self.learners.iter().map(|member| member.n_bytes()).sum::<usize>()
            + 4 * (self.schema.n_values.capacity() + self.member_schema.n_values.capacity())
    }

    /// Appends the state.
    pub fn save(&self, writer: &mut Writer) {
        writer.u64(self.seed);
        writer.u64(self.n_learnt);
        writer.u64(self.n_replaced);
        writer.u64(self.len() as u64);
        for member in &self.learners {
            writer.part(&member.save());
        }
    }

    /// Reads the state of members with the same options.
    pub fn load(&self, reader: &mut Reader<'_>) -> Result<Self, KernelError> {
        let (seed, n_learnt, n_replaced) = (reader.u64()?, reader.u64()?, reader.u64()?);
        if reader.usize()? != self.len() {
            return Err(reader.error("it has another number of members"));
        }
        let mut learners = Vec::with_capacity(self.len());
        for i in 0..self.len() {
            let mut member = self.factory.build(&self.member_schema, member_seed(seed, i, 0))?;
            member.load(reader.part()?)?;
            learners.push(member);
        }
        let (schema, member_schema) = (self.schema.clone(), self.member_schema.clone());
        Ok(Self { schema, member_schema, factory: self.factory.clone(), seed, learners, n_learnt, n_replaced })
    }
}

/// Space for the weights and votes of a bag.
#[derive(Default)]
pub(super) struct BagScratch {
    weights: Vec<f64>,
    member_votes: Vec<f64>,
    votes: Vec<f64>,
}

impl BagScratch {
    /// Runs a block through the members of a bag, with the weights that `draw` writes for a member, and adds up their
    /// shares.
    pub fn run_block(
        &mut self,
        members: &mut Members,
        block: &Block<'_>,
        predictions: &mut [i32],
        votes: Option<&mut [f64]>,
        draw: impl Fn(&Members, usize, &mut [f64]),
    ) {
        let (n, n_classes) = (predictions.len(), members.schema.n_classes);
        self.votes.resize(n * n_classes, 0.0);
        let combined = votes.unwrap_or(&mut self.votes);
        combined.fill(0.0);
        self.weights.resize(n, 0.0);
        self.member_votes.resize(n * n_classes, 0.0);
        for i in 0..members.len() {
            draw(members, i, &mut self.weights);
            let step = Step { weight: Some(&self.weights), ..block.step };
            if block.step.test.is_some() {
                // Members do not write the votes for rows that are not tested.
                self.member_votes.fill(0.0);
            }
            if block.tested {
                members.get_mut(i).interleave(&step, predictions, Some(&mut self.member_votes));
                add_shares(n_classes, &self.member_votes, combined);
            } else {
                members.get_mut(i).interleave(&step, predictions, None);
            }
        }
        members.n_learnt += block.learnt.len() as u64;
        predict_winners(n_classes, &block.step, combined, predictions);
    }
}

/// Returns the seed of a member, a different one after each replacement.
pub(super) fn member_seed(seed: u64, i: usize, n_replaced: u64) -> u64 {
    Draws::new(seed, MEMBER, i as u64).at(n_replaced)
}
