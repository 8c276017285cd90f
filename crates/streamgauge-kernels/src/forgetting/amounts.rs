//! Rows with amounts in place of classes, such as the errors of a regressor: their weighted sums.
//!
//! A row becomes an entry for its weight and one for each amount, so that every forgetting keeps the sums as it keeps
//! those of classes.

use std::ops::Range;

use super::statistics::Layout;
use super::tally::Rows;
use crate::KernelError;
use crate::error::check_length;

/// The number of rows that become entries at a time.
const CHUNK: usize = 2048;

/// Scored rows with their amounts, as columns.
#[derive(Debug, Clone, Copy)]
pub struct AmountColumns<'a> {
    /// The amounts, one column after the other: [k, n].
    pub amounts: &'a [f64],
    /// The number of rows.
    pub n: usize,
    /// Weights; `None` means 1 for all.
    pub weight: Option<&'a [f64]>,
    /// The losses from which an adaptive window is cut, if it is one.
    pub losses: Option<&'a [f64]>,
    /// The arrival time of each row in seconds, if it is needed.
    pub time: Option<&'a [f64]>,
}

impl AmountColumns<'_> {
    /// Checks the columns against a layout; returns the number of rows.
    pub(super) fn check(&self, layout: Layout) -> Result<usize, KernelError> {
        let n = self.n;
        check_length("amounts", self.amounts.len(), layout.n_amounts().saturating_sub(1) * n)?;
        check_length("weight", self.weight.map_or(n, <[f64]>::len), n)?;
        check_length("losses", self.losses.map_or(n, <[f64]>::len), n)?;
        check_length("time", self.time.map_or(n, <[f64]>::len), n)?;
        let weight = self.weight.unwrap_or_default();
        match weight.iter().position(|w| !(*w >= 0.0 && w.is_finite())) {
            Some(row) => Err(KernelError::Weight { row, weight: weight[row] }),
            None => Ok(n),
        }
    }
}

/// Sums at reading rows.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Sums {
    /// The number of rows that each covers.
    pub widths: Vec<u64>,
    /// The weight and the weighted sum of each amount, [s, 1 + k].
    pub sums: Vec<f64>,
}

/// The entries of some rows, in memory that is used again.
pub(super) struct Entries {
    codes: Vec<u32>,
    weights: Vec<f64>,
    n_amounts: usize,
}

impl Entries {
    pub fn new(layout: Layout) -> Self {
        Self { codes: vec![], weights: vec![], n_amounts: layout.n_amounts() }
    }

    /// Passes the entries of a range of rows on, in chunks.
    pub fn push_into(&mut self, columns: &AmountColumns<'_>, rows: Range<usize>, mut push: impl FnMut(&Rows<'_>)) {
        for start in rows.clone().step_by(CHUNK) {
            let chunk = start..rows.end.min(start + CHUNK);
            self.fill(columns, chunk.clone());
            push(&Rows {
                codes: &self.codes[..chunk.len() * self.n_amounts],
                y_true: &[],
                y_pred: &[],
                weight: Some(&self.weights),
                shares: &[],
                losses: columns.losses.map_or(&[], |losses| &losses[chunk.clone()]),
                time: columns.time.map(|time| &time[chunk.clone()]),
                entries_per_row: self.n_amounts,
                n_classes: 0,
            });
        }
    }

    fn fill(&mut self, columns: &AmountColumns<'_>, rows: Range<usize>) {
        let (n, per_row) = (rows.len(), self.n_amounts);
        while self.codes.len() < n * per_row {
            self.codes.extend(0..per_row as u32);
        }
        self.weights.clear();
        self.weights.resize(n * per_row, 1.0);
        if let Some(weight) = columns.weight {
            for (entries, &weight) in self.weights.chunks_exact_mut(per_row).zip(&weight[rows.clone()]) {
                entries.fill(weight);
            }
        }
        for index in 1..per_row {
            let column = &columns.amounts[(index - 1) * columns.n..][rows.clone()];
            for (entries, amount) in self.weights.chunks_exact_mut(per_row).zip(column) {
                entries[index] *= amount;
            }
        }
    }
}
