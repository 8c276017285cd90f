//! Invariants of all kinds of forgetting.

use super::bucket_tally::{BucketTally, add_rows};
use super::*;
use crate::adaptive_window::{AdaptiveWindow, Settings};
use crate::randomness::{Draws, Purpose};

const N_CLASSES: usize = 3;

struct Sample {
    y_true: Vec<i32>,
    y_pred: Vec<i32>,
    majority_hit: Vec<bool>,
    no_change_hit: Vec<bool>,
    weight: Option<Vec<f64>>,
    votes: Vec<f64>,
    time: Vec<f64>,
}

impl Sample {
    /// Creates rows whose error rate jumps half-way; weights are omitted, whole, or fractional.
    fn new(n: usize, weights: &str) -> Self {
        let draws = Draws::new(7, Purpose::named("sample"), 0);
        let pick = |row: usize, k: u64| draws.within(row as u64).uniform(k);
        let y_true: Vec<i32> = (0..n).map(|row| draws.below(row as u64, N_CLASSES as u64) as i32).collect();
        let wrong = |row: usize| pick(row, 1) < if row < n / 2 { 0.1 } else { 0.5 };
        let y_pred = (0..n).map(|row| if wrong(row) { (y_true[row] + 2) % 4 - 1 } else { y_true[row] }).collect();
        let weight = match weights {
            "none" => None,
            "whole" => Some((0..n).map(|row| (pick(row, 2) * 3.0).floor()).collect()),
            _ => Some((0..n).map(|row| pick(row, 2)).collect()),
        };
        let majority_hit = (0..n).map(|row| pick(row, 3) < 0.4).collect();
        let no_change_hit = (0..n).map(|row| pick(row, 4) < 0.3).collect();
        // Coarse votes, so that some are tied; some rows have none.
        let votes = (0..n * N_CLASSES).map(|i| (pick(i, 5) * 8.0).floor() * f64::from(u8::from(pick(i / 3, 6) < 0.9)));
        let time = (0..n).map(|row| (row / 3) as f64 + pick(row, 7)).collect();
        Self { y_true, y_pred, majority_hit, no_change_hit, weight, votes: votes.collect(), time }
    }

    fn columns(&self, range: std::ops::Range<usize>) -> Columns<'_> {
        Columns {
            y_true: &self.y_true[range.clone()],
            y_pred: &self.y_pred[range.clone()],
            majority_hit: &self.majority_hit[range.clone()],
            no_change_hit: &self.no_change_hit[range.clone()],
            weight: self.weight.as_deref().map(|weight| &weight[range.clone()]),
            votes: Some(&self.votes[range.start * N_CLASSES..range.end * N_CLASSES]),
            time: Some(&self.time[range]),
        }
    }
}

const PLAIN: Statistics =
    Statistics { squared_weight: false, log_loss: false, brier: false, calibration: false, ranks: false };
const EVERYTHING: Statistics =
    Statistics { squared_weight: true, log_loss: true, brier: true, calibration: true, ranks: true };

fn layout(statistics: Statistics, stores_rows: bool) -> Layout {
    Layout::new(Outcomes::new(N_CLASSES).unwrap(), statistics, stores_rows).unwrap()
}

fn plain() -> Layout {
    layout(PLAIN, true)
}

fn settings(max_buckets: usize) -> Settings {
    Settings { delta: 0.002, clock: 32, max_buckets, min_window_length: 5, grace_period: 10 }
}

fn adwin(layout: Layout, max_buckets: usize) -> Adwin {
    Adwin::new(layout, settings(max_buckets)).unwrap()
}

type Build = fn(Statistics) -> Box<dyn Forgetting>;

