//! The members of an ensemble.

use std::sync::Arc;

use super::combining::{Block, Output, add_shares, block_length};
use crate::KernelError;
use crate::codec::{Reader, Writer};
use crate::learners::{ABSTAINED, Factory, Learner, Schema, Step, add_member_facts};
use crate::randomness::{Draws, Purpose};
use crate::threads::{is_worth_sharing, process_members};

/// The purpose of the draws of seeds.
const MEMBER: Purpose = Purpose::named("member");
/// The purpose of the draws of weights.
const WEIGHT: Purpose = Purpose::named("member weight");

/// Learners of one kind, with a seed each.
pub(super) struct Members {
    pub schema: Schema,
    pub builder: MemberBuilder,
    pub learners: Vec<Box<dyn Learner>>,
    /// The number of rows learnt, each with its own weight per member.
    pub n_learnt: u64,
    /// The number of replacements of members.
    pub n_replaced: u64,
}

/// Builds members.
#[derive(Clone)]
pub(super) struct MemberBuilder {
    schema: Schema,
    factory: Arc<dyn Factory>,
    seed: u64,
}

impl MemberBuilder {
    /// Builds a member, with another seed after each replacement.
    fn build(&self, i: usize, n_replaced: u64) -> Result<Box<dyn Learner>, KernelError> {
        self.factory.build(&self.schema, member_seed(self.seed, i, n_replaced))
    }

    /// Returns the draws of the weights of a member.
    pub fn draws(&self, i: usize) -> Draws {
        Draws::new(self.seed, WEIGHT, i as u64)
    }

    /// Replaces a member by a new learner; `n_replaced` counts the replacements of all members.
    ///
    /// Only Python code can fail to build what it has built before, and its exception reaches the caller another way.
    pub fn replace(&self, i: usize, member: &mut Box<dyn Learner>, n_replaced: &mut u64) {
        *n_replaced += 1;
        if let Ok(fresh) = self.build(i, *n_replaced) {
            *member = fresh;
        }
    }
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
        let builder = MemberBuilder { schema: member_schema, factory, seed };
        let learners = (0..n_members).map(|i| builder.build(i, 0)).collect::<Result<_, _>>()?;
        Ok(Self { schema, builder, learners, n_learnt: 0, n_replaced: 0 })
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
        self.builder.draws(i)
    }

    /// Replaces a member by a new learner.
    pub fn replace(&mut self, i: usize) {
        self.builder.replace(i, &mut self.learners[i], &mut self.n_replaced);
    }

    /// Returns whether all members are native.
    pub fn is_native(&self) -> bool {
        self.iter().all(Learner::is_native)
    }

    /// Returns whether threads should share the members for some rows.
    pub fn is_worth_sharing(&self, n_rows: usize) -> bool {
        is_worth_sharing(n_rows, self.len()) && self.is_native()
    }

    /// Runs the blocks of a step through the members of a bag, with the weights that `draw` writes for a block and a
    /// member, and adds up their shares.
    pub fn run_bag(
        &mut self,
        blocks: &[Block<'_>],
        predictions: &mut [i32],
        votes: Option<&mut [f64]>,
        draw: impl Fn(usize, Draws, &mut [f64]) + Sync,
    ) {
        let (shared, n_members, n_classes) =
            (self.is_worth_sharing(predictions.len()), self.len(), self.schema.n_classes);
        let Self { builder, learners, n_learnt, .. } = self;
        let mut output = Output::new(n_classes, predictions, votes);
        process_members(
            learners,
            blocks.len(),
            shared,
            |index, i, member, result: &mut BagResult| {
                let block = &blocks[index];
                result.resize(block.rows.len(), n_classes);
                draw(index, builder.draws(i), &mut result.weights);
                let step = Step { weight: Some(&result.weights), ..block.step };
                if block.step.test.is_some() {
                    // Members do not write the votes for rows that are not tested.
                    result.votes.fill(0.0);
                }
                let votes = block.tested.then_some(result.votes.as_mut_slice());
                member.interleave(&step, &mut result.predictions, votes);
            },
            |index, i, result, _| {
                output.add(&blocks[index], i, &result.votes);
                if i + 1 == n_members {
                    output.finish(&blocks[index]);
                }
            },
        );
        *n_learnt += blocks.iter().map(|block| block.learnt.len() as u64).sum::<u64>();
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
            + 4 * (self.schema.n_values.capacity() + self.builder.schema.n_values.capacity())
    }

    /// Appends the state.
    pub fn save(&self, writer: &mut Writer) {
        writer.u64(self.builder.seed);
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
        let builder = MemberBuilder { seed, ..self.builder.clone() };
        let mut learners = Vec::with_capacity(self.len());
        for i in 0..self.len() {
            let mut member = builder.build(i, 0)?;
            member.load(reader.part()?)?;
            learners.push(member);
        }
        Ok(Self { schema: self.schema.clone(), builder, learners, n_learnt, n_replaced })
    }
}

/// What a member of a bag gives for a block.
#[derive(Default)]
struct BagResult {
    weights: Vec<f64>,
    votes: Vec<f64>,
    predictions: Vec<i32>,
}

impl BagResult {
    fn resize(&mut self, n: usize, n_classes: usize) {
        self.weights.resize(n, 0.0);
        self.votes.resize(n * n_classes, 0.0);
        self.predictions.resize(n, ABSTAINED);
    }
}

/// Returns the seed of a member, a different one after each replacement.
pub(super) fn member_seed(seed: u64, i: usize, n_replaced: u64) -> u64 {
    Draws::new(seed, MEMBER, i as u64).at(n_replaced)
}
