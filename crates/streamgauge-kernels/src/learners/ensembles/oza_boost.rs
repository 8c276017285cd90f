//! Online boosting.

use std::sync::Arc;

use super::combining::{Block, add_share, for_each_block, predict_winners};
use super::members::Members;
use crate::KernelError;
use crate::codec::{Reader, Writer};
use crate::learners::vector_math::{exp, ln};
use crate::learners::{ABSTAINED, Factory, Learner, Schema, Step, learn_by_interleaving};
use crate::randomness::{Draws, unit};

const NAME: &str = "OzaBoost";

/// Online boosting: a row that a member gets wrong has more weight for the next member, one that it gets right less.
///
/// A row starts with the weight 1 and passes from member to member. Each learns it Poisson(weight) times (or, if
/// `pure`, with the weight itself) and predicts it again. If that is right, the row's weight is multiplied by n / (2
/// r), else by n / (2 w), where n is the weight of all rows so far and r and w are the weights of those that this
/// member got right and wrong, so that both have half of the weight for the next member.
///
/// With e = w / (r + w), a member's votes, scaled to a sum of 1, are weighted by ln((1 - e) / e). The first member
/// without mistakes, or with more than half of the weight wrong, does not vote, nor do those after it; the very first
/// member always votes.
///
/// N. Oza and S. Russell, Online bagging and boosting, AISTATS 2001.
pub struct OzaBoost {
    members: Members,
    pure: bool,
    records: Vec<MemberRecord>,
    /// The weight of all rows learnt.
    weight: f64,
}

/// The weights of the rows that a member got right and wrong.
#[derive(Debug, Clone, Copy, Default)]
struct MemberRecord {
    right: f64,
    wrong: f64,
}

impl MemberRecord {
    /// Returns the weight of the member's votes; 0 if neither it nor any later member votes.
    fn vote_weight(self) -> f64 {
        let error = self.wrong / (self.right + self.wrong);
        if error > 0.0 && error < 0.5 { ln((1.0 - error) / error) } else { 0.0 }
    }
}

impl OzaBoost {
    /// Builds untrained members.
    ///
    /// # Errors
    /// [`KernelError`] if a member cannot be built.
    pub fn new(
        schema: Schema,
        factory: Arc<dyn Factory>,
        n_members: usize,
        pure: bool,
        seed: u64,
    ) -> Result<Self, KernelError> {
        let members = Members::new(schema.clone(), schema, factory, n_members, seed)?;
        Ok(Self { members, pure, records: vec![MemberRecord::default(); n_members], weight: 0.0 })
    }

    /// Processes a block of rows with a member.
    fn recheck_member(&mut self, i: usize, block: &Block<'_>, scratch: &mut Scratch) {
        scratch.weights.fill(0.0);
        let draws = self.members.draws(i);
        for (j, &row) in block.learnt.iter().enumerate() {
            let mean = scratch.boosts[j];
            let times = if self.pure { mean } else { poisson(mean, draws, self.members.n_learnt + j as u64) };
            scratch.weights[row] = block.step.weight(row) * times;
        }
        let step = Step { weight: Some(&scratch.weights), ..block.step };
        self.members.get_mut(i).recheck(&step, &mut scratch.votes, &mut scratch.rechecked);
    }

    /// Updates row by row the record of a member and the weights for the next one, and adds its votes, weighted by its
    /// record before the row.
    fn update_weights(&mut self, i: usize, block: &Block<'_>, scratch: &mut Scratch, combined: &mut [f64]) {
        let n_classes = self.members.schema.n_classes;
        let record = &mut self.records[i];
        let (mut learnt, mut total) = (0, self.weight);
        for (row, combined) in combined.chunks_exact_mut(n_classes).enumerate() {
            if block.step.tests(row) && !scratch.decided[row] {
                let vote_weight = record.vote_weight();
                let votes = &scratch.votes[row * n_classes..(row + 1) * n_classes];
                scratch.decided[row] = vote_weight == 0.0;
                if vote_weight > 0.0 || i == 0 {
                    add_share(votes, if vote_weight > 0.0 { vote_weight } else { 1.0 }, combined);
                }
            }
            if block.learnt.get(learnt) == Some(&row) {
                let (weight, boost) = (block.step.weight(row), &mut scratch.boosts[learnt]);
                total += weight;
                let side =
                    if scratch.rechecked[row] == block.step.y[row] { &mut record.right } else { &mut record.wrong };
                *side += *boost * weight;
                *boost = (*boost * (total / (2.0 * *side))).min(f64::MAX / total.max(1.0));
                learnt += 1;
            }
        }
    }
}

/// The results of a member for a block.
struct Scratch {
    /// Per row, the weight with which it learns.
    weights: Vec<f64>,
    votes: Vec<f64>,
    rechecked: Vec<i32>,
    /// Per learnt row, its weight for the next member.
    boosts: Vec<f64>,
    /// Per row, whether no further member votes.
    decided: Vec<bool>,
}

