//! A member: its model, a background model, and the drift detectors of both.

use super::model::{Model, ModelBuilder};
use crate::KernelError;
use crate::adaptive_window::{AdaptiveWindow, Settings};
use crate::codec::{Reader, Writer};
use crate::learners::{ABSTAINED, Learner, Step, find_winner};
use crate::randomness::{Draws, Poisson, Purpose};

#[cfg(test)]
mod tests;

/// The purpose of the draws of weights.
const WEIGHT: Purpose = Purpose::named("renewed weight");

/// The most rows between two checks of the windows, which are checked after every 32 values.
const BLOCK: usize = 32;

/// The vote weight of a member without a correct prediction: MOA uses 1 where others have their accuracy in percent.
const INITIAL_VOTE_WEIGHT: f64 = 0.01;

/// Stands for a promoted model in saved states, where others have the number of their background models.
const PROMOTED: u64 = 2;

/// A member of the ensemble.
pub(super) struct Member {
    number: usize,
    model: Model,
    background: Option<Model>,
    /// Whether the model was a background model, and there has been no warning since it replaced another one.
    is_promoted: bool,
    /// The weight of the rows on which the model was tested, and of those it predicted correctly.
    tested_weight: f64,
    correct_weight: f64,
    warning: Option<AdaptiveWindow>,
    drift: Option<AdaptiveWindow>,
    /// The number of models built so far.
    n_built: u64,
    pub n_warnings: u64,
    pub n_drifts: u64,
}

/// Rows that the members process, one member after the other.
pub(super) struct Chunk<'a> {
    pub step: Step<'a>,
    /// The number of attributes.
    pub d: usize,
    pub n_classes: usize,
    /// Per row, the weight to learn with, before it is multiplied by a Poisson number.
    pub weights: &'a [f64],
    /// The rows that members must predict: those that are tested or learnt.
    pub to_predict: &'a [bool],
    /// The number of rows learnt before.
    pub n_learnt: u64,
}

/// Buffers that the members share.
#[derive(Default)]
pub(super) struct Scratch {
    /// Per row, the weight with which the member learns.
    weights: Vec<f64>,
    /// The votes for the rows of a block, before learning.
    votes: Vec<f64>,
    /// The predictions of the same rows, after learning.
    rechecked: Vec<i32>,
}

impl Member {
    /// Creates an untrained member.
    pub fn new(builder: &ModelBuilder<'_>, number: usize, attributes: Option<Vec<u32>>) -> Result<Self, KernelError> {
        let window = |delta: Option<f64>| delta.map(|delta| AdaptiveWindow::binary(Settings::new(delta))).transpose();
        Ok(Self {
            number,
            model: builder.build_with(number, 0, attributes)?,
            background: None,
            is_promoted: false,
            tested_weight: 0.0,
            correct_weight: 0.0,
            warning: window(builder.options.warning_delta)?,
            drift: window(builder.options.drift_delta)?,
            n_built: 1,
            n_warnings: 0,
            n_drifts: 0,
        })
    }

    /// Returns the model that votes.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Returns the background model.
    pub fn background(&self) -> Option<&Model> {
        self.background.as_ref()
    }

    /// Returns the weight of its votes.
    #[inline(always)]
    fn vote_weight(&self, weighted: bool) -> f64 {
        if !weighted {
            1.0
        } else if self.correct_weight > 0.0 {
            self.correct_weight / self.tested_weight
        } else {
            INITIAL_VOTE_WEIGHT
        }
    }

    /// Adds its votes for rows to `combined`.
    pub fn predict(&self, builder: &ModelBuilder<'_>, x: &[f64], votes: &mut [f64], combined: &mut [f64]) {
        self.model.learner.predict(&self.model.view(x, builder.schema.n_attributes()), votes);
        let (n_classes, vote_weight) = (builder.schema.n_classes, self.vote_weight(builder.options.weighted_votes));
        for (votes, combined) in votes.chunks_exact(n_classes).zip(combined.chunks_exact_mut(n_classes)) {
            add_share(votes, vote_weight, combined);
        }
    }

