//! Ranking of rows of different classes by votes: the areas under ROC and precision-recall curves.

use std::collections::VecDeque;

use super::{Layout, Rows};
use crate::KernelError;
use crate::codec::{Reader, Writer};

/// Areas by class (first axis) and other class (second axis), each [c, c]; on the diagonal those of a class against all
/// others. NaN if one side has no weight.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranks {
    n_classes: usize,
    /// The probability that a row of the class has the greater share for it than one of the other class; ties half.
    pub roc: Vec<f64>,
    /// The greatest error of it due to bins.
    pub roc_margin: Vec<f64>,
    /// The average precision of the class.
    pub precision: Vec<f64>,
    /// The greatest error of it due to bins.
    pub precision_margin: Vec<f64>,
}

impl Ranks {
    /// Creates the areas of no rows.
    #[must_use]
    pub fn new(n_classes: usize) -> Self {
        let unknown = || vec![f64::NAN; n_classes * n_classes];
        let (roc, roc_margin, precision, precision_margin) = (unknown(), unknown(), unknown(), unknown());
        Self { n_classes, roc, roc_margin, precision, precision_margin }
    }
}

/// A scan over rows by descending share of the votes for one class, in groups of equal shares or bins.
pub struct RankScan<'a> {
    class: usize,
    ranks: &'a mut Ranks,
    /// The weight of the rows of the class in the groups so far, and in the current group.
    above: f64,
    group: f64,
    /// All other classes together.
    rest: Opponent,
    /// Each other class; empty if there is one.
    others: Vec<Opponent>,
    /// The other classes in the current group.
    present: Vec<usize>,
}

/// Sums over groups of the rows of a class and those of an opponent.
#[derive(Debug, Clone, Copy, Default)]
struct Opponent {
    /// The weight of its rows in the groups so far, and in the current group.
    above: f64,
    group: f64,
    /// The weight of pairs in the right order, and its greatest error.
    concordant: f64,
    uncertain: f64,
    /// The precisions weighted by the rows of the class, as estimated, and their bounds.
    precision: f64,
    low: f64,
    high: f64,
}

impl Opponent {
    /// Ends a group in which the class has the weight `own`, after `above`.
    #[inline(always)]
    fn end_group(&mut self, own: f64, above: f64, is_one_number: bool) {
        self.concordant += (above + 0.5 * own) * self.group;
        if !is_one_number {
            self.uncertain += 0.5 * own * self.group;
        }
        if own > 0.0 {
            self.add_precision(own, above, is_one_number);
        }
        self.above += self.group;
        self.group = 0.0;
    }

    /// Adds the precisions of the rows of the class in a group.
    ///
    /// The rows of a bin may be in any order. At best, those of the class come first and are tied; at worst they come
    /// last, each for itself. The precision is concave in the weight passed, so a trapezium is below its integral. The
    /// estimate is for rows that are well mixed.
    #[inline(always)]
    fn add_precision(&mut self, own: f64, above: f64, is_one_number: bool) {
        let (right, wrong) = (above + own, self.above + self.group);
        let (precision, low, high) = if wrong == 0.0 {
            (own, own, own)
        } else if is_one_number {
            let tied = own * right / (right + wrong);
            (tied, tied, tied)
        } else {
            let (half_own, half_group) = (0.5 * own, 0.5 * self.group);
            let mixed = own * (above + half_own) / (above + half_own + self.above + half_group);
            let low = half_own * (above / (above + wrong) + right / (right + wrong));
            (mixed, low, own * right / (right + self.above))
        };
        self.precision += precision;
        self.low += low;
        self.high += high;
    }
}

impl<'a> RankScan<'a> {
    /// Starts a scan.
    pub fn new(class: usize, ranks: &'a mut Ranks) -> Self {
        let others = vec![Opponent::default(); if ranks.n_classes > 2 { ranks.n_classes } else { 0 }];
        Self { class, ranks, above: 0.0, group: 0.0, rest: Opponent::default(), others, present: vec![] }
    }

    /// Adds a row, or several of one class, to the current group.
    #[inline(always)]
    pub fn add(&mut self, y_true: usize, weight: f64) {
        if y_true == self.class {
            self.group += weight;
            return;
        }
        self.rest.group += weight;
        if let Some(other) = self.others.get_mut(y_true)
            && weight > 0.0
        {
            if other.group == 0.0 {
                self.present.push(y_true);
            }
            other.group += weight;
        }
    }

    /// Ends the current group, which is one number or a bin of several; the next row has a smaller share.
    #[inline(always)]
    pub fn end_group(&mut self, is_one_number: bool) {
        let (own, above) = (self.group, self.above);
        self.rest.end_group(own, above, is_one_number);
        if own > 0.0 {
            self.others.iter_mut().for_each(|other| other.end_group(own, above, is_one_number));
        } else {
            self.present.iter().for_each(|&other| self.others[other].end_group(own, above, is_one_number));
        }
        self.present.clear();
        self.above += own;
        self.group = 0.0;
    }