impl Scratch {
    fn new(block: &Block<'_>, n_classes: usize) -> Self {
        let n = block.step.y.len();
        Self {
            weights: vec![0.0; n],
            votes: vec![0.0; n * n_classes],
            rechecked: vec![ABSTAINED; n],
            boosts: vec![1.0; block.learnt.len()],
            decided: vec![false; n],
        }
    }
}

/// Returns a Poisson number of any mean, by inversion of the row's draws.
///
/// Large means are split into parts; above 10,000, where the relative deviation is below 1%, the mean itself is
/// returned.
fn poisson(mean: f64, draws: Draws, row: u64) -> f64 {
    const LARGEST_PART: f64 = 50.0;
    if mean > 1e4 {
        return mean.round();
    }
    if mean > LARGEST_PART {
        let n_parts = (mean / LARGEST_PART).ceil();
        return (0..n_parts as u64).map(|part| inverse_poisson(mean / n_parts, draws.within(row).at(part))).sum();
    }
    inverse_poisson(mean, draws.at(row))
}

fn inverse_poisson(mean: f64, bits: u64) -> f64 {
    let uniform = unit(bits);
    let mut mass = exp(-mean);
    let (mut cumulative, mut value) = (mass, 0.0);
    while uniform >= cumulative && value < 200.0 {
        value += 1.0;
        mass *= mean / value;
        cumulative += mass;
    }
    value
}

impl Learner for OzaBoost {
    fn schema(&self) -> &Schema {
        &self.members.schema
    }

    fn vote(&self, x: &[f64], votes: &mut [f64]) {
        votes.fill(0.0);
        let mut member_votes = vec![0.0; votes.len()];
        for (i, (member, record)) in self.members.iter().zip(&self.records).enumerate() {
            let vote_weight = record.vote_weight();
            if vote_weight > 0.0 || i == 0 {
                member.vote(x, &mut member_votes);
                add_share(&member_votes, if vote_weight > 0.0 { vote_weight } else { 1.0 }, votes);
            }
            if vote_weight == 0.0 {
                return;
            }
        }
    }

    fn learn(&mut self, x: &[f64], label: usize, weight: f64) {
        learn_by_interleaving(self, x, label, weight);
    }

    fn interleave(&mut self, step: &Step<'_>, predictions: &mut [i32], votes: Option<&mut [f64]>) {
        let schema = self.members.schema.clone();
        let n_classes = schema.n_classes;
        let mut vote_scratch = vec![];
        for_each_block(&schema, step, predictions, votes, |block, predictions, votes| {
            vote_scratch.resize(predictions.len() * n_classes, 0.0);
            let combined = votes.unwrap_or(&mut vote_scratch);
            combined.fill(0.0);
            let mut scratch = Scratch::new(block, n_classes);
            for i in 0..self.members.len() {
                self.recheck_member(i, block, &mut scratch);
                self.update_weights(i, block, &mut scratch, combined);
            }
            for &row in &block.learnt {
                self.weight += block.step.weight(row);
            }
            self.members.n_learnt += block.learnt.len() as u64;
            predict_winners(n_classes, &block.step, combined, predictions);
        });
    }

    fn is_native(&self) -> bool {
        self.members.is_native()
    }

    fn facts(&self) -> Vec<(&'static str, u64)> {
        self.members.facts()
    }

    fn n_bytes(&self) -> usize {
        size_of::<Self>() + self.members.n_bytes() + self.records.capacity() * size_of::<MemberRecord>()
    }

    fn save(&self) -> Vec<u8> {
        let mut writer = Writer::new(NAME, 1);
        self.members.save(&mut writer);
        writer.f64(self.weight);
        let records: Vec<f64> = self.records.iter().flat_map(|record| [record.right, record.wrong]).collect();
        writer.f64s(&records);
        writer.finish()
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), KernelError> {
        let mut reader = Reader::new(NAME, 1, bytes)?;
        let members = self.members.load(&mut reader)?;
        let weight = reader.f64()?;
        let mut records = vec![0.0; 2 * members.len()];
        reader.f64s_into(&mut records)?;
        reader.finish()?;
        self.records = records.chunks_exact(2).map(|pair| MemberRecord { right: pair[0], wrong: pair[1] }).collect();
        (self.members, self.weight) = (members, weight);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::randomness::Purpose;

    #[test]
    fn poisson_numbers_have_the_mean_and_variance_of_any_mean() {
        let draws = Draws::new(1, Purpose::named("test"), 0);
        for mean in [0.01, 0.7, 6.0, 49.0, 51.0, 700.0] {
            let n = 100_000;
            let values: Vec<f64> = (0..n).map(|row| poisson(mean, draws, row)).collect();
            let sample_mean = values.iter().sum::<f64>() / n as f64;
            let variance = values.iter().map(|value| (value - sample_mean).powi(2)).sum::<f64>() / n as f64;
            assert!((sample_mean - mean).abs() < 5.0 * (mean / n as f64).sqrt(), "{mean}: {sample_mean}");
            assert!((variance / mean - 1.0).abs() < 5.0 * (1.0 / mean + 2.0).sqrt() / (n as f64).sqrt());
        }
        assert_eq!(poisson(1e9, draws, 0), 1e9);
    }
}