fn builders() -> Vec<Build> {
    vec![
        |requested| Box::new(Landmark::new(layout(requested, false))),
        |requested| Box::new(Window::new(layout(requested, true), 1).unwrap()),
        |requested| Box::new(Window::new(layout(requested, true), 100).unwrap()),
        |requested| Box::new(Tumbling::new(layout(requested, true), 130).unwrap()),
        |requested| Box::new(TimeWindow::new(layout(requested, true), 30.5)),
        |requested| Box::new(Fading::new(layout(requested, false), 0.99)),
        |requested| Box::new(Fading::new(layout(requested, false), 1e-12)),
        |requested| Box::new(Fading::new(layout(requested, false), 1.0)),
        |requested| Box::new(adwin(layout(requested, false), 5)),
        |requested| Box::new(adwin(layout(requested, false), 1)),
    ]
}

/// Returns the tallies after every 50 rows, given columns of `size` rows.
fn tallies(state: &mut dyn Forgetting, sample: &Sample, size: usize, from: usize) -> Vec<Tallies> {
    let n = sample.y_true.len();
    let mut result = vec![];
    for start in (from..n).step_by(size) {
        let stop = n.min(start + size);
        let reading_rows: Vec<usize> = (start + 1..=stop).filter(|row| row % 50 == 0).map(|row| row - start).collect();
        let tallies = state.update(&sample.columns(start..stop), &reading_rows).unwrap();
        for i in 0..reading_rows.len() {
            let part = |column: &[f64], width: usize| column[i * width..(i + 1) * width].to_vec();
            let (n_sums, n_ranks) = (tallies.sums.len() / reading_rows.len(), tallies.ranks.len() / reading_rows.len());
            // NaN is not equal to itself.
            let ranks = part(&tallies.ranks, n_ranks).into_iter().map(|area| if area.is_nan() { -1.0 } else { area });
            result.push(Tallies {
                n_classes: N_CLASSES,
                confusion: part(&tallies.confusion, N_CLASSES * N_CLASSES),
                abstained: part(&tallies.abstained, N_CLASSES),
                hits: part(&tallies.hits, 2 * N_CLASSES),
                widths: vec![tallies.widths[i]],
                sums: part(&tallies.sums, n_sums),
                ranks: ranks.collect(),
            });
        }
    }
    result
}

#[test]
fn the_cut_into_columns_changes_no_bit() {
    for (weights, requested) in
        [("none", PLAIN), ("whole", PLAIN), ("any", PLAIN), ("none", EVERYTHING), ("any", EVERYTHING)]
    {
        let sample = Sample::new(6_000, weights);
        for build in builders() {
            let whole = tallies(build(requested).as_mut(), &sample, 6_000, 0);
            assert_eq!(whole.len(), 120);
            for size in [1, 77, 1024] {
                assert!(whole == tallies(build(requested).as_mut(), &sample, size, 0), "{weights} {size}");
            }
        }
    }
}

#[test]
fn a_saved_state_resumes_bit_for_bit() {
    for (weights, requested) in [("none", PLAIN), ("whole", PLAIN), ("any", PLAIN), ("any", EVERYTHING)] {
        let sample = Sample::new(6_000, weights);
        for build in builders() {
            let whole = tallies(build(requested).as_mut(), &sample, 6_000, 0);
            for cut in [0, 1, 1_700, 4_100] {
                let mut first = build(requested);
                first.update(&sample.columns(0..cut), &[]).unwrap();
                let saved = first.save();
                let mut second = build(requested);
                second.load(&saved).unwrap();
                assert!(second.save() == saved);
                assert!(whole[cut / 50..] == tallies(second.as_mut(), &sample, 500, cut), "{weights} {cut}");
            }
        }
    }
}

#[test]
fn damaged_or_foreign_bytes_are_refused_and_change_nothing() {
    let sample = Sample::new(3_000, "any");
    for build in builders() {
        let mut state = build(Statistics { ranks: false, ..EVERYTHING });
        state.update(&sample.columns(0..3_000), &[]).unwrap();
        let saved = state.save();
        for end in (0..saved.len()).step_by(997) {
            assert!(state.load(&saved[..end]).is_err());
        }
        assert!(state.load(b"something else").is_err());
        assert!(state.save() == saved);
        assert!(build(PLAIN).load(&saved).is_err());
    }
    assert!(Window::new(plain(), 7).unwrap().load(&Window::new(plain(), 8).unwrap().save()).is_err());
    assert!(Fading::new(plain(), 0.5).load(&Fading::new(plain(), 0.6).save()).is_err());
    assert!(adwin(plain(), 4).load(&adwin(plain(), 5).save()).is_err());
}

