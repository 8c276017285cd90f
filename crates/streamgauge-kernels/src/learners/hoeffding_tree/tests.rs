//! Every rewrite of the README against the plain algorithm, bit for bit.

use super::grow::Split;
use super::screen::SplitScreen;
use super::*;
use crate::learners::find_winner;
use crate::learners::rows::Slot;
use crate::randomness::{Draws, Purpose};

/// Rows whose attributes all depend on the class, with weights; some have no label.
struct Data {
    schema: Schema,
    x: Vec<f64>,
    y: Vec<i32>,
    weight: Vec<f64>,
    test: Vec<bool>,
}

fn data(n_values: &[u32], n_classes: usize, missing: f64, n: usize) -> Data {
    let draws = Draws::new(11, Purpose::named("tree"), n_values.len() as u64);
    let schema = Schema { n_values: n_values.to_vec(), n_classes };
    let mut data = Data { schema, x: vec![], y: vec![], weight: vec![], test: vec![] };
    for row in 0..n as u64 {
        let row_draws = draws.within(row);
        let class = row_draws.below(0, n_classes as u64);
        for (a, &n_values) in (0..).zip(n_values) {
            let noise = row_draws.uniform(1_000 + a);
            data.x.push(match n_values {
                _ if row_draws.uniform(2_000 + a) < missing => f64::NAN,
                0 => (class as f64 * 0.7 + noise * (1.0 + 0.3 * a as f64)) * if a % 2 == 0 { 1.0 } else { -20.0 },
                n => ((class as f64 + 2.0 * noise * f64::from(n)) % f64::from(n)).floor(),
            });
        }
        data.y.push(if row_draws.below(1, 12) == 0 { -1 } else { class as i32 });
        data.weight.push(row_draws.below(2, 3) as f64);
        data.test.push(row_draws.below(3, 6) > 0);
    }
    data
}

fn all_data() -> Vec<Data> {
    vec![
        data(&[0], 2, 0.0, 1_500),
        data(&[0; 5], 2, 0.0, 2_500),
        data(&[0; 5], 2, 0.01, 2_500),
        data(&[0; 16], 2, 0.0, 1_500),
        data(&[0; 19], 2, 0.0, 1_000),
        data(&[0; 6], 4, 0.0, 2_500),
        data(&[0, 3, 0, 5], 3, 0.05, 2_000),
    ]
}

fn all_options() -> Vec<Options> {
    let eager = Options { grace_period: 40.0, tie_threshold: 0.3, ..Options::default() };
    vec![
        eager,
        // Ties are rare here, so that most splits need a clear lead.
        Options { grace_period: 25.0, tie_threshold: 0.05, split_confidence: 0.05, ..eager },
        Options { leaf_prediction: LeafPrediction::NaiveBayes, ..eager },
        Options { leaf_prediction: LeafPrediction::Majority, ..eager },
        Options { remove_poor_attributes: true, tie_threshold: 0.1, ..eager },
        Options { split_criterion: SplitCriterion::Gini, ..eager },
        Options { subspace: Some(Subspace { size: 3, seed: 5 }), ..eager },
        // Tight: most leaves are frozen.
        Options { max_bytes: 0, ..eager },
    ]
}

/// Returns the options with a memory limit for a few leaves, if `max_bytes` is 0.
fn with_limit<const V: usize>(schema: &Schema, options: Options) -> Options {
    if options.max_bytes > 0 {
        return options;
    }
    let fits = |&max_bytes: &usize| HoeffdingTree::<V>::new_checked(schema.clone(), Options { max_bytes, ..options });
    let least = (0..1 << 20).step_by(512).find(|max_bytes| fits(max_bytes).is_ok()).unwrap();
    Options { max_bytes: least + least / 4, ..options }
}

/// The plain algorithm: every row alone, from the root, with its logarithms at once and all splits evaluated in full.
struct Plain<const V: usize> {
    tree: HoeffdingTree<V>,
    rows: Rows<V>,
}

impl<const V: usize> Plain<V> {
    fn new(schema: &Schema, options: Options) -> Self {
        let tree = HoeffdingTree::new(schema.clone(), options);
        Self { rows: Rows::new(tree.models.layout(), 1), tree }
    }

