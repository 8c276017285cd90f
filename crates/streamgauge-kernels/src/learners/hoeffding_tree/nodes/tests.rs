use super::*;
use crate::codec::{Reader, Writer};
use crate::learners::rows::{Layout, Rows};
use crate::randomness::{Draws, Purpose};

/// Returns a schema whose attribute 0 is a number and attribute 1 has three values.
fn schema() -> Schema {
    Schema { n_values: vec![0, 3], n_classes: 2 }
}

fn tree() -> Nodes {
    let mut nodes = Nodes::new(&schema(), 1 << 25);
    nodes.split(0, 0, Test::AtMost(0.5), &[0, 1], 1);
    nodes.split(1, 1, Test::Which(3), &[0, 2, 3], 2);
    nodes.split(2, 1, Test::Is(2), &[1, 4], 0);
    nodes
}

#[test]
fn rows_reach_their_leaves_and_missing_values_lead_to_the_heaviest_child() {
    let nodes = tree();
    let leaf = |x: [f64; 2]| nodes.leaf(nodes.route(0, &x)).unwrap();
    assert_eq!((leaf([0.5, 0.0]), leaf([0.5, 1.0]), leaf([0.5, 2.0])), (0, 2, 3));
    assert_eq!((leaf([0.6, 2.0]), leaf([0.6, 1.0])), (1, 4));
    assert_eq!((leaf([f64::NAN, 1.0]), leaf([0.0, f64::NAN]), leaf([0.0, 7.0])), (4, 3, 3));
    assert_eq!((nodes.len(), nodes.depth()), (8, 2));
}

#[test]
fn a_block_of_rows_reaches_the_same_leaves_as_each_row_alone() {
    let schema = Schema { n_values: vec![0, 0], n_classes: 2 };
    let mut nodes = Nodes::new(&schema, 1 << 25);
    nodes.split(0, 1, Test::AtMost(0.5), &[0, 1], 1);
    nodes.split(2, 0, Test::AtMost(-0.5), &[1, 2], 0);
    let x: Vec<f64> = (0..2 * 21).map(|i| if i == 13 { f64::NAN } else { (f64::from(i) * 1.7).sin() }).collect();
    let (mut end_nodes, mut leaves) = ([0; 21], [0; BLOCK]);
    for _ in 0..2 {
        let mut rows = Rows::<1>::new(&Layout::new(&schema), 32);
        rows.fill(&Layout::new(&schema), &x, 21);
        nodes.route_block(&x, 2, rows.panels(), rows.missing_rows(), (&mut end_nodes, &mut leaves));
        for (i, (&end, &leaf)) in end_nodes.iter().zip(&leaves).enumerate() {
            assert_eq!(end, nodes.route(0, &x[2 * i..2 * i + 2]));
            assert_eq!(Some(leaf as usize), nodes.leaf(end));
        }
    }
}

#[test]
fn a_block_of_nominal_and_missing_values_reaches_the_same_leaves_as_each_row_alone() {
    let (mut nodes, draws) = (tree(), Draws::new(4, Purpose::named("nodes"), 0));
    nodes.split(7, 0, Test::AtMost(0.75), &[4, 5], 1);
    let x: Vec<f64> = (0..21)
        .flat_map(|row| {
            let row_draws = draws.within(row);
            [row_draws.uniform(0), [f64::NAN, 0.0, 1.0, 2.0][row_draws.below(1, 4) as usize]]
        })
        .collect();
    let (mut end_nodes, mut leaves) = ([0; 21], [0; BLOCK]);
    for n_steps in 0..5 {
        nodes.sixteenth_steps = 16 * n_steps;
        let mut rows = Rows::<1>::new(&Layout::new(&schema()), 32);
        rows.fill(&Layout::new(&schema()), &x, 21);
        nodes.route_block(&x, 2, rows.panels(), rows.missing_rows(), (&mut end_nodes, &mut leaves));
        for (i, (&end, &leaf)) in end_nodes.iter().zip(&leaves).enumerate() {
            assert_eq!(end, nodes.route(0, &x[2 * i..2 * i + 2]));
            assert_eq!(Some(leaf as usize), nodes.leaf(end));
        }
    }
}

#[test]
fn a_row_with_missing_values_arrives_although_it_runs_past_the_last_node() {
    let schema = Schema { n_values: vec![0], n_classes: 2 };
    let mut nodes = Nodes::new(&schema, 1 << 25);
    nodes.split(0, 0, Test::AtMost(0.5), &[0, 1], 0);
    nodes.push_root(2, 0);
    let mut last = 2;
    while nodes.len() < SMALL {
        nodes.split(last, 0, Test::AtMost(0.5), &[0, 1], 0);
        last = nodes.len() as u32 - 1;
    }
    let mut rows = Rows::<1>::new(&Layout::new(&schema), BLOCK);
    let x: Vec<f64> = (0..BLOCK).map(|i| if i % 2 == 0 { f64::NAN } else { 1.0 }).collect();
    let (mut end_nodes, mut leaves) = ([0; BLOCK], [0; BLOCK]);
    for steps in 0..SMALL {
        nodes.sixteenth_steps = 16 * steps;
        rows.fill(&Layout::new(&schema), &x, BLOCK);
        nodes.route_block(&x, 1, rows.panels(), rows.missing_rows(), (&mut end_nodes, &mut leaves));
        assert_eq!((end_nodes[0], end_nodes[1]), (1, last));
    }
}

