//! Statistics beyond the counts: sums over rows of squared weights and of scores of their votes.
//!
//! A row becomes a few entries, each a code and an amount, so that every forgetting keeps every sum in the same way. A
//! statistic that is not requested costs nothing.

use std::borrow::Cow;
use std::ops::Range;

use super::tally::{Columns, Outcomes, Rows};
use crate::KernelError;
use crate::codec::{Reader, Writer};
use crate::error::{check_length, check_option, option_error};

/// The number of bins of confidence for calibration.
pub const N_BINS: usize = 15;
/// The most sums of amounts.
const MAX_AMOUNTS: usize = 1000;
/// The smallest share of the votes in a logarithm: the rounding error of 1.
const MIN_SHARE: f64 = f64::EPSILON;

/// The requested sums.
#[allow(clippy::struct_excessive_bools)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Statistics {
    /// The squared weights of rows.
    pub squared_weight: bool,
    /// The logarithmic loss of the votes.
    pub log_loss: bool,
    /// The squared differences of the votes from the truth.
    pub brier: bool,
    /// Weight, confidence and hits by bin of confidence.
    pub calibration: bool,
    /// The ranking of rows of different classes by votes.
    pub ranks: bool,
}

impl Statistics {
    /// Parses names of statistics.
    ///
    /// # Errors
    /// Returns [`KernelError::Option`] for the first name that is none.
    pub fn from_names<'a>(names: impl Iterator<Item = &'a str>) -> Result<Self, KernelError> {
        let mut statistics = Self::default();
        for name in names {
            match name {
                "squared_weight" => statistics.squared_weight = true,
                "log_loss" => statistics.log_loss = true,
                "brier" => statistics.brier = true,
                "calibration" => statistics.calibration = true,
                "ranks" => statistics.ranks = true,
                _ => {
                    let expected = "it must be squared_weight, log_loss, brier, calibration or ranks";
                    return Err(option_error("statistics", name, expected));
                }
            }
        }
        Ok(statistics)
    }

    /// Returns whether any of them needs votes.
    #[must_use]
    pub fn need_votes(self) -> bool {
        self.log_loss || self.brier || self.calibration || self.ranks
    }

    /// Returns the number of sums, without those of ranks.
    #[must_use]
    pub fn n_sums(self) -> usize {
        [self.squared_weight, self.log_loss, self.brier].into_iter().map(usize::from).sum::<usize>()
            + if self.calibration { 3 * N_BINS } else { 0 }
    }

    fn bits(self) -> u64 {
        [self.squared_weight, self.log_loss, self.brier, self.calibration, self.ranks]
            .into_iter()
            .fold(0, |bits, requested| 2 * bits + u64::from(requested))
    }
}

/// The codes of all entries: outcomes first, then the sums.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    outcomes: Outcomes,
    statistics: Statistics,
    /// Whether votes are stored as they are, for exact ranks, instead of in bins.
    stores_rows: bool,
    /// The number of amounts of a row that has amounts in place of classes, its weight included; else 0.
    n_amounts: usize,
}

impl Layout {
    /// Creates the layout of a state that stores the votes of its rows, or does not.
    ///
    /// # Errors
    /// Returns [`KernelError::Option`] if there are too many classes for the requested statistics.
    pub fn new(outcomes: Outcomes, statistics: Statistics, stores_rows: bool) -> Result<Self, KernelError> {
        let layout = Self { outcomes, statistics, stores_rows, n_amounts: 0 };
        let expected = "there are too many classes for the requested statistics";
        check_option("n_classes", outcomes.n_classes(), u32::try_from(layout.n_codes()).is_ok(), expected)?;
        Ok(layout)
    }

    /// Creates the layout of rows that have a weight and `n_sums` amounts, of which weighted sums are kept.
    ///
    /// # Errors
    /// Returns [`KernelError::Option`] if there are too many.
    pub fn of_amounts(n_sums: usize) -> Result<Self, KernelError> {
        check_option("n_sums", n_sums, n_sums <= MAX_AMOUNTS, "there must be at most 1000 sums")?;
        let (outcomes, statistics) = (Outcomes::none(), Statistics::default());
        Ok(Self { outcomes, statistics, stores_rows: false, n_amounts: n_sums + 1 })
    }

    /// Returns the number of amounts of a row, its weight included; 0 if rows have classes.
    #[must_use]
    pub fn n_amounts(self) -> usize {
        self.n_amounts
    }

    /// Returns the outcomes.
    #[must_use]
    pub fn outcomes(self) -> Outcomes {
        self.outcomes
    }

    /// Returns the requested sums.
    #[must_use]
    pub fn statistics(self) -> Statistics {
        self.statistics
    }

    /// Returns whether the votes of rows are kept in bins, for ranks.
    #[must_use]
    pub fn bins_votes(self) -> bool {
        self.statistics.ranks && !self.stores_rows
    }

    /// Returns whether the votes of rows are stored, for exact ranks.
    #[must_use]
    pub fn stores_votes(self) -> bool {
        self.statistics.ranks && self.stores_rows
    }

