//! A member: the model that votes, the one that grows in the background, and what watches over both.

use super::model::{Maker, Model};
use crate::KernelError;
use crate::adaptive_window::{AdaptiveWindow, Settings};
use crate::codec::{Reader, Writer};
use crate::learners::{ABSTAINED, Step, winner};
use crate::randomness::{Draws, Poisson, Purpose};

/// The weights with which members learn rows.
const WEIGHT: Purpose = Purpose::named("renewed weight");

/// The most rows between two looks at the windows: they are checked after every 32 values.
const BLOCK: usize = 32;

/// With which share of a full vote a member votes that has not been right yet: MOA counts it 1 where others count
/// their accuracy in percent.
const UNPROVEN: f64 = 0.01;

/// A member of the ensemble.
pub(super) struct Member {
    number: usize,
    model: Model,
    background: Option<Model>,
    /// The weight of the rows that the model has been tested on, and of those that it got right.
    seen: f64,
    hits: f64,
    warning: Option<AdaptiveWindow>,
    drift: Option<AdaptiveWindow>,
    /// How many models it has made.
    n_made: u64,
    pub n_warnings: u64,
    pub n_drifts: u64,
}

/// Rows that all members take one after the other.
pub(super) struct Stretch<'a> {
    pub step: Step<'a>,
    /// How many attributes a row has.
    pub d: usize,
    pub n_classes: usize,
    /// Per row the weight to be learnt with, before it is multiplied by a random number.
    pub weights: &'a [f64],
    /// Which rows members must predict: those that are tested or learnt.
    pub asked: &'a [bool],
    /// The number of rows learnt before.
    pub n_learnt: u64,
}

/// Room to work in, used by one member after the other.
#[derive(Default)]
pub(super) struct Work {
    /// Per row the weight with which the member learns.
    weights: Vec<f64>,
    /// The votes for the rows of a block, before they are learnt.
    votes: Vec<f64>,
    /// The predictions of the same rows, after they were learnt.
    rechecked: Vec<i32>,
}

impl Member {
    /// A member that has seen nothing.
    pub fn new(maker: &Maker<'_>, number: usize, attributes: Option<Vec<u32>>) -> Result<Self, KernelError> {
        let window = |delta: Option<f64>| delta.map(|delta| AdaptiveWindow::binary(Settings::new(delta))).transpose();
        Ok(Self {
            number,
            model: maker.make_with(number, 0, attributes)?,
            background: None,
            seen: 0.0,
            hits: 0.0,
            warning: window(maker.options.warning_delta)?,
            drift: window(maker.options.drift_delta)?,
            n_made: 1,
            n_warnings: 0,
            n_drifts: 0,
        })
    }

    /// The model that votes.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The model in the background.
    pub fn background(&self) -> Option<&Model> {
        self.background.as_ref()
    }

    /// With which weight it votes.
    #[inline(always)]
    fn say(&self, weighted: bool) -> f64 {
        if !weighted {
            1.0
        } else if self.hits > 0.0 {
            self.hits / self.seen
        } else {
            UNPROVEN
        }
    }

    /// Add its votes for rows to those of the others.
    pub fn predict(&self, maker: &Maker<'_>, x: &[f64], votes: &mut [f64], combined: &mut [f64]) {
        self.model.learner.predict(&self.model.view(x, maker.schema.n_attributes()), votes);
        let (n_classes, say) = (maker.schema.n_classes, self.say(maker.options.weighted_votes));
        for (votes, combined) in votes.chunks_exact(n_classes).zip(combined.chunks_exact_mut(n_classes)) {
            add_share(votes, say, combined);
        }
    }

