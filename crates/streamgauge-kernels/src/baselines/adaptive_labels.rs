//! The majority class of the labels since its error rate last changed.

use super::{Majority, MajorityBaseline};
use crate::KernelError;
use crate::adaptive_window::Settings;
use crate::codec::{Reader, Writer};
use crate::forgetting::{Adwin, Columns, Forgetting, Layout, Outcomes, Statistics};

const NAME: &str = "Majority of an adaptive window of labels";

/// The labels of an adaptive window: ADWIN monitors the errors of their majority class and drops the oldest labels when
/// the error rate has changed.
#[derive(Debug, Clone)]
pub struct AdaptiveLabels {
    n_classes: usize,
    /// The labels with their predictions.
    window: Adwin,
    majority: Majority,
    /// Labels, predictions and weights that wait for the next check of the window; nothing is dropped before it.
    labels: Vec<i32>,
    predictions: Vec<i32>,
    weights: Vec<f64>,
}

impl AdaptiveLabels {
    /// Creates a state that has seen no label.
    ///
    /// # Errors
    /// Returns [`KernelError::Option`] if an option is outside its range.
    pub fn new(n_classes: usize, settings: Settings) -> Result<Self, KernelError> {
        let layout = Layout::new(Outcomes::new(n_classes)?, Statistics::default(), false)?;
        let window = Adwin::new(layout, settings)?;
        let (labels, predictions, weights) = (vec![], vec![], vec![]);
        Ok(Self { n_classes, window, majority: Majority::new(n_classes), labels, predictions, weights })
    }

    /// Adds the waiting labels to the window; forgets those that it drops.
    #[inline(never)]
    fn flush(&mut self) {
        let (n, width) = (self.labels.len(), self.window.width());
        let no_hits = vec![false; n];
        let columns = |n: usize| Columns {
            y_true: &self.labels[..n],
            y_pred: &self.predictions[..n],
            majority_hit: &no_hits[..n],
            no_change_hit: &no_hits[..n],
            weight: self.weights.iter().any(|&weight| weight != 1.0).then_some(&self.weights[..n]),
            votes: None,
            time: None,
        };
        // Labels and weights are checked, so that there are no errors.
        let added = self.window.update(&columns(n), &[]).is_ok();
        if added && self.window.width() < width + n as u64 {
            let tallies = self.window.update(&columns(0), &[0]);
            let Ok(tallies) = tallies else { return };
            let mut totals = tallies.abstained;
            for (total, row) in totals.iter_mut().zip(tallies.confusion.chunks_exact(self.n_classes)) {
                *total += row.iter().sum::<f64>();
            }
            self.majority = Majority::with_weights(totals);
        }
        self.labels.clear();
        self.predictions.clear();
        self.weights.clear();
    }
}

impl MajorityBaseline for AdaptiveLabels {
    fn n_classes(&self) -> usize {
        self.n_classes
    }

    #[inline(always)]
    fn class(&self) -> i32 {
        self.majority.class()
    }

    #[inline(always)]
    fn learn(&mut self, label: u32, weight: f64) {
        self.labels.push(label as i32);
        self.predictions.push(self.majority.class());
        self.weights.push(weight);
        self.majority.count(label as i32, weight);
        if self.labels.len() == self.window.until_check() {
            self.flush();
        }
    }

    fn save(&self) -> Vec<u8> {
        let mut state = self.clone();
        state.flush();
        let mut writer = Writer::new(NAME, 1);
        writer.part(&state.window.save());
        state.majority.write(&mut writer);
        writer.finish()
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), KernelError> {
        let mut reader = Reader::new(NAME, 1, bytes)?;
        let mut window = self.window.clone();
        window.load(reader.part()?)?;
        let majority = self.majority.read(&mut reader)?;
        reader.finish()?;
        (self.window, self.majority) = (window, majority);
        self.labels.clear();
        self.predictions.clear();
        self.weights.clear();
        Ok(())
    }
}
