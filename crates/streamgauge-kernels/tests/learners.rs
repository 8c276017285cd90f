#![allow(clippy::unwrap_used)]

//! The native learners against plain references, and on odd shapes.

mod reference;

use reference::{Bayes, Tree, TreeOptions};
use streamgauge_kernels::KernelError;
use streamgauge_kernels::dispatch;
use streamgauge_kernels::learners::{
    ABSTAINED, ExtremelyFastDecisionTreeOptions, HoeffdingAdaptiveTreeOptions, HoeffdingTreeOptions, LeafPrediction,
    Learner, Schema, SplitCriterion, Step, extremely_fast_decision_tree, find_winner, hoeffding_adaptive_tree,
    hoeffding_tree, naive_bayes,
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

/// Returns rows around 30 centres in the unit cube, each with its own class and spread.
fn centres(d: usize, n_classes: usize, n: usize) -> Data {
    let (centre, pick, noise) = (uniform("centre", 0), uniform("pick", 0), uniform("noise", 0));
    data(&vec![0; d], n_classes, n, |row| {
        let k = (pick(row) * 30.0) as usize;
        let spread = 0.02 + 0.3 * centre(100_000 + k);
        let x = (0..d).map(|a| centre(k * d + a) + spread * (noise(row * d + a) - 0.5)).collect();
        (x, k % n_classes)
    })
}

/// Returns rows of three numbers in 0..10; the class says whether the sum of the first two is at most 8, with one label
/// in ten wrong.
fn sums(n: usize) -> Data {
    let (value, wrong) = (uniform("value", 0), uniform("wrong", 0));
    data(&[0, 0, 0], 2, n, |row| {
        let x: Vec<f64> = (0..3).map(|a| 10.0 * value(3 * row + a)).collect();
        let y = usize::from(x[0] + x[1] <= 8.0);
        (x, if wrong(row) < 0.1 { 1 - y } else { y })
    })
}

/// Returns rows of three numbers and two nominal attributes that are informative about three classes, with a share of
/// all values missing.
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

/// Returns rows of any schema with fractional weights. Some numeric columns are constant and some are rare indicators,
/// so that they are constant in some classes.
fn indicators(n_values: &[u32], n_classes: usize, n: usize) -> Data {
    let (value, label, d) = (uniform("value", 2), uniform("label", 2), n_values.len());
    let mut data = data(n_values, n_classes, n, |row| {
        let y = (label(row) * n_classes as f64) as usize;
        let number = |a: usize, value: f64| match a % 4 {
            0 => 0.1 * y as f64 + value,
            1 => 3.5,
            _ => f64::from(u8::from(value < 0.02 * ((a + y) % 3) as f64)),
        };
        let nominal = |a: usize, n_values: u32, value: f64| {
            let likely = (y * (a + 3)) as f64 % f64::from(n_values);
            if value < 0.5 { likely } else { (2.0 * (value - 0.5) * f64::from(n_values)).floor() }
        };
        let attribute = |(a, &n_values): (usize, &u32)| {
            let value = value(row * d + a);
            if n_values == 0 { number(a, value) } else { nominal(a, n_values, value) }
        };
        (n_values.iter().enumerate().map(attribute).collect(), y)
    });
    let draw = uniform("weight", 2);
    data.weight = (0..n).map(|row| 0.25 * (1.0 + (draw(row) * 4.0).floor())).collect();
    data
}

fn build_tree(options: TreeOptions, schema: &Schema) -> Box<dyn Learner> {
    let options = HoeffdingTreeOptions {
        grace_period: options.grace_period,
        split_confidence: options.split_confidence,
        tie_threshold: options.tie_threshold,
        leaf_prediction: if options.adaptive { LeafPrediction::Adaptive } else { LeafPrediction::NaiveBayes },
        binary_splits: options.binary,
        split_criterion: if options.gini { SplitCriterion::Gini } else { SplitCriterion::InfoGain },
        ..HoeffdingTreeOptions::default()
    };
    hoeffding_tree(schema.clone(), options).unwrap()
}

const OPTIONS: TreeOptions = TreeOptions {
    grace_period: 200.0,
    split_confidence: 1e-7,
    tie_threshold: 0.05,
    adaptive: true,
    binary: false,
    gini: false,
};

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
    let mut fast = build_tree(options, &data.schema);
    let mut slow = Tree::new(&data.schema.n_values, data.schema.n_classes, options);
    let expected: Vec<i32> = rows(data).map(|(x, y, weight)| slow.step(x, y, weight)).collect();
    let predictions = run(fast.as_mut(), data);
    let differ = predictions.iter().zip(&expected).filter(|(a, b)| a != b).count();
    assert_eq!(
        differ,
        0,
        "from row {:?} on {differ} of {} predictions differ",
        (0..predictions.len()).find(|&i| predictions[i] != expected[i]),
        predictions.len()
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
fn the_tree_splits_and_predicts_as_its_reference_by_gini() {
    let options = TreeOptions { gini: true, tie_threshold: 0.1, ..OPTIONS };
    assert_tree_agrees(&centres(10, 2, 30_000), options, 15);
    assert_tree_agrees(&sums(20_000), options, 7);
    assert_tree_agrees(&mixed(15_000, 0.1), TreeOptions { grace_period: 100.0, ..options }, 7);
}

#[test]
fn naive_bayes_predicts_as_its_reference() {
    let plain = [centres(10, 2, 5000), centres(40, 7, 3000), sums(5000), mixed(5000, 0.0), mixed(5000, 0.2)];
    let odd = [
        indicators(&[0; 54], 7, 3000),
        indicators(&[0; 6], 2, 3000),
        indicators(&[&[0][..], &[2; 24]].concat(), 10, 3000),
        indicators(&[0, 5, 0, 5, 3, 0, 30], 21, 3000),
        indicators(&[0, 7], 2, 3000),
    ];
    for data in plain.into_iter().chain(odd) {
        let n_classes = data.schema.n_classes;
        let mut slow = Bayes::new(&data.schema.n_values, vec![0.0; n_classes], ABSTAINED);
        let mut fast = naive_bayes(data.schema.clone());
        let predictions = run(fast.as_mut(), &data);
        for (i, (x, y, weight)) in rows(&data).enumerate() {
            let expected = if slow.majority() < 0 { ABSTAINED } else { slow.predict(x) };
            assert_eq!(predictions[i], expected, "row {i}");
            if weight > 0.0 {
                slow.learn(x, y, weight);
            }
        }
    }
}

type Make = fn(&Schema) -> Box<dyn Learner>;

/// Returns options with which small trees grow, split and freeze often.
fn eager() -> HoeffdingTreeOptions {
    HoeffdingTreeOptions { grace_period: 50.0, tie_threshold: 0.5, ..HoeffdingTreeOptions::default() }
}

/// Returns a tree with little more memory than it needs at least.
fn tight(schema: &Schema, options: HoeffdingTreeOptions) -> Box<dyn Learner> {
    let make = |max_bytes| hoeffding_tree(schema.clone(), HoeffdingTreeOptions { max_bytes, ..options });
    let (mut low, mut high) = (0, 1 << 25);
    while low + 1 < high {
        let middle = usize::midpoint(low, high);
        if make(middle).is_ok() { high = middle } else { low = middle }
    }
    make(high + high / 2).unwrap()
}

fn adaptive(schema: &Schema) -> Box<dyn Learner> {
    let options = HoeffdingAdaptiveTreeOptions { tree: eager(), delta: 0.3, ..HoeffdingAdaptiveTreeOptions::default() };
    hoeffding_adaptive_tree(schema.clone(), options, 7).unwrap()
}

fn revising(schema: &Schema) -> Box<dyn Learner> {
    let options = ExtremelyFastDecisionTreeOptions { tree: eager(), revision_period: 50 };
    extremely_fast_decision_tree(schema.clone(), options).unwrap()
}

fn learners() -> [Make; 7] {
    [
        tree,
        |schema| naive_bayes(schema.clone()),
        |schema| tight(schema, eager()),
        |schema| tight(schema, HoeffdingTreeOptions { remove_poor_attributes: true, ..eager() }),
        |schema| {
            let options = HoeffdingTreeOptions { split_criterion: SplitCriterion::Hellinger, ..eager() };
            hoeffding_tree(schema.clone(), options).unwrap()
        },
        adaptive,
        revising,
    ]
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
    let nominal = [indicators(&[0; 20], 5, 1000), indicators(&[&[0][..], &[2; 8]].concat(), 21, 1000)];
    [one_class, huge, constant, far, gone, nothing].into_iter().chain(all).chain(nominal).collect()
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
                assert_eq!(find_winner(&row_votes), predictions[i]);
                let sum: f64 = row_votes.iter().sum();
                assert!(sum == 0.0 || (sum - 1.0).abs() < 1e-12, "votes add up to {sum}");
                if weight > 0.0 {
                    single.learn(x, y, weight);
                }
            }
            assert_eq!(whole.save(), single.save());
            let mut without_votes = make(&data.schema);
            assert_eq!(predictions, run(without_votes.as_mut(), &data));
            assert_eq!(whole.save(), without_votes.save());
        }
    }
}