    /// Test and learn a stretch of rows, adding its votes to those of the others.
    ///
    /// The windows are checked after every 32 values alone, so that up to there the model can take rows by itself.
    pub fn interleave(
        &mut self,
        maker: &Maker<'_>,
        poisson: Option<&Poisson>,
        stretch: &Stretch<'_>,
        work: &mut Work,
        combined: &mut [f64],
    ) {
        let (d, n_classes, n) = (stretch.d, stretch.n_classes, stretch.weights.len());
        self.draw_weights(maker.seed, poisson, stretch, &mut work.weights);
        let (mut x, mut width) = (self.model.view(stretch.step.x, d), self.model.width());
        work.votes.resize(BLOCK * n_classes, 0.0);
        work.rechecked.resize(BLOCK, ABSTAINED);
        let mut start = 0;
        while start < n {
            let end = start + self.block_length(&work.weights[start..]);
            let rows = start..end;
            let (y, weights) = (&stretch.step.y[rows.clone()], &work.weights[rows.clone()]);
            let (votes, rechecked) = (&mut work.votes[..(end - start) * n_classes], &mut work.rechecked[..end - start]);
            let asked = Some(&stretch.asked[rows.clone()]);
            let step = Step { x: &x[start * width..end * width], y, test: asked, weight: Some(weights) };
            self.model.learner.recheck(&step, votes, rechecked);
            self.count(maker, stretch, rows.clone(), votes, &mut combined[start * n_classes..]);
            self.learn_in_background(maker, stretch, rows, weights);
            let (y, weights) = (&stretch.step.y[start..end], &work.weights[start..end]);
            if self.watch(maker, y, weights, &work.rechecked) {
                (x, width) = (self.model.view(stretch.step.x, d), self.model.width());
            }
            start = end;
        }
    }

    /// Write the weights with which it learns: those of the rows times a random number.
    fn draw_weights(&self, seed: u64, poisson: Option<&Poisson>, stretch: &Stretch<'_>, weights: &mut Vec<f64>) {
        weights.clear();
        weights.extend_from_slice(stretch.weights);
        let Some(poisson) = poisson else { return };
        let n_learnt = stretch.weights.iter().filter(|&&weight| weight > 0.0).count();
        let mut factors = vec![0.0; n_learnt];
        poisson.fill(Draws::new(seed, WEIGHT, self.number as u64), stretch.n_learnt, &mut factors);
        let learnt = weights.iter_mut().filter(|weight| **weight > 0.0);
        for (weight, factor) in learnt.zip(factors) {
            *weight *= factor;
        }
    }

    /// How many rows there are up to the one after which the windows are checked, [`BLOCK`] at most.
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

    /// Add the votes for rows to those of the others, and count how often they were right.
    fn count(
        &mut self,
        maker: &Maker<'_>,
        stretch: &Stretch<'_>,
        rows: std::ops::Range<usize>,
        votes: &[f64],
        combined: &mut [f64],
    ) {
        // The compiler makes a loop of its own of the case that is most frequent.
        match stretch.n_classes {
            2 => self.count_among(2, maker, stretch, rows, votes, combined),
            n_classes => self.count_among(n_classes, maker, stretch, rows, votes, combined),
        }
    }

    #[inline(always)]
    fn count_among(
        &mut self,
        n_classes: usize,
        maker: &Maker<'_>,
        stretch: &Stretch<'_>,
        rows: std::ops::Range<usize>,
        votes: &[f64],
        combined: &mut [f64],
    ) {
        let votes = votes.chunks_exact(n_classes).zip(combined.chunks_exact_mut(n_classes));
        for (row, (votes, combined)) in rows.zip(votes) {
            let weight = stretch.weights[row];
            if stretch.step.tests(row) {
                add_share(votes, self.say(maker.options.weighted_votes), combined);
            }
            self.seen += weight;
            self.hits += if winner(votes) == stretch.step.y[row] { weight } else { 0.0 };
        }
    }

    fn learn_in_background(
        &mut self,
        maker: &Maker<'_>,
        stretch: &Stretch<'_>,
        rows: std::ops::Range<usize>,
        weights: &[f64],
    ) {
        let Some(background) = &mut self.background else { return };
        let d = stretch.d;
        let x = background.view(&stretch.step.x[rows.start * d..rows.end * d], d);
        let plain: Vec<f64>;
        let weights = if maker.options.weighted_background {
            weights
        } else {
            let drawn = stretch.weights[rows.clone()].iter().zip(weights);
            plain = drawn.map(|(&weight, &drawn)| if drawn > 0.0 { weight } else { 0.0 }).collect();
            &plain
        };
        let n = rows.len();
        background.learn(&x, &stretch.step.y[rows], weights, &[false; BLOCK][..n], &mut [ABSTAINED; BLOCK][..n]);
    }

