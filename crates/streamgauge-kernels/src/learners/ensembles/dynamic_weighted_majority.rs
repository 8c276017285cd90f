//! Dynamic weighted majority.

use std::sync::Arc;

use super::members::member_seed;
use crate::KernelError;
use crate::codec::{Reader, Writer};
use crate::learners::{Factory, Learner, Schema, add_member_facts, find_winner};

const NAME: &str = "DynamicWeightedMajority";

/// The options of [`DynamicWeightedMajority`].
#[derive(Debug, Clone, Copy)]
pub struct DynamicWeightedMajorityOptions {
    /// The greatest number of members.
    pub n_members: usize,
    /// What the weight of a member that errs is multiplied by.
    pub factor: f64,
    /// The weight below which a member is dropped.
    pub threshold: f64,
    /// Weights and members change at every row of this number.
    pub period: u64,
}

/// Dynamic weighted majority: members that are wrong lose weight, those without weight are dropped, and a new one is
/// added when the ensemble is wrong. All members learn every row.
///
/// J. Z. Kolter and M. A. Maloof, Dynamic weighted majority: an ensemble method for drifting concepts, JMLR 2007.
pub struct DynamicWeightedMajority {
    schema: Schema,
    factory: Arc<dyn Factory>,
    options: DynamicWeightedMajorityOptions,
    seed: u64,
    members: Vec<Member>,
    n_built: u64,
    n_learnt: u64,
}

struct Member {
    learner: Box<dyn Learner>,
    weight: f64,
}

impl DynamicWeightedMajority {
    /// Builds an ensemble of one untrained member.
    ///
    /// # Errors
    /// [`KernelError`] if the member cannot be built.
    pub fn new(
        schema: Schema,
        factory: Arc<dyn Factory>,
        options: DynamicWeightedMajorityOptions,
        seed: u64,
    ) -> Result<Self, KernelError> {
        let learner = factory.build(&schema, member_seed(seed, 0, 0))?;
        let members = vec![Member { learner, weight: 1.0 }];
        Ok(Self { schema, factory, options, seed, members, n_built: 1, n_learnt: 0 })
    }

    /// Writes the sums of the members' weights by the class that they predict; `visit` returns the weight of a member
    /// with a prediction.
    fn add_up(members: &[Member], x: &[f64], votes: &mut [f64], mut visit: impl FnMut(usize, i32) -> f64) {
        let mut member_votes = vec![0.0; votes.len()];
        votes.fill(0.0);
        for (i, member) in members.iter().enumerate() {
            member.learner.vote(x, &mut member_votes);
            let winner = find_winner(&member_votes);
            let weight = visit(i, winner);
            if winner >= 0 {
                votes[winner as usize] += weight;
            }
        }
    }

    /// Lowers the weights of members that are wrong, drops and adds members.
    fn update_members(&mut self, x: &[f64], label: usize) {
        let mut weights: Vec<f64> = self.members.iter().map(|member| member.weight).collect();
        let mut votes = vec![0.0; self.schema.n_classes];
        let factor = self.options.factor;
        Self::add_up(&self.members, x, &mut votes, |i, winner| {
            weights[i] *= if winner == label as i32 { 1.0 } else { factor };
            weights[i]
        });
        let greatest = weights.iter().copied().fold(0.0, f64::max);
        for (member, weight) in self.members.iter_mut().zip(weights) {
            member.weight = if greatest > 0.0 { weight / greatest } else { 1.0 };
        }
        let threshold = self.options.threshold;
        self.members.retain(|member| member.weight >= threshold);
        if find_winner(&votes) == label as i32 {
            return;
        }
        // Only Python code can fail to build what it has built before, and its exception reaches the caller another way.
        if let Ok(learner) = self.factory.build(&self.schema, member_seed(self.seed, 0, self.n_built)) {
            self.n_built += 1;
            if self.members.len() == self.options.n_members {
                let weakest =
                    (0..self.members.len()).min_by(|&i, &j| self.members[i].weight.total_cmp(&self.members[j].weight));
                self.members.remove(weakest.unwrap_or(0));
            }
            self.members.push(Member { learner, weight: 1.0 });
        }
    }
}

impl Learner for DynamicWeightedMajority {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn vote(&self, x: &[f64], votes: &mut [f64]) {
        Self::add_up(&self.members, x, votes, |i, _| self.members[i].weight);
    }

    fn learn(&mut self, x: &[f64], label: usize, weight: f64) {
        self.n_learnt += 1;
        if self.n_learnt.is_multiple_of(self.options.period) {
            self.update_members(x, label);
        }
        for member in &mut self.members {
            member.learner.learn(x, label, weight);
        }
    }

    fn is_native(&self) -> bool {
        self.members.iter().all(|member| member.learner.is_native())
    }

    fn facts(&self) -> Vec<(&'static str, u64)> {
        let mut facts = vec![("n_members", self.members.len() as u64), ("n_built", self.n_built)];
        add_member_facts(&mut facts, self.members.iter().flat_map(|member| member.learner.facts()));
        facts
    }

    fn n_bytes(&self) -> usize {
        size_of::<Self>()
            + self.members.capacity() * size_of::<Member>()
            + self.members.iter().map(|member| member.learner.n_bytes()).sum::<usize>()
            + 4 * self.schema.n_values.capacity()
    }

    fn save(&self) -> Vec<u8> {
        let mut writer = Writer::new(NAME, 1);
        writer.u64(self.seed);
        writer.u64(self.n_learnt);
        writer.u64(self.n_built);
        writer.u64(self.members.len() as u64);
        for member in &self.members {
            writer.f64(member.weight);
            writer.part(&member.learner.save());
        }
        writer.finish()
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), KernelError> {
        let mut reader = Reader::new(NAME, 1, bytes)?;
        let (seed, n_learnt, n_built, n_members) = (reader.u64()?, reader.u64()?, reader.u64()?, reader.usize()?);
        if n_members == 0 || n_members > self.options.n_members {
            return Err(reader.error("it has another number of members"));
        }
        let mut members = Vec::with_capacity(n_members);
        for _ in 0..n_members {
            let weight = reader.f64()?;
            if !(weight > 0.0 && weight <= 1.0) {
                return Err(reader.error("the weight of a member is not in (0, 1]"));
            }
            let mut learner = self.factory.build(&self.schema, seed)?;
            learner.load(reader.part()?)?;
            members.push(Member { learner, weight });
        }
        reader.finish()?;
        (self.seed, self.n_learnt, self.n_built, self.members) = (seed, n_learnt, n_built, members);
        Ok(())
    }
}
