//! Reference implementations of naive Bayes and the Hoeffding tree: slow, plain, with the mathematics of the standard
//! library.

use std::f64::consts::PI;

/// The statistics of an attribute in one class.
#[derive(Clone)]
enum Attribute {
    Numeric { weight: f64, mean: f64, squares: f64, min: f64, max: f64 },
    Nominal { counts: Vec<f64> },
}

impl Attribute {
    fn new(n_values: u32) -> Self {
        if n_values > 0 {
            return Self::Nominal { counts: vec![0.0; n_values as usize] };
        }
        Self::Numeric { weight: 0.0, mean: 0.0, squares: 0.0, min: f64::INFINITY, max: f64::NEG_INFINITY }
    }

    fn weight(&self) -> f64 {
        match self {
            Self::Numeric { weight, .. } => *weight,
            Self::Nominal { counts } => counts.iter().sum(),
        }
    }

    fn observe(&mut self, value: f64, by: f64) {
        match self {
            _ if value.is_nan() => {}
            Self::Numeric { weight, mean, squares, min, max } => {
                *weight += by;
                let before = *mean;
                *mean += by * (value - before) / *weight;
                *squares += by * (value - before) * (value - *mean);
                (*min, *max) = (min.min(value), max.max(value));
            }
            Self::Nominal { counts } => counts[value as usize] += by,
        }
    }

    fn variance(&self) -> f64 {
        match self {
            Self::Numeric { weight, squares, .. } if *weight > 1.0 => squares / (weight - 1.0),
            _ => 0.0,
        }
    }

    fn log_density(&self, value: f64) -> f64 {
        match self {
            _ if value.is_nan() || (self.weight() == 0.0 && matches!(self, Self::Numeric { .. })) => 0.0,
            Self::Numeric { mean, .. } if self.variance() > 0.0 => {
                -0.5 * (2.0 * PI * self.variance()).ln() - (value - mean).powi(2) / (2.0 * self.variance())
            }
            Self::Numeric { mean, .. } if value == *mean => 0.0,
            Self::Numeric { .. } => f64::NEG_INFINITY,
            Self::Nominal { counts } => ((counts[value as usize] + 1.0) / (self.weight() + counts.len() as f64)).ln(),
        }
    }

    /// Returns the weight at or below a threshold.
    fn below(&self, threshold: f64) -> f64 {
        match self {
            Self::Numeric { weight, mean, min, max, .. } => {
                if *weight == 0.0 || threshold < *min {
                    0.0
                } else if threshold >= *max {
                    *weight
                } else {
                    let z = (threshold - mean) / self.variance().sqrt();
                    weight * 0.5 * libm::erfc(-z / 2f64.sqrt())
                }
            }
            Self::Nominal { .. } => 0.0,
        }
    }
}

/// Naive Bayes.
#[derive(Clone)]
pub struct Bayes {
    weights: Vec<f64>,
    observed: Vec<f64>,
    classes: Vec<Vec<Attribute>>,
    fallback: i32,
}

impl Bayes {
    pub fn new(n_values: &[u32], weights: Vec<f64>, fallback: i32) -> Self {
        let attributes: Vec<_> = n_values.iter().map(|&n| Attribute::new(n)).collect();
        Self { observed: vec![0.0; weights.len()], classes: vec![attributes; weights.len()], weights, fallback }
    }

    pub fn majority(&self) -> i32 {
        if self.weights.iter().all(|&weight| weight == 0.0) { self.fallback } else { first_of_best(&self.weights) }
    }

    pub fn predict(&self, x: &[f64]) -> i32 {
        let fresh = self.observed.iter().all(|&weight| weight == 0.0);
        let logs: Vec<f64> = (0..self.weights.len())
            .map(|class| {
                if fresh {
                    return self.weights[class].ln();
                }
                if self.observed[class] == 0.0 {
                    return f64::NEG_INFINITY;
                }
                let densities =
                    self.classes[class].iter().zip(x).map(|(attribute, &value)| attribute.log_density(value));
                self.weights[class].ln() + densities.sum::<f64>()
            })
            .collect();
        if logs.iter().all(|&log| log == f64::NEG_INFINITY) { self.majority() } else { first_of_best(&logs) }
    }

