//! The two baselines that any learner is measured against: the majority class so far, and the class seen last.

use std::ops::Range;

use crate::KernelError;
use crate::codec::{Reader, Writer};
use crate::dispatch;
use crate::error::check_length;
use crate::learners::{ABSTAINED, UNLABELLED, find_winner};

mod adaptive_labels;
mod class_weights;
mod fading_labels;
mod numbers;
mod recent_labels;
#[cfg(test)]
mod tests;
mod timed_labels;

pub use adaptive_labels::AdaptiveLabels;
pub use class_weights::ClassWeights;
pub use fading_labels::FadingLabels;
pub use numbers::NumberBaselines;
pub use recent_labels::RecentLabels;
pub use timed_labels::TimedLabels;

/// The number of classes up to which one scan per class is fastest.
const MAX_SCANNED_CLASSES: usize = 4;

const NAME: &str = "Baselines";

/// The number of rows in a block.
const BLOCK: usize = 256;

/// The class with the greatest weight so far, the first of equals.
#[derive(Debug, Clone)]
pub struct Majority {
    weights: Vec<f64>,
    class: i32,
}

impl Majority {
    /// Creates an empty state.
    #[must_use]
    pub fn new(n_classes: usize) -> Self {
        Self { weights: vec![0.0; n_classes], class: ABSTAINED }
    }

    /// Restores the state from its weights and its class.
    #[must_use]
    pub fn from_weights(weights: Vec<f64>, class: i32) -> Self {
        Self { weights, class }
    }

    /// Creates the state of some weights.
    #[must_use]
    pub fn with_weights(weights: Vec<f64>) -> Self {
        let class = find_winner(&weights);
        Self { weights, class }
    }

    /// Returns the weight of each class.
    #[must_use]
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Appends it to a saved state.
    fn write(&self, writer: &mut Writer) {
        writer.f64s(&self.weights);
        writer.u64((self.class + 1) as u64);
    }

    /// Reads a state with at most as many classes.
    fn read(&self, reader: &mut Reader<'_>) -> Result<Self, KernelError> {
        let weights = read_weights(self.weights.len(), reader)?;
        let class = reader.u64()?;
        if class > weights.len() as u64 || weights.iter().any(|weight| !(0.0..f64::INFINITY).contains(weight)) {
            return Err(reader.error("it has an invalid class or weight"));
        }
        Ok(Self { weights, class: class as i32 - 1 })
    }

    /// Returns the heaviest class, or [`ABSTAINED`] before the first row.
    #[inline(always)]
    #[must_use]
    pub fn class(&self) -> i32 {
        self.class
    }

    /// Counts a row; ignores it if its weight is 0 or it has no label.
    #[inline(always)]
    pub fn count(&mut self, label: i32, weight: f64) {
        if label < 0 || weight <= 0.0 {
            return;
        }
        let total = self.weights[label as usize] + weight;
        self.weights[label as usize] = total;
        let leader = usize::try_from(self.class).map_or(0.0, |class| self.weights[class]);
        if total > leader || (total == leader && label < self.class) {
            self.class = label;
        }
    }

    /// Counts rows in order and reports the majority before each, as spans of rows with the same majority.
    ///
    /// If no class can overtake within a block, the block is one span. This is nearly always so, and avoids a branch on
    /// every label, which would be mispredicted.
    #[inline(always)]
    pub fn run(&mut self, labels: &[i32], weight: Option<&[f64]>, mut on_span: impl FnMut(Range<usize>, i32)) {
        for start in (0..labels.len()).step_by(BLOCK) {
            let span = start..(start + BLOCK).min(labels.len());
            let weights = weight.map(|weight| &weight[span.clone()]);
            let block_weight: f64 = weights.map_or(span.len() as f64, |weights| weights.iter().sum());
            if self.lead() > 1.001 * block_weight {
                on_span(span.clone(), self.class);
                self.add(&labels[span], weights);
            } else {
                for row in span {
                    on_span(row..row + 1, self.class);
                    self.count(labels[row], weight.map_or(1.0, |weight| weight[row]));
                }
            }
        }
    }

