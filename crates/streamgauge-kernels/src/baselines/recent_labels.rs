//! The majority class of the last labels.

use super::class_weights::ClassWeights;
use super::{LabelRows, MajorityBaseline, read_weights};
use crate::KernelError;
use crate::codec::{Reader, Writer};
use crate::dispatch;
use crate::error::check_option;

const NAME: &str = "Majority of the last labels";

/// The number of classes up to which all are compared after each label.
const LANES: usize = 8;
/// The width from which on a count does not fit into a key.
const MAX_WIDTH: usize = 1 << 28;

/// A sliding window of the last labels, with the weight of each class in it.
#[derive(Debug, Clone)]
pub struct RecentLabels {
    width: usize,
    /// The labels of the window with their weights; once it is full, the oldest is at `next`.
    labels: Vec<(u32, f64)>,
    next: usize,
    classes: ClassWeights,
    n_classes: usize,
    /// The number of labels in the window whose weight is not 1.
    n_weighted: usize,
}

impl RecentLabels {
    /// Creates an empty window of `width` labels.
    ///
    /// # Errors
    /// Returns [`KernelError::Option`] if `width` is 0.
    pub fn new(n_classes: usize, width: usize) -> Result<Self, KernelError> {
        check_option("window", width, width > 0, "it must be a whole number of at least 1")?;
        Ok(Self { width, labels: vec![], next: 0, classes: ClassWeights::new(n_classes), n_classes, n_weighted: 0 })
    }

    /// Returns the weight of each class in the window.
    #[must_use]
    pub fn weights(&self) -> &[f64] {
        self.classes.weights()
    }

    /// Adds a label; the oldest leaves a full window.
    #[inline(always)]
    pub fn push(&mut self, class: u32, weight: f64) {
        if self.labels.len() < self.width {
            self.labels.push((class, weight));
        } else {
            let (old, old_weight) = std::mem::replace(&mut self.labels[self.next], (class, weight));
            self.classes.remove(old, old_weight);
            self.n_weighted -= usize::from(old_weight != 1.0);
        }
        self.classes.add(class, weight);
        self.n_weighted += usize::from(weight != 1.0);
        self.next = if self.next + 1 == self.width { 0 } else { self.next + 1 };
        if self.next == 0 {
            self.classes.recompute(self.labels.iter());
        }
    }

    /// Scores and adds labels of weight 1 to a full window of labels of weight 1; the slots do not wrap around.
    #[inline(always)]
    fn slide(&mut self, truth: &[i32], labels: &[i32], hits: &mut [bool]) {
        let slots = &mut self.labels[self.next..self.next + labels.len()];
        let (n_classes, width, first) = (self.n_classes, self.width, self.classes.class());
        self.classes.change_counts(
            #[inline(always)]
            |counts| {
                if n_classes == 2 {
                    // The lead of class 1, in a register.
                    let before = counts[1] as i64 - counts[0] as i64;
                    let mut lead = before;
                    for (((slot, &label), &truth), hit) in slots.iter_mut().zip(labels).zip(truth).zip(hits) {
                        *hit = i32::from(lead > 0) == truth;
                        lead += 2 * (i64::from(label) - i64::from(slot.0));
                        slot.0 = label as u32;
                    }
                    let gain = (lead - before) / 2;
                    counts[1] = (counts[1] as i64 + gain) as usize;
                    counts[0] = (counts[0] as i64 - gain) as usize;
                    return;
                }
                if n_classes <= LANES && width < MAX_WIDTH {
                    // Without branches, which labels would mispredict: the greatest key is that of the majority.
                    let mut keys = [0_u32; LANES];
                    for (class, &count) in counts.iter().enumerate() {
                        keys[class] = (count * LANES + LANES - 1 - class) as u32;
                    }
                    for (((slot, &label), &truth), hit) in slots.iter_mut().zip(labels).zip(truth).zip(hits) {
                        let greatest = keys.iter().fold(0, |greatest: u32, &key| greatest.max(key));
                        *hit = (LANES - 1 - greatest as usize % LANES) as i32 == truth;
                        for (lane, key) in (0..).zip(&mut keys) {
                            *key += LANES as u32 * u32::from(lane == label as u32);
                            *key -= LANES as u32 * u32::from(lane == slot.0);
                        }
                        slot.0 = label as u32;
                    }
                    for (count, key) in counts.iter_mut().zip(keys) {
                        *count = key as usize / LANES;
                    }
                    return;
                }
                let mut class = first as usize;
                for (((slot, &label), &truth), hit) in slots.iter_mut().zip(labels).zip(truth).zip(hits) {
                    *hit = class as i32 == truth;
                    let (old, label) = (slot.0 as usize, label as usize);
                    slot.0 = label as u32;
                    counts[old] -= 1;
                    counts[label] += 1;
                    if old == class && label != class {
                        class = find_most(counts);
                    } else if counts[label] > counts[class] || (counts[label] == counts[class] && label < class) {
                        class = label;
                    }
                }
            },
        );
        self.next = (self.next + labels.len()) % self.width;
    }

