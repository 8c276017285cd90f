//! Invariants of all detectors.

use super::*;
use crate::randomness::{Draws, Purpose};

const LEVELS: DdmOptions = DdmOptions { warning: 2.0, drift: 3.0, grace_period: 30 };

fn build(direction: Direction) -> Vec<Box<dyn Detector>> {
    let page_hinkley =
        PageHinkleyOptions { delta: 0.005, threshold: 20.0, factor: 0.9999, grace_period: 30, direction };
    let rddm = RddmOptions { levels: LEVELS, max_concept: 900, min_stable: 300, max_warning: 100 };
    let (warning, drift, newest_weight) = (0.005, 0.001, 0.05);
    let ewma = EwmaChartOptions { newest_weight: 0.2, run_length: 400, grace_period: 30 };
    vec![
        Box::new(Adwin::with_settings(crate::adaptive_window::Settings::new(0.002), direction).unwrap()),
        Box::new(Cusum::new(CusumOptions { delta: 0.005, threshold: 20.0, grace_period: 30, direction }).unwrap()),
        Box::new(Ddm::new(LEVELS).unwrap()),
        Box::new(Eddm::new(EddmOptions { warning: 0.95, drift: 0.9, grace_period: 30 }).unwrap()),
        Box::new(EwmaChart::new(ewma).unwrap()),
        Box::new(Fhddm::new(FhddmOptions { delta: 1e-6, width: 100 }).unwrap()),
        Box::new(HddmA::new(HddmAOptions { warning, drift, direction }).unwrap()),
        Box::new(HddmW::new(HddmWOptions { warning, drift, newest_weight, direction }).unwrap()),
        Box::new(Kswin::new(KswinOptions { delta: 0.005, width: 100, n_newest: 30, seed: 1 }).unwrap()),
        Box::new(MeanDetector::new(Box::new(PageHinkley::new(page_hinkley).unwrap()), true).unwrap()),
        Box::new(MeanDetector::new(Box::new(PageHinkley::new(page_hinkley).unwrap()), false).unwrap()),
        Box::new(PageHinkley::new(page_hinkley).unwrap()),
        Box::new(Rddm::new(rddm).unwrap()),
        Box::new(Stepd::new(StepdOptions { width: 30, warning: 1.96, drift: 2.97, direction }).unwrap()),
    ]
}

/// Returns errors at a rate that changes after every `every` values.
fn errors(n: usize, every: usize) -> Vec<f64> {
    let draws = Draws::new(5, Purpose::named("errors"), 0);
    let rate = |row: usize| [0.1, 0.5][row / every % 2];
    (0..n).map(|row| f64::from(u8::from(draws.uniform(row as u64) < rate(row)))).collect()
}

#[test]
fn the_signals_and_the_state_do_not_depend_on_how_a_column_is_cut() {
    let values = errors(6_000, 1_500);
    for direction in [Direction::Up, Direction::Down, Direction::Both] {
        let detectors = build(direction).into_iter().zip(build(direction)).zip(build(direction));
        for ((mut whole, mut cut), mut single) in detectors {
            let expected = update_column(&mut *whole, &values).unwrap();
            assert!(expected.contains(&(Signal::Drift as u8)) || whole.name().contains("OfMean"), "{}", whole.name());
            let parts: Vec<u8> = values.chunks(37).flat_map(|part| update_column(&mut *cut, part).unwrap()).collect();
            let one_by_one: Vec<u8> = values.iter().map(|&value| single.update(value) as u8).collect();
            assert_eq!(expected, parts);
            assert_eq!(expected, one_by_one);
            assert_eq!(whole.save(), cut.save());
            assert_eq!(whole.save(), single.save());
        }
    }
}

#[test]
fn a_saved_detector_resumes_bit_for_bit_and_damage_is_refused() {
    let values = errors(3_000, 700);
    let (before, after) = values.split_at(1_234);
    for (mut detector, mut copy) in build(Direction::Both).into_iter().zip(build(Direction::Both)) {
        update_column(&mut *detector, before).unwrap();
        let saved = detector.save();
        copy.load(&saved).unwrap();
        assert_eq!(update_column(&mut *copy, after), update_column(&mut *detector, after));
        let now = copy.save();
        for i in (0..saved.len()).step_by(7) {
            let mut damaged = saved.clone();
            damaged[i] ^= 1;
            assert!(copy.load(&damaged).is_err() && copy.load(&saved[..i]).is_err());
        }
        assert_eq!(now, copy.save());
        copy.reset();
        detector.reset();
        assert_eq!(copy.save(), detector.save());
    }
}

