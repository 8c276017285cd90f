//! Tests of the baselines.

use super::*;
use crate::randomness::{Draws, Purpose};

#[test]
fn the_baselines_predict_before_they_see_the_label_and_learn_what_the_fold_learns() {
    let truth = [1, 1, 0, 0, 0, 1];
    let labels = [1, 1, 0, UNLABELLED, 0, 1];
    let weight = [1.0, 0.0, 1.0, 1.0, 1.0, 1.0];
    let hits = Baselines::new(2).update(&truth, &labels, Some(&weight)).unwrap();
    assert_eq!(hits.majority, [false, true, false, true, true, false]);
    assert_eq!(hits.no_change, [false, true, false, true, true, false]);
}

#[test]
fn spans_have_the_majority_of_counting_row_by_row() {
    let draws = Draws::new(1, Purpose::named("labels"), 0);
    for (n_classes, share) in [(2, 0.5), (2, 0.9), (5, 0.3)] {
        let labels: Vec<i32> = (0..5000)
            .map(|row| if draws.uniform(row) < share { 1 } else { draws.below(row, n_classes + 1) as i32 - 1 })
            .collect();
        let weights: Vec<f64> = (0..5000).map(|row| (draws.at(row) % 7) as f64 / 3.0).collect();
        for weight in [None, Some(&weights[..])] {
            let (mut spans, mut plain) = (Majority::new(n_classes as usize), Majority::new(n_classes as usize));
            let mut predictions = vec![];
            spans.run(&labels, weight, |span, class| predictions.extend(span.map(|_| class)));
            for (row, &class) in predictions.iter().enumerate() {
                assert_eq!(class, plain.class());
                plain.count(labels[row], weight.map_or(1.0, |weight| weight[row]));
            }
            assert_eq!(spans.weights(), plain.weights());
        }
    }
}

#[test]
fn saved_baselines_resume_bit_for_bit_and_damage_is_refused() {
    let (truth, labels) = ([1, 1, 0, 0, 2, 1], [1, 1, 0, UNLABELLED, 2, 1]);
    let weight = [1.0, 0.5, 1.25, 1.0, 1.0, 0.1];
    for cut in 0..=truth.len() {
        let mut first = Baselines::new(3);
        first.update(&truth[..cut], &labels[..cut], Some(&weight[..cut])).unwrap();
        let saved = first.save();
        let mut second = Baselines::new(3);
        second.load(&saved).unwrap();
        let rest =
            |baselines: &mut Baselines| baselines.update(&truth[cut..], &labels[cut..], Some(&weight[cut..])).unwrap();
        assert_eq!(rest(&mut first), rest(&mut second));
        assert_eq!(first.save(), second.save());
        assert!(Baselines::new(2).load(&saved).is_err());
        for i in 0..saved.len() {
            let mut damaged = saved.clone();
            damaged[i] ^= 4;
            assert!(second.load(&damaged).is_err());
        }
        assert_eq!(first.save(), second.save());
    }
}

#[test]
fn a_label_that_is_no_class_is_refused() {
    assert!(matches!(Baselines::new(2).update(&[0], &[2], None), Err(KernelError::Label { label: 2, .. })));
    assert!(Baselines::new(2).update(&[0], &[], None).is_err());
}

#[test]
fn labels_are_counted_piece_by_piece() {
    let labels = [0, 1, -1, 1, 2, 2, 0, 7];
    assert_eq!(count_labels(&labels, &[3, 3, 8], 3), [1, 1, 1, 0, 0, 0, 0, 0, 1, 1, 1, 2]);
    assert!(count_labels(&labels, &[], 3).is_empty());
    assert_eq!(count_labels(&labels, &[99], 1), [6, 2]);
    assert_eq!(count_labels(&labels, &[99], 9)[..4], [1, 2, 2, 2]);
}

fn make_rows(n: usize, n_classes: u64, share: f64) -> (Vec<i32>, Vec<i32>, Vec<f64>, Vec<f64>) {
    let draws = Draws::new(7, Purpose::named("rows"), n_classes);
    let truth: Vec<i32> = (0..n as u64).map(|row| draws.below(row + row / 700, n_classes) as i32).collect();
    let labels = truth
        .iter()
        .enumerate()
        .map(|(row, &class)| if draws.within(1).uniform(row as u64) < share { class } else { UNLABELLED });
    let labels = labels.collect();
    // Dyadic weights: sums are exact in any order.
    let weight = (0..n as u64).map(|row| draws.within(2).below(row, 5) as f64 / 4.0).collect();
    let time = (0..n as u64).map(|row| row as f64 / 10.0 + draws.within(3).uniform(row)).collect();
    (truth, labels, weight, time)
}

