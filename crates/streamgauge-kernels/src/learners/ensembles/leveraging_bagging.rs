//! Leveraging bagging.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::combining::{Block, Output, split_into_blocks};
use super::members::{MemberBuilder, Members};
use crate::KernelError;
use crate::adaptive_window::{AdaptiveWindow, Settings};
use crate::codec::{Reader, Writer};
use crate::learners::{ABSTAINED, Factory, Learner, Schema, Step, learn_by_interleaving};
use crate::randomness::Poisson;
use crate::threads::{Access, process_members};

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
}

/// What a member gives for a block.
#[derive(Default)]
struct BlockResult {
    weights: Vec<f64>,
    /// Its votes for the rows before learning.
    votes: Vec<f64>,
    /// Its predictions of the rows after learning.
    rechecked: Vec<i32>,
    /// How often the member had been replaced.
    generation: u64,
}

/// How members process a block.
struct Rechecker<'a> {
    n_attributes: usize,
    n_classes: usize,
    builder: &'a MemberBuilder,
    poisson: &'a Poisson,
}

impl Rechecker<'_> {
    /// Processes the rows of a block from one of them on with a member.
    fn run(&self, i: usize, member: &mut dyn Learner, block: &Block<'_>, from: usize, result: &mut BlockResult) {
        let n = block.rows.len();
        result.weights.resize(n, 0.0);
        result.votes.resize(n * self.n_classes, 0.0);
        result.rechecked.resize(n, ABSTAINED);
        block.draw_weights(self.builder.draws(i), self.poisson, &mut result.weights);
        let step = Step { weight: Some(&result.weights), ..block.step }.slice(from..n, self.n_attributes);
        member.recheck(&step, &mut result.votes[from * self.n_classes..], &mut result.rechecked[from..]);
    }
}

/// Monitors the errors of the members and replaces the worst of them.
struct Monitor<'a> {
    rechecker: Rechecker<'a>,
    windows: &'a mut [AdaptiveWindow],
    empty: &'a AdaptiveWindow,
    n_replaced: &'a mut u64,
    /// Per member, how often it has been replaced in this step.
    generations: &'a [AtomicU64],
}

impl Monitor<'_> {
    /// Processes a block again with a member that was replaced after it had processed the block.
    fn renew(&self, i: usize, block: &Block<'_>, result: &mut BlockResult, members: &mut dyn Access<Box<dyn Learner>>) {
        if result.generation != self.generations[i].load(Ordering::Relaxed) {
            members.visit(i, &mut |member| self.rechecker.run(i, member.as_mut(), block, 0, result));
        }
    }

    /// Adds the errors of a block to the windows. A member that is replaced after some row processes the following rows
    /// again, untrained; no other member depends on the results of its predecessor.
    fn update_windows(
        &mut self,
        block: &Block<'_>,
        results: &mut [BlockResult],
        members: &mut dyn Access<Box<dyn Learner>>,
    ) {
        let mut n_seen = 0;
        while n_seen < block.learnt.len() {
            // Windows only change at their checks.
            let n = self.windows.iter().map(AdaptiveWindow::until_check).min().unwrap_or(1);
            let rows = &block.learnt[n_seen..block.learnt.len().min(n_seen + n)];
            n_seen += rows.len();
            let mut worse = false;
            for (window, result) in self.windows.iter_mut().zip(&*results) {
                worse |= has_risen(window, rows.iter().map(|&row| result.rechecked[row] != block.step.y[row]));
            }
            if let Some(worst) = self.find_worst().filter(|_| worse) {
                self.windows[worst] = self.empty.clone();
                members.visit(worst, &mut |member| {
                    self.rechecker.builder.replace(worst, member, self.n_replaced);
                    self.generations[worst].fetch_add(1, Ordering::Relaxed);
                    let from = block.learnt[n_seen - 1] + 1;
                    self.rechecker.run(worst, member.as_mut(), block, from, &mut results[worst]);
                });
            }
        }
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
        let (n_members, shared) = (self.members.len(), self.members.is_worth_sharing(predictions.len()));
        let Members { schema, builder, learners, n_learnt, n_replaced } = &mut self.members;
        let blocks: Vec<Block<'_>> = split_into_blocks(schema, step, *n_learnt).collect();
        *n_learnt += blocks.iter().map(|block| block.learnt.len() as u64).sum::<u64>();
        let (n_attributes, n_classes) = (schema.n_attributes(), schema.n_classes);
        let rechecker = || Rechecker { n_attributes, n_classes, builder, poisson: &self.poisson };
        let generations: Vec<AtomicU64> = (0..n_members).map(|_| AtomicU64::new(0)).collect();
        let (windows, empty) = (&mut self.windows[..], &self.empty);
        let mut monitor = Monitor { rechecker: rechecker(), windows, empty, n_replaced, generations: &generations };
        let mut results: Vec<BlockResult> = (0..n_members).map(|_| BlockResult::default()).collect();
        let mut output = Output::new(n_classes, predictions, votes);
        process_members(
            learners,
            blocks.len(),
            shared,
            |index, i, member, result: &mut BlockResult| {
                result.generation = generations[i].load(Ordering::Relaxed);
                rechecker().run(i, member.as_mut(), &blocks[index], 0, result);
            },
            |index, i, result, members| {
                let block = &blocks[index];
                std::mem::swap(&mut results[i], result);
                monitor.renew(i, block, &mut results[i], members);
                if i + 1 == n_members {
                    monitor.update_windows(block, &mut results, members);
                    for (i, result) in results.iter().enumerate() {
                        output.add(block, i, &result.votes);
                    }
                    output.finish(block);
                }
            },
        );
    }

    fn is_native(&self) -> bool {
        self.members.is_native()
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