    /// Predicts and learns a chunk of rows, and adds its votes to `combined`.
    ///
    /// The windows are only checked after every 32 values, so that the model can process all rows up to a check in one
    /// block.
    pub fn interleave(
        &mut self,
        builder: &ModelBuilder<'_>,
        poisson: Option<&Poisson>,
        chunk: &Chunk<'_>,
        scratch: &mut Scratch,
        combined: &mut [f64],
    ) {
        let (d, n_classes, n) = (chunk.d, chunk.n_classes, chunk.weights.len());
        self.draw_weights(builder.seed, poisson, chunk, &mut scratch.weights);
        let (mut x, mut width) = (self.model.view(chunk.step.x, d), self.model.width());
        scratch.votes.resize(BLOCK * n_classes, 0.0);
        scratch.rechecked.resize(BLOCK, ABSTAINED);
        let mut twice = TwiceScratch::default();
        let mut start = 0;
        while start < n {
            let end = start + self.block_length(&scratch.weights[start..]);
            let rows = start..end;
            let (y, weights) = (&chunk.step.y[rows.clone()], &scratch.weights[rows.clone()]);
            let (votes, rechecked) =
                (&mut scratch.votes[..(end - start) * n_classes], &mut scratch.rechecked[..end - start]);
            let to_predict = Some(&chunk.to_predict[rows.clone()]);
            let step = Step { x: &x[start * width..end * width], y, test: to_predict, weight: Some(weights) };
            if self.is_promoted {
                twice.recheck(self.model.learner.as_mut(), &step, votes, rechecked);
            } else {
                self.model.learner.recheck(&step, votes, rechecked);
            }
            self.count(builder, chunk, rows.clone(), votes, &mut combined[start * n_classes..]);
            self.learn_in_background(builder, chunk, rows, weights);
            let (y, weights) = (&chunk.step.y[start..end], &scratch.weights[start..end]);
            if self.update_detectors(builder, y, weights, &scratch.rechecked) {
                (x, width) = (self.model.view(chunk.step.x, d), self.model.width());
            }
            start = end;
        }
    }

    /// Writes the weights with which it learns: those of the rows times Poisson numbers.
    fn draw_weights(&self, seed: u64, poisson: Option<&Poisson>, chunk: &Chunk<'_>, weights: &mut Vec<f64>) {
        weights.clear();
        weights.extend_from_slice(chunk.weights);
        let Some(poisson) = poisson else { return };
        let n_learnt = chunk.weights.iter().filter(|&&weight| weight > 0.0).count();
        let mut factors = vec![0.0; n_learnt];
        poisson.fill(Draws::new(seed, WEIGHT, self.number as u64), chunk.n_learnt, &mut factors);
        let learnt = weights.iter_mut().filter(|weight| **weight > 0.0);
        for (weight, factor) in learnt.zip(factors) {
            *weight *= factor;
        }
    }

    /// Returns the number of rows up to the next check of the windows, at most [`BLOCK`].
    fn block_length(&self, weights: &[f64]) -> usize {
        let windows = [&self.warning, &self.drift].into_iter().flatten();
        let mut left = windows.map(AdaptiveWindow::until_check).min().unwrap_or(BLOCK);
        let mut length = 0;
        for &weight in weights.iter().take(BLOCK) {
            length += 1;
            left -= usize::from(weight > 0.0);
            if left == 0 {
                break;
            }
        }
        length
    }

    /// Adds the votes for rows to `combined`, and counts correct predictions.
    fn count(
        &mut self,
        builder: &ModelBuilder<'_>,
        chunk: &Chunk<'_>,
        rows: std::ops::Range<usize>,
        votes: &[f64],
        combined: &mut [f64],
    ) {
        // Lets the compiler specialise the loop for the most frequent case.
        match chunk.n_classes {
            2 => self.count_inlined(2, builder, chunk, rows, votes, combined),
            n_classes => self.count_inlined(n_classes, builder, chunk, rows, votes, combined),
        }
    }

