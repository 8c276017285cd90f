#![allow(clippy::unwrap_used)]

//! The native learners against plain references, and on odd shapes.

mod reference;

use reference::{Bayes, Tree, TreeOptions};
use streamgauge_kernels::dispatch;
use streamgauge_kernels::learners::{
    ABSTAINED, HoeffdingTreeOptions, LeafPrediction, Learner, Schema, Step, hoeffding_tree, naive_bayes, winner,
};
use streamgauge_kernels::randomness::{Draws, Purpose};

struct Data {
    schema: Schema,
    x: Vec<f64>,
    y: Vec<i32>,
    weight: Vec<f64>,
}

fn uniform(purpose: &str, fold: u64) -> impl Fn(usize) -> f64 {
    let draws = Draws::new(7, Purpose::named(purpose), fold);
    move |row| draws.uniform(row as u64)
}

fn data(n_values: &[u32], n_classes: usize, n: usize, row: impl Fn(usize) -> (Vec<f64>, usize)) -> Data {
    let (x, y): (Vec<_>, Vec<_>) = (0..n).map(row).map(|(x, y)| (x, y as i32)).unzip();
    let schema = Schema { n_values: n_values.to_vec(), n_classes };
    Data { schema, x: x.concat(), y, weight: vec![1.0; n] }
}

/// Rows around 30 centres in the unit cube, each with its own class and spread.
fn centres(d: usize, n_classes: usize, n: usize) -> Data {
    let (centre, pick, noise) = (uniform("centre", 0), uniform("pick", 0), uniform("noise", 0));
    data(&vec![0; d], n_classes, n, |row| {
        let k = (pick(row) * 30.0) as usize;
        let spread = 0.02 + 0.3 * centre(100_000 + k);
        let x = (0..d).map(|a| centre(k * d + a) + spread * (noise(row * d + a) - 0.5)).collect();
        (x, k % n_classes)
    })
}

/// Three numbers in 0..10; the class says whether the first two add up to at most 8, with one label in ten wrong.
fn sums(n: usize) -> Data {
    let (value, wrong) = (uniform("value", 0), uniform("wrong", 0));
    data(&[0, 0, 0], 2, n, |row| {
        let x: Vec<f64> = (0..3).map(|a| 10.0 * value(3 * row + a)).collect();
        let y = usize::from(x[0] + x[1] <= 8.0);
        (x, if wrong(row) < 0.1 { 1 - y } else { y })
    })
}

/// Three numbers and two nominal attributes that say something of three classes, a share of all values missing.
fn mixed(n: usize, missing: f64) -> Data {
    let (value, gap, label) = (uniform("value", 1), uniform("gap", 1), uniform("label", 1));
    let mut data = data(&[0, 3, 0, 12, 0], 3, n, |row| {
        let y = (label(row) * 3.0) as usize;
        let v = |a: usize| value(5 * row + a);
        let likely = if v(1) < 0.6 { y as f64 } else { (v(1) * 100.0) % 3.0 };
        let far = ((v(3) * 12.0 + 2.0 * y as f64 * v(0)) % 12.0).floor();
        let x = [v(0) + 0.3 * y as f64, likely.floor(), v(2), far, v(4) * (1.0 + y as f64)];
        let x = x.iter().enumerate().map(|(a, &x)| if gap(5 * row + a) < missing { f64::NAN } else { x }).collect();
        (x, y)
    });
    let draw = uniform("weight", 1);
    data.weight = (0..n).map(|row| (draw(row) * 3.0).floor()).collect();
    data
}

fn tree_of(options: TreeOptions, schema: &Schema) -> Box<dyn Learner> {
    let options = HoeffdingTreeOptions {
        grace_period: options.grace_period,
        split_confidence: options.split_confidence,
        tie_threshold: options.tie_threshold,
        leaf_prediction: if options.adaptive { LeafPrediction::Adaptive } else { LeafPrediction::NaiveBayes },
        binary_splits: options.binary,
        ..HoeffdingTreeOptions::default()
    };
    hoeffding_tree(schema.clone(), options).unwrap()
}

const OPTIONS: TreeOptions =
    TreeOptions { grace_period: 200.0, split_confidence: 1e-7, tie_threshold: 0.05, adaptive: true, binary: false };

fn tree(schema: &Schema) -> Box<dyn Learner> {
    hoeffding_tree(schema.clone(), HoeffdingTreeOptions::default()).unwrap()
}