    /// Returns the lead of the majority over the second class.
    fn lead(&self) -> f64 {
        let Ok(class) = usize::try_from(self.class) else { return 0.0 };
        let others = self.weights.iter().enumerate().filter(|(other, _)| *other != class);
        self.weights[class] - others.fold(0.0, |leader: f64, (_, &weight)| leader.max(weight))
    }

    /// Counts rows that cannot change the majority, in order, with the bits of [`Majority::count`].
    #[inline(always)]
    fn add(&mut self, labels: &[i32], weights: Option<&[f64]>) {
        if weights.is_none()
            && self.weights.len() <= MAX_SCANNED_CLASSES
            && self.weights.iter().all(|weight| weight.fract() == 0.0)
        {
            // Whole numbers: one scan per class is exact, and fast.
            for (class, total) in self.weights.iter_mut().enumerate() {
                let count: u32 = labels.iter().map(|&label| u32::from(label == class as i32)).sum();
                *total += f64::from(count);
            }
            return;
        }
        let (first, totals) = (0, &mut self.weights[..]);
        let mut add = |label: i32, weight: f64| {
            totals[label.max(first) as usize] += if label < first { 0.0 } else { weight };
        };
        match weights {
            None => labels.iter().for_each(|&label| add(label, 1.0)),
            Some(weights) => labels.iter().zip(weights).for_each(|(&label, &weight)| add(label, weight)),
        }
    }
}

/// Reads the weight of each class; those that were saved may be fewer.
///
/// # Errors
/// Returns [`KernelError::Saved`] if they are more, or the bytes end.
fn read_weights(n_classes: usize, reader: &mut Reader<'_>) -> Result<Vec<f64>, KernelError> {
    let mut weights = reader.f64s()?;
    if weights.len() > n_classes {
        return Err(reader.error("it has more classes"));
    }
    weights.resize(n_classes, 0.0);
    Ok(weights)
}

/// The state of both baselines in one fold; they learn the same rows as the fold.
#[derive(Debug, Clone)]
pub struct Baselines {
    majority: Majority,
    last: i32,
}

/// Rows that a majority baseline predicts and learns, as columns.
#[derive(Debug, Clone, Copy)]
pub struct LabelRows<'a> {
    /// The true classes.
    pub truth: &'a [i32],
    /// The labels that may be learnt, or [`UNLABELLED`].
    pub labels: &'a [i32],
    /// The weights with which labels are learnt, 0 for not at all; `None` means 1 for all.
    pub weight: Option<&'a [f64]>,
    /// The arrival times of the rows, if they have any.
    pub time: Option<&'a [f64]>,
}

impl LabelRows<'_> {
    /// Returns a range of the rows.
    #[must_use]
    pub fn slice(&self, range: Range<usize>) -> Self {
        Self {
            truth: &self.truth[range.clone()],
            labels: &self.labels[range.clone()],
            weight: self.weight.map(|weight| &weight[range.clone()]),
            time: self.time.map(|time| &time[range]),
        }
    }

    fn check(&self, n_classes: usize) -> Result<(), KernelError> {
        let n = self.truth.len();
        check_length("labels", self.labels.len(), n)?;
        check_length("weight", self.weight.map_or(n, <[f64]>::len), n)?;
        check_length("time", self.time.map_or(n, <[f64]>::len), n)?;
        if let Some(row) = self.labels.iter().position(|&label| label >= n_classes as i32) {
            return Err(KernelError::Label { row, label: self.labels[row], n_classes });
        }
        Ok(())
    }
}

/// The majority class among the labels that a forgetting remembers; it learns the same rows as the fold.
pub trait MajorityBaseline: Send + Sync {
    /// Returns the number of classes.
    fn n_classes(&self) -> usize;

    /// Returns the majority class, the first of equals; [`ABSTAINED`] without labels.
    fn class(&self) -> i32;