    #[inline(always)]
    fn count_inlined(
        &mut self,
        n_classes: usize,
        builder: &ModelBuilder<'_>,
        chunk: &Chunk<'_>,
        rows: std::ops::Range<usize>,
        votes: &[f64],
        combined: &mut [f64],
    ) {
        let votes = votes.chunks_exact(n_classes).zip(combined.chunks_exact_mut(n_classes));
        for (row, (votes, combined)) in rows.zip(votes) {
            let weight = chunk.weights[row];
            if chunk.step.tests(row) {
                add_share(votes, self.vote_weight(builder.options.weighted_votes), combined);
            }
            self.tested_weight += weight;
            self.correct_weight += if find_winner(votes) == chunk.step.y[row] { weight } else { 0.0 };
        }
    }

    fn learn_in_background(
        &mut self,
        builder: &ModelBuilder<'_>,
        chunk: &Chunk<'_>,
        rows: std::ops::Range<usize>,
        weights: &[f64],
    ) {
        let Some(background) = &mut self.background else { return };
        let d = chunk.d;
        let x = background.view(&chunk.step.x[rows.start * d..rows.end * d], d);
        let plain: Vec<f64>;
        let weights = if builder.options.weighted_background {
            weights
        } else {
            let drawn = chunk.weights[rows.clone()].iter().zip(weights);
            plain = drawn.map(|(&weight, &drawn)| if drawn > 0.0 { weight } else { 0.0 }).collect();
            &plain
        };
        let n = rows.len();
        background.learn(&x, &chunk.step.y[rows], weights, &[false; BLOCK][..n], &mut [ABSTAINED; BLOCK][..n]);
    }

    /// Adds the errors of the learnt rows, rechecked after learning, to the windows; returns whether the model was
    /// replaced.
    fn update_detectors(&mut self, builder: &ModelBuilder<'_>, y: &[i32], weights: &[f64], rechecked: &[i32]) -> bool {
        let (mut errors, mut n) = ([0.0; BLOCK], 0);
        for ((&y, &weight), &prediction) in y.iter().zip(weights).zip(rechecked) {
            if weight > 0.0 {
                errors[n] = f64::from(u8::from(prediction != y));
                n += 1;
            }
        }
        let (warns, drifts) = (has_risen(&mut self.warning, &errors[..n]), has_risen(&mut self.drift, &errors[..n]));
        if warns {
            self.start_background(builder);
        }
        if drifts {
            self.replace_model(builder);
        }
        drifts
    }

    /// Starts a background model.
    fn start_background(&mut self, builder: &ModelBuilder<'_>) {
        self.n_warnings += 1;
        self.is_promoted = false;
        self.background = self.build_next(builder);
        if let Some(window) = &mut self.warning {
            window.clear();
        }
    }

    /// Replaces the model by the background model, or by a new one; a promoted model stays.
    ///
    /// A background model starts with new windows. Any other new model starts with a new window for drifts, while the
    /// one for warnings keeps the errors of the former model.
    fn replace_model(&mut self, builder: &ModelBuilder<'_>) {
        self.n_drifts += 1;
        (self.tested_weight, self.correct_weight) = (0.0, 0.0);
        if self.is_promoted {
            return;
        }
        let warning = self.warning.as_mut().filter(|_| self.background.is_some());
        [warning, self.drift.as_mut()].into_iter().flatten().for_each(AdaptiveWindow::clear);
        self.is_promoted = self.background.is_some() && builder.options.learns_twice;
        if let Some(fresh) = self.background.take().or_else(|| self.build_next(builder)) {
            self.model = fresh;
        }
    }

    /// Builds a model; `None` if that fails. Only Python code can fail to build what it has built before, and its
    /// exception reaches the caller another way.
    fn build_next(&mut self, builder: &ModelBuilder<'_>) -> Option<Model> {
        self.n_built += 1;
        builder.build(self.number, self.n_built - 1).ok()
    }

    /// Writes the state.
    pub fn save(&self, writer: &mut Writer) {
        let background = if self.is_promoted { PROMOTED } else { u64::from(self.background.is_some()) };
        for number in [self.n_built, self.n_warnings, self.n_drifts, background] {
            writer.u64(number);
        }
        writer.f64(self.tested_weight);
        writer.f64(self.correct_weight);
        for window in [&self.warning, &self.drift].into_iter().flatten() {
            window.write(writer);
        }
        self.model.save(writer);
        if let Some(background) = &self.background {
            background.save(writer);
        }
    }