fn run(learner: &mut dyn Learner, data: &Data) -> Vec<i32> {
    let mut predictions = vec![0; data.y.len()];
    let step = Step { x: &data.x, y: &data.y, test: None, weight: Some(&data.weight) };
    learner.interleave(&step, &mut predictions, None);
    predictions
}

fn fact(learner: &dyn Learner, name: &str) -> u64 {
    learner.facts().into_iter().find(|fact| fact.0 == name).unwrap().1
}

fn rows(data: &Data) -> impl Iterator<Item = (&[f64], usize, f64)> {
    let d = data.schema.n_attributes();
    (0..data.y.len()).map(move |i| (&data.x[i * d..(i + 1) * d], data.y[i] as usize, data.weight[i]))
}

fn assert_tree_agrees(data: &Data, options: TreeOptions, least_nodes: u64) {
    let mut fast = tree_of(options, &data.schema);
    let mut slow = Tree::new(&data.schema.n_values, data.schema.n_classes, options);
    let expected: Vec<i32> = rows(data).map(|(x, y, weight)| slow.step(x, y, weight)).collect();
    let found = run(fast.as_mut(), data);
    let differ = found.iter().zip(&expected).filter(|(a, b)| a != b).count();
    assert_eq!(
        differ,
        0,
        "from row {:?} on {differ} of {} predictions differ",
        (0..found.len()).find(|&i| found[i] != expected[i]),
        found.len()
    );
    assert_eq!(fact(fast.as_ref(), "n_nodes"), slow.n_nodes());
    assert!(slow.n_nodes() >= least_nodes, "the tree did not grow: {} nodes", slow.n_nodes());
}

#[test]
fn the_tree_splits_and_predicts_as_its_reference_on_numbers() {
    assert_tree_agrees(&centres(10, 2, 30_000), OPTIONS, 15);
    assert_tree_agrees(&centres(10, 5, 20_000), OPTIONS, 5);
    assert_tree_agrees(&centres(1, 3, 10_000), OPTIONS, 3);
    assert_tree_agrees(&centres(20, 3, 10_000), OPTIONS, 3);
    assert_tree_agrees(&sums(30_000), OPTIONS, 7);
}

#[test]
fn the_tree_splits_and_predicts_as_its_reference_on_nominal_and_missing_values_with_weights() {
    for missing in [0.0, 0.1] {
        for (adaptive, binary) in [(true, false), (false, false), (true, true)] {
            let options = TreeOptions { grace_period: 100.0, tie_threshold: 0.1, adaptive, binary, ..OPTIONS };
            assert_tree_agrees(&mixed(15_000, missing), options, 7);
        }
    }
}

#[test]
fn naive_bayes_predicts_as_its_reference() {
    for data in [centres(10, 2, 5000), centres(40, 7, 3000), sums(5000), mixed(5000, 0.0), mixed(5000, 0.2)] {
        let n_classes = data.schema.n_classes;
        let mut slow = Bayes::new(&data.schema.n_values, vec![0.0; n_classes], ABSTAINED);
        let mut fast = naive_bayes(data.schema.clone());
        let found = run(fast.as_mut(), &data);
        for (i, (x, y, weight)) in rows(&data).enumerate() {
            let expected = if slow.majority() < 0 { ABSTAINED } else { slow.predict(x) };
            assert_eq!(found[i], expected, "row {i}");
            if weight > 0.0 {
                slow.learn(x, y, weight);
            }
        }
    }
}

type Make = fn(&Schema) -> Box<dyn Learner>;

fn learners() -> [Make; 2] {
    [tree, |schema| naive_bayes(schema.clone())]
}

fn odd_shapes() -> Vec<Data> {
    let mut one_class = sums(1500);
    one_class.y.fill(1);
    let mut huge = centres(3, 2, 1500);
    huge.weight.iter_mut().enumerate().for_each(|(i, w)| *w = if i % 7 == 0 { 1e300 } else { (i % 3) as f64 });
    let mut constant = centres(6, 3, 1500);
    constant.x.iter_mut().enumerate().for_each(|(i, x)| *x = if i % 6 < 3 { 0.25 } else { *x });
    let mut far = centres(5, 2, 1500);
    far.x.iter_mut().enumerate().for_each(|(i, x)| *x *= [1e-160, 1e150, 1e-9, 1e9, 1.0][i % 5]);
    let mut gone = centres(4, 2, 1500);
    gone.x.iter_mut().enumerate().for_each(|(i, x)| *x = if i % 4 == 1 || i % 5 == 0 { f64::NAN } else { *x });
    let nothing = data(&[], 2, 300, |row| (vec![], row % 2));
    let all = [centres(1, 2, 1500), centres(1000, 2, 700), centres(3, 100, 3000), mixed(1500, 0.5)];
    [one_class, huge, constant, far, gone, nothing].into_iter().chain(all).collect()
}