#[test]
fn rows_that_left_a_window_leave_nothing_behind() {
    let mut window = Window::new(plain(), 3).unwrap();
    let y = [0, 0, 1, 1, 1];
    let columns = Columns {
        y_true: &y,
        y_pred: &y,
        majority_hit: &[true; 5],
        no_change_hit: &[false; 5],
        weight: Some(&[0.1, 0.2, 0.3, 0.4, 0.5]),
        votes: None,
        time: None,
    };
    let tallies = window.update(&columns, &[5]).unwrap();
    assert_eq!(tallies.confusion, [0.0, 0.0, 0.0, 0.0, 0.3 + 0.4 + 0.5, 0.0, 0.0, 0.0, 0.0]);
    assert_eq!(tallies.widths, [3]);
}

#[test]
fn an_adaptive_window_forgets_what_was_before_a_jump_and_holds_few_bytes() {
    let sample = Sample::new(200_000, "none");
    let mut state = adwin(plain(), 5);
    let result = state.update(&sample.columns(0..200_000), &[99_999, 110_000, 200_000]).unwrap();
    assert!(result.widths[0] > 90_000 && result.widths[1] < 11_000 && result.widths[2] > 90_000, "{:?}", result.widths);
    assert!(state.n_bytes() < 100_000, "{}", state.n_bytes());
}

#[test]
fn a_window_of_zeros_and_ones_is_as_wide_as_one_of_any_numbers() {
    let draws = Draws::new(5, Purpose::named("losses"), 0);
    let rate = |row: u64| if row % 4_000 < 2_000 { 0.1 } else { 0.4 };
    let mut any = AdaptiveWindow::new(settings(5)).unwrap();
    let mut binary = AdaptiveWindow::binary(settings(5)).unwrap();
    for row in 0..20_000 {
        let loss = f64::from(u8::from(draws.uniform(row) < rate(row)));
        assert_eq!(any.extend([loss].into_iter(), &mut ()), binary.extend_binary(&[loss], &mut ()));
        assert!(any.width() == binary.width() && any.total() == binary.total());
    }
    assert!(any.width() < 3_000);
}

#[test]
fn lists_and_tables_tally_the_same() {
    let many = Layout::new(Outcomes::new(40).unwrap(), PLAIN, true).unwrap();
    let codes: Vec<u32> = (0..600_u32).map(|i| (i * i) % 900).collect();
    let weights: Vec<f64> = codes.iter().map(|&code| f64::from(code % 7)).collect();
    let tally = |rows: std::ops::Range<usize>| BucketTally::new(many, &codes[rows.clone()], Some(&weights[rows]));
    let mut expected = vec![0.0; many.n_codes()];
    add_rows(&mut expected, &codes, Some(&weights));
    let table = BucketTally::from_list(&[], many);
    let merged = tally(0..200).merge_with(tally(200..400), many).merge_with(tally(400..600), many);
    assert!(matches!(merged, BucketTally::List(_)));
    for tally in [table.clone().merge_with(merged.clone(), many), merged.clone().merge_with(table, many), merged] {
        let mut result = vec![0.0; many.n_codes()];
        tally.add_to(&mut result);
        assert_eq!(result, expected);
    }
}