    pub fn learn(&mut self, x: &[f64], label: usize, weight: f64) {
        self.weights[label] += weight;
        self.observed[label] += weight;
        for (attribute, &value) in self.classes[label].iter_mut().zip(x) {
            attribute.observe(value, weight);
        }
    }
}

fn first_of_best(values: &[f64]) -> i32 {
    let best = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    values.iter().position(|&value| value == best).unwrap() as i32
}

fn impurity(weights: &[f64], gini: bool) -> f64 {
    let total: f64 = weights.iter().sum();
    if gini {
        return 1.0 - weights.iter().map(|weight| (weight / total).powi(2)).sum::<f64>();
    }
    weights.iter().filter(|&&weight| weight > 0.0).map(|weight| -weight / total * (weight / total).log2()).sum()
}

#[derive(Clone)]
struct Split {
    attribute: usize,
    /// The threshold, the nominal value tested, or neither for a branch per value.
    threshold: Option<f64>,
    value: Option<usize>,
    /// The impurity of the classes before and after, over the rows in which the attribute is known.
    before: f64,
    after: f64,
    branches: Vec<Vec<f64>>,
}

/// The options that tests vary.
#[derive(Clone, Copy)]
pub struct TreeOptions {
    pub grace_period: f64,
    pub split_confidence: f64,
    pub tie_threshold: f64,
    pub adaptive: bool,
    pub binary: bool,
    pub gini: bool,
}

enum Node {
    Leaf { bayes: Bayes, since: f64, majority_hits: f64, bayes_hits: f64 },
    Inner { split: Split, heaviest: usize, children: Vec<Node> },
}

/// A Hoeffding tree.
pub struct Tree {
    n_values: Vec<u32>,
    options: TreeOptions,
    root: Node,
}

impl Tree {
    pub fn new(n_values: &[u32], n_classes: usize, options: TreeOptions) -> Self {
        let root = leaf(Bayes::new(n_values, vec![0.0; n_classes], -1));
        Self { n_values: n_values.to_vec(), options, root }
    }

    pub fn n_nodes(&self) -> u64 {
        fn count(node: &Node) -> u64 {
            match node {
                Node::Leaf { .. } => 1,
                Node::Inner { children, .. } => 1 + children.iter().map(count).sum::<u64>(),
            }
        }
        count(&self.root)
    }

    /// Predicts a row, then learn it.
    pub fn step(&mut self, x: &[f64], label: usize, weight: f64) -> i32 {
        let node = descend(&mut self.root, x);
        let Node::Leaf { bayes, since, majority_hits, bayes_hits } = node else { unreachable!() };
        let (majority, likeliest) = (bayes.majority(), bayes.predict(x));
        let predicted = if self.options.adaptive && majority_hits > bayes_hits { majority } else { likeliest };
        if weight > 0.0 {
            *majority_hits += if majority == label as i32 { weight } else { 0.0 };
            *bayes_hits += if likeliest == label as i32 { weight } else { 0.0 };
            bayes.learn(x, label, weight);
            *since += weight;
            if *since >= self.options.grace_period {
                *since = 0.0;
                if let Some(split) = choose(bayes, &self.options) {
                    let majority = bayes.majority();
                    let branches = split.branches.clone();
                    let sums: Vec<f64> = branches.iter().map(|branch| branch.iter().sum()).collect();
                    let children =
                        branches.into_iter().map(|b| leaf(Bayes::new(&self.n_values, b, majority))).collect();
                    *node = Node::Inner { split, heaviest: first_of_best(&sums) as usize, children };
                }
            }
        }
        predicted
    }
}

fn leaf(bayes: Bayes) -> Node {
    Node::Leaf { bayes, since: 0.0, majority_hits: 0.0, bayes_hits: 0.0 }
}