    /// Reads the state of a member with the same options.
    pub fn load(&self, builder: &ModelBuilder<'_>, reader: &mut Reader<'_>) -> Result<Self, KernelError> {
        let (n_built, n_warnings, n_drifts) = (reader.u64()?, reader.u64()?, reader.u64()?);
        let background = reader.u64()?;
        let is_promoted = background == PROMOTED;
        if background > PROMOTED || (is_promoted && !builder.options.learns_twice) {
            return Err(reader.error("a member has an unknown background"));
        }
        let (tested_weight, correct_weight) = (reader.f64()?, reader.f64()?);
        let mut read = |window: &Option<AdaptiveWindow>| window.as_ref().map(|window| window.read(reader)).transpose();
        let (warning, drift) = (read(&self.warning)?, read(&self.drift)?);
        let model = builder.load(reader)?;
        let background = (background == 1).then(|| builder.load(reader)).transpose()?;
        Ok(Self {
            number: self.number,
            model,
            background,
            is_promoted,
            tested_weight,
            correct_weight,
            warning,
            drift,
            n_built,
            n_warnings,
            n_drifts,
        })
    }

    /// Returns the heap size in bytes.
    pub fn n_bytes(&self) -> usize {
        let windows = [&self.warning, &self.drift].into_iter().flatten();
        let models = [Some(&self.model), self.background.as_ref()].into_iter().flatten();
        windows.map(|window| window.n_bytes() - size_of::<AdaptiveWindow>()).sum::<usize>()
            + models.map(Model::n_bytes).sum::<usize>()
    }
}

/// Buffers for rows that are learnt twice.
#[derive(Default)]
struct TwiceScratch {
    x: Vec<f64>,
    y: Vec<i32>,
    weights: Vec<f64>,
    to_predict: Vec<bool>,
    votes: Vec<f64>,
    rechecked: Vec<i32>,
}

impl TwiceScratch {
    /// Predicts, learns, predicts again and learns again each row of a step.
    fn recheck(&mut self, learner: &mut dyn Learner, step: &Step<'_>, votes: &mut [f64], rechecked: &mut [i32]) {
        let (width, n_classes) = (learner.schema().n_attributes(), learner.schema().n_classes);
        self.x.clear();
        self.y.clear();
        self.weights.clear();
        self.to_predict.clear();
        for (row, &label) in step.y.iter().enumerate() {
            let x = &step.x[row * width..(row + 1) * width];
            self.x.extend([x, x].into_iter().flatten());
            self.y.extend([label; 2]);
            self.weights.extend([step.weight(row); 2]);
            self.to_predict.extend([step.tests(row), false]);
        }
        self.votes.resize(self.y.len() * n_classes, 0.0);
        self.rechecked.resize(self.y.len(), ABSTAINED);
        let step = Step { x: &self.x, y: &self.y, test: Some(&self.to_predict), weight: Some(&self.weights) };
        learner.recheck(&step, &mut self.votes, &mut self.rechecked);
        for (row, votes) in votes.chunks_exact_mut(n_classes).enumerate() {
            votes.copy_from_slice(&self.votes[2 * row * n_classes..(2 * row + 1) * n_classes]);
            rechecked[row] = self.rechecked[2 * row];
        }
    }
}

/// Adds errors to a window, which is checked after the last one or not at all; returns whether it drops old values
/// because the error has risen.
fn has_risen(window: &mut Option<AdaptiveWindow>, errors: &[f64]) -> bool {
    let Some(window) = window else { return false };
    let before = (window.total() + errors.iter().sum::<f64>()) / (window.width() + errors.len() as u64) as f64;
    window.extend_binary(errors, &mut ()) > 0 && window.mean() > before
}

/// Adds a member's votes for one row, scaled to a sum of `vote_weight`.
#[inline(always)]
fn add_share(votes: &[f64], vote_weight: f64, combined: &mut [f64]) {
    let sum: f64 = votes.iter().sum();
    let scale = if sum > 0.0 { vote_weight / sum } else { 0.0 };
    for (combined, vote) in combined.iter_mut().zip(votes) {
        *combined += vote * scale;
    }
}