/// Returns the leaf node by a plain walk: one test after the other, missing values to the heaviest child.
fn walk(nodes: &Nodes, x: &[f64]) -> u32 {
    let mut node = 0;
    while nodes.leaf(node).is_none() {
        let entry = nodes.entries[node as usize];
        let Node { attribute, first_child, heaviest_child, .. } = entry;
        let Test::AtMost(threshold) = entry.test() else { unreachable!("all attributes are numbers") };
        let value = x[attribute as usize];
        node = match value {
            _ if value.is_nan() => heaviest_child,
            _ if value <= threshold => first_child,
            _ => first_child + 1,
        };
    }
    node
}

#[test]
fn step_tables_of_every_size_lead_where_the_plain_walk_does() {
    let draws = Draws::new(3, Purpose::named("nodes"), 0);
    for (n_attributes, n_splits) in [(1, 0), (2, 7), (16, 400), (5, 600), (3, 5_000), (10, 33_000), (17, 100)] {
        let schema = Schema { n_values: vec![0; n_attributes], n_classes: 2 };
        let mut nodes = Nodes::new(&schema, 1 << 28);
        // Every split is of a random leaf by a random attribute; its first child keeps the leaf's number.
        let mut leaves = vec![0_u32];
        for split in 0..n_splits {
            let split_draws = draws.within(split);
            let (i, attribute) =
                (split_draws.below(0, leaves.len() as u64) as usize, split_draws.below(1, n_attributes as u64));
            let (node, first_child) = (leaves[i], nodes.len() as u32);
            let numbers = [nodes.leaf(node).unwrap(), leaves.len()];
            let test = Test::AtMost(split_draws.uniform(2));
            nodes.split(node, attribute as usize, test, &numbers, split_draws.below(3, 2) as usize);
            leaves[i] = first_child;
            leaves.push(first_child + 1);
        }
        let layout = Layout::new(&schema);
        let mut rows = Rows::<MAX_VECTORS>::new(&layout, BLOCK);
        let (mut end_nodes, mut leaves) = ([0; BLOCK], [0; BLOCK]);
        for block in 0..60 {
            let block_draws = draws.within(1_000_000 + block);
            let n_rows = if block % 7 == 6 { 1 + block_draws.below(0, BLOCK as u64 - 1) as usize } else { BLOCK };
            let missing = if block % 3 == 0 { 0.1 } else { 0.0 };
            let value = |i: u64| {
                if block_draws.uniform(2 * i) < missing { f64::NAN } else { block_draws.uniform(2 * i + 1) }
            };
            let x: Vec<f64> = (0..(n_rows * n_attributes) as u64).map(value).collect();
            rows.fill(&layout, &x, n_rows);
            let end_nodes = &mut end_nodes[..n_rows];
            nodes.route_block(&x, n_attributes, rows.panels(), rows.missing_rows(), (end_nodes, &mut leaves));
            for (i, x) in x.chunks_exact(n_attributes).enumerate() {
                assert_eq!(end_nodes[i], walk(&nodes, x));
                assert_eq!(Some(leaves[i] as usize), nodes.leaf(end_nodes[i]));
            }
        }
    }
}

#[test]
fn nodes_round_trip_and_a_graph_that_is_no_tree_is_refused() {
    let mut writer = Writer::new("nodes", 1);
    tree().save(&mut writer);
    let bytes = writer.finish();
    let load = |bytes: &[u8], n_leaves: usize| {
        let mut reader = Reader::new("nodes", 1, bytes)?;
        let mut leaves = LeafClaims::new(n_leaves, 0);
        let nodes = Nodes::empty(&schema(), 1 << 25).load(&mut reader, &schema(), &[], &mut leaves)?;
        leaves.check(&reader).map(|()| nodes)
    };
    let loaded = load(&bytes, 5).unwrap();
    assert_eq!((loaded.len(), loaded.depth()), (8, 2));
    assert_eq!(loaded.route(0, &[0.6, 2.0]), tree().route(0, &[0.6, 2.0]));
    assert!(load(&bytes, 4).is_err() && load(&bytes, 6).is_err());
    let mut twice = tree();
    twice.entries[2].first_child = 3;
    let mut writer = Writer::new("nodes", 1);
    twice.save(&mut writer);
    assert!(load(&writer.finish(), 5).is_err());
}