#[test]
fn faults_of_the_columns_are_named_and_change_nothing() {
    let mut state = Landmark::new(plain());
    let good = Columns {
        y_true: &[0, 1],
        y_pred: &[-1, 2],
        majority_hit: &[true; 2],
        no_change_hit: &[true; 2],
        weight: None,
        votes: None,
        time: None,
    };
    let mut fault = |columns: Columns<'_>, reading_rows: &[usize]| state.update(&columns, reading_rows).unwrap_err();
    let label = fault(Columns { y_true: &[0, 3], ..good }, &[]);
    assert_eq!(label, KernelError::Label { row: 1, label: 3, n_classes: 3 });
    let prediction = fault(Columns { y_pred: &[-2, 0], ..good }, &[]);
    assert_eq!(prediction, KernelError::Prediction { row: 0, prediction: -2, n_classes: 3 });
    let weight = fault(Columns { weight: Some(&[1.0, -1.0]), ..good }, &[]);
    assert_eq!(weight, KernelError::Weight { row: 1, weight: -1.0 });
    assert!(matches!(fault(Columns { y_pred: &[0], ..good }, &[]), KernelError::Shape { what: "y_pred", .. }));
    assert!(matches!(fault(good, &[2, 1]), KernelError::Option { option: "reading_rows", .. }));
    assert!(matches!(fault(good, &[3]), KernelError::Option { option: "reading_rows", .. }));
    assert_eq!(state.update(&good, &[0]).unwrap().widths, [0]);
}

/// Rows with two amounts, of any sign and size.
fn amounts(n: usize) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let draws = Draws::new(11, Purpose::named("amounts"), 0);
    let pick = |row: usize, k: u64| draws.within(row as u64).uniform(k);
    let mut columns: Vec<f64> = (0..n).map(|row| pick(row, 0) - 0.5).collect();
    columns.extend((0..n).map(|row| if row % 5 == 0 { -3.0 } else { 1e6 * pick(row, 1) }));
    let weight = (0..n).map(|row| if row % 3 == 0 { 1.0 } else { 2.0 * pick(row, 2) }).collect();
    (columns, weight, (0..n).map(|row| if row < n / 2 { 0.1 } else { 0.8 }).collect())
}

fn build_all_for_amounts() -> Vec<Box<dyn Forgetting>> {
    let layout = Layout::of_amounts(2).unwrap();
    let settings = Settings { delta: 0.002, clock: 32, max_buckets: 5, min_window_length: 5, grace_period: 10 };
    vec![
        Box::new(Landmark::new(layout)),
        Box::new(Window::new(layout, 70).unwrap()),
        Box::new(Tumbling::new(layout, 70).unwrap()),
        Box::new(Fading::new(layout, 0.99)),
        Box::new(TimeWindow::new(layout, 70.0)),
        Box::new(Adwin::new(layout, settings).unwrap()),
    ]
}

#[test]
fn sums_of_amounts_equal_those_of_the_rows_and_do_not_depend_on_the_cut() {
    let n = 900;
    let (columns, weight, losses) = amounts(n);
    let time: Vec<f64> = (0..n).map(|row| row as f64).collect();
    let part = |start: usize, stop: usize| -> Vec<f64> {
        (0..2).flat_map(|k| columns[k * n + start..k * n + stop].iter().copied()).collect()
    };
    for index in 0..build_all_for_amounts().len() {
        let (mut whole, mut cut) = (build_all_for_amounts().remove(index), build_all_for_amounts().remove(index));
        let all =
            AmountColumns { amounts: &columns, n, weight: Some(&weight), losses: Some(&losses), time: Some(&time) };
        let expected = whole.update_amounts(&all, &[130, n]).unwrap();
        let mut found = Sums::default();
        for (start, stop) in [(0, 1), (1, 130), (130, 400), (400, n)] {
            let amounts = part(start, stop);
            let columns = AmountColumns {
                amounts: &amounts,
                n: stop - start,
                weight: Some(&weight[start..stop]),
                losses: Some(&losses[start..stop]),
                time: Some(&time[start..stop]),
            };
            let readings: &[usize] = if stop == 130 || stop == n { &[stop - start] } else { &[] };
            let sums = cut.update_amounts(&columns, readings).unwrap();
            found.widths.extend(sums.widths);
            found.sums.extend(sums.sums);
            let mut restored = build_all_for_amounts().remove(index);
            restored.load(&cut.save()).unwrap();
            cut = restored;
        }
        assert_eq!(expected, found, "{index}");
        let width = expected.widths[1] as usize;
        let factor = if index == 3 { 0.99_f64 } else { 1.0 };
        let weights = |row: usize| weight[row] * factor.powi((n - 1 - row) as i32);
        for k in 0..3 {
            let amount = |row: usize| if k == 0 { 1.0 } else { columns[(k - 1) * n + row] };
            let sum: f64 = (n - width..n).map(|row| weights(row) * amount(row)).sum();
            assert!((sum - expected.sums[3 + k]).abs() < 1e-9 * sum.abs().max(1.0), "{index} {k}");
        }
    }
    let mut adwin = build_all_for_amounts().remove(5);
    let all = AmountColumns { amounts: &columns, n, weight: None, losses: Some(&losses), time: None };
    assert!(adwin.update_amounts(&all, &[n]).unwrap().widths[0] < 500);
    assert!(build_all_for_amounts().remove(4).update_amounts(&all, &[]).is_err());
    let short = AmountColumns { amounts: &columns[1..], ..all };
    assert!(adwin.update_amounts(&short, &[]).is_err());
}

