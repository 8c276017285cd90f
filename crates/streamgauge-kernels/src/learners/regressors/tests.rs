//! Invariants of all regressors, and what each of them learns.

use super::*;
use crate::randomness::{Draws, Purpose};

const N: usize = 600;

struct Sample {
    x: Vec<f64>,
    y: Vec<f64>,
    test: Vec<bool>,
    weight: Vec<f64>,
}

impl Sample {
    /// Creates rows of two numbers and a nominal value; some values and targets are missing.
    fn new() -> Self {
        let draws = Draws::new(3, Purpose::named("regressors"), 0);
        let pick = |row: usize, k: u64| draws.within(row as u64).uniform(k);
        let (mut x, mut y) = (vec![], vec![]);
        for row in 0..N {
            let (a, b, c) = (pick(row, 0), 100.0 * pick(row, 1), (3.0 * pick(row, 2)).floor());
            y.push(if row % 11 == 5 { f64::NAN } else { 5e6 + 40.0 * a - b + 10.0 * c });
            x.extend([a, if row % 13 == 7 { f64::NAN } else { b }, c]);
        }
        let test = (0..N).map(|row| pick(row, 3) < 0.9).collect();
        let weight = (0..N).map(|row| (3.0 * pick(row, 4)).floor()).collect();
        Self { x, y, test, weight }
    }

    fn step(&self, rows: std::ops::Range<usize>) -> NumberStep<'_> {
        NumberStep {
            x: &self.x[3 * rows.start..3 * rows.end],
            y: &self.y[rows.clone()],
            test: Some(&self.test[rows.clone()]),
            weight: Some(&self.weight[rows]),
        }
    }
}

fn build_all() -> Vec<Box<dyn Regressor>> {
    let n_values = vec![0, 0, 3];
    let options = LinearRegressionOptions { learning_rate: 0.05, l2: 1e-4, standardise: true };
    vec![
        Box::new(MeanTarget::new(n_values.clone())),
        Box::new(LastTarget::new(n_values.clone())),
        Box::new(TargetMemoriser::new(n_values.clone())),
        Box::new(LinearRegression::new(n_values.clone(), options)),
        Box::new(LinearRegression::new(n_values, LinearRegressionOptions { standardise: false, ..options })),
    ]
}

fn bits(predictions: &[f64]) -> Vec<u64> {
    predictions.iter().map(|prediction| prediction.to_bits()).collect()
}

#[test]
fn parts_timed_rows_and_restored_states_give_the_same_bits() {
    let sample = Sample::new();
    for index in 0..build_all().len() {
        let (mut whole, mut parts, mut timed) =
            (build_all().remove(index), build_all().remove(index), build_all().remove(index));
        let (mut expected, mut found, mut with_times) = (vec![0.0; N], vec![0.0; N], vec![0.0; N]);
        sample.step(0..N).check(3).unwrap();
        whole.interleave(&sample.step(0..N), &mut expected);
        interleave_numbers_timed(timed.as_mut(), &sample.step(0..N), &mut with_times);
        for start in (0..N).step_by(77) {
            let stop = N.min(start + 77);
            parts.interleave(&sample.step(start..stop), &mut found[start..stop]);
            let mut restored = build_all().remove(index);
            restored.load(&parts.save()).unwrap();
            parts = restored;
        }
        assert_eq!(bits(&expected), bits(&found), "{index}");
        assert_eq!(bits(&expected), bits(&with_times), "{index}");
        assert_eq!(whole.save(), parts.save(), "{index}");
        assert!(parts.load(&whole.save()[..20]).is_err());
    }
}

#[test]
fn a_linear_target_is_found_and_the_others_predict_what_they_say() {
    let sample = Sample::new();
    let x = [0.5, 50.0, 1.0];
    let mut predictions = vec![];
    for mut learner in build_all() {
        for _ in 0..20 {
            let (step, mut unused) = (NumberStep { test: None, ..sample.step(0..N) }, vec![0.0; N]);
            learner.interleave(&step, &mut unused);
        }
        let mut prediction = [0.0];
        learner.predict(&x, &mut prediction);
        predictions.push(prediction[0]);
    }
    let known = || sample.y.iter().zip(&sample.weight).filter(|(y, weight)| !y.is_nan() && **weight > 0.0);
    let total: f64 = known().map(|(_, weight)| weight).sum();
    let mean = known().map(|(y, weight)| (y - 5e6) * weight).sum::<f64>() / total + 5e6;
    assert!((predictions[0] - mean).abs() < 1e-6);
    assert_eq!(predictions[1], *known().next_back().unwrap().0);
    assert_eq!(predictions[2].to_bits(), predictions[0].to_bits());
    assert!((predictions[3] - (5e6 + 20.0 - 50.0 + 10.0)).abs() < 4.0, "{}", predictions[3]);
}

#[test]
fn large_numbers_and_steps_never_diverge() {
    let options = LinearRegressionOptions { learning_rate: 1e6, l2: 0.0, standardise: false };
    let mut learner = LinearRegression::new(vec![0], options);
    for row in 0..1_000 {
        learner.learn(&[1e6 * f64::from(row % 7)], f64::from(row % 7), 1e3);
    }
    let mut prediction = [0.0];
    learner.predict(&[3e6], &mut prediction);
    assert!((prediction[0] - 3.0).abs() < 3.0, "{}", prediction[0]);
}
