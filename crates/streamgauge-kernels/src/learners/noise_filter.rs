//! A learner whose predictions are switched at random.

use super::row_hash::row_draws;
use super::{Learner, Schema, Step, find_winner};
use crate::KernelError;
use crate::codec::{Reader, Writer};
use crate::randomness::Purpose;

const NAME: &str = "NoiseFilter";
const SWITCH: Purpose = Purpose::named("switch");

/// Switches each prediction of a learner, with some probability, to a class drawn uniformly from all.
pub struct NoiseFilter {
    base: Box<dyn Learner>,
    probability: f64,
    seed: u64,
    n_learnt: u64,
}

impl NoiseFilter {
    /// Wraps a learner.
    #[must_use]
    pub fn new(base: Box<dyn Learner>, probability: f64, seed: u64) -> Self {
        Self { base, probability, seed, n_learnt: 0 }
    }

    /// Draws whether the prediction of a row is switched, and to which class.
    #[inline(always)]
    fn draw_switch(&self, x: &[f64], n_learnt: u64) -> Option<usize> {
        let draws = row_draws(self.seed, SWITCH, x, n_learnt);
        let n_classes = self.base.schema().n_classes as u64;
        (draws.uniform(0) < self.probability).then(|| draws.below(1, n_classes) as usize)
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
        if let Some(class) = self.draw_switch(x, self.n_learnt) {
            switch(votes, class);
        }
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
            let switched = if step.tests(i) { self.draw_switch(&step.x[i * d..(i + 1) * d], n_learnt) } else { None };
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
            if let Some(class) = self.draw_switch(&x[i * d..(i + 1) * d], self.n_learnt) {
                switch(votes, class);
            }
        }
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

    #[test]
    fn the_given_share_is_switched_to_any_class() {
        let base = Box::new(NoChange::new(Schema { n_values: vec![0], n_classes: 4 }));
        let mut filter = NoiseFilter::new(base, 0.2, 3);
        let (x, y): (Vec<f64>, Vec<i32>) = (0..100_000).map(|row| (f64::from(row % 100), 2)).unzip();
        let mut predictions = vec![ABSTAINED; x.len()];
        filter.interleave(&Step { x: &x, y: &y, test: None, weight: None }, &mut predictions, None);
        for (class, share) in [(0, 0.05), (1, 0.05), (2, 0.85), (3, 0.05)] {
            let observed =
                predictions.iter().filter(|&&prediction| prediction == class).count() as f64 / x.len() as f64;
            assert!((observed - share).abs() < 0.005, "{class}: {observed}");
        }
    }
}
