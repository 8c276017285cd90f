//! Forgetting: windows and fading over the tally of a cell.
//!
//! Every state keeps weights by outcome ([`Outcomes`]): a row becomes one small code, so that it costs one addition for
//! any set of measures. Tallies are returned at reading rows within a column; how a stream is cut into columns does not
//! change a bit of them.

use crate::KernelError;
use crate::error::{check_length, check_option, option_error};

mod adwin;
mod amounts;
mod bucket_tally;
mod cells;
mod fading;
mod landmark;
mod ranks;
mod statistics;
mod tally;
mod time_window;
mod tumbling;
mod used_bins;
mod vote_bins;
mod window;

pub use adwin::Adwin;
pub use amounts::{AmountColumns, Sums};
pub use fading::Fading;
pub use landmark::Landmark;
pub use ranks::{Ranks, VoteHistory};
pub use statistics::{Layout, N_BINS, Statistics};
pub use tally::{Columns, Outcomes, Rows, Tallies};
pub use time_window::TimeWindow;
pub use tumbling::Tumbling;
pub use used_bins::UsedBins;
pub use vote_bins::VoteBins;
pub use window::Window;

/// At which of the reading rows votes are ranked, and at which their used bins are returned.
#[derive(Debug, Clone, Copy)]
pub struct BinRequest<'a> {
    /// Whether votes are ranked, for each reading row.
    pub ranked: &'a [bool],
    /// Whether bins are returned, for each reading row.
    pub binned: &'a [bool],
    /// The most bins of a class.
    pub max_bins: usize,
}

/// The tally of one cell, in bounded memory.
pub trait Forgetting: Send + Sync {
    /// Returns the layout of its entries.
    fn layout(&self) -> Layout;