    fn vote(&self, x: &[f64]) -> Vec<f64> {
        let mut votes = vec![0.0; self.tree.schema.n_classes];
        self.tree.vote(x, &mut votes);
        votes
    }

    fn learn(&mut self, x: &[f64], label: i32, weight: f64) {
        let Self { tree, rows } = self;
        let labels = [label];
        let block = Block { x, labels: &labels, tests: [false; BLOCK], weights: [weight; BLOCK], plain: false };
        let (node, leaf) = if tree.options.subspace.is_some() {
            tree.find_row_leaf::<true>(0, &block, rows, 0)
        } else {
            rows.fill(tree.models.layout(), x, 1);
            tree.find_row_leaf::<false>(0, &block, rows, 0)
        };
        if leaf >= FIRST_FROZEN {
            tree.step_frozen(leaf, label, weight);
            return;
        }
        // Splits are attempted below, by the plain evaluation.
        let grace_period = std::mem::replace(&mut tree.options.grace_period, f64::INFINITY);
        tree.step_at_leaf(node, leaf, rows.row(0), label, weight);
        tree.options.grace_period = grace_period;
        if tree.models.summary(leaf).since >= grace_period {
            self.attempt_to_split(node, leaf);
        }
    }

    fn attempt_to_split(&mut self, node: u32, leaf: usize) {
        let tree = &mut self.tree;
        tree.models.summary_mut(leaf).since = 0.0;
        let Some(bound) = tree.split_bound(leaf) else { return };
        let Some(best) = tree.evaluator(leaf).find_best(|attribute, _| tree.uses(leaf, attribute)) else { return };
        let split = Split { candidate: best.candidate, least: best.candidate.merit - bound };
        if best.lead > bound || bound < tree.options.tie_threshold * tree.options.split_criterion.unit() {
            tree.apply_split(node, leaf, split);
        } else {
            tree.remove_poor_attributes(leaf, split.least);
        }
    }
}

/// The results of the plain algorithm: votes before each row, predictions after it, and the final state.
struct Expected {
    votes: Vec<f64>,
    rechecked: Vec<i32>,
    saved: Vec<u8>,
    n_nodes: usize,
    n_frozen: usize,
}

fn expect<const V: usize>(data: &Data, step: &Step<'_>, options: Options) -> Expected {
    let mut plain = Plain::<V>::new(&data.schema, options);
    let (mut votes, mut rechecked, mut n_frozen) = (vec![], vec![], 0);
    for (row, x) in step.x.chunks_exact(data.schema.n_attributes()).enumerate() {
        let tested = step.tests(row);
        votes.extend(plain.vote(x).into_iter().map(|vote| if tested { vote } else { 0.0 }));
        let weight = step.weight(row);
        if weight > 0.0 {
            plain.learn(x, step.y[row], weight);
        }
        rechecked.push(if step.y[row] >= 0 { find_winner(&plain.vote(x)) } else { ABSTAINED });
        n_frozen = n_frozen.max(plain.tree.frozen.len());
    }
    Expected { votes, rechecked, saved: plain.tree.save(), n_nodes: plain.tree.nodes.len(), n_frozen }
}

fn assert_same_bits(left: &[f64], right: &[f64], what: &str) {
    let differs = left.iter().zip(right).position(|(a, b)| a.to_bits() != b.to_bits());
    assert_eq!(differs, None, "{what}");
}

