//! Timing of each row, separately for predicting and learning.

use std::sync::OnceLock;
use std::time::Instant;

use super::{ABSTAINED, Learner, Step, find_winner};

/// The time that each row of a step took, in nanoseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timings {
    /// The time to predict it; 0 if it was not tested.
    pub predict: Vec<u64>,
    /// The time to learn it; 0 if it was not learnt.
    pub learn: Vec<u64>,
}

/// Does the same as [`Learner::interleave`], row by row, and times both parts of each row.
pub fn interleave_timed(
    learner: &mut dyn Learner,
    step: &Step<'_>,
    predictions: &mut [i32],
    mut votes: Option<&mut [f64]>,
) -> Timings {
    let (d, n_classes) = (learner.schema().n_attributes(), learner.schema().n_classes);
    let n = predictions.len();
    let mut timings = Timings { predict: vec![0; n], learn: vec![0; n] };
    let mut row_votes = vec![0.0; n_classes];
    for (i, prediction) in predictions.iter_mut().enumerate() {
        let x = &step.x[i * d..(i + 1) * d];
        *prediction = ABSTAINED;
        if step.tests(i) {
            let started = Instant::now();
            learner.vote(x, &mut row_votes);
            *prediction = find_winner(&row_votes);
            timings.predict[i] = elapsed_since(started);
            if let Some(votes) = &mut votes {
                votes[i * n_classes..(i + 1) * n_classes].copy_from_slice(&row_votes);
            }
        }
        let weight = step.weight(i);
        if weight > 0.0 {
            let started = Instant::now();
            learner.learn(x, step.y[i] as usize, weight);
            timings.learn[i] = elapsed_since(started);
        }
    }
    timings
}

/// Returns the nanoseconds since a time, minus the overhead of the clock; never 0, which means not done.
pub(super) fn elapsed_since(started: Instant) -> u64 {
    let taken = u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX);
    taken.saturating_sub(clock_overhead()).max(1)
}

/// Returns the least time between two readings of the clock.
fn clock_overhead() -> u64 {
    static COST: OnceLock<u64> = OnceLock::new();
    *COST.get_or_init(|| {
        let overheads = (0..1000).map(|_| Instant::now().elapsed().as_nanos());
        overheads.min().and_then(|least| u64::try_from(least).ok()).unwrap_or(0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learners::{MajorityClass, Schema};

    #[test]
    fn timed_rows_equal_untimed_rows_and_every_part_took_time() {
        let schema = Schema { n_values: vec![0], n_classes: 2 };
        let (x, y, test, weight) = ([0.0; 4], [1, -1, 0, 0], [true, true, false, true], [1.0, 1.0, 1.0, 0.0]);
        let step = Step { x: &x, y: &y, test: Some(&test), weight: Some(&weight) };
        let (mut plain, mut timed) = ([0; 4], [0; 4]);
        MajorityClass::new(schema.clone()).interleave(&step, &mut plain, None);
        let timings = interleave_timed(&mut MajorityClass::new(schema), &step, &mut timed, None);
        assert_eq!(plain, timed);
        assert_eq!(timings.predict.iter().map(|&t| t > 0).collect::<Vec<_>>(), test);
        assert_eq!(timings.learn.iter().map(|&t| t > 0).collect::<Vec<_>>(), [true, false, true, false]);
    }
}