    /// Sees the arrival time of a row, before it is predicted.
    fn advance_time(&mut self, _time: f64) {}

    /// Learns a label.
    fn learn(&mut self, label: u32, weight: f64);

    /// Predicts each row, compares with its true class, then learns it if it has a label and a weight above 0.
    fn score(&mut self, rows: &LabelRows<'_>, hits: &mut [bool]) {
        self.score_rows(rows, hits);
    }

    /// Does so row by row.
    fn score_rows(&mut self, rows: &LabelRows<'_>, hits: &mut [bool]) {
        for (row, hit) in hits.iter_mut().enumerate() {
            if let Some(time) = rows.time {
                self.advance_time(time[row]);
            }
            *hit = self.class() == rows.truth[row];
            let weight = rows.weight.map_or(1.0, |weight| weight[row]);
            if rows.labels[row] >= 0 && weight > 0.0 {
                self.learn(rows.labels[row] as u32, weight);
            }
        }
    }

    /// Returns which rows it predicts right, each before it is learnt.
    ///
    /// # Errors
    /// Returns [`KernelError::Shape`] if the columns differ in length, [`KernelError::Label`] if a label is no class.
    fn update(&mut self, rows: &LabelRows<'_>) -> Result<Vec<bool>, KernelError> {
        rows.check(self.n_classes())?;
        let mut hits = vec![false; rows.truth.len()];
        self.score(rows, &mut hits);
        Ok(hits)
    }

    /// Saves the state.
    fn save(&self) -> Vec<u8>;

    /// Restores the saved state of a baseline with the same options and at most as many classes.
    ///
    /// # Errors
    /// Returns [`KernelError::Saved`] if the bytes are damaged or of another kind; the baseline is then unchanged.
    fn load(&mut self, bytes: &[u8]) -> Result<(), KernelError>;
}

/// Which rows the baselines predicted right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hits {
    /// Whether the majority class so far was right.
    pub majority: Vec<bool>,
    /// Whether the class seen last was right.
    pub no_change: Vec<bool>,
}

impl Baselines {
    /// Creates baselines that have seen no row.
    #[must_use]
    pub fn new(n_classes: usize) -> Self {
        Self { majority: Majority::new(n_classes), last: UNLABELLED }
    }

    /// Predicts each row, compares with its true class, then learns it if it has a label and a weight above 0.
    ///
    /// # Errors
    /// Returns [`KernelError::Shape`] if the columns differ in length, [`KernelError::Label`] if a label is no class.
    pub fn update(&mut self, truth: &[i32], labels: &[i32], weight: Option<&[f64]>) -> Result<Hits, KernelError> {
        LabelRows { truth, labels, weight, time: None }.check(self.majority.weights.len())?;
        let mut hits = Hits { majority: vec![false; truth.len()], no_change: vec![false; truth.len()] };
        dispatch::run(
            #[inline(always)]
            || self.score_and_learn(truth, labels, weight, &mut hits),
        );
        Ok(hits)
    }

    /// Like [`Baselines::update`], for checked labels.
    #[inline(always)]
    fn score_and_learn(&mut self, truth: &[i32], labels: &[i32], weight: Option<&[f64]>, hits: &mut Hits) {
        self.majority.run(
            labels,
            weight,
            #[inline(always)]
            |span, class| {
                for (hit, &truth) in hits.majority[span.clone()].iter_mut().zip(&truth[span]) {
                    *hit = class == truth;
                }
            },
        );
        self.last = match weight {
            None if labels.iter().fold(true, |seen, &label| seen & (label >= 0)) => {
                score_last_class_labelled(self.last, truth, labels, &mut hits.no_change)
            }
            None => score_last_class(self.last, truth, labels, std::iter::repeat(1.0), &mut hits.no_change),
            Some(weight) => score_last_class(self.last, truth, labels, weight.iter().copied(), &mut hits.no_change),
        };
    }

