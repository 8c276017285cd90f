//! The outcome of a row as one code, and tallies as columns.

use std::ops::Range;

use super::ranks::Ranks;
use super::statistics::Layout;
use crate::KernelError;
use crate::codec::{Reader, Writer};
use crate::dispatch;
use crate::error::{check_length, check_option};
use crate::learners::ABSTAINED;

/// The most classes whose outcomes fit a 32-bit code.
const MAX_CLASSES: usize = 32_767;

/// Scored rows, as columns.
#[derive(Debug, Clone, Copy)]
pub struct Columns<'a> {
    /// The true class.
    pub y_true: &'a [i32],
    /// The predicted class, or [`ABSTAINED`].
    pub y_pred: &'a [i32],
    /// Whether the majority class so far was right.
    pub majority_hit: &'a [bool],
    /// Whether the class seen last was right.
    pub no_change_hit: &'a [bool],
    /// Weights; `None` means 1 for all.
    pub weight: Option<&'a [f64]>,
    /// Votes for the classes, [n, c], where they are needed.
    pub votes: Option<&'a [f64]>,
    /// When each row arrived, in seconds, where that is needed.
    pub time: Option<&'a [f64]>,
}

impl Columns<'_> {
    /// Whether all weights are finite and not below 0.
    #[inline(always)]
    fn has_valid_weights(&self) -> bool {
        let mut valid = true;
        for &weight in self.weight.unwrap_or_default() {
            valid &= (0.0..f64::INFINITY).contains(&weight);
        }
        valid
    }

    fn check_lengths(&self) -> Result<(), KernelError> {
        let n = self.y_true.len();
        check_length("y_pred", self.y_pred.len(), n)?;
        check_length("majority_hit", self.majority_hit.len(), n)?;
        check_length("no_change_hit", self.no_change_hit.len(), n)?;
        check_length("weight", self.weight.map_or(n, <[f64]>::len), n)?;
        check_length("time", self.time.map_or(n, <[f64]>::len), n)
    }
}

/// Rows that have been checked and encoded.
#[derive(Debug, Clone, Copy)]
pub struct Rows<'a> {
    /// The codes of the entries, `entries_per_row` a row, of which the first is that of the outcome.
    pub codes: &'a [u32],
    /// The true class.
    pub y_true: &'a [i32],
    /// The predicted class.
    pub y_pred: &'a [i32],
    /// The amounts of the entries, of which a row's first is its weight; `None` means 1 for all.
    pub weight: Option<&'a [f64]>,
    /// Votes as shares of their sum, [n, c]; empty where nobody needs them.
    pub shares: &'a [f64],
    /// When each row arrived.
    pub time: Option<&'a [f64]>,
    /// How many entries a row has.
    pub entries_per_row: usize,
    /// How many classes there are.
    pub n_classes: usize,
}

impl Rows<'_> {
    /// How many rows there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.y_true.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.y_true.is_empty()
    }

    /// The weight of a row.
    #[must_use]
    pub fn row_weight(&self, row: usize) -> f64 {
        self.weight.map_or(1.0, |weight| weight[row * self.entries_per_row])
    }

    /// Some of the rows.
    #[must_use]
    pub fn slice(&self, range: Range<usize>) -> Self {
        let entries = range.start * self.entries_per_row..range.end * self.entries_per_row;
        let votes = range.start * self.n_classes..range.end * self.n_classes;
        Self {
            codes: &self.codes[entries.clone()],
            y_true: &self.y_true[range.clone()],
            y_pred: &self.y_pred[range.clone()],
            weight: self.weight.map(|weight| &weight[entries]),
            shares: if self.shares.is_empty() { self.shares } else { &self.shares[votes] },
            time: self.time.map(|time| &time[range]),
            entries_per_row: self.entries_per_row,
            n_classes: self.n_classes,
        }
    }
}

/// What is told apart of a row: its true class, its prediction, and which baselines were right.
///
/// The code is `(y_true * (c + 1) + y_pred + 1) * 4 + majority_hit * 2 + no_change_hit`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcomes {
    n_classes: usize,
}

impl Outcomes {
    /// The outcomes of rows of so many classes.
    ///
    /// # Errors
    /// [`KernelError::Option`] where there are none, or too many.
    pub fn new(n_classes: usize) -> Result<Self, KernelError> {
        let valid = (1..=MAX_CLASSES).contains(&n_classes);
        check_option("n_classes", n_classes, valid, "there must be between 1 and 32767 classes")?;
        Ok(Self { n_classes })
    }

    /// How many classes there are.
    #[must_use]
    pub fn n_classes(self) -> usize {
        self.n_classes
    }

    /// How many codes there are.
    #[must_use]
    pub fn n_codes(self) -> usize {
        4 * self.n_classes * (self.n_classes + 1)
    }

    /// Append what they are to a saved state.
    pub fn write(self, writer: &mut Writer) {
        writer.u64(self.n_classes as u64);
    }

    /// Check that a saved state has the same outcomes.
    ///
    /// # Errors
    /// [`KernelError::Saved`] where it has not, or the bytes end.
    pub fn check_saved(self, reader: &mut Reader<'_>) -> Result<(), KernelError> {
        if reader.usize()? == self.n_classes { Ok(()) } else { Err(reader.error("it has another number of classes")) }
    }