    /// Returns the memory it uses in bytes, on the heap and off it.
    #[must_use]
    pub fn n_bytes(&self) -> usize {
        size_of::<Self>() + self.labels.capacity() * size_of::<(u32, f64)>() + self.classes.n_bytes()
    }

    /// Appends it to a saved state.
    pub fn write(&self, writer: &mut Writer) {
        writer.u64s(self.labels.iter().map(|label| u64::from(label.0)));
        for label in &self.labels {
            writer.f64(label.1);
        }
        writer.u64(self.next as u64);
        writer.f64s(self.classes.weights());
    }

    /// Reads a window of the same width from a saved state.
    ///
    /// # Errors
    /// Returns [`KernelError::Saved`] if the bytes are damaged or of another window.
    pub fn read(&self, reader: &mut Reader<'_>) -> Result<Self, KernelError> {
        let mut window = Self::new(self.n_classes, self.width)?;
        for label in reader.u64s()? {
            if label >= self.n_classes as u64 {
                return Err(reader.error("a label in its window is not a class"));
            }
            let weight = reader.f64()?;
            window.labels.push((label as u32, weight));
            window.classes.add(label as u32, weight);
            window.n_weighted += usize::from(weight != 1.0);
        }
        window.next = reader.usize()?;
        let weights = read_weights(self.n_classes, reader)?;
        let (n, width) = (window.labels.len(), self.width);
        if n > width || !(if n < width { window.next == n } else { window.next < width }) {
            return Err(reader.error("its window has another size"));
        }
        window.classes.restore(weights);
        Ok(window)
    }
}

/// Returns the index of the greatest count, the first of equals.
#[inline(always)]
fn find_most(counts: &[usize]) -> usize {
    let mut most = 0;
    for (class, &count) in counts.iter().enumerate() {
        most = if count > counts[most] { class } else { most };
    }
    most
}

impl MajorityBaseline for RecentLabels {
    fn n_classes(&self) -> usize {
        self.n_classes
    }

    #[inline(always)]
    fn class(&self) -> i32 {
        self.classes.class()
    }

    #[inline(always)]
    fn learn(&mut self, label: u32, weight: f64) {
        self.push(label, weight);
    }

    fn score(&mut self, rows: &LabelRows<'_>, hits: &mut [bool]) {
        let (truth, labels) = (rows.truth, rows.labels);
        if rows.weight.is_some() || self.n_weighted > 0 || labels.iter().any(|&label| label < 0) {
            return self.score_rows(rows, hits);
        }
        let mut start = labels.len().min(self.width - self.labels.len());
        self.score_rows(&rows.slice(0..start), &mut hits[..start]);
        while start < labels.len() {
            let stop = labels.len().min(start + self.width - self.next);
            dispatch::run(
                #[inline(always)]
                || self.slide(&truth[start..stop], &labels[start..stop], &mut hits[start..stop]),
            );
            start = stop;
        }
    }

    fn save(&self) -> Vec<u8> {
        let mut writer = Writer::new(NAME, 1);
        self.write(&mut writer);
        writer.finish()
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), KernelError> {
        let mut reader = Reader::new(NAME, 1, bytes)?;
        let window = self.read(&mut reader)?;
        reader.finish()?;
        *self = window;
        Ok(())
    }
}