/// Builds a state of each kind for a number of classes, with every statistic.
fn build_all(n_classes: usize) -> Vec<Box<dyn Forgetting>> {
    let layout = |stores_rows| Layout::new(Outcomes::new(n_classes).unwrap(), EVERYTHING, stores_rows).unwrap();
    vec![
        Box::new(Landmark::new(layout(false))),
        Box::new(Window::new(layout(true), 700).unwrap()),
        Box::new(Tumbling::new(layout(true), 900).unwrap()),
        Box::new(TimeWindow::new(layout(true), 200.0)),
        Box::new(Fading::new(layout(false), 0.99)),
        Box::new(adwin(layout(false), 5)),
    ]
}

/// Returns votes for three classes as votes for more.
fn pad_votes(votes: &[f64], n_classes: usize) -> Vec<f64> {
    let missing = std::iter::repeat_n(0.0, n_classes - N_CLASSES);
    votes.chunks_exact(N_CLASSES).flat_map(|row| row.iter().copied().chain(missing.clone())).collect()
}

#[test]
fn a_state_of_fewer_classes_goes_on_as_if_it_had_known_all() {
    let mut sample = Sample::new(4_000, "whole");
    for (votes, y_pred) in sample.votes.chunks_exact_mut(N_CLASSES).zip(&mut sample.y_pred) {
        votes[0] += 1.0; // rows without votes have equal shares for the classes known then
        *y_pred = (*y_pred).max(0);
    }
    for n_classes in [3, 4, 20] {
        let padded = pad_votes(&sample.votes, n_classes);
        for (index, cut) in (0..build_all(n_classes).len()).flat_map(|index| [(index, 0), (index, 2_500)]) {
            let mut few = build_all(N_CLASSES).swap_remove(index);
            few.update(&sample.columns(0..cut), &[]).unwrap();
            let (mut grown, mut whole) =
                (build_all(n_classes).swap_remove(index), build_all(n_classes).swap_remove(index));
            grown.load(&few.save()).unwrap();
            let columns = |range: std::ops::Range<usize>| Columns {
                votes: Some(&padded[range.start * n_classes..range.end * n_classes]),
                ..sample.columns(range)
            };
            whole.update(&columns(0..cut), &[]).unwrap();
            let reading_rows = [0, 100, 4_000 - cut];
            let result = grown.update(&columns(cut..4_000), &reading_rows).unwrap();
            let expected = whole.update(&columns(cut..4_000), &reading_rows).unwrap();
            assert_eq!((&result.confusion, &result.widths), (&expected.confusion, &expected.widths));
            for (values, others) in [(&result.sums, &expected.sums), (&result.ranks, &expected.ranks)] {
                assert_eq!(values.len(), others.len());
                for (value, other) in values.iter().zip(others) {
                    assert!((value - other).abs() <= 1e-9 * other.abs() || value.is_nan() && other.is_nan(), "{index}");
                }
            }
            assert!(few.load(&whole.save()).is_err() || n_classes == N_CLASSES);
        }
    }
}