#[test]
fn every_instruction_set_gives_the_same_bits() {
    let before = dispatch::selected_path();
    for data in odd_shapes().into_iter().chain([centres(10, 2, 6000)]) {
        for make in learners() {
            let outcomes: Vec<(Vec<i32>, Vec<u8>)> = dispatch::available_paths()
                .into_iter()
                .map(|path| {
                    assert!(dispatch::select(path));
                    let mut learner = make(&data.schema);
                    (run(learner.as_mut(), &data), learner.save())
                })
                .collect();
            assert!(outcomes.windows(2).all(|pair| pair[0] == pair[1]));
        }
    }
    assert!(dispatch::select(before));
}

#[test]
fn a_saved_learner_resumes_bit_for_bit_and_damage_is_refused() {
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

fn learn_rows(learner: &mut dyn Learner, data: &Data, mut after: impl FnMut(usize, &dyn Learner)) {
    for (i, (x, y, weight)) in rows(data).enumerate() {
        if weight > 0.0 {
            learner.learn(x, y, weight);
        }
        after(i, learner);
    }
}

#[test]
fn a_tree_is_within_its_budget_after_every_row_and_still_grows() {
    for data in [sums(20_000), mixed(10_000, 0.0), mixed(10_000, 0.2), centres(10, 5, 10_000)] {
        let options =
            HoeffdingTreeOptions { grace_period: 50.0, tie_threshold: 0.2, ..HoeffdingTreeOptions::default() };
        for max_bytes in [16_000, 24_000, 60_000] {
            let mut tree = hoeffding_tree(data.schema.clone(), HoeffdingTreeOptions { max_bytes, ..options }).unwrap();
            let mut most_frozen = 0;
            learn_rows(tree.as_mut(), &data, |i, tree| {
                assert!(tree.n_bytes() <= max_bytes, "row {i}: {} of {max_bytes} bytes", tree.n_bytes());
                most_frozen = most_frozen.max(fact(tree, "n_frozen"));
            });
            assert!(fact(tree.as_ref(), "n_leaves") > 2);
            assert!(max_bytes > 30_000 || most_frozen > 0, "nothing was frozen");
        }
    }
}

#[test]
fn a_tree_that_freezes_leaves_grows_beyond_what_it_could_hold() {
    let data = centres(10, 2, 60_000);
    let options = HoeffdingTreeOptions { max_bytes: 30_000, tie_threshold: 0.2, ..HoeffdingTreeOptions::default() };
    let mut small = hoeffding_tree(data.schema.clone(), options).unwrap();
    let hits = |predictions: &[i32]| predictions.iter().zip(&data.y).skip(30_000).filter(|(a, b)| a == b).count();
    let small_hits = hits(&run(small.as_mut(), &data));
    let (n_leaves, n_frozen) = (fact(small.as_ref(), "n_leaves"), fact(small.as_ref(), "n_frozen"));
    assert!(n_frozen > 0 && n_leaves > n_frozen);
    // All leaves together would need more memory than the budget.
    assert!(n_leaves as usize * 1_152 > 30_000, "{n_leaves} leaves");
    let mut large =
        hoeffding_tree(data.schema.clone(), HoeffdingTreeOptions { max_bytes: 1 << 25, ..options }).unwrap();
    assert_eq!(fact(large.as_ref(), "n_frozen"), 0);
    assert!(small_hits as f64 > 0.9 * hits(&run(large.as_mut(), &data)) as f64);
}

#[test]
fn a_leaf_that_does_not_fit_is_refused_with_the_bytes_it_needs() {
    let schema = Schema { n_values: vec![0; 10], n_classes: 2 };
    let options = HoeffdingTreeOptions { max_bytes: 1000, ..HoeffdingTreeOptions::default() };
    let refused = hoeffding_tree(schema, options).map(|_| ());
    assert!(matches!(refused, Err(KernelError::Option { option: "max_bytes", .. })), "{refused:?}");
}

#[test]
fn trees_that_revise_splits_keep_to_their_budget() {
    let data = centres(10, 3, 6_000);
    let max_bytes = 200_000;
    let tree = HoeffdingTreeOptions { max_bytes, ..eager() };
    let adaptive = HoeffdingAdaptiveTreeOptions { tree, delta: 0.3, bootstrap: true };
    let revising = ExtremelyFastDecisionTreeOptions { tree, revision_period: 20 };
    for mut learner in [
        hoeffding_adaptive_tree(data.schema.clone(), adaptive, 1).unwrap(),
        extremely_fast_decision_tree(data.schema.clone(), revising).unwrap(),
    ] {
        learn_rows(learner.as_mut(), &data, |i, learner| {
            assert!(learner.n_bytes() <= max_bytes, "row {i}: {} bytes", learner.n_bytes());
        });
        assert!(fact(learner.as_ref(), "n_leaves") > 5);
    }
}

#[test]
fn an_adaptive_tree_regrows_what_has_changed() {
    let (before, mut after) = (sums(10_000), sums(20_000));
    after.x.drain(..3 * 10_000);
    after.y = after.y[10_000..].iter().map(|y| 1 - y).collect();
    after.weight.truncate(10_000);
    let mut hits = vec![];
    let options = HoeffdingAdaptiveTreeOptions::default();
    for mut learner in [tree(&before.schema), hoeffding_adaptive_tree(before.schema.clone(), options, 1).unwrap()] {
        run(learner.as_mut(), &before);
        let predictions = run(learner.as_mut(), &after);
        hits.push(predictions.iter().zip(&after.y).skip(5_000).filter(|(a, b)| a == b).count());
        if hits.len() == 2 {
            assert!(fact(learner.as_ref(), "n_switched") > 0);
        }
    }
    assert!(hits[1] > 4_000 && hits[1] > hits[0] + 300, "{hits:?}");
}

#[test]
fn a_node_is_revised_when_another_attribute_becomes_better() {
    // Attribute 0 determines the class at first, attribute 1 from row 4,000 on.
    let draw = uniform("noise", 2);
    let data = data(&[0, 0], 2, 40_000, |row| {
        let y = usize::from(draw(3 * row) < 0.5);
        let (signal, noise) = (y as f64 + 0.3 * draw(3 * row + 1), 2.0 * draw(3 * row + 2));
        (if row < 4_000 { vec![signal, noise] } else { vec![noise, signal] }, y)
    });
    let mut learner =
        extremely_fast_decision_tree(data.schema.clone(), ExtremelyFastDecisionTreeOptions::default()).unwrap();
    let predictions = run(learner.as_mut(), &data);
    assert!(fact(learner.as_ref(), "n_revised") > 0);
    let hits = predictions.iter().zip(&data.y).skip(30_000).filter(|(a, b)| a == b).count();
    assert!(hits > 9_900, "{hits}");
}

#[test]
fn the_hellinger_distance_finds_what_tells_a_rare_class() {
    // One row in 200 is of class 1; attribute 1 is informative, attribute 0 is not.
    let draw = uniform("rare", 3);
    let data = data(&[0, 0], 2, 60_000, |row| {
        let y = usize::from(draw(3 * row) < 0.005);
        (vec![draw(3 * row + 1), draw(3 * row + 2) + 0.8 * y as f64], y)
    });
    let options = |split_criterion| HoeffdingTreeOptions {
        split_criterion,
        leaf_prediction: LeafPrediction::Majority,
        ..HoeffdingTreeOptions::default()
    };
    let count_hits = |criterion| {
        let mut learner = hoeffding_tree(data.schema.clone(), options(criterion)).unwrap();
        let predictions = run(learner.as_mut(), &data);
        predictions.iter().zip(&data.y).filter(|(a, b)| **a == 1 && **b == 1).count()
    };
    let (by_hellinger, by_entropy) = (count_hits(SplitCriterion::Hellinger), count_hits(SplitCriterion::InfoGain));
    assert!(by_hellinger >= by_entropy && by_hellinger > 100, "{by_hellinger} and {by_entropy}");
}