    /// Writes the areas after the last group.
    pub fn finish(self) {
        let (own, n_classes) = (self.above, self.ranks.n_classes);
        for other in 0..n_classes {
            let sums = if other == self.class { &self.rest } else { self.others.get(other).unwrap_or(&self.rest) };
            if own > 0.0 && sums.above > 0.0 {
                let index = self.class * n_classes + other;
                self.ranks.roc[index] = sums.concordant / (own * sums.above);
                self.ranks.roc_margin[index] = sums.uncertain / (own * sums.above);
                self.ranks.precision[index] = sums.precision / own;
                let error = (sums.high - sums.precision).max(sums.precision - sums.low);
                self.ranks.precision_margin[index] = error.max(0.0) / own;
            }
        }
    }
}

/// The shares, labels and weights of the newest rows.
#[derive(Debug, Clone)]
pub struct VoteHistory {
    layout: Layout,
    n_classes: usize,
    shares: VecDeque<f64>,
    labels: VecDeque<i32>,
    weights: VecDeque<f64>,
}

impl VoteHistory {
    /// Creates an empty history, or none if the layout stores no votes.
    #[must_use]
    pub fn for_layout(layout: Layout) -> Option<Self> {
        let (n_classes, shares, labels, weights) =
            (layout.outcomes().n_classes(), VecDeque::new(), VecDeque::new(), VecDeque::new());
        layout.stores_votes().then_some(Self { layout, n_classes, shares, labels, weights })
    }

    /// Adds rows.
    pub fn extend(&mut self, rows: &Rows<'_>) {
        self.shares.extend(rows.shares);
        self.labels.extend(rows.y_true);
        self.weights.extend((0..rows.len()).map(|row| rows.row_weight(row)));
    }

    /// Drops all but the newest `n` rows.
    pub fn keep_newest(&mut self, n: usize) {
        let n_old = self.labels.len().saturating_sub(n);
        self.shares.drain(..n_old * self.n_classes);
        self.labels.drain(..n_old);
        self.weights.drain(..n_old);
    }

    /// Computes how they rank the classes.
    #[must_use]
    pub fn ranks(&self) -> Ranks {
        let mut ranks = Ranks::new(self.n_classes);
        let mut order: Vec<(f64, u32)> = Vec::with_capacity(self.labels.len());
        for class in 0..self.n_classes {
            order.clear();
            let shares = self.shares.iter().skip(class).step_by(self.n_classes);
            order.extend(shares.zip(0..).map(|(&share, row)| (share, row)));
            // A stable sort: equal shares stay in the order of the rows, so that their weights are always added in that
            // order.
            order.sort_by(|first, second| second.0.total_cmp(&first.0));
            let mut scan = RankScan::new(class, &mut ranks);
            for group in order.chunk_by(|first, second| first.0 == second.0) {
                for &(_, row) in group {
                    scan.add(self.labels[row as usize] as usize, self.weights[row as usize]);
                }
                scan.end_group(true);
            }
            scan.finish();
        }
        ranks
    }

    /// Returns the memory it uses on the heap in bytes.
    #[must_use]
    pub fn n_bytes(&self) -> usize {
        8 * (self.shares.capacity() + self.weights.capacity()) + 4 * self.labels.capacity()
    }

    /// Appends it to a saved state.
    pub fn write(&self, writer: &mut Writer) {
        writer.f64s(&self.shares.iter().copied().collect::<Vec<_>>());
        writer.u64s(self.labels.iter().map(|&label| label as u64));
        writer.f64s(&self.weights.iter().copied().collect::<Vec<_>>());
    }

    /// Reads it from a state that was saved with a layout of at most as many classes.
    ///
    /// # Errors
    /// Returns [`KernelError::Saved`] if it is invalid or does not have `n_rows` rows.
    pub fn read(&self, n_rows: usize, saved: Layout, reader: &mut Reader<'_>) -> Result<Self, KernelError> {
        let n_saved = saved.outcomes().n_classes();
        let (shares, labels, weights) = (reader.f64s()?, reader.u64s()?, reader.f64s()?);
        let labels_fit = labels.iter().all(|&label| label < n_saved as u64);
        let shares_fit = shares.len() == n_rows * n_saved && shares.iter().all(|share| (0.0..=1.0).contains(share));
        if labels.len() != n_rows || weights.len() != n_rows || !(labels_fit && shares_fit) {
            return Err(reader.error("its votes do not match its rows"));
        }
        let labels = labels.into_iter().map(|label| label as i32).collect();
        let shares = self.layout.adopt_shares(saved, shares).into();
        Ok(Self { layout: self.layout, n_classes: self.n_classes, shares, labels, weights: weights.into() })
    }
}
