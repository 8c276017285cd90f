use std::sync::Arc;

use super::*;
use crate::detectors::{Adwin, Detector};
use crate::learners::{
    ABSTAINED, Factory, HoeffdingTreeOptions, Learner, Schema, Step, find_winner, hoeffding_tree, naive_bayes,
};
use crate::randomness::{Draws, Purpose};
use crate::threads::{ThreadBudget, set_budget};

const N_CLASSES: usize = 3;

const WEIGHTED: DynamicWeightedMajorityOptions =
    DynamicWeightedMajorityOptions { n_members: 4, factor: 0.5, threshold: 0.01, period: 5 };

fn schema() -> Schema {
    Schema { n_values: vec![0, 0, 3], n_classes: N_CLASSES }
}

/// Returns rows whose concept changes half-way, some of them without a label.
fn rows(n: usize) -> (Vec<f64>, Vec<i32>) {
    let draws = Draws::new(7, Purpose::named("rows"), 0);
    let (mut x, mut y) = (vec![], vec![]);
    for row in 0..n {
        let row_draws = draws.within(row as u64);
        let class = row_draws.below(0, N_CLASSES as u64);
        let shifted = if row < n / 2 { class } else { (class + 1) % N_CLASSES as u64 };
        x.extend([shifted as f64 + row_draws.uniform(1), row_draws.uniform(2), shifted as f64]);
        y.push(if row_draws.uniform(3) < 0.1 { -1 } else { class as i32 });
    }
    (x, y)
}

fn small_tree(schema: &Schema, _seed: u64) -> Result<Box<dyn Learner>, crate::KernelError> {
    let options = HoeffdingTreeOptions { grace_period: 30.0, tie_threshold: 0.3, ..Default::default() };
    hoeffding_tree(schema.clone(), options)
}

#[expect(clippy::unnecessary_wraps, reason = "a factory may fail")]
fn bayes(schema: &Schema, _seed: u64) -> Result<Box<dyn Learner>, crate::KernelError> {
    Ok(naive_bayes(schema.clone()))
}

fn all(factory: &Arc<dyn Factory>) -> Vec<Box<dyn Learner>> {
    let detector: Box<dyn Detector> = Box::new(Adwin::new(0.05).unwrap());
    vec![
        Box::new(OzaBag::new(schema(), factory.clone(), 3, 1).unwrap()),
        Box::new(LeveragingBagging::new(schema(), factory.clone(), 3, 6.0, 0.05, 1).unwrap()),
        Box::new(OzaBoost::new(schema(), factory.clone(), 3, false, 1).unwrap()),
        Box::new(OzaBoost::new(schema(), factory.clone(), 3, true, 1).unwrap()),
        Box::new(OneVsRest::new(schema(), factory.clone(), 1).unwrap()),
        Box::new(DriftReset::new(schema(), factory.clone(), detector, true, 1).unwrap()),
        Box::new(ResamplingBag::new(schema(), factory.clone(), 3, Resampling::Over, 0.9, 1).unwrap()),
        Box::new(ResamplingBag::new(schema(), factory.clone(), 3, Resampling::Under, 0.99, 1).unwrap()),
        Box::new(DynamicWeightedMajority::new(schema(), factory.clone(), WEIGHTED, 1).unwrap()),
    ]
}

/// Returns the votes of a plain loop: every row is voted for, then learnt alone.
fn row_by_row(learner: &mut dyn Learner, x: &[f64], y: &[i32]) -> Vec<f64> {
    let d = schema().n_attributes();
    let mut votes = vec![0.0; y.len() * N_CLASSES];
    for (row, (votes, &label)) in votes.chunks_exact_mut(N_CLASSES).zip(y).enumerate() {
        learner.vote(&x[row * d..(row + 1) * d], votes);
        if label >= 0 {
            learner.learn(&x[row * d..(row + 1) * d], label as usize, 1.0);
        }
    }
    votes
}

#[test]
fn blocks_equal_row_by_row_across_drifts() {
    let (x, y) = rows(4_000);
    let step = Step { x: &x, y: &y, test: None, weight: None };
    for factory in [Arc::new(small_tree) as Arc<dyn Factory>, Arc::new(bayes)] {
        for (mut plain, mut whole) in all(&factory).into_iter().zip(all(&factory)) {
            let expected = row_by_row(plain.as_mut(), &x, &y);
            let (mut predictions, mut votes) = (vec![0; y.len()], vec![f64::NAN; expected.len()]);
            whole.interleave(&step, &mut predictions, Some(&mut votes));
            assert!(expected.iter().zip(&votes).all(|(a, b)| a.to_bits() == b.to_bits()));
            assert!(votes.chunks_exact(N_CLASSES).zip(&predictions).all(|(votes, &p)| find_winner(votes) == p));
            assert_eq!(plain.save(), whole.save());
        }
    }
}

