//! One class against the rest.

use std::sync::Arc;

use super::combining::{for_each_block, predict_winners};
use super::members::Members;
use crate::KernelError;
use crate::codec::{Reader, Writer};
use crate::learners::{Factory, Learner, Schema, Step, learn_by_interleaving, normalise_votes};

const NAME: &str = "OneVsRest";

/// One learner of two classes per class: this class against the rest.
///
/// With two classes one learner is enough. A class gets the share of its learner's votes, and the shares are scaled to
/// a sum of 1; all are 0 if every learner votes for the rest only.
pub struct OneVsRest {
    members: Members,
}

impl OneVsRest {
    /// Builds untrained learners.
    ///
    /// # Errors
    /// [`KernelError`] if one cannot be built.
    pub fn new(schema: Schema, factory: Arc<dyn Factory>, seed: u64) -> Result<Self, KernelError> {
        let two = Schema { n_values: schema.n_values.clone(), n_classes: 2 };
        let n_members = if schema.n_classes > 2 { schema.n_classes } else { 1 };
        Ok(Self { members: Members::new(schema, two, factory, n_members, seed)? })
    }

    /// Returns the class that a learner separates from the rest: with two classes the second.
    fn member_class(&self, member: usize) -> usize {
        if self.members.schema.n_classes == 2 { 1 } else { member }
    }
}

/// Writes the share of a learner's votes for its class.
fn write_shares(n_classes: usize, class: usize, pairs: &[f64], votes: &mut [f64]) {
    for (votes, pair) in votes.chunks_exact_mut(n_classes).zip(pairs.as_chunks::<2>().0) {
        let sum = pair[0] + pair[1];
        votes[class] = if sum > 0.0 { pair[1] / sum } else { 0.0 };
        if n_classes == 2 {
            votes[0] = if sum > 0.0 { pair[0] / sum } else { 0.0 };
        }
    }
}

impl Learner for OneVsRest {
    fn schema(&self) -> &Schema {
        &self.members.schema
    }

    fn vote(&self, x: &[f64], votes: &mut [f64]) {
        self.predict(x, votes);
    }

    fn predict(&self, x: &[f64], votes: &mut [f64]) {
        let n_classes = self.members.schema.n_classes;
        let mut pairs = vec![0.0; 2 * (votes.len() / n_classes)];
        for (i, member) in self.members.iter().enumerate() {
            member.predict(x, &mut pairs);
            write_shares(n_classes, self.member_class(i), &pairs, votes);
        }
        votes.chunks_exact_mut(n_classes).for_each(normalise_votes);
    }

    fn learn(&mut self, x: &[f64], label: usize, weight: f64) {
        learn_by_interleaving(self, x, label, weight);
    }

    fn interleave(&mut self, step: &Step<'_>, predictions: &mut [i32], votes: Option<&mut [f64]>) {
        let schema = self.members.schema.clone();
        let n_classes = schema.n_classes;
        let (mut vote_scratch, mut pairs) = (vec![], vec![]);
        for_each_block(&schema, step, predictions, votes, |block, predictions, votes| {
            let n = predictions.len();
            vote_scratch.resize(n * n_classes, 0.0);
            pairs.resize(2 * n, 0.0);
            let combined = votes.unwrap_or(&mut vote_scratch);
            for i in 0..self.members.len() {
                // Members do not write the votes for rows that are not tested.
                pairs.fill(0.0);
                let class = self.member_class(i);
                let labels: Vec<i32> =
                    block.step.y.iter().map(|&y| if y < 0 { y } else { i32::from(y == class as i32) }).collect();
                let step = Step { y: &labels, ..block.step };
                let member_votes = block.tested.then_some(pairs.as_mut_slice());
                self.members.get_mut(i).interleave(&step, predictions, member_votes);
                write_shares(n_classes, class, &pairs, combined);
            }
            combined.chunks_exact_mut(n_classes).for_each(normalise_votes);
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
        size_of::<Self>() + self.members.n_bytes()
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