    /// Returns the number of codes.
    #[must_use]
    pub fn n_codes(self) -> usize {
        self.outcomes.n_codes() + self.statistics.n_sums() + self.n_amounts
    }

    /// Returns the number of entries of a row.
    #[must_use]
    pub fn entries_per_row(self) -> usize {
        if self.n_amounts > 0 {
            return self.n_amounts;
        }
        let statistics = self.statistics;
        let single = [statistics.squared_weight, statistics.log_loss, statistics.brier];
        1 + single.into_iter().map(usize::from).sum::<usize>() + 3 * usize::from(statistics.calibration)
    }

    /// Returns the code of the squared weights, if they are requested.
    #[must_use]
    pub fn squared_weight(self) -> Option<usize> {
        self.statistics.squared_weight.then_some(self.outcomes.n_codes())
    }

    /// Appends it to a saved state.
    pub fn write(self, writer: &mut Writer) {
        self.outcomes.write(writer);
        writer.u64(if self.n_amounts > 0 { self.n_amounts as u64 } else { self.statistics.bits() });
    }

    /// Reads the layout of a saved state: the same, but for classes that it may lack at the end.
    ///
    /// # Errors
    /// Returns [`KernelError::Saved`] if it is another layout, or the bytes end.
    pub fn read_saved(self, reader: &mut Reader<'_>) -> Result<Self, KernelError> {
        let outcomes = self.outcomes.read_saved(reader)?;
        let expected = if self.n_amounts > 0 { self.n_amounts as u64 } else { self.statistics.bits() };
        if reader.u64()? != expected {
            return Err(reader.error("it keeps other statistics"));
        }
        Ok(Self { outcomes, ..self })
    }

    /// Returns the code of an entry of a layout with other classes, whose numbers here are given by `class`.
    pub fn adopt_code(self, other: Self, code: u32, class: impl Fn(u32) -> u32) -> u32 {
        match code.checked_sub(other.outcomes.n_codes() as u32) {
            Some(sum) => self.outcomes.n_codes() as u32 + sum,
            None => self.outcomes.adopt_code(other.outcomes, code, class),
        }
    }

    /// Returns the codes of entries of a layout with fewer classes; their order stays.
    #[must_use]
    pub fn adopt_codes(self, saved: Self, mut codes: Vec<u32>) -> Vec<u32> {
        if saved != self {
            for code in &mut codes {
                *code = self.adopt_code(saved, *code, |class| class);
            }
        }
        codes
    }

    /// Returns a table by code of a layout with fewer classes as one of this layout.
    #[must_use]
    pub fn adopt_table<T: Copy + Default>(self, saved: Self, table: Vec<T>) -> Vec<T> {
        if saved == self {
            return table;
        }
        let mut adopted = vec![T::default(); self.n_codes()];
        for (code, number) in (0..).zip(table) {
            adopted[self.adopt_code(saved, code, |class| class) as usize] = number;
        }
        adopted
    }

    /// Returns shares of votes, [rows, classes], of a layout with fewer classes as those of this layout: no row voted for
    /// the others.
    #[must_use]
    pub fn adopt_shares(self, saved: Self, shares: Vec<f64>) -> Vec<f64> {
        let (old, new) = (saved.outcomes.n_classes(), self.outcomes.n_classes());
        if old == new {
            return shares;
        }
        let missing = std::iter::repeat_n(0.0, new - old);
        shares.chunks_exact(old).flat_map(|row| row.iter().copied().chain(missing.clone())).collect()
    }

    /// Reads codes of entries back from a saved state.
    ///
    /// # Errors
    /// Returns [`KernelError::Saved`] if one is not a code, or the bytes end.
    pub fn read_codes(self, reader: &mut Reader<'_>) -> Result<Vec<u32>, KernelError> {
        let codes = reader.u64s()?;
        if codes.iter().any(|&code| code >= self.n_codes() as u64) {
            return Err(reader.error("it has an invalid outcome"));
        }
        Ok(codes.into_iter().map(|code| code as u32).collect())
    }

    /// Reads the codes of whole rows back from a saved state.
    ///
    /// # Errors
    /// Returns [`KernelError::Saved`] if one is not a code, a row is not whole, or the bytes end.
    pub fn read_row_codes(self, reader: &mut Reader<'_>) -> Result<Vec<u32>, KernelError> {
        let codes = self.read_codes(reader)?;
        if codes.len() % self.entries_per_row() != 0 {
            return Err(reader.error("it has an invalid outcome"));
        }
        Ok(codes)
    }

