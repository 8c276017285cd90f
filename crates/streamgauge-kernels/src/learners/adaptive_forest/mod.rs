//! Ensembles that replace members whose error rises: the adaptive random forest and streaming random patches.
//!
//! H. M. Gomes et al., Adaptive random forests for evolving data stream classification, Machine Learning 106, 2017.
//!
//! H. M. Gomes, J. Read and A. Bifet, Streaming random patches for evolving data stream classification, ICDM 2019.

use std::ops::Range;
use std::sync::Arc;

use super::{
    ABSTAINED, Factory, HoeffdingTreeOptions, Learner, Schema, Step, Subspace, add_member_facts, find_winner,
    hoeffding_tree, learn_by_interleaving, normalise_votes,
};
use crate::KernelError;
use crate::codec::{Reader, Writer};
use crate::randomness::Poisson;
use crate::threads::{is_worth_sharing, process_members};

mod member;
mod model;
mod options;
#[cfg(test)]
mod tests;

use member::{Chunk, Member, Scratch};
use model::ModelBuilder;
pub use options::AdaptiveForestOptions;

/// The approximate number of votes that a member adds before the next one does. Rows and votes are read in sequence,
/// but a model is accessed at random and should stay in the cache.
const CHUNK_VOTES: usize = 32_768;
/// If threads share the members, chunks are shorter where chunks times members would be fewer than this, so that all
/// threads end at about the same time; but not below this number of rows.
const SHARED_CHUNKS: usize = 64;
const SHARED_CHUNK_ROWS: usize = 2_048;
/// The most draws of a subspace that no other member has.
const MAX_DRAWS: u64 = 100;

/// An ensemble that replaces members whose error rises.
///
/// - Each member learns each row with its own Poisson weight, and may use a subset of the attributes.
/// - Two ADWIN windows per member monitor its errors on rows that it has just learnt. When the first one drops old
///   values because the error has risen, a new learner starts in the background; when the second one does, the
///   background learner, or a new one, replaces the member's model.
/// - In streaming random patches a background learner that has replaced a model is promoted: until the next warning it
///   learns every row twice, and no drift replaces it.
/// - The votes of a member, scaled to a sum of 1, are weighted by its accuracy since its model was installed.
///
/// Members are independent, so each processes a long chunk of rows before the next one does: its model stays in the
/// cache. Votes add up to 1; all are 0 before the first row was learnt.
pub struct AdaptiveForest {
    name: &'static str,
    schema: Schema,
    options: AdaptiveForestOptions,
    factory: Arc<dyn Factory>,
    seed: u64,
    poisson: Option<Poisson>,
    members: Vec<Member>,
    /// The number of rows learnt.
    n_learnt: u64,
}

/// Builds an adaptive random forest: Hoeffding trees whose leaves use random subspaces of `subspace` attributes.
///
/// # Errors
/// [`KernelError::Option`] if a leaf does not fit into the memory of a tree, or an option of a window or a Poisson
/// distribution is outside its range.
pub fn adaptive_random_forest(
    schema: Schema,
    options: AdaptiveForestOptions,
    tree: HoeffdingTreeOptions,
    subspace: usize,
    seed: u64,
) -> Result<AdaptiveForest, KernelError> {
    let build = move |schema: &Schema, seed: u64| {
        let subspace = Some(Subspace { size: subspace, seed });
        hoeffding_tree(schema.clone(), HoeffdingTreeOptions { subspace, ..tree })
    };
    AdaptiveForest::new("AdaptiveRandomForest", schema, options, Arc::new(build), seed)
}

/// Builds streaming random patches: learners of any kind over random subspaces of the attributes.
///
/// # Errors
/// [`KernelError`] if a member cannot be built, or an option of a window or a Poisson distribution is outside its
/// range.
pub fn streaming_random_patches(
    schema: Schema,
    options: AdaptiveForestOptions,
    factory: Arc<dyn Factory>,
    seed: u64,
) -> Result<AdaptiveForest, KernelError> {
    AdaptiveForest::new("StreamingRandomPatches", schema, options, factory, seed)
}

