//! Properties of an adaptive forest, whatever its members are.

use std::sync::Arc;

use super::*;
use crate::learners::naive_bayes;
use crate::randomness::{Draws, Purpose};
use crate::threads::{ThreadBudget, set_budget};

const OPTIONS: AdaptiveForestOptions = AdaptiveForestOptions {
    n_members: 5,
    mean_weight: Some(6.0),
    member_subspace: None,
    warning_delta: Some(0.01),
    drift_delta: Some(0.001),
    weighted_votes: true,
    weighted_background: false,
    learns_twice: false,
};

fn schema() -> Schema {
    Schema { n_values: vec![0, 0, 3, 0], n_classes: 2 }
}

fn bayes() -> Arc<dyn Factory> {
    Arc::new(|schema: &Schema, _seed: u64| -> Result<Box<dyn Learner>, KernelError> { Ok(naive_bayes(schema.clone())) })
}

/// Returns rows whose class depends on the first number; reversed in the second half.
fn rows(n: usize) -> (Vec<f64>, Vec<i32>) {
    let draws = Draws::new(3, Purpose::named("rows"), 0);
    let (mut x, mut y) = (vec![], vec![]);
    for row in 0..n {
        let row_draws = draws.within(row as u64);
        let values = [row_draws.uniform(0), row_draws.uniform(1), row_draws.below(2, 3) as f64, row_draws.uniform(3)];
        y.push(i32::from((values[0] > 0.5) != (row > n / 2)));
        x.extend(values);
    }
    (x, y)
}

fn run(ensemble: &mut AdaptiveForest, x: &[f64], y: &[i32]) -> Vec<i32> {
    let mut predictions = vec![0; y.len()];
    ensemble.interleave(&Step { x, y, test: None, weight: None }, &mut predictions, None);
    predictions
}

fn fact(ensemble: &AdaptiveForest, name: &str) -> u64 {
    ensemble.facts().into_iter().find(|fact| fact.0 == name).unwrap().1
}

#[test]
fn members_are_replaced_after_a_drift_and_only_then() {
    let (x, y) = rows(6_000);
    let forest = |options| {
        let mut forest = adaptive_random_forest(schema(), options, HoeffdingTreeOptions::default(), 2, 1).unwrap();
        let predictions = run(&mut forest, &x, &y);
        let hits = predictions[4_500..].iter().zip(&y[4_500..]).filter(|(a, b)| a == b).count();
        (fact(&forest, "n_drifts"), fact(&forest, "n_warnings"), hits as f64 / 1_500.0)
    };
    let (n_drifts, n_warnings, accuracy) = forest(OPTIONS);
    assert!(n_drifts >= 3 && n_warnings >= 3 && accuracy > 0.9, "{n_drifts} {n_warnings} {accuracy}");
    let (n_drifts, n_warnings, stubborn) =
        forest(AdaptiveForestOptions { warning_delta: None, drift_delta: None, ..OPTIONS });
    assert_eq!((n_drifts, n_warnings), (0, 0));
    assert!(stubborn < accuracy - 0.005, "{stubborn} {accuracy}");
}

#[test]
fn members_have_distinct_subspaces_unless_they_use_all_attributes() {
    let seen = |size: Option<usize>| {
        let options = AdaptiveForestOptions { member_subspace: size, ..OPTIONS };
        let patches = streaming_random_patches(schema(), options, bayes(), 1).unwrap();
        patches.members.iter().map(|member| member.model().attributes.clone()).collect::<Vec<_>>()
    };
    let pairs = seen(Some(2));
    for (i, pair) in pairs.iter().enumerate() {
        assert_eq!(pair.as_ref().map(Vec::len), Some(2));
        assert!(pairs[..i].iter().all(|other| other != pair));
    }
    assert!(seen(Some(4)).iter().chain(&seen(None)).all(Option::is_none));
    // There are only four subspaces of three, so that the fifth member shares one.
    assert_eq!(seen(Some(3)).len(), 5);
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let (x, y) = rows(9_000);
    let test: Vec<bool> = (0..y.len()).map(|row| row % 7 > 0).collect();
    let weight: Vec<f64> = (0..y.len()).map(|row| (row % 3) as f64).collect();
    let options = AdaptiveForestOptions { member_subspace: Some(3), ..OPTIONS };
    for (test, weight) in [(None, None), (Some(&test[..]), Some(&weight[..]))] {
        let run = |patches: bool, n_threads: usize, size: usize| {
            set_budget((n_threads > 0).then(|| Arc::new(ThreadBudget::new(n_threads, true))));
            let mut forest = if patches {
                streaming_random_patches(schema(), options, bayes(), 1).unwrap()
            } else {
                adaptive_random_forest(schema(), OPTIONS, HoeffdingTreeOptions::default(), 2, 1).unwrap()
            };
            let (mut predictions, mut votes) = (vec![0; y.len()], vec![f64::NAN; 2 * y.len()]);
            for start in (0..y.len()).step_by(size) {
                let rows = start..y.len().min(start + size);
                let step = Step { x: &x, y: &y, test, weight }.slice(rows.clone(), 4);
                forest.interleave(
                    &step,
                    &mut predictions[rows.clone()],
                    Some(&mut votes[2 * rows.start..2 * rows.end]),
                );
            }
            set_budget(None);
            assert!(fact(&forest, "n_drifts") > 0);
            (votes.iter().map(|vote| vote.to_bits()).collect::<Vec<_>>(), predictions, forest.save())
        };
        for patches in [false, true] {
            let expected = run(patches, 0, 9_000);
            for (n_threads, size) in [(1, 9_000), (2, 9_000), (3, 4_100), (8, 9_000)] {
                assert!(run(patches, n_threads, size) == expected, "{n_threads} threads, batches of {size}");
            }
        }
    }
}

#[test]
fn a_saved_forest_resumes_and_damaged_bytes_change_nothing() {
    let (x, y) = rows(4_000);
    let options =
        AdaptiveForestOptions { member_subspace: Some(3), weighted_background: true, learns_twice: true, ..OPTIONS };
    let build = |seed| streaming_random_patches(schema(), options, bayes(), seed).unwrap();
    let mut first = build(1);
    run(&mut first, &x[..4 * 2_200], &y[..2_200]);
    let saved = first.save();
    let mut second = build(2);
    second.load(&saved).unwrap();
    assert_eq!(second.save(), saved);
    assert!(second.load(&saved[..saved.len() - 9]).is_err());
    assert!(
        adaptive_random_forest(schema(), OPTIONS, HoeffdingTreeOptions::default(), 2, 1).unwrap().load(&saved).is_err()
    );
    let (x, y) = (&x[4 * 2_200..], &y[2_200..]);
    assert_eq!(run(&mut first, x, y), run(&mut second, x, y));
    assert_eq!(first.save(), second.save());
}
