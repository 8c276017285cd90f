//! A learner that is replaced after a drift.

use std::sync::Arc;

use super::combining::{Block, for_each_block};
use super::members::Members;
use crate::KernelError;
use crate::codec::{Reader, Writer};
use crate::detectors::{Detector, Signal};
use crate::learners::{ABSTAINED, Factory, Learner, Schema, Step, learn_by_interleaving};

const NAME: &str = "DriftReset";

/// A learner whose errors are monitored by a drift detector: after a drift it is replaced by a new one.
///
/// A row is predicted before it is learnt, and the detector gets whether the prediction was wrong. At a drift a new
/// learner replaces the old one and learns this row first, and the detector is reset. With `on_warning` a new learner
/// is trained in the background on the rows of a warning, and is used at the drift; it is dropped when the warning ends
/// without a drift.
pub struct DriftReset {
    /// The current learner, and the background learner.
    members: Members,
    detector: Box<dyn Detector>,
    on_warning: bool,
    /// Whether the background learner has learnt rows of the current warning.
    warned: bool,
    n_warnings: u64,
    n_drifts: u64,
}

impl DriftReset {
    /// Builds an untrained learner with an untrained detector.
    ///
    /// # Errors
    /// [`KernelError`] if the learner cannot be built.
    pub fn new(
        schema: Schema,
        factory: Arc<dyn Factory>,
        detector: Box<dyn Detector>,
        on_warning: bool,
        seed: u64,
    ) -> Result<Self, KernelError> {
        let members = Members::new(schema.clone(), schema, factory, 1 + usize::from(on_warning), seed)?;
        Ok(Self { members, detector, on_warning, warned: false, n_warnings: 0, n_drifts: 0 })
    }

    /// Adds the errors of the learnt rows of a block to the detector. After a drift the new learner processes the rows
    /// from that one on again, and the results of its predecessor are discarded.
    fn update_detector(&mut self, block: &Block<'_>, scratch: &mut Scratch) {
        let mut start = 0;
        while let Some(row) = self.find_first_drift(block, start, &scratch.predictions) {
            self.n_drifts += 1;
            self.detector.restart();
            if self.on_warning && self.warned {
                self.members.swap(0, 1);
            } else {
                self.members.replace(0);
            }
            self.end_warning();
            self.interleave_from(row, block, scratch);
            start = row + 1;
        }
    }

    /// Returns the first row from `start` on at which the detector signals a drift.
    fn find_first_drift(&mut self, block: &Block<'_>, start: usize, predictions: &[i32]) -> Option<usize> {
        let d = self.members.schema.n_attributes();
        let first = block.learnt.partition_point(|&row| row < start);
        for &row in &block.learnt[first..] {
            let label = block.step.y[row];
            match self.detector.update(f64::from(u8::from(predictions[row] != label))) {
                Signal::Drift => return Some(row),
                Signal::Warning if self.on_warning => {
                    self.n_warnings += u64::from(!self.warned);
                    self.warned = true;
                    let (x, weight) = (&block.step.x[row * d..(row + 1) * d], block.step.weight(row));
                    self.members.get_mut(1).learn(x, label as usize, weight);
                }
                Signal::Warning => {}
                Signal::Stable => self.end_warning(),
            }
        }
        None
    }

    fn end_warning(&mut self) {
        if self.warned {
            self.warned = false;
            self.members.replace(1);
        }
    }

    /// Processes the rows of a block from one of them on; the prediction of that one stays.
    fn interleave_from(&mut self, from: usize, block: &Block<'_>, scratch: &mut Scratch) {
        let (d, n_classes) = (self.members.schema.n_attributes(), self.members.schema.n_classes);
        let weight = block.step.weight(from);
        self.members.get_mut(0).learn(&block.step.x[from * d..(from + 1) * d], block.step.y[from] as usize, weight);
        let rest = from + 1;
        self.members.get_mut(0).interleave(
            &Step { test: Some(&scratch.to_predict), ..block.step }.slice(rest..block.step.y.len(), d),
            &mut scratch.predictions[rest..],
            scratch.votes.as_mut().map(|votes| &mut votes[rest * n_classes..]),
        );
    }
}