impl AdaptiveForest {
    fn new(
        name: &'static str,
        schema: Schema,
        options: AdaptiveForestOptions,
        factory: Arc<dyn Factory>,
        seed: u64,
    ) -> Result<Self, KernelError> {
        let poisson = options.mean_weight.map(Poisson::new).transpose()?;
        let builder = ModelBuilder { schema: &schema, options: &options, factory: factory.as_ref(), seed };
        let mut members: Vec<Member> = Vec::with_capacity(options.n_members);
        for number in 0..options.n_members {
            let attributes = draw_first_subspace(&builder, number, &members);
            members.push(Member::new(&builder, number, attributes)?);
        }
        Ok(Self { name, schema, options, factory, seed, poisson, members, n_learnt: 0 })
    }

    fn builder(&self) -> ModelBuilder<'_> {
        ModelBuilder { schema: &self.schema, options: &self.options, factory: self.factory.as_ref(), seed: self.seed }
    }

    fn chunk_length(&self) -> usize {
        (CHUNK_VOTES / self.schema.n_classes.max(1)).clamp(64, 16_384)
    }

    fn has_native_members(&self) -> bool {
        let models = self.members.iter().flat_map(|member| [Some(member.model()), member.background()]);
        models.flatten().all(|model| model.learner.is_native())
    }
}

/// What a member gives for a chunk, and space that it needs.
#[derive(Default)]
struct ChunkResult {
    scratch: Scratch,
    /// Its share of the votes for each row.
    shares: Vec<f64>,
}

/// The rows of a chunk, with defaults filled in.
struct ChunkRows {
    rows: Range<usize>,
    weights: Vec<f64>,
    to_predict: Vec<bool>,
    n_learnt: u64,
}

impl ChunkRows {
    /// Fills in the defaults; `n_learnt` is the number of rows learnt before, and those of the chunk are added to it.
    fn new(step: &Step<'_>, rows: Range<usize>, n_learnt: &mut u64) -> Self {
        let weights: Vec<f64> = rows.clone().map(|row| step.weight(row)).collect();
        let to_predict =
            weights.iter().zip(rows.clone()).map(|(&weight, row)| weight > 0.0 || step.tests(row)).collect();
        let n_before = *n_learnt;
        *n_learnt += weights.iter().filter(|&&weight| weight > 0.0).count() as u64;
        Self { rows, weights, to_predict, n_learnt: n_before }
    }
}

/// Draws the first subspace of a member, if possible one that no other member has.
fn draw_first_subspace(builder: &ModelBuilder<'_>, number: usize, members: &[Member]) -> Option<Vec<u32>> {
    // Addresses far from those of the models that a member builds later.
    let drawn = (0..MAX_DRAWS).map(|n| builder.draw_subspace(number, u64::MAX - n));
    let is_new = |attributes: &Option<Vec<u32>>| members.iter().all(|member| &member.model().attributes != attributes);
    drawn.into_iter().find(is_new).unwrap_or_else(|| builder.draw_subspace(number, u64::MAX))
}

impl Learner for AdaptiveForest {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn vote(&self, x: &[f64], votes: &mut [f64]) {
        self.predict(x, votes);
    }

    fn predict(&self, x: &[f64], votes: &mut [f64]) {
        let (d, n_classes, length) = (self.schema.n_attributes(), self.schema.n_classes, self.chunk_length());
        let builder = self.builder();
        let mut member_votes = vec![0.0; votes.len().min(length * n_classes)];
        for (i, combined) in votes.chunks_mut(length * n_classes).enumerate() {
            let n = combined.len() / n_classes;
            let x = &x[i * length * d..(i * length + n) * d];
            combined.fill(0.0);
            for member in &self.members {
                member.predict(&builder, x, &mut member_votes[..n * n_classes], combined);
            }
            combined.chunks_exact_mut(n_classes).for_each(normalise_votes);
        }
    }

    fn learn(&mut self, x: &[f64], label: usize, weight: f64) {
        learn_by_interleaving(self, x, label, weight);
    }

