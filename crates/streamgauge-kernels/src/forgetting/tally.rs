//! Outcomes of rows as codes, and tallies as columns.

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
    /// Votes for the classes, [n, c], if they are needed.
    pub votes: Option<&'a [f64]>,
    /// The arrival time of each row in seconds, if it is needed.
    pub time: Option<&'a [f64]>,
}

impl Columns<'_> {
    /// Returns whether all weights are finite and not below 0.
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

/// Checked and encoded rows.
#[derive(Debug, Clone, Copy)]
pub struct Rows<'a> {
    /// The codes of the entries, `entries_per_row` per row; the first is that of the outcome.
    pub codes: &'a [u32],
    /// The true class.
    pub y_true: &'a [i32],
    /// The predicted class.
    pub y_pred: &'a [i32],
    /// The amounts of the entries; the first of a row is its weight; `None` means 1 for all.
    pub weight: Option<&'a [f64]>,
    /// Votes as shares of their sum, [n, c]; empty if not needed.
    pub shares: &'a [f64],
    /// The arrival time of each row.
    pub time: Option<&'a [f64]>,
    /// The losses from which an adaptive window is cut, if rows have amounts in place of classes.
    pub losses: &'a [f64],
    /// The number of entries of a row.
    pub entries_per_row: usize,
    /// The number of classes.
    pub n_classes: usize,
}

impl Rows<'_> {
    /// Returns the number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.codes.len() / self.entries_per_row
    }

    /// Returns whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.codes.is_empty()
    }

    /// Returns the weight of a row.
    #[must_use]
    pub fn row_weight(&self, row: usize) -> f64 {
        self.weight.map_or(1.0, |weight| weight[row * self.entries_per_row])
    }

    /// Returns a range of the rows.
    #[must_use]
    pub fn slice(&self, range: Range<usize>) -> Self {
        let entries = range.start * self.entries_per_row..range.end * self.entries_per_row;
        let votes = range.start * self.n_classes..range.end * self.n_classes;
        Self {
            codes: &self.codes[entries.clone()],
            y_true: if self.y_true.is_empty() { &[] } else { &self.y_true[range.clone()] },
            y_pred: if self.y_pred.is_empty() { &[] } else { &self.y_pred[range.clone()] },
            losses: if self.losses.is_empty() { &[] } else { &self.losses[range.clone()] },
            weight: self.weight.map(|weight| &weight[entries]),
            shares: if self.shares.is_empty() { self.shares } else { &self.shares[votes] },
            time: self.time.map(|time| &time[range]),
            entries_per_row: self.entries_per_row,
            n_classes: self.n_classes,
        }
    }
}

/// The possible outcomes of a row: its true class, its prediction, and which baselines were right.
///
/// The code is `(y_true * (c + 1) + y_pred + 1) * 4 + majority_hit * 2 + no_change_hit`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcomes {
    n_classes: usize,
}

impl Outcomes {
    /// Creates the outcomes of rows of `n_classes` classes.
    ///
    /// # Errors
    /// Returns [`KernelError::Option`] if there are none, or too many.
    pub fn new(n_classes: usize) -> Result<Self, KernelError> {
        let valid = (1..=MAX_CLASSES).contains(&n_classes);
        check_option("n_classes", n_classes, valid, "there must be between 1 and 32767 classes")?;
        Ok(Self { n_classes })
    }

    /// Returns the outcomes of rows without classes: none.
    #[must_use]
    pub fn none() -> Self {
        Self { n_classes: 0 }
    }

    /// Returns the number of classes.
    #[must_use]
    pub fn n_classes(self) -> usize {
        self.n_classes
    }

    /// Returns the number of codes.
    #[must_use]
    pub fn n_codes(self) -> usize {
        4 * self.n_classes * (self.n_classes + 1)
    }

    /// Returns the true class of a code.
    #[must_use]
    pub fn true_class(self, code: u32) -> u32 {
        code / (4 * (self.n_classes as u32 + 1))
    }

    /// Appends them to a saved state.
    pub fn write(self, writer: &mut Writer) {
        writer.u64(self.n_classes as u64);
    }

    /// Reads the outcomes of a saved state, which may have fewer classes: its classes are the first of these.
    ///
    /// # Errors
    /// Returns [`KernelError::Saved`] if it has none or more, or the bytes end.
    pub fn read_saved(self, reader: &mut Reader<'_>) -> Result<Self, KernelError> {
        let n_classes = reader.usize()?;
        if n_classes == self.n_classes || (1..self.n_classes).contains(&n_classes) {
            Ok(Self { n_classes })
        } else {
            Err(reader.error("it has more classes, or none"))
        }
    }

    /// Returns the code of an outcome of other classes, whose numbers here are given by `class`.
    #[must_use]
    pub fn adopt_code(self, other: Self, code: u32, class: impl Fn(u32) -> u32) -> u32 {
        let (cell, hits) = (code / 4, code % 4);
        let (old, new) = (other.n_classes as u32 + 1, self.n_classes as u32 + 1);
        let prediction = (cell % old).checked_sub(1).map_or(0, |predicted| class(predicted) + 1);
        (class(cell / old) * new + prediction) * 4 + hits
    }

    /// Checks every row and returns its code.
    ///
    /// # Errors
    /// Returns an error for the first column of a wrong length, or the first invalid class code or weight.
    pub fn encode(self, columns: &Columns<'_>) -> Result<Vec<u32>, KernelError> {
        columns.check_lengths()?;
        let codes = dispatch::run(
            #[inline(always)]
            || self.codes(columns).filter(|_| columns.has_valid_weights()),
        );
        codes.ok_or_else(|| self.find_error(columns))
    }

    /// Returns the codes of rows, or `None` if a class is invalid.
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

    /// Returns the first fault of columns that have one.
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

/// Tallies at reading rows, as columns.
#[derive(Debug, Clone, PartialEq)]
pub struct Tallies {
    /// The number of classes, c.
    pub n_classes: usize,
    /// Weight per reading, true class and predicted class, [s, c, c].
    pub confusion: Vec<f64>,
    /// Weight per reading and true class of the rows without a prediction, [s, c].
    pub abstained: Vec<f64>,
    /// Weight per reading, baseline (majority class, no change) and true class of the rows it got right, [s, 2, c].
    ///
    /// By class, because these sums then have the bits of the diagonal of `confusion` if a learner predicts like its
    /// baseline.
    pub hits: Vec<f64>,
    /// The number of rows that each tally covers, `[s]`.
    pub widths: Vec<u64>,
    /// The requested statistics in the order of [`Statistics`](super::Statistics), each a sum, those of calibration [3,
    /// bins]; [s, `n_sums`].
    pub sums: Vec<f64>,
    /// If ranks are requested: areas under ROC curves, their margins, average precisions, their margins, [s, 4, c, c].
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
        self.sums.extend_from_slice(&weights[n_outcomes..]);
        self.widths.push(width);
    }

    pub(super) fn push_ranks(&mut self, ranks: &Ranks) {
        for areas in [&ranks.roc, &ranks.roc_margin, &ranks.precision, &ranks.precision_margin] {
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
