//! A learner whose predictions are switched at random.

use super::row_hash::row_draws;
use super::{Learner, Schema, Step, find_winner};
use crate::KernelError;
use crate::codec::{Reader, Writer};
use crate::randomness::Purpose;

const NAME: &str = "NoiseFilter";
const SWITCH: Purpose = Purpose::named("switch");

/// Switches each prediction of a learner, with some probability, to a class drawn uniformly from the others, or from
/// all if it redraws. An abstention stays one.
pub struct NoiseFilter {
    base: Box<dyn Learner>,
    probability: f64,
    redraws: bool,
    seed: u64,
    n_learnt: u64,
}

impl NoiseFilter {
    /// Wraps a learner.
    #[must_use]
    pub fn new(base: Box<dyn Learner>, probability: f64, redraws: bool, seed: u64) -> Self {
        Self { base, probability, redraws, seed, n_learnt: 0 }
    }

    /// Draws whether the prediction of a row is switched, and to which class.
    #[inline(always)]
    fn draw_switch(&self, x: &[f64], n_learnt: u64, prediction: i32) -> Option<usize> {
        let predicted = usize::try_from(prediction).ok()?;
        let draws = row_draws(self.seed, SWITCH, x, n_learnt);
        if draws.uniform(0) >= self.probability {
            return None;
        }
        let n_classes = self.base.schema().n_classes as u64;
        if self.redraws {
            return Some(draws.below(1, n_classes) as usize);
        }
        let other = draws.below(1, n_classes - 1) as usize;
        (n_classes > 1).then_some(other + usize::from(other >= predicted))
    }

    /// Switches the prediction that some votes make, or leaves them.
    fn switch_votes(&self, x: &[f64], votes: &mut [f64]) {
        if let Some(class) = self.draw_switch(x, self.n_learnt, find_winner(votes)) {
            switch(votes, class);
        }
    }
}

/// Swaps the votes of a class with those of the winner, and raises them slightly if another class has as many.
fn switch(votes: &mut [f64], class: usize) {
    match usize::try_from(find_winner(votes)) {
        Ok(before) => votes.swap(before, class),
        Err(_) => votes[class] = 1.0,
    }
    if find_winner(votes) != class as i32 {
        votes[class] = votes[class].next_up();
    }
}

impl Learner for NoiseFilter {
    fn schema(&self) -> &Schema {
        self.base.schema()
    }

    fn vote(&self, x: &[f64], votes: &mut [f64]) {
        self.base.vote(x, votes);
        self.switch_votes(x, votes);
    }

    fn learn(&mut self, x: &[f64], label: usize, weight: f64) {
        self.base.learn(x, label, weight);
        self.n_learnt += 1;
    }

    fn interleave(&mut self, step: &Step<'_>, predictions: &mut [i32], mut votes: Option<&mut [f64]>) {
        let (d, n_classes) = (self.schema().n_attributes(), self.schema().n_classes);
        self.base.interleave(step, predictions, votes.as_deref_mut());
        let mut n_learnt = self.n_learnt;
        for (i, prediction) in predictions.iter_mut().enumerate() {
            let x = &step.x[i * d..(i + 1) * d];
            let switched = if step.tests(i) { self.draw_switch(x, n_learnt, *prediction) } else { None };
            if let Some(class) = switched {
                *prediction = class as i32;
                if let Some(votes) = &mut votes {
                    switch(&mut votes[i * n_classes..(i + 1) * n_classes], class);
                }
            }
            n_learnt += u64::from(step.weight(i) > 0.0);
        }
        self.n_learnt = n_learnt;
    }

    fn predict(&self, x: &[f64], votes: &mut [f64]) {
        let (d, n_classes) = (self.schema().n_attributes(), self.schema().n_classes);
        self.base.predict(x, votes);
        for (i, votes) in votes.chunks_exact_mut(n_classes).enumerate() {
            self.switch_votes(&x[i * d..(i + 1) * d], votes);
        }
    }

    fn is_native(&self) -> bool {
        self.base.is_native()
    }

    fn facts(&self) -> Vec<(&'static str, u64)> {
        self.base.facts()
    }

    fn n_bytes(&self) -> usize {
        size_of::<Self>() + self.base.n_bytes()
    }

    fn save(&self) -> Vec<u8> {
        let mut writer = Writer::new(NAME, 1);
        writer.u64(self.n_learnt);
        writer.part(&self.base.save());
        writer.finish()
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), KernelError> {
        let mut reader = Reader::new(NAME, 1, bytes)?;
        let n_learnt = reader.u64()?;
        let base = reader.part()?;
        reader.finish()?;
        self.base.load(base)?;
        self.n_learnt = n_learnt;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learners::{ABSTAINED, NoChange};

    #[test]
    fn a_switched_prediction_has_the_most_votes_whatever_they_were() {
        for (votes, class) in [([0.5, 0.5, 0.0], 2), ([0.0; 3], 1), ([0.2, 0.3, 0.5], 0), ([1.0, 0.0, 0.0], 0)] {
            let mut votes = votes;
            switch(&mut votes, class);
            assert_eq!(find_winner(&votes), class as i32);
        }
    }

    /// Returns the share of each class among the predictions where the base predicts class 1.
    fn count_switches(n_classes: usize, redraws: bool) -> Vec<f64> {
        let base = Box::new(NoChange::new(Schema { n_values: vec![0], n_classes }));
        let mut filter = NoiseFilter::new(base, 0.2, redraws, 3);
        let (x, y): (Vec<f64>, Vec<i32>) = (0..100_000).map(|row| (f64::from(row % 100), 1)).unzip();
        let mut predictions = vec![ABSTAINED; x.len()];
        filter.interleave(&Step { x: &x, y: &y, test: None, weight: None }, &mut predictions, None);
        assert_eq!(predictions[0], ABSTAINED);
        let count = |class| predictions.iter().filter(|&&prediction| prediction == class).count() as f64;
        (0..n_classes as i32).map(|class| count(class) / x.len() as f64).collect()
    }

    #[test]
    fn the_given_share_is_switched_to_another_class_or_redrawn_from_all() {
        let cases = [
            (2, false, vec![0.2, 0.8]),
            (2, true, vec![0.1, 0.9]),
            (5, false, vec![0.05, 0.8, 0.05, 0.05, 0.05]),
            (5, true, vec![0.04, 0.84, 0.04, 0.04, 0.04]),
        ];
        for (n_classes, redraws, expected) in cases {
            for (observed, share) in count_switches(n_classes, redraws).into_iter().zip(expected) {
                assert!((observed - share).abs() < 0.005, "{n_classes} {redraws}: {observed} for {share}");
            }
        }
    }
}