/// Compares all paths; returns the number of nodes and of frozen leaves.
fn check_paths<const V: usize>(data: &Data, options: Options) -> (usize, usize) {
    let mut sizes = (0, 0);
    let (n, n_classes, options) = (data.y.len(), data.schema.n_classes, with_limit::<V>(&data.schema, options));
    let weighted = Step { x: &data.x, y: &data.y, test: Some(&data.test), weight: Some(&data.weight) };
    let labels: Vec<i32> = data.y.iter().map(|&y| y.max(0)).collect();
    let plain_step = Step { x: &data.x, y: &labels, test: None, weight: None };
    for step in [weighted, plain_step] {
        let expected = expect::<V>(data, &step, options);
        sizes = (sizes.0 + expected.n_nodes, sizes.1 + expected.n_frozen);
        let tested = |row: usize, prediction: i32| if step.tests(row) { prediction } else { ABSTAINED };
        let winners = expected.votes.chunks_exact(n_classes).enumerate();
        let expected_predictions: Vec<i32> = winners.map(|(row, votes)| tested(row, find_winner(votes))).collect();
        let build = || HoeffdingTree::<V>::new(data.schema.clone(), options);
        let (mut by_class, mut by_votes, mut rechecking) = (build(), build(), build());
        let (mut predictions, mut votes) = (vec![0; n], vec![0.0; n * n_classes]);
        by_class.interleave(&step, &mut predictions, None);
        assert_eq!((&predictions, by_class.save()), (&expected_predictions, expected.saved.clone()), "{options:?}");
        by_votes.interleave(&step, &mut predictions, Some(&mut votes));
        assert_same_bits(&votes, &expected.votes, "interleave with votes");
        assert_eq!((&predictions, by_votes.save()), (&expected_predictions, expected.saved.clone()), "{options:?}");
        rechecking.recheck(&step, &mut votes, &mut predictions);
        assert_same_bits(&votes, &expected.votes, "recheck");
        assert_eq!((&predictions, rechecking.save()), (&expected.rechecked, expected.saved), "{options:?}");
    }
    sizes
}

#[test]
fn blocks_equal_the_plain_algorithm_bit_for_bit() {
    for options in all_options() {
        let mut total = (0, 0);
        for data in all_data() {
            let size = options.subspace.map_or(usize::MAX, |subspace| subspace.size);
            let n_vectors = Layout::n_vectors(&data.schema, size);
            let (n_nodes, n_frozen) = with_vectors!(n_vectors, V => check_paths::<V>(&data, options));
            total = (total.0 + n_nodes, total.1 + n_frozen);
        }
        assert!(total.0 > 60 && (options.max_bytes > 0 || total.1 > 10), "{total:?} nodes, frozen: {options:?}");
    }
}

#[test]
fn screening_never_contradicts_the_evaluation_in_full() {
    let never = Options { grace_period: f64::INFINITY, ..Options::default() };
    // Nominal attributes are always evaluated in full.
    let is_contender = |tree: &HoeffdingTree<2>, attribute: usize| match tree.models.layout().slots[attribute] {
        Slot::Numeric(column) => tree.screener.is_contender(column),
        Slot::Nominal(_) => true,
    };
    let mut counts = [0; 4];
    let schemas: [(&[u32], usize); 6] =
        [(&[0; 2], 2), (&[0; 7], 2), (&[0; 8], 3), (&[0; 5], 12), (&[0, 4, 0], 2), (&[5, 0, 3, 2, 0], 7)];
    for (n_values, n_classes) in schemas {
        let (d, data) = (n_values.len(), data(n_values, n_classes, 0.0, 800));
        let mut tree = HoeffdingTree::<2>::new(data.schema.clone(), never);
        for (row, x) in data.x.chunks_exact(d).enumerate() {
            if data.y[row] >= 0 {
                tree.learn(x, data.y[row] as usize, 1.0);
            }
            let Some(best) = tree.evaluator(0).find_best(|_, _| true).filter(|_| row % 9 == 8) else { continue };
            let mut merits: Vec<(f64, usize)> =
                tree.find_candidates(0).iter().map(|candidate| (candidate.merit, candidate.attribute)).collect();
            merits.sort_by(|a, b| b.0.total_cmp(&a.0));
            for bound in [None, Some(best.lead * 0.9), Some(best.lead), Some(best.lead * 1.1), Some(0.1), Some(2.0)] {
                let nominal = tree.evaluator(0).find_nominal_merits();
                let screen = tree.screener.screen(&tree.models, 0, n_classes, bound, || nominal);
                counts[screen as usize] += 1;
                match screen {
                    SplitScreen::NoSplit => assert!(bound.is_some_and(|bound| best.lead <= bound)),
                    SplitScreen::Splits => {
                        assert!(bound.is_none_or(|bound| best.lead > bound));
                        assert!(is_contender(&tree, best.candidate.attribute));
                    }
                    SplitScreen::MaySplit => {
                        assert!(merits.iter().take(2).all(|&(_, attribute)| is_contender(&tree, attribute)));
                    }
                    SplitScreen::Unknown => {}
                }
            }
        }
    }
    // Both decisions occur.
    assert!(counts[0] > 100 && counts[1] > 100, "{counts:?}");
}