    /// Adds checked rows.
    fn push_rows(&mut self, rows: &Rows<'_>);

    /// Adds the weight of each code to `weights`, which is all zeros; returns the number of rows covered.
    fn add_weights(&self, weights: &mut [f64]) -> u64;

    /// Returns how votes rank the classes, if that is requested.
    fn ranks(&self) -> Option<Ranks>;

    /// Returns the used bins of votes by class voted for, at most `max_bins` each, narrow where there are many rows.
    ///
    /// # Errors
    /// Returns [`KernelError::Option`] if it keeps no bins, or `max_bins` is below 2.
    fn vote_bins(&self, max_bins: usize) -> Result<Vec<UsedBins>, KernelError> {
        let expected = "only a landmark with the statistic ranks has bins of votes";
        Err(option_error("max_bins", max_bins, expected))
    }

    /// Returns whether it needs the arrival times of rows.
    fn needs_time(&self) -> bool {
        false
    }

    /// Returns the memory it uses in bytes, on the heap and off it.
    fn n_bytes(&self) -> usize;

    /// Saves the state; after [`Forgetting::load`] another of the same layout continues bit for bit.
    fn save(&self) -> Vec<u8>;

    /// Restores a saved state; it may have fewer classes, which are then the first of these.
    ///
    /// # Errors
    /// Returns [`KernelError::Saved`] if the bytes are damaged or from another layout; the state is then unchanged.
    fn load(&mut self, bytes: &[u8]) -> Result<(), KernelError>;

    /// Adds the rows of a saved state of other classes; `classes` are their numbers here.
    ///
    /// # Errors
    /// Returns [`KernelError::Saved`] if the bytes are damaged or from another layout, or [`KernelError::Option`] if the
    /// classes do not fit, or the order of rows matters; the state is then unchanged.
    fn merge(&mut self, bytes: &[u8], classes: &[u32]) -> Result<(), KernelError> {
        let found = format_args!("{} bytes, {} classes", bytes.len(), classes.len());
        Err(option_error("state", found, "the order of the rows of two states is unknown, and matters"))
    }

    /// Adds the rows of a column; returns the tally after each of the ascending reading rows, counted in rows of the
    /// column.
    ///
    /// # Errors
    /// Returns the first fault of the columns or the reading rows; the state is then unchanged.
    fn update(&mut self, columns: &Columns<'_>, reading_rows: &[usize]) -> Result<Tallies, KernelError> {
        self.update_with_bins(columns, reading_rows, None).map(|(tallies, _)| tallies)
    }

    /// Like [`Forgetting::update`]; also returns the used bins of votes at some of the reading rows. The areas at
    /// reading rows that are not to be ranked are NaN.
    ///
    /// # Errors
    /// Returns the first fault of the columns or the reading rows, or that it keeps no bins; the state is then unchanged.
    fn update_with_bins(
        &mut self,
        columns: &Columns<'_>,
        reading_rows: &[usize],
        request: Option<&BinRequest<'_>>,
    ) -> Result<(Tallies, Vec<Vec<UsedBins>>), KernelError> {
        if let Some(request) = request {
            check_length("ranked", request.ranked.len(), reading_rows.len())?;
            check_length("binned", request.binned.len(), reading_rows.len())?;
            self.vote_bins(request.max_bins)?;
        }
        let mut bins = Vec::new();
        let layout = self.layout();
        let entries = layout.entries(columns)?;
        check_reading_rows(reading_rows, entries.n_rows())?;
        if self.needs_time() {
            check_time(columns.time, columns.y_true.len())?;
        }
        let mut tallies = Tallies::new(layout.outcomes().n_classes());
        let mut weights = vec![0.0; if reading_rows.is_empty() { 0 } else { layout.n_codes() }];
        let mut start = 0;
        for (index, &row) in reading_rows.iter().enumerate() {
            self.push_rows(&entries.rows(columns, start..row));
            weights.fill(0.0);
            let width = self.add_weights(&mut weights);
            tallies.push(layout, &weights, width);
            if request.is_none_or(|request| request.ranked[index]) {
                self.ranks().iter().for_each(|ranks| tallies.push_ranks(ranks));
            } else {
                tallies.push_ranks(&Ranks::new(layout.outcomes().n_classes()));
            }
            if let Some(request) = request.filter(|request| request.binned[index]) {
                bins.push(self.vote_bins(request.max_bins)?);
            }
            start = row;
        }
        self.push_rows(&entries.rows(columns, start..entries.n_rows()));
        Ok((tallies, bins))
    }

    /// Adds rows that have amounts in place of classes; returns the sums after each of the ascending reading rows.
    ///
    /// # Errors
    /// Returns the first fault of the columns or the reading rows; the state is then unchanged.
    fn update_amounts(&mut self, columns: &AmountColumns<'_>, reading_rows: &[usize]) -> Result<Sums, KernelError> {
        let layout = self.layout();
        let n = columns.check(layout)?;
        check_reading_rows(reading_rows, n)?;
        if self.needs_time() {
            check_time(columns.time, n)?;
        }
        let mut entries = amounts::Entries::new(layout);
        let (mut sums, mut start) = (Sums::default(), 0);
        for &row in reading_rows {
            entries.push_into(columns, start..row, |rows| self.push_rows(rows));
            let mut weights = vec![0.0; layout.n_codes()];
            sums.widths.push(self.add_weights(&mut weights));
            sums.sums.extend_from_slice(&weights);
            start = row;
        }
        entries.push_into(columns, start..n, |rows| self.push_rows(rows));
        Ok(sums)
    }
}

fn check_time(time: Option<&[f64]>, n_rows: usize) -> Result<(), KernelError> {
    let error = |found, expected| Err(option_error("time", found, expected));
    match time {
        Some(time) if time.iter().all(|time| time.is_finite()) => Ok(()),
        Some(_) => error("NaN", "the time of every row must be known and finite"),
        None if n_rows == 0 => Ok(()),
        None => error("None", "a time window needs rows with arrival times"),
    }
}

fn check_reading_rows(reading_rows: &[usize], n: usize) -> Result<(), KernelError> {
    let valid = reading_rows.is_sorted() && reading_rows.last().is_none_or(|&last| last <= n);
    let expected = "they must ascend and not pass the end of the column";
    check_option("reading_rows", format_args!("{reading_rows:?}"), valid, expected)
}

/// Whole weights below this are counted as integers: the sum of 2^33 rows is still exact as a float.
const MAX_WHOLE: f64 = 1_048_576.0;
/// 2^52: floats of this size have no fraction, so that adding it rounds to a whole number.
const ROUNDING: f64 = 4_503_599_627_370_496.0;

/// Returns a weight as a whole number, if it is one; sums of whole numbers are exact in any order.
#[inline(always)]
fn as_whole(weight: f64) -> Option<u64> {
    ((weight + ROUNDING) - ROUNDING == weight && (0.0..MAX_WHOLE).contains(&weight)).then_some(weight as u64)
}

#[cfg(test)]
mod tests;