#[test]
fn a_state_of_other_options_is_refused() {
    for (mut detector, other) in build(Direction::Up).into_iter().zip(build(Direction::Down)) {
        let same = !["Adwin", "Cusum", "HddmA", "HddmW", "OfMean", "PageHinkley", "Stepd"]
            .iter()
            .any(|kind| detector.name().starts_with(kind));
        assert_eq!(detector.load(&other.save()).is_ok(), same, "{}", detector.name());
    }
}

#[test]
fn a_mean_over_all_values_outlasts_drifts_and_refuses_the_state_of_one_that_restarts() {
    let page_hinkley =
        PageHinkleyOptions { delta: 0.001, threshold: 2.5, factor: 1.0, grace_period: 30, direction: Direction::Both };
    let build = |restarts| MeanDetector::new(Box::new(PageHinkley::new(page_hinkley).unwrap()), restarts).unwrap();
    let values = errors(6_000, 1_500);
    let (mut whole, mut renewed, mut other) = (build(false), build(false), build(true));
    let expected = update_column(&mut whole, &values).unwrap();
    let signals = values.iter().map(|&value| {
        let signal = renewed.update(value);
        if signal == Signal::Drift {
            renewed.restart();
        }
        signal as u8
    });
    assert_eq!(expected, signals.collect::<Vec<_>>());
    assert!(expected.contains(&(Signal::Drift as u8)));
    assert_ne!(expected, update_column(&mut other, &values).unwrap());
    assert!(other.load(&whole.save()).is_err() && whole.load(&other.save()).is_err());
}

#[test]
fn a_trace_has_the_signals_of_an_update_and_drifts_where_the_statistic_exceeds_the_threshold() {
    let values = errors(6_000, 1_500);
    let mut names = vec![];
    for direction in [Direction::Up, Direction::Down, Direction::Both] {
        for (mut detector, mut traced) in build(direction).into_iter().zip(build(direction)) {
            if !detector.has_level() {
                let before = traced.save();
                assert!(trace_column(&mut *traced, &values).is_err() && traced.save() == before);
                continue;
            }
            names.push(detector.name());
            let trace = trace_column(&mut *traced, &values).unwrap();
            assert_eq!(trace.signals, update_column(&mut *detector, &values).unwrap());
            assert_eq!(traced.save(), detector.save());
            for ((&signal, statistic), threshold) in trace.signals.iter().zip(trace.statistic).zip(trace.threshold) {
                assert_eq!(signal == Signal::Drift as u8, statistic > threshold);
            }
        }
    }
    names.sort_unstable();
    names.dedup();
    let expected = ["Cusum detector", "Ddm detector", "EwmaChart detector", "OfMean detector", "PageHinkley detector"];
    assert_eq!(names, expected);
}

#[test]
fn memory_is_bounded() {
    for mut detector in build(Direction::Both) {
        let values = errors(20_000, 20_000);
        update_column(&mut *detector, &values[..5_000]).unwrap();
        let n_bytes = detector.n_bytes();
        update_column(&mut *detector, &values[5_000..]).unwrap();
        assert!(detector.n_bytes() <= n_bytes + 512, "{}", detector.name());
    }
}

#[test]
fn a_value_outside_the_domain_is_refused_and_nothing_changes() {
    for mut detector in build(Direction::Both) {
        let before = detector.save();
        let mut values = vec![0.0; 9];
        values[7] = if detector.domain() == Domain::Finite { f64::NAN } else { 1.5 };
        assert!(matches!(update_column(&mut *detector, &values), Err(KernelError::Monitored { row: 7, .. })));
        assert_eq!(before, detector.save());
    }
}

#[test]
fn rises_of_values_are_falls_of_their_complements() {
    let values = errors(6_000, 1_500);
    let complements: Vec<f64> = values.iter().map(|value| 1.0 - value).collect();
    for (mut up, mut down) in build(Direction::Up).into_iter().zip(build(Direction::Down)) {
        if ["HddmW", "Cusum", "PageHinkley", "Stepd"].iter().any(|kind| up.name().starts_with(kind)) {
            let signals = update_column(&mut *down, &complements).unwrap();
            assert_eq!(update_column(&mut *up, &values).unwrap(), signals, "{}", up.name());
        }
    }
}