    /// Check every row and give its code.
    ///
    /// # Errors
    /// The first column of a wrong length, or the first class code or weight that is not allowed.
    pub fn encode(self, columns: &Columns<'_>) -> Result<Vec<u32>, KernelError> {
        columns.check_lengths()?;
        let codes = dispatch::run(
            #[inline(always)]
            || self.codes(columns).filter(|_| columns.has_valid_weights()),
        );
        codes.ok_or_else(|| self.find_error(columns))
    }

    /// The codes of rows; `None` where a class is not one.
    #[inline(always)]
    fn codes(self, columns: &Columns<'_>) -> Option<Vec<u32>> {
        let n_classes = self.n_classes as u32;
        let hits = columns.majority_hit.iter().zip(columns.no_change_hit);
        let classes = columns.y_true.iter().zip(columns.y_pred);
        let (mut codes, mut invalid) = (Vec::with_capacity(columns.y_true.len()), false);
        codes.extend(classes.zip(hits).map(
            #[inline(always)]
            |((&y_true, &y_pred), (&majority, &no_change))| {
                let (y_true, column) = (y_true as u32, y_pred.wrapping_add(1) as u32);
                invalid |= (y_true >= n_classes) | (column > n_classes);
                let cell = y_true.wrapping_mul(n_classes + 1).wrapping_add(column);
                (cell << 2) | (u32::from(majority) << 1) | u32::from(no_change)
            },
        ));
        (!invalid).then_some(codes)
    }

    /// The first fault of columns that have one.
    fn find_error(self, columns: &Columns<'_>) -> KernelError {
        let n_classes = self.n_classes;
        let known = 0..n_classes as i32;
        for (row, (&label, &prediction)) in columns.y_true.iter().zip(columns.y_pred).enumerate() {
            if !known.contains(&label) {
                return KernelError::Label { row, label, n_classes };
            }
            if prediction != ABSTAINED && !known.contains(&prediction) {
                return KernelError::Prediction { row, prediction, n_classes };
            }
        }
        let weight = columns.weight.unwrap_or_default();
        let row = weight.iter().position(|w| !(*w >= 0.0 && w.is_finite())).unwrap_or_default();
        KernelError::Weight { row, weight: weight.get(row).copied().unwrap_or_default() }
    }
}

/// Tallies at stops, as columns.
#[derive(Debug, Clone, PartialEq)]
pub struct Tallies {
    /// How many classes there are, c.
    pub n_classes: usize,
    /// Weight per stop, true class and predicted class, [s, c, c].
    pub confusion: Vec<f64>,
    /// Weight per stop and true class of the rows without a prediction, [s, c].
    pub abstained: Vec<f64>,
    /// Weight per stop, baseline (majority class, no change) and true class of the rows it got right, [s, 2, c].
    ///
    /// By class, because these sums then have the bits of the diagonal of `confusion` where a learner does as its
    /// baseline does.
    pub hits: Vec<f64>,
    /// How many rows each tally covers, [s].
    pub widths: Vec<u64>,
    /// The statistics asked for, in the order of [`Statistics`](super::Statistics), each a sum, those of calibration
    /// [3, bins]; [s, `n_sums`].
    pub sums: Vec<f64>,
    /// Where ranks are asked for: areas under ROC curves, ties and average precisions, [s, 3, c, c].
    pub ranks: Vec<f64>,
}

impl Tallies {
    pub(super) fn new(n_classes: usize) -> Self {
        let (confusion, abstained, hits, sums, ranks) = (vec![], vec![], vec![], vec![], vec![]);
        Self { n_classes, confusion, abstained, hits, widths: vec![], sums, ranks }
    }

    pub(super) fn push(&mut self, layout: Layout, weights: &[f64], width: u64) {
        let n_outcomes = layout.outcomes().n_codes();
        self.push_outcomes(&weights[..n_outcomes]);
        self.sums.extend_from_slice(&weights[n_outcomes..layout.first_bin()]);
        self.widths.push(width);
    }

    pub(super) fn push_ranks(&mut self, ranks: &Ranks) {
        for areas in [&ranks.roc, &ranks.tied, &ranks.precision] {
            self.ranks.extend_from_slice(areas);
        }
    }

    fn push_outcomes(&mut self, weights: &[f64]) {
        let c = self.n_classes;
        let mut hits = vec![0.0; 2 * c];
        for (class, class_weights) in weights.chunks_exact(4 * (c + 1)).enumerate() {
            for (column, cell) in class_weights.chunks_exact(4).enumerate() {
                let weight = ((cell[0] + cell[1]) + cell[2]) + cell[3];
                if column == 0 {
                    self.abstained.push(weight);
                } else {
                    self.confusion.push(weight);
                }
                hits[class] = (hits[class] + cell[2]) + cell[3];
                hits[c + class] = (hits[c + class] + cell[1]) + cell[3];
            }
        }
        self.hits.extend_from_slice(&hits);
    }
}