#[test]
fn a_step_equals_its_rows_one_by_one_and_votes_agree_with_predictions() {
    for data in odd_shapes() {
        let n_classes = data.schema.n_classes;
        for make in learners() {
            let (mut whole, mut single) = (make(&data.schema), make(&data.schema));
            let mut predictions = vec![0; data.y.len()];
            let mut votes = vec![0.0; data.y.len() * n_classes];
            let step = Step { x: &data.x, y: &data.y, test: None, weight: Some(&data.weight) };
            whole.interleave(&step, &mut predictions, Some(&mut votes));
            let mut row_votes = vec![0.0; n_classes];
            for (i, (x, y, weight)) in rows(&data).enumerate() {
                single.vote(x, &mut row_votes);
                assert_eq!(row_votes, votes[i * n_classes..(i + 1) * n_classes]);
                assert_eq!(winner(&row_votes), predictions[i]);
                let sum: f64 = row_votes.iter().sum();
                assert!(sum == 0.0 || (sum - 1.0).abs() < 1e-12, "votes add up to {sum}");
                if weight > 0.0 {
                    single.learn(x, y, weight);
                }
            }
            assert_eq!(whole.save(), single.save());
            assert_eq!(predictions, run(make(&data.schema).as_mut(), &data));
        }
    }
}

#[test]
fn every_instruction_set_gives_the_same_bits() {
    let before = dispatch::chosen();
    for data in odd_shapes().into_iter().chain([centres(10, 2, 6000)]) {
        for make in learners() {
            let outcomes: Vec<(Vec<i32>, Vec<u8>)> = dispatch::available()
                .into_iter()
                .map(|path| {
                    assert!(dispatch::choose(path));
                    let mut learner = make(&data.schema);
                    (run(learner.as_mut(), &data), learner.save())
                })
                .collect();
            assert!(outcomes.windows(2).all(|pair| pair[0] == pair[1]));
        }
    }
    assert!(dispatch::choose(before));
}

#[test]
fn a_saved_learner_goes_on_bit_for_bit_and_damage_is_refused() {
    for data in odd_shapes() {
        let (d, half) = (data.schema.n_attributes(), data.y.len() / 2);
        let part = |from: usize, to: usize| Step {
            x: &data.x[from * d..to * d],
            y: &data.y[from..to],
            test: None,
            weight: Some(&data.weight[from..to]),
        };
        for make in learners() {
            let (mut first, mut second) = (make(&data.schema), make(&data.schema));
            let mut predictions = vec![0; data.y.len()];
            first.interleave(&part(0, half), &mut predictions[..half], None);
            let bytes = first.save();
            second.load(&bytes).unwrap();
            let (mut left, mut right) = (predictions[half..].to_vec(), predictions[half..].to_vec());
            first.interleave(&part(half, data.y.len()), &mut left, None);
            second.interleave(&part(half, data.y.len()), &mut right, None);
            assert_eq!(left, right);
            assert_eq!(first.save(), second.save());
            for cut in [0, 7, bytes.len() / 2, bytes.len() - 1] {
                assert!(second.load(&bytes[..cut]).is_err());
            }
            let mut damaged = bytes.clone();
            damaged[bytes.len() / 2] ^= 4;
            assert!(second.load(&damaged).is_err());
            assert_eq!(first.save(), second.save());
        }
    }
}

#[test]
fn a_full_tree_stops_growing_and_says_what_it_holds() {
    let data = sums(20_000);
    let options = HoeffdingTreeOptions { max_bytes: 12_000, ..HoeffdingTreeOptions::default() };
    let mut small = hoeffding_tree(data.schema.clone(), options).unwrap();
    let mut large = tree(&data.schema);
    run(small.as_mut(), &data);
    run(large.as_mut(), &data);
    assert!(fact(small.as_ref(), "n_nodes") < fact(large.as_ref(), "n_nodes"));
    assert!(small.n_bytes() < large.n_bytes());
}