/// The results of the learner for a block.
struct Scratch {
    /// The rows it predicts: those to test and those to learn.
    to_predict: Vec<bool>,
    predictions: Vec<i32>,
    votes: Option<Vec<f64>>,
}

impl Learner for DriftReset {
    fn schema(&self) -> &Schema {
        &self.members.schema
    }

    fn vote(&self, x: &[f64], votes: &mut [f64]) {
        self.members.get(0).vote(x, votes);
    }

    fn predict(&self, x: &[f64], votes: &mut [f64]) {
        self.members.get(0).predict(x, votes);
    }

    fn learn(&mut self, x: &[f64], label: usize, weight: f64) {
        learn_by_interleaving(self, x, label, weight);
    }

    fn interleave(&mut self, step: &Step<'_>, predictions: &mut [i32], votes: Option<&mut [f64]>) {
        let schema = self.members.schema.clone();
        let n_classes = schema.n_classes;
        for_each_block(&schema, step, predictions, votes, |block, predictions, votes| {
            let n = predictions.len();
            let mut to_predict: Vec<bool> = (0..n).map(|row| block.step.tests(row)).collect();
            block.learnt.iter().for_each(|&row| to_predict[row] = true);
            let member_votes = votes.is_some().then(|| vec![0.0; n * n_classes]);
            let mut scratch = Scratch { to_predict, predictions: vec![ABSTAINED; n], votes: member_votes };
            let step = Step { test: Some(&scratch.to_predict), ..block.step };
            self.members.get_mut(0).interleave(&step, &mut scratch.predictions, scratch.votes.as_deref_mut());
            self.update_detector(block, &mut scratch);
            for (row, (prediction, predicted)) in predictions.iter_mut().zip(&scratch.predictions).enumerate() {
                *prediction = if block.step.tests(row) { *predicted } else { ABSTAINED };
            }
            if let (Some(votes), Some(member_votes)) = (votes, &scratch.votes) {
                let rows = votes.chunks_exact_mut(n_classes).zip(member_votes.chunks_exact(n_classes));
                for (row, (votes, member_votes)) in rows.enumerate() {
                    if block.step.tests(row) {
                        votes.copy_from_slice(member_votes);
                    } else {
                        votes.fill(0.0);
                    }
                }
            }
        });
    }

    fn is_native(&self) -> bool {
        self.members.is_native()
    }

    fn facts(&self) -> Vec<(&'static str, u64)> {
        let mut facts = vec![("n_drifts", self.n_drifts), ("n_warnings", self.n_warnings)];
        facts.extend(self.members.get(0).facts());
        facts
    }

    fn n_bytes(&self) -> usize {
        size_of::<Self>() + self.members.n_bytes() + self.detector.n_bytes()
    }

    fn save(&self) -> Vec<u8> {
        let mut writer = Writer::new(NAME, 1);
        self.members.save(&mut writer);
        writer.u64s([u64::from(self.warned), self.n_warnings, self.n_drifts].into_iter());
        writer.part(&self.detector.save());
        writer.finish()
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), KernelError> {
        let mut reader = Reader::new(NAME, 1, bytes)?;
        let members = self.members.load(&mut reader)?;
        let counts = reader.u64s()?;
        let [warned, n_warnings, n_drifts] = counts[..] else {
            return Err(reader.error("its counts are missing"));
        };
        let detector = reader.part()?;
        reader.finish()?;
        self.detector.load(detector)?;
        self.members = members;
        (self.warned, self.n_warnings, self.n_drifts) = (warned > 0, n_warnings, n_drifts);
        Ok(())
    }
}