    /// Saves the state.
    #[must_use]
    pub fn save(&self) -> Vec<u8> {
        let mut writer = Writer::new(NAME, 1);
        writer.f64s(&self.majority.weights);
        // Shifted by 1, so that a missing class is 0.
        writer.u64s([self.majority.class, self.last].iter().map(|&class| (class + 1) as u64));
        writer.finish()
    }

    /// Restores the saved state of baselines with at most as many classes.
    ///
    /// # Errors
    /// Returns [`KernelError::Saved`] if the bytes are damaged or of another kind; the baselines are then unchanged.
    pub fn load(&mut self, bytes: &[u8]) -> Result<(), KernelError> {
        let mut reader = Reader::new(NAME, 1, bytes)?;
        let weights = read_weights(self.majority.weights.len(), &mut reader)?;
        let classes = reader.u64s()?;
        let [class, last] = classes[..] else {
            return Err(reader.error("it has a wrong number of classes"));
        };
        if class.max(last) > weights.len() as u64 || weights.iter().any(|weight| !(0.0..f64::INFINITY).contains(weight))
        {
            return Err(reader.error("it has an invalid class or weight"));
        }
        reader.finish()?;
        self.majority = Majority::from_weights(weights, class as i32 - 1);
        self.last = last as i32 - 1;
        Ok(())
    }
}

/// Like [`score_last_class`], if every row is learnt: the class seen last is then the label of the row before.
#[inline(always)]
fn score_last_class_labelled(last: i32, truth: &[i32], labels: &[i32], hits: &mut [bool]) -> i32 {
    let (Some((&first, rest)), Some((&last_label, earlier))) = (truth.split_first(), labels.split_last()) else {
        return last;
    };
    hits[0] = last == first;
    for ((hit, &truth), &last) in hits[1..].iter_mut().zip(rest).zip(earlier) {
        *hit = last == truth;
    }
    last_label
}

/// Scores the class seen last, row by row, starting from `last`; returns the class seen last at the end.
#[inline(always)]
fn score_last_class(
    mut last: i32,
    truth: &[i32],
    labels: &[i32],
    weights: impl Iterator<Item = f64>,
    hits: &mut [bool],
) -> i32 {
    for (((hit, &truth), &label), weight) in hits.iter_mut().zip(truth).zip(labels).zip(weights) {
        *hit = last == truth;
        last = if (label >= 0) & (weight > 0.0) { label } else { last };
    }
    last
}

/// The number of classes up to which one scan per class is fastest when counting labels.
const FEW_CLASSES: usize = 8;

/// Counts the occurrences of a class.
#[inline(always)]
fn count_class(labels: &[i32], class: i32) -> u32 {
    labels.iter().map(|&label| u32::from(label == class)).sum()
}

/// Counts the occurrences of each class in each piece of a column, one row per piece: first the rows without a label,
/// then each class. Piece `i` ends before row `ends[i]`.
#[must_use]
pub fn count_labels(labels: &[i32], ends: &[usize], n_classes: usize) -> Vec<u64> {
    let mut counts = vec![0; ends.len() * (n_classes + 1)];
    let mut start = 0;
    for (counts, &end) in counts.chunks_exact_mut(n_classes + 1).zip(ends) {
        let end = end.clamp(start, labels.len());
        let labels = &labels[start..end];
        if n_classes <= FEW_CLASSES {
            // With few classes, comparing many labels at once is faster than looking each up.
            dispatch::run(
                #[inline(always)]
                || {
                    for (class, count) in (0..).zip(&mut counts[1..]) {
                        *count = labels.chunks(1 << 16).map(|part| u64::from(count_class(part, class))).sum();
                    }
                },
            );
        } else {
            for &label in labels {
                if let Some(count) = usize::try_from(label).ok().and_then(|class| counts[1..].get_mut(class)) {
                    *count += 1;
                }
            }
        }
        counts[0] = labels.len() as u64 - counts[1..].iter().sum::<u64>();
        start = end;
    }
    counts
}
