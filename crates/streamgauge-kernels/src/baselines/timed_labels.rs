//! The majority class of the labels that arrived in the last seconds.

use std::collections::VecDeque;

use super::class_weights::ClassWeights;
use super::{MajorityBaseline, read_weights};
use crate::KernelError;
use crate::codec::{Reader, Writer};

const NAME: &str = "Majority of the labels of the last seconds";

/// The labels that arrived in the `seconds` up to the newest row. A label arrives at the time of the newest row so far.
#[derive(Debug, Clone)]
pub struct TimedLabels {
    seconds: f64,
    now: f64,
    /// When the labels arrived, the oldest first.
    times: VecDeque<f64>,
    labels: VecDeque<(u32, f64)>,
    classes: ClassWeights,
    n_classes: usize,
    /// The number of labels that left since the sums were computed.
    n_left: usize,
}

impl TimedLabels {
    /// Creates an empty window of `seconds`.
    #[must_use]
    pub fn new(n_classes: usize, seconds: f64) -> Self {
        let (times, labels) = (VecDeque::new(), VecDeque::new());
        let classes = ClassWeights::new(n_classes);
        Self { seconds, now: f64::NEG_INFINITY, times, labels, classes, n_classes, n_left: 0 }
    }
}

impl MajorityBaseline for TimedLabels {
    fn n_classes(&self) -> usize {
        self.n_classes
    }

    fn class(&self) -> i32 {
        self.classes.class()
    }

    fn advance_time(&mut self, time: f64) {
        self.now = self.now.max(time);
        while self.times.front().is_some_and(|&time| time <= self.now - self.seconds) {
            self.times.pop_front();
            if let Some((label, weight)) = self.labels.pop_front() {
                self.classes.remove(label, weight);
                self.n_left += 1;
            }
        }
        if self.n_left > self.labels.len() {
            self.classes.recompute(self.labels.iter());
            self.n_left = 0;
        }
    }

    fn learn(&mut self, label: u32, weight: f64) {
        self.times.push_back(self.now);
        self.labels.push_back((label, weight));
        self.classes.add(label, weight);
    }

    fn save(&self) -> Vec<u8> {
        let mut writer = Writer::new(NAME, 1);
        writer.f64s(&[self.seconds, self.now]);
        writer.f64s(&self.times.iter().copied().collect::<Vec<_>>());
        writer.u64s(self.labels.iter().map(|label| u64::from(label.0)));
        writer.f64s(&self.labels.iter().map(|label| label.1).collect::<Vec<_>>());
        writer.u64(self.n_left as u64);
        writer.f64s(self.classes.weights());
        writer.finish()
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), KernelError> {
        let mut reader = Reader::new(NAME, 1, bytes)?;
        let mut clock = [0.0; 2];
        reader.f64s_into(&mut clock)?;
        let (times, labels, label_weights) = (reader.f64s()?, reader.u64s()?, reader.f64s()?);
        let n_left = reader.usize()?;
        let weights = read_weights(self.n_classes, &mut reader)?;
        let is_class = |&label: &u64| label < self.n_classes as u64;
        if clock[0] != self.seconds || labels.len() != times.len() || label_weights.len() != times.len() {
            return Err(reader.error("it has another size"));
        }
        if !labels.iter().all(is_class) {
            return Err(reader.error("a label in its window is not a class"));
        }
        reader.finish()?;
        let mut window = Self::new(self.n_classes, self.seconds);
        for (&label, &weight) in labels.iter().zip(&label_weights) {
            window.labels.push_back((label as u32, weight));
            window.classes.add(label as u32, weight);
        }
        window.classes.restore(weights);
        (window.now, window.times, window.n_left) = (clock[1], times.into(), n_left);
        *self = window;
        Ok(())
    }
}