    fn interleave(&mut self, step: &Step<'_>, predictions: &mut [i32], mut votes: Option<&mut [f64]>) {
        let (n, d, n_classes) = (predictions.len(), self.schema.n_attributes(), self.schema.n_classes);
        let shared = is_worth_sharing(n, self.members.len()) && self.has_native_members();
        let most = if shared { (n * self.members.len() / SHARED_CHUNKS).max(SHARED_CHUNK_ROWS) } else { n };
        let length = self.chunk_length().min(most.max(1));
        let Self { schema, options, factory, seed, poisson, members, n_learnt, .. } = self;
        let builder = ModelBuilder { schema, options, factory: factory.as_ref(), seed: *seed };
        let starts = (0..n).step_by(length);
        let chunks: Vec<ChunkRows> =
            starts.map(|start| ChunkRows::new(step, start..n.min(start + length), n_learnt)).collect();
        let (n_members, mut vote_scratch) = (members.len(), vec![]);
        process_members(
            members,
            chunks.len(),
            shared,
            |index, _, member, result: &mut ChunkResult| {
                let ChunkRows { rows, weights, to_predict, n_learnt } = &chunks[index];
                let step = step.slice(rows.clone(), d);
                let chunk = Chunk { step, d, n_classes, weights, to_predict, n_learnt: *n_learnt };
                result.shares.clear();
                result.shares.resize(rows.len() * n_classes, 0.0);
                member.interleave(&builder, poisson.as_ref(), &chunk, &mut result.scratch, &mut result.shares);
            },
            |index, i, result, _| {
                let rows = chunks[index].rows.clone();
                let combined = if let Some(votes) = &mut votes {
                    &mut votes[rows.start * n_classes..rows.end * n_classes]
                } else {
                    vote_scratch.resize(rows.len() * n_classes, 0.0);
                    &mut vote_scratch[..]
                };
                if i == 0 {
                    combined.fill(0.0);
                }
                for (combined, share) in combined.iter_mut().zip(&result.shares) {
                    *combined += share;
                }
                if i + 1 == n_members {
                    for (row, votes) in rows.zip(combined.chunks_exact_mut(n_classes)) {
                        normalise_votes(votes);
                        predictions[row] = if step.tests(row) { find_winner(votes) } else { ABSTAINED };
                    }
                }
            },
        );
    }

    fn is_native(&self) -> bool {
        self.has_native_members()
    }

    fn facts(&self) -> Vec<(&'static str, u64)> {
        let mut facts = vec![
            ("n_members", self.members.len() as u64),
            ("n_backgrounds", self.members.iter().filter(|member| member.background().is_some()).count() as u64),
            ("n_warnings", self.members.iter().map(|member| member.n_warnings).sum()),
            ("n_drifts", self.members.iter().map(|member| member.n_drifts).sum()),
        ];
        add_member_facts(&mut facts, self.members.iter().flat_map(|member| member.model().learner.facts()));
        facts
    }

    fn n_bytes(&self) -> usize {
        size_of::<Self>()
            + 4 * self.schema.n_values.capacity()
            + self.poisson.as_ref().map_or(0, Poisson::n_bytes)
            + self.members.capacity() * size_of::<Member>()
            + self.members.iter().map(Member::n_bytes).sum::<usize>()
    }

    fn save(&self) -> Vec<u8> {
        let mut writer = Writer::new(self.name, 1);
        writer.u64(self.seed);
        writer.u64(self.n_learnt);
        writer.u64(self.members.len() as u64);
        for member in &self.members {
            member.save(&mut writer);
        }
        writer.finish()
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), KernelError> {
        let mut reader = Reader::new(self.name, 1, bytes)?;
        let (seed, n_learnt) = (reader.u64()?, reader.u64()?);
        if reader.usize()? != self.members.len() {
            return Err(reader.error("it has another number of members"));
        }
        let builder = ModelBuilder { seed, ..self.builder() };
        let members =
            self.members.iter().map(|member| member.load(&builder, &mut reader)).collect::<Result<Vec<_>, _>>()?;
        reader.finish()?;
        (self.seed, self.n_learnt, self.members) = (seed, n_learnt, members);
        Ok(())
    }
}