fn descend<'a>(node: &'a mut Node, x: &[f64]) -> &'a mut Node {
    let Node::Inner { split, heaviest, children } = node else { return node };
    let value = x[split.attribute];
    let branch = match (split.threshold, split.value) {
        _ if value.is_nan() => *heaviest,
        (Some(threshold), _) => usize::from(value > threshold),
        (None, Some(code)) => usize::from(value as usize != code),
        (None, None) => value as usize,
    };
    descend(&mut children[branch], x)
}

fn choose(bayes: &Bayes, options: &TreeOptions) -> Option<Split> {
    let seen: Vec<usize> = (0..bayes.weights.len()).filter(|&class| bayes.weights[class] > 0.0).collect();
    if seen.len() < 2 {
        return None;
    }
    let n: f64 = bayes.weights.iter().sum();
    let range = if options.gini { 1.0 } else { ((seen.last().unwrap() + 1) as f64).log2() };
    let bound = (range.powi(2) * (1.0 / options.split_confidence).ln() / (2.0 * n)).sqrt();
    let mut best: Vec<Split> =
        (0..bayes.classes[0].len()).filter_map(|attribute| best_split(bayes, attribute, options)).collect();
    best.sort_by(|a, b| b.after.total_cmp(&a.after));
    let first = best.pop()?;
    let rival = best.pop().map_or(first.before, |second| second.after.min(first.before));
    (rival - first.after > bound || bound < options.tie_threshold).then_some(first)
}

fn best_split(bayes: &Bayes, attribute: usize, options: &TreeOptions) -> Option<Split> {
    let column: Vec<&Attribute> = bayes.classes.iter().map(|class| &class[attribute]).collect();
    let mut splits = vec![];
    let make = |threshold, value, branches| Split { attribute, threshold, value, before: 0.0, after: 0.0, branches };
    if let Attribute::Nominal { counts } = column[0] {
        let count = |class: usize, value: usize| match column[class] {
            Attribute::Nominal { counts } => counts[value],
            Attribute::Numeric { .. } => 0.0,
        };
        let classes = 0..column.len();
        if !options.binary {
            let branches = (0..counts.len()).map(|v| classes.clone().map(|class| count(class, v)).collect()).collect();
            splits.push(make(None, None, branches));
        }
        for v in 0..counts.len() {
            let is: Vec<f64> = classes.clone().map(|class| count(class, v)).collect();
            let rest = classes.clone().map(|class| column[class].weight() - is[class]).collect();
            splits.push(make(None, Some(v), vec![is, rest]));
        }
    } else {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for class in &column {
            if let Attribute::Numeric { min, max, .. } = class {
                (low, high) = (low.min(*min), high.max(*max));
            }
        }
        for i in 1..=10 {
            let threshold = (high - low) / 11.0 * f64::from(i) + low;
            if threshold > low && threshold < high {
                let below: Vec<f64> = column.iter().map(|class| class.below(threshold)).collect();
                let above = column.iter().zip(&below).map(|(class, below)| class.weight() - below).collect();
                splits.push(make(Some(threshold), None, vec![below, above]));
            }
        }
    }
    let before: Vec<f64> = column.iter().map(|class| class.weight()).collect();
    let total: f64 = before.iter().sum();
    let mut best: Option<Split> = None;
    for mut split in splits {
        let sums: Vec<f64> = split.branches.iter().map(|branch| branch.iter().sum::<f64>()).collect();
        if sums.iter().filter(|&&sum| sum / total > 0.01).count() < 2 {
            continue;
        }
        let branches = split.branches.iter().zip(&sums).filter(|(_, sum)| **sum > 0.0);
        split.after = branches.map(|(branch, sum)| sum / total * impurity(branch, options.gini)).sum();
        split.before = impurity(&before, options.gini);
        if best.as_ref().is_none_or(|best| split.after < best.after - 1e-12) {
            best = Some(split);
        }
    }
    best
}