/// Runs a stream in batches of a size in a number of threads; returns votes, predictions and the state.
fn run_in_threads(
    learner: &mut dyn Learner,
    step: &Step<'_>,
    n_threads: usize,
    size: usize,
) -> (Vec<u64>, Vec<i32>, Vec<u8>) {
    set_budget((n_threads > 0).then(|| Arc::new(ThreadBudget::new(n_threads, true))));
    let (n, d) = (step.y.len(), schema().n_attributes());
    let (mut predictions, mut votes) = (vec![0; n], vec![f64::NAN; n * N_CLASSES]);
    for start in (0..n).step_by(size) {
        let rows = start..n.min(start + size);
        let votes = &mut votes[rows.start * N_CLASSES..rows.end * N_CLASSES];
        learner.interleave(&step.slice(rows.clone(), d), &mut predictions[rows], Some(votes));
    }
    set_budget(None);
    (votes.iter().map(|vote| vote.to_bits()).collect(), predictions, learner.save())
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let (x, y) = rows(6_000);
    let test: Vec<bool> = (0..y.len()).map(|row| row % 7 > 0).collect();
    let weight: Vec<f64> = (0..y.len()).map(|row| (row % 4) as f64).collect();
    let (tree, bayes) = (Arc::new(small_tree) as Arc<dyn Factory>, Arc::new(bayes) as Arc<dyn Factory>);
    let inner = bayes.clone();
    let nested = Arc::new(move |schema: &Schema, seed: u64| -> Result<Box<dyn Learner>, crate::KernelError> {
        Ok(Box::new(OzaBag::new(schema.clone(), inner.clone(), 5, seed)?))
    });
    for factory in [tree, bayes, nested] {
        for (test, weight) in [(None, None), (Some(&test[..]), Some(&weight[..]))] {
            let step = Step { x: &x, y: &y, test, weight };
            let alone = all(&factory).into_iter().map(|mut each| run_in_threads(each.as_mut(), &step, 0, y.len()));
            for (which, expected) in alone.enumerate() {
                for (n_threads, size) in [(1, 6_000), (2, 6_000), (3, 2_500), (8, 6_000)] {
                    let mut learner = all(&factory).swap_remove(which);
                    let found = run_in_threads(learner.as_mut(), &step, n_threads, size);
                    assert!(found == expected, "{which} in {n_threads} threads, batches of {size}");
                }
            }
        }
    }
}

#[test]
fn a_recheck_equals_voting_learning_and_voting_again() {
    let (x, y) = rows(3_000);
    let test: Vec<bool> = (0..y.len()).map(|row| row % 7 > 0).collect();
    let weight: Vec<f64> = (0..y.len()).map(|row| (row % 4) as f64).collect();
    let step = Step { x: &x, y: &y, test: Some(&test), weight: Some(&weight) };
    let d = schema().n_attributes();
    for build in [small_tree, bayes] {
        let (mut plain, mut whole) = (build(&schema(), 1).unwrap(), build(&schema(), 1).unwrap());
        let (mut votes, mut rechecked) = (vec![f64::NAN; y.len() * N_CLASSES], vec![0; y.len()]);
        whole.recheck(&step, &mut votes, &mut rechecked);
        let mut expected = [0.0; N_CLASSES];
        for (row, votes) in votes.chunks_exact(N_CLASSES).enumerate() {
            let values = &x[row * d..(row + 1) * d];
            expected.fill(0.0);
            if test[row] {
                plain.vote(values, &mut expected);
            }
            assert_eq!(expected, votes);
            if step.weight(row) > 0.0 {
                plain.learn(values, y[row] as usize, weight[row]);
            }
            plain.vote(values, &mut expected);
            assert_eq!(rechecked[row], if y[row] < 0 { ABSTAINED } else { find_winner(&expected) });
        }
        assert_eq!(plain.save(), whole.save());
    }
}

#[test]
fn drifts_replace_members() {
    let (x, y) = rows(4_000);
    let factory: Arc<dyn Factory> = Arc::new(bayes);
    let fact = |learner: &dyn Learner, name| learner.facts().into_iter().find(|fact| fact.0 == name).unwrap().1;
    let mut learners = all(&factory);
    for learner in &mut learners {
        row_by_row(learner.as_mut(), &x, &y);
    }
    assert!(fact(learners[1].as_ref(), "n_replaced") > 0);
    assert!(fact(learners[5].as_ref(), "n_drifts") > 0);
}

#[test]
fn a_saved_ensemble_resumes_and_damaged_bytes_are_refused() {
    let (x, y) = rows(3_000);
    let half = y.len() / 2 * schema().n_attributes();
    let factory: Arc<dyn Factory> = Arc::new(small_tree);
    for (mut first, mut second) in all(&factory).into_iter().zip(all(&factory)) {
        row_by_row(first.as_mut(), &x[..half], &y[..y.len() / 2]);
        let state = first.save();
        for cut in [0, 8, state.len() / 2, state.len() - 1] {
            assert!(second.load(&state[..cut]).is_err());
        }
        second.load(&state).unwrap();
        let rest = (&x[half..], &y[y.len() / 2..]);
        assert_eq!(row_by_row(first.as_mut(), rest.0, rest.1), row_by_row(second.as_mut(), rest.0, rest.1));
        assert_eq!(first.save(), second.save());
    }
}