    /// Checks every row and returns its entries.
    ///
    /// # Errors
    /// Returns an error for the first column of a wrong length, or the first invalid value.
    pub fn entries<'a>(self, columns: &Columns<'a>) -> Result<Entries<'a>, KernelError> {
        let codes = self.outcomes.encode(columns)?;
        let shares = if self.statistics.need_votes() { self.compute_shares(columns)? } else { vec![] };
        let entries_per_row = self.entries_per_row();
        if entries_per_row == 1 {
            return Ok(Entries { layout: self, codes, weight: columns.weight.map(Cow::Borrowed), shares });
        }
        let mut entries = EntryBuffer::with_capacity(codes.len() * entries_per_row);
        for (row, &code) in codes.iter().enumerate() {
            let weight = columns.weight.map_or(1.0, |weight| weight[row]);
            entries.push(code as usize, weight);
            self.push_entries(columns, row, weight, &shares, &mut entries);
        }
        Ok(Entries { layout: self, codes: entries.codes, weight: Some(Cow::Owned(entries.weights)), shares })
    }

    /// Appends the entries of a row after that of its outcome.
    fn push_entries(self, columns: &Columns<'_>, row: usize, weight: f64, shares: &[f64], entries: &mut EntryBuffer) {
        let (statistics, n_classes) = (self.statistics, self.outcomes.n_classes());
        let mut code = self.outcomes.n_codes();
        if statistics.squared_weight {
            entries.push(code, weight * weight);
            code += 1;
        }
        if !statistics.need_votes() {
            return;
        }
        let shares = &shares[row * n_classes..(row + 1) * n_classes];
        let (y_true, y_pred) = (columns.y_true[row] as usize, columns.y_pred[row]);
        if statistics.log_loss {
            entries.push(code, weight * -shares[y_true].max(MIN_SHARE).ln());
            code += 1;
        }
        if statistics.brier {
            entries.push(code, weight * half_squared_distance(shares, y_true));
            code += 1;
        }
        if statistics.calibration {
            let confidence = usize::try_from(y_pred).map_or(1.0 / n_classes as f64, |class| shares[class]);
            // A bin includes its upper bound.
            let bin = ((confidence * N_BINS as f64).ceil() as usize).clamp(1, N_BINS) - 1;
            entries.push(code + bin, weight);
            entries.push(code + N_BINS + bin, weight * confidence);
            entries.push(code + 2 * N_BINS + bin, if y_pred == columns.y_true[row] { weight } else { 0.0 });
        }
    }

    /// Returns the votes of each row as shares of their sum; equal shares if there are no votes.
    fn compute_shares(self, columns: &Columns<'_>) -> Result<Vec<f64>, KernelError> {
        let n_classes = self.outcomes.n_classes();
        let Some(votes) = columns.votes else {
            let expected = "the measures need votes, and there are none";
            return Err(option_error("votes", "None", expected));
        };
        check_length("votes", votes.len(), columns.y_true.len() * n_classes)?;
        let mut shares = Vec::with_capacity(votes.len());
        for (row, votes) in votes.chunks_exact(n_classes).enumerate() {
            let total: f64 = votes.iter().sum();
            if !(votes.iter().all(|&vote| vote >= 0.0) && total < f64::INFINITY) {
                let reason = "its votes are not finite numbers of 0 or more";
                return Err(KernelError::Votes { row, reason });
            }
            if total > 0.0 {
                shares.extend(votes.iter().map(|vote| vote / total));
            } else {
                shares.extend(std::iter::repeat_n(1.0 / n_classes as f64, n_classes));
            }
        }
        Ok(shares)
    }
}

fn half_squared_distance(shares: &[f64], y_true: usize) -> f64 {
    let squares = shares.iter().enumerate().map(|(class, &share)| {
        let difference = if class == y_true { 1.0 - share } else { share };
        difference * difference
    });
    0.5 * squares.sum::<f64>()
}

struct EntryBuffer {
    codes: Vec<u32>,
    weights: Vec<f64>,
}

impl EntryBuffer {
    fn with_capacity(n: usize) -> Self {
        Self { codes: Vec::with_capacity(n), weights: Vec::with_capacity(n) }
    }

    fn push(&mut self, code: usize, weight: f64) {
        self.codes.push(code as u32);
        self.weights.push(weight);
    }
}

/// The entries of checked rows.
#[derive(Debug)]
pub struct Entries<'a> {
    layout: Layout,
    codes: Vec<u32>,
    weight: Option<Cow<'a, [f64]>>,
    shares: Vec<f64>,
}

impl Entries<'_> {
    /// Returns the number of rows.
    #[must_use]
    pub fn n_rows(&self) -> usize {
        self.codes.len() / self.layout.entries_per_row()
    }

    /// Returns a range of the rows.
    #[must_use]
    pub fn rows<'a>(&'a self, columns: &Columns<'a>, range: Range<usize>) -> Rows<'a> {
        let (entries_per_row, n_classes) = (self.layout.entries_per_row(), self.layout.outcomes.n_classes());
        let all = Rows {
            codes: &self.codes,
            y_true: columns.y_true,
            y_pred: columns.y_pred,
            weight: self.weight.as_deref(),
            shares: &self.shares,
            losses: &[],
            time: columns.time,
            entries_per_row,
            n_classes,
        };
        all.slice(range)
    }
}