fn build_all(n_classes: usize) -> Vec<Box<dyn MajorityBaseline>> {
    let settings = crate::adaptive_window::Settings::new(0.1);
    vec![
        Box::new(RecentLabels::new(n_classes, 1).unwrap()),
        Box::new(RecentLabels::new(n_classes, 150).unwrap()),
        Box::new(TimedLabels::new(n_classes, 20.0)),
        Box::new(FadingLabels::new(n_classes, 0.5, 1)),
        Box::new(FadingLabels::new(n_classes, 0.99, 1)),
        Box::new(FadingLabels::new(n_classes, 0.9, 10)),
        Box::new(AdaptiveLabels::new(n_classes, settings).unwrap()),
    ]
}

#[test]
fn how_rows_are_cut_and_whether_states_are_saved_changes_no_hit() {
    for n_classes in [2, 3, 40] {
        for share in [0.6, 1.0] {
            let (truth, labels, weight, time) = make_rows(3_000, n_classes, share);
            for weight in [None, Some(&weight[..])] {
                let rows = LabelRows { truth: &truth, labels: &labels, weight, time: Some(&time) };
                let states = build_all(n_classes as usize).into_iter().zip(build_all(n_classes as usize));
                for (index, (mut whole, mut cut)) in states.enumerate() {
                    let expected = whole.update(&rows).unwrap();
                    assert!(expected.contains(&true) && expected.contains(&false));
                    let mut hits = vec![];
                    for start in (0..3_000).step_by(47) {
                        hits.extend(cut.update(&rows.slice(start..(start + 47).min(3_000))).unwrap());
                        let saved = cut.save();
                        cut = build_all(n_classes as usize).swap_remove(index);
                        cut.load(&saved).unwrap();
                    }
                    assert_eq!(expected, hits, "{index}");
                    assert_eq!(whole.save(), cut.save());
                }
            }
        }
    }
}

#[test]
fn a_window_of_labels_has_the_majority_of_counting_its_labels() {
    for (n_classes, width) in [(2, 1), (2, 150), (5, 30), (40, 700)] {
        let (truth, _, _, _) = make_rows(3_000, n_classes, 1.0);
        let rows = LabelRows { truth: &truth, labels: &truth, weight: None, time: None };
        let hits = RecentLabels::new(n_classes as usize, width).unwrap().update(&rows).unwrap();
        for row in 0..truth.len() {
            let window = &truth[row.saturating_sub(width)..row];
            let count = |class: i32| window.iter().filter(|&&label| label == class).count();
            let most = (0..n_classes as i32).rev().max_by_key(|&class| count(class));
            assert_eq!(hits[row], !window.is_empty() && most == Some(truth[row]), "row {row}");
        }
    }
}

#[test]
fn fading_without_loss_counts_all_labels() {
    let (truth, labels, weight, _) = make_rows(3_000, 3, 0.7);
    let rows = LabelRows { truth: &truth, labels: &labels, weight: Some(&weight), time: None };
    let expected = Baselines::new(3).update(&truth, &labels, Some(&weight)).unwrap();
    assert_eq!(FadingLabels::new(3, 1.0, 1).update(&rows).unwrap(), expected.majority);
    let fastest = FadingLabels::new(3, f64::MIN_POSITIVE, 1).update(&LabelRows { weight: None, ..rows }).unwrap();
    assert_eq!(fastest, Baselines::new(3).update(&truth, &labels, None).unwrap().no_change);
}

#[test]
fn an_adaptive_window_forgets_labels_after_a_change() {
    let truth: Vec<i32> = (0..4_000).map(|row| i32::from(row >= 2_000)).collect();
    let rows = LabelRows { truth: &truth, labels: &truth, weight: None, time: None };
    let settings = crate::adaptive_window::Settings::new(0.002);
    let hits = AdaptiveLabels::new(2, settings).unwrap().update(&rows).unwrap();
    let n_missed = hits.iter().filter(|&&hit| !hit).count();
    assert!(n_missed < 100, "{n_missed}");
    assert_eq!(
        Baselines::new(2).update(&truth, &truth, None).unwrap().majority.iter().filter(|&&hit| !hit).count(),
        2_001
    );
}

#[test]
fn damaged_states_and_bad_columns_are_refused() {
    let (truth, labels, weight, time) = make_rows(500, 3, 0.8);
    let rows = LabelRows { truth: &truth, labels: &labels, weight: Some(&weight), time: Some(&time) };
    for (mut state, mut other) in build_all(3).into_iter().zip(build_all(2)) {
        state.update(&rows).unwrap();
        let saved = state.save();
        for i in (0..saved.len()).step_by(11) {
            let mut damaged = saved.clone();
            damaged[i] ^= 4;
            assert!(state.load(&damaged).is_err() && state.load(&saved[..i]).is_err());
        }
        assert_eq!(state.save(), saved);
        assert!(other.load(&saved).is_err());
        assert!(other.update(&rows).is_err());
        assert!(state.update(&LabelRows { time: Some(&time[1..]), ..rows }).is_err());
    }
    assert!(RecentLabels::new(2, 0).is_err());
}
