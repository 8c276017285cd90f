//! Leveraging bagging.

use std::sync::Arc;

use super::combining::{Block, add_shares, for_each_block, predict_winners};
use super::members::Members;
use crate::KernelError;
use crate::adaptive_window::{AdaptiveWindow, Settings};
use crate::codec::{Reader, Writer};
use crate::learners::{ABSTAINED, Factory, Learner, Schema, Step, learn_by_interleaving};
use crate::randomness::Poisson;

const NAME: &str = "LeveragingBagging";

/// Leveraging bagging: bagging with heavier weights, which replaces its worst member when the error of any member
/// rises.
///
/// Every member learns each row with a weight drawn from a Poisson distribution of mean `mean_weight`, then predicts it
/// again. An ADWIN window per member monitors these errors. When a window drops old values and the error has risen, the
/// member with the greatest error is replaced by a new one, and its window is reset.
///
/// A. Bifet, G. Holmes and B. Pfahringer, Leveraging bagging for evolving data streams, ECML PKDD 2010.
pub struct LeveragingBagging {
    members: Members,
    windows: Vec<AdaptiveWindow>,
    empty: AdaptiveWindow,
    poisson: Poisson,
}

impl LeveragingBagging {
    /// Builds an ensemble of untrained members.
    ///
    /// # Errors
    /// [`KernelError`] if `mean_weight` or `delta` is outside its range, or a member cannot be built.
    pub fn new(
        schema: Schema,
        factory: Arc<dyn Factory>,
        n_members: usize,
        mean_weight: f64,
        delta: f64,
        seed: u64,
    ) -> Result<Self, KernelError> {
        let (empty, poisson) = (AdaptiveWindow::new(Settings::new(delta))?, Poisson::new(mean_weight)?);
        let members = Members::new(schema.clone(), schema, factory, n_members, seed)?;
        Ok(Self { members, windows: vec![empty.clone(); n_members], empty, poisson })
    }

    /// Returns the member with the greatest error, the first of equals; `None` if no member errs.
    fn find_worst(&self) -> Option<usize> {
        let (mut worst, mut most) = (None, 0.0);
        for (i, window) in self.windows.iter().enumerate() {
            if window.mean() > most {
                (worst, most) = (Some(i), window.mean());
            }
        }
        worst
    }

    /// Adds the errors of a block to the windows. A member that is replaced after some row processes the following rows
    /// again, untrained; no other member depends on the results of its predecessor.
    fn update_windows(&mut self, block: &Block<'_>, scratch: &mut Scratch) {
        let mut n_seen = 0;
        while n_seen < block.learnt.len() {
            // Windows only change at their checks.
            let n = self.windows.iter().map(AdaptiveWindow::until_check).min().unwrap_or(1);
            let rows = &block.learnt[n_seen..block.learnt.len().min(n_seen + n)];
            n_seen += rows.len();
            let mut worse = false;
            for (window, rechecked) in self.windows.iter_mut().zip(&scratch.rechecked) {
                worse |= has_risen(window, rows.iter().map(|&row| rechecked[row] != block.step.y[row]));
            }
            if let Some(worst) = self.find_worst().filter(|_| worse) {
                self.members.replace(worst);
                self.windows[worst] = self.empty.clone();
                self.recheck_member(worst, block, block.learnt[n_seen - 1] + 1, scratch);
            }
        }
    }

    /// Processes the rows of a block from one of them on with a member.
    fn recheck_member(&mut self, i: usize, block: &Block<'_>, from: usize, scratch: &mut Scratch) {
        let (d, n_classes, n) = (self.members.schema.n_attributes(), self.members.schema.n_classes, block.step.y.len());
        scratch.weights.resize(n, 0.0);
        scratch.votes[i].resize(n * n_classes, 0.0);
        scratch.rechecked[i].resize(n, ABSTAINED);
        self.members.draw_weights(i, &self.poisson, block, &mut scratch.weights);
        let step = Step { weight: Some(&scratch.weights), ..block.step }.slice(from..n, d);
        self.members.get_mut(i).recheck(
            &step,
            &mut scratch.votes[i][from * n_classes..],
            &mut scratch.rechecked[i][from..],
        );
    }
}

/// The results of the members for a block.
struct Scratch {
    weights: Vec<f64>,
    /// Per member, its votes for the rows before learning.
    votes: Vec<Vec<f64>>,
    /// Per member, its predictions of the rows after learning.
    rechecked: Vec<Vec<i32>>,
}

/// Adds errors to a window, which may be checked after the last one; returns whether it then drops old values and the
/// error has risen.
fn has_risen(
    window: &mut AdaptiveWindow,
    mut wrong: impl DoubleEndedIterator<Item = bool> + ExactSizeIterator,
) -> bool {
    let last = wrong.next_back();
    window.extend(wrong.map(|wrong| f64::from(u8::from(wrong))), &mut ());
    let before = window.mean();
    window.extend(last.into_iter().map(|wrong| f64::from(u8::from(wrong))), &mut ()) > 0 && window.mean() > before
}

impl Learner for LeveragingBagging {
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
        let schema = self.members.schema.clone();
        let (n_classes, n_members) = (schema.n_classes, self.members.len());
        let mut scratch =
            Scratch { weights: vec![], votes: vec![vec![]; n_members], rechecked: vec![vec![]; n_members] };
        let mut vote_scratch = vec![];
        for_each_block(&schema, step, predictions, votes, |block, predictions, votes| {
            for i in 0..n_members {
                self.recheck_member(i, block, 0, &mut scratch);
            }
            self.update_windows(block, &mut scratch);
            self.members.n_learnt += block.learnt.len() as u64;
            vote_scratch.resize(predictions.len() * n_classes, 0.0);
            let combined = votes.unwrap_or(&mut vote_scratch);
            combined.fill(0.0);
            for member_votes in &scratch.votes {
                add_shares(n_classes, member_votes, combined);
            }
            predict_winners(n_classes, &block.step, combined, predictions);
        });
    }

    fn facts(&self) -> Vec<(&'static str, u64)> {
        self.members.facts()
    }

    fn n_bytes(&self) -> usize {
        let windows: usize = self.windows.iter().map(AdaptiveWindow::n_bytes).sum();
        let spare = (self.windows.capacity() - self.windows.len()) * size_of::<AdaptiveWindow>();
        size_of::<Self>() + self.members.n_bytes() + windows + spare + self.empty.n_bytes() + self.poisson.n_bytes()
    }

    fn save(&self) -> Vec<u8> {
        let mut writer = Writer::new(NAME, 1);
        self.members.save(&mut writer);
        for window in &self.windows {
            window.write(&mut writer);
        }
        writer.finish()
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), KernelError> {
        let mut reader = Reader::new(NAME, 1, bytes)?;
        let members = self.members.load(&mut reader)?;
        let windows = (0..self.windows.len()).map(|_| self.empty.read(&mut reader)).collect::<Result<Vec<_>, _>>()?;
        reader.finish()?;
        (self.members, self.windows) = (members, windows);
        Ok(())
    }
}