#[test]
fn only_the_rows_of_landmarks_can_be_merged_and_then_equal_those_of_one() {
    for weights in ["none", "whole", "any"] {
        let sample = Sample::new(5_000, weights);
        let (mut whole, mut merged) = (build_all(N_CLASSES).swap_remove(0), build_all(N_CLASSES).swap_remove(0));
        whole.update(&sample.columns(0..5_000), &[]).unwrap();
        for start in (0..5_000).step_by(50) {
            let mut shard = build_all(N_CLASSES).swap_remove(0);
            shard.update(&sample.columns(start..start + 50), &[]).unwrap();
            merged.merge(&shard.save(), &[0, 1, 2]).unwrap();
        }
        let result = merged.update(&sample.columns(0..0), &[0]).unwrap();
        let expected = whole.update(&sample.columns(0..0), &[0]).unwrap();
        assert_eq!(result.widths, expected.widths);
        let close = |value: &f64, other: &f64| value == other || (value - other).abs() <= 1e-12 * other.abs();
        if weights != "any" {
            assert_eq!((&result.confusion, &result.hits), (&expected.confusion, &expected.hits));
            assert!(result.ranks.iter().zip(&expected.ranks).all(|(value, other)| value == other));
        }
        let columns = |tallies: &Tallies| [&tallies.confusion[..], &tallies.sums, &tallies.ranks].concat();
        assert!(
            columns(&result).iter().zip(&columns(&expected)).all(|(value, other)| close(value, other)),
            "{weights}"
        );
    }
    for (mut state, other) in build_all(N_CLASSES).into_iter().zip(build_all(N_CLASSES)).skip(1) {
        assert!(state.merge(&other.save(), &[0, 1, 2]).is_err());
    }
}

#[test]
fn classes_of_merged_states_may_have_other_numbers() {
    let mut sample = Sample::new(2_000, "whole");
    // rows without a prediction have the confidence of equal votes for the classes known then
    sample.y_pred.iter_mut().for_each(|predicted| *predicted = (*predicted).max(0));
    let mut direct = build_all(5).swap_remove(0);
    let numbers = [3_u32, 0, 4];
    let rename = |code: &i32| usize::try_from(*code).map_or(-1, |code| numbers[code] as i32);
    let (y_true, y_pred): (Vec<i32>, Vec<i32>) =
        (sample.y_true.iter().map(rename).collect(), sample.y_pred.iter().map(rename).collect());
    let mut votes = vec![0.0; 5 * 2_000];
    for (row, of_row) in sample.votes.chunks_exact(N_CLASSES).enumerate() {
        of_row.iter().zip(numbers).for_each(|(vote, class)| votes[5 * row + class as usize] = vote + 0.25);
    }
    let columns = Columns { y_true: &y_true, y_pred: &y_pred, votes: Some(&votes), ..sample.columns(0..2_000) };
    direct.update(&columns, &[]).unwrap();
    let votes: Vec<f64> = sample.votes.iter().map(|vote| vote + 0.25).collect();
    let mut few = build_all(N_CLASSES).swap_remove(0);
    few.update(&Columns { votes: Some(&votes), ..sample.columns(0..2_000) }, &[]).unwrap();
    let mut merged = build_all(5).swap_remove(0);
    merged.merge(&few.save(), &numbers).unwrap();
    let nothing = Columns { votes: Some(&[]), ..sample.columns(0..0) };
    let (result, expected) = (merged.update(&nothing, &[0]).unwrap(), direct.update(&nothing, &[0]).unwrap());
    assert_eq!((&result.confusion, &result.hits), (&expected.confusion, &expected.hits));
    for (value, other) in result.ranks.iter().zip(&expected.ranks).chain(result.sums.iter().zip(&expected.sums)) {
        let is_same = (value - other).abs() < 1e-9 * other.abs().max(1.0) || value.is_nan() && other.is_nan();
        assert!(is_same, "{value} {other}");
    }
    for classes in [&[0_u32, 0, 1][..], &[0, 1, 5], &[0, 1]] {
        assert!(merged.merge(&few.save(), classes).is_err());
    }
}
