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
    /// The share of pairs of rows that are tied.
    pub tied: Vec<f64>,
    /// The average precision of the class.
    pub precision: Vec<f64>,
}

impl Ranks {
    /// Creates the areas of no rows.
    #[must_use]
    pub fn new(n_classes: usize) -> Self {
        let nothing = vec![f64::NAN; n_classes * n_classes];
        Self { n_classes, roc: nothing.clone(), tied: nothing.clone(), precision: nothing }
    }
}

/// A scan over rows by descending share of the votes for one class, in groups of equal shares.
pub struct RankScan<'a> {
    class: usize,
    ranks: &'a mut Ranks,
    /// The weight by true class of the groups so far, and of the current group.
    above: Vec<f64>,
    group: Vec<f64>,
    /// The classes in the current group.
    present: Vec<usize>,
    /// Weight of pairs in the right order, of tied pairs, and precisions weighted by the rows of the class; by class.
    concordant: Vec<f64>,
    tied: Vec<f64>,
    precision: Vec<f64>,
}

impl<'a> RankScan<'a> {
    /// Starts a scan.
    pub fn new(class: usize, ranks: &'a mut Ranks) -> Self {
        let zeros = vec![0.0; ranks.n_classes];
        let (above, group, concordant) = (zeros.clone(), zeros.clone(), zeros.clone());
        Self { class, ranks, above, group, present: vec![], concordant, tied: zeros.clone(), precision: zeros }
    }

    /// Adds a row, or several of one class, to the current group.
    #[inline(always)]
    pub fn add(&mut self, y_true: usize, weight: f64) {
        if weight > 0.0 {
            if self.group[y_true] == 0.0 {
                self.present.push(y_true);
            }
            self.group[y_true] += weight;
        }
    }

    /// Ends the current group; the next row has a smaller share.
    pub fn end_group(&mut self) {
        let own = self.group[self.class];
        let above = self.above[self.class];
        for &other in &self.present {
            self.concordant[other] += (above + 0.5 * own) * self.group[other];
            self.tied[other] += own * self.group[other];
        }
        if own > 0.0 {
            let (right, mut all) = (above + own, 0.0);
            for (other, sum) in self.precision.iter_mut().enumerate() {
                let reached = self.above[other] + self.group[other];
                all += reached;
                if other != self.class {
                    *sum += own * right / (right + reached);
                }
            }
            self.precision[self.class] += own * right / all;
        }
        for other in self.present.drain(..) {
            self.above[other] += self.group[other];
            self.group[other] = 0.0;
        }
    }

    /// Writes the areas after the last group.
    pub fn finish(self) {
        let (class, n_classes) = (self.class, self.above.len());
        let own = self.above[class];
        let others =
            |sums: &[f64]| (0..n_classes).filter(|&other| other != class).map(|other| sums[other]).sum::<f64>();
        let (all, all_concordant, all_tied) = (others(&self.above), others(&self.concordant), others(&self.tied));
        for other in 0..n_classes {
            let (weight, concordant, tied) = if other == class {
                (all, all_concordant, all_tied)
            } else {
                (self.above[other], self.concordant[other], self.tied[other])
            };
            if own > 0.0 && weight > 0.0 {
                let index = class * n_classes + other;
                self.ranks.roc[index] = concordant / (own * weight);
                self.ranks.tied[index] = tied / (own * weight);
                self.ranks.precision[index] = self.precision[other] / own;
            }
        }
    }
}

/// The shares, labels and weights of the newest rows.
#[derive(Debug, Clone)]
pub struct VoteHistory {
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
        layout.stores_votes().then_some(Self { n_classes, shares, labels, weights })
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
                scan.end_group();
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

    /// Reads it from a saved state.
    ///
    /// # Errors
    /// Returns [`KernelError::Saved`] if it is invalid or does not have `n_rows` rows.
    pub fn read(&self, n_rows: usize, reader: &mut Reader<'_>) -> Result<Self, KernelError> {
        let (shares, labels, weights) = (reader.f64s()?, reader.u64s()?, reader.f64s()?);
        let labels_fit = labels.iter().all(|&label| label < self.n_classes as u64);
        let shares_fit =
            shares.len() == n_rows * self.n_classes && shares.iter().all(|share| (0.0..=1.0).contains(share));
        if labels.len() != n_rows || weights.len() != n_rows || !(labels_fit && shares_fit) {
            return Err(reader.error("its votes do not match its rows"));
        }
        let labels = labels.into_iter().map(|label| label as i32).collect();
        Ok(Self { n_classes: self.n_classes, shares: shares.into(), labels, weights: weights.into() })
    }
}