    /// Show the windows what it still gets wrong of the rows it has learnt; whether the model gave way to another.
    fn watch(&mut self, maker: &Maker<'_>, y: &[i32], weights: &[f64], rechecked: &[i32]) -> bool {
        let (mut errors, mut n) = ([0.0; BLOCK], 0);
        for ((&y, &weight), &prediction) in y.iter().zip(weights).zip(rechecked) {
            if weight > 0.0 {
                errors[n] = f64::from(u8::from(prediction != y));
                n += 1;
            }
        }
        let (warns, drifts) = (rises(&mut self.warning, &errors[..n]), rises(&mut self.drift, &errors[..n]));
        if warns {
            self.warn(maker);
        }
        if drifts {
            self.renew(maker);
        }
        drifts
    }

    /// Start a model in the background.
    fn warn(&mut self, maker: &Maker<'_>) {
        self.n_warnings += 1;
        self.background = self.make(maker);
        if let Some(window) = &mut self.warning {
            window.clear();
        }
    }

    /// Let the background take over, or start anew.
    fn renew(&mut self, maker: &Maker<'_>) {
        self.n_drifts += 1;
        let fresh = self.background.take().or_else(|| self.make(maker));
        if let Some(fresh) = fresh {
            self.model = fresh;
        }
        (self.seen, self.hits) = (0.0, 0.0);
        for window in [&mut self.warning, &mut self.drift].into_iter().flatten() {
            window.clear();
        }
    }

    /// Make a model. Only Python code can fail to build what it has built before, and its exception reaches the
    /// caller otherwise.
    fn make(&mut self, maker: &Maker<'_>) -> Option<Model> {
        self.n_made += 1;
        maker.make(self.number, self.n_made - 1).ok()
    }

    /// Write it.
    pub fn save(&self, writer: &mut Writer) {
        for number in [self.n_made, self.n_warnings, self.n_drifts, u64::from(self.background.is_some())] {
            writer.u64(number);
        }
        writer.f64(self.seen);
        writer.f64(self.hits);
        for window in [&self.warning, &self.drift].into_iter().flatten() {
            window.write(writer);
        }
        self.model.save(writer);
        if let Some(background) = &self.background {
            background.save(writer);
        }
    }

    /// Read a member built alike.
    pub fn load(&self, maker: &Maker<'_>, reader: &mut Reader<'_>) -> Result<Self, KernelError> {
        let (n_made, n_warnings, n_drifts) = (reader.u64()?, reader.u64()?, reader.u64()?);
        let has_background = reader.u64()? != 0;
        let (seen, hits) = (reader.f64()?, reader.f64()?);
        let mut window = |mine: &Option<AdaptiveWindow>| mine.as_ref().map(|mine| mine.read(reader)).transpose();
        let (warning, drift) = (window(&self.warning)?, window(&self.drift)?);
        let model = maker.load(reader)?;
        let background = has_background.then(|| maker.load(reader)).transpose()?;
        Ok(Self { number: self.number, model, background, seen, hits, warning, drift, n_made, n_warnings, n_drifts })
    }

    /// The bytes it holds on the heap.
    pub fn n_bytes(&self) -> usize {
        let windows = [&self.warning, &self.drift].into_iter().flatten();
        let models = [Some(&self.model), self.background.as_ref()].into_iter().flatten();
        windows.map(|window| window.n_bytes() - size_of::<AdaptiveWindow>()).sum::<usize>()
            + models.map(Model::n_bytes).sum::<usize>()
    }
}

/// Show errors to a window, which is checked at the last of them or not at all; whether it drops the past because there
/// are more now.
fn rises(window: &mut Option<AdaptiveWindow>, errors: &[f64]) -> bool {
    let Some(window) = window else { return false };
    let before = (window.total() + errors.iter().sum::<f64>()) / (window.width() + errors.len() as u64) as f64;
    window.extend_binary(errors, &mut ()) > 0 && window.mean() > before
}

/// Add a member's votes for one row, scaled to a sum of `say`.
#[inline(always)]
fn add_share(votes: &[f64], say: f64, combined: &mut [f64]) {
    let sum: f64 = votes.iter().sum();
    let scale = if sum > 0.0 { say / sum } else { 0.0 };
    for (combined, vote) in combined.iter_mut().zip(votes) {
        *combined += vote * scale;
    }
}
