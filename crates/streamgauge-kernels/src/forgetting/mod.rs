//! Forgetting: how the past fades out of the tally of a cell.
//!
//! Every state here keeps weights by outcome ([`Outcomes`]): what is told apart of a row is one small code, so that a
//! row costs one addition whatever is measured later. Tallies are given at stops within a column; how a stream is cut
//! into columns changes no bit of them.

use crate::KernelError;
use crate::error::{check_option, option_error};

mod adwin;
mod bins;
mod bucket_tally;
mod fading;
mod landmark;
mod ranks;
mod statistics;
mod tally;
mod time_window;
mod tumbling;
mod window;

pub use adwin::Adwin;
pub use fading::Fading;
pub use landmark::Landmark;
pub use ranks::VoteHistory;
pub use statistics::{Layout, N_BINS, Statistics};
pub use tally::{Columns, Outcomes, Rows, Tallies};
pub use time_window::TimeWindow;
pub use tumbling::Tumbling;
pub use window::Window;

/// Keeps the tally of one cell, in bounded memory.
pub trait Forgetting: Send + Sync {
    /// What it keeps of a row.
    fn layout(&self) -> Layout;

    /// Take in checked rows.
    fn push_rows(&mut self, rows: &Rows<'_>);

    /// Add the weight of each code to `weights`, which holds zeros; returns how many rows they cover.
    fn add_weights(&self, weights: &mut [f64]) -> u64;

    /// The votes of the rows covered, where it keeps them.
    fn vote_history(&self) -> Option<&VoteHistory> {
        None
    }

    /// Whether it must know when rows arrived.
    fn needs_time(&self) -> bool {
        false
    }

    /// The bytes it holds, on the heap and off it.
    fn n_bytes(&self) -> usize;

    /// All of its state; [`Forgetting::load`] of one built alike goes on from there, bit for bit.
    fn save(&self) -> Vec<u8>;

    /// Take over a saved state.
    ///
    /// # Errors
    /// [`KernelError::Saved`] where the bytes are damaged or from one built otherwise; it is then unchanged.
    fn load(&mut self, bytes: &[u8]) -> Result<(), KernelError>;

    /// Take in the rows of a column; give the tally after the first `stop` of them, for each of the ascending stops.
    ///
    /// # Errors
    /// The first fault of the columns or the stops; nothing is then taken in.
    fn update(&mut self, columns: &Columns<'_>, reading_rows: &[usize]) -> Result<Tallies, KernelError> {
        let layout = self.layout();
        let entries = layout.entries(columns)?;
        check_reading_rows(reading_rows, entries.n_rows())?;
        if self.needs_time() {
            check_time(columns)?;
        }
        let mut tallies = Tallies::new(layout.outcomes().n_classes());
        let mut weights = vec![0.0; if reading_rows.is_empty() { 0 } else { layout.n_codes() }];
        let mut start = 0;
        for &row in reading_rows {
            self.push_rows(&entries.rows(columns, start..row));
            weights.fill(0.0);
            let width = self.add_weights(&mut weights);
            tallies.push(layout, &weights, width);
            if let Some(bins) = layout.bins() {
                tallies.push_ranks(&bins.ranks(&weights[layout.first_bin()..]));
            } else if let Some(votes) = self.vote_history() {
                tallies.push_ranks(&votes.ranks());
            }
            start = row;
        }
        self.push_rows(&entries.rows(columns, start..entries.n_rows()));
        Ok(tallies)
    }
}

fn check_time(columns: &Columns<'_>) -> Result<(), KernelError> {
    let error = |found, expected| Err(option_error("time", found, expected));
    match columns.time {
        Some(time) if time.iter().all(|time| time.is_finite()) => Ok(()),
        Some(_) => error("NaN", "the time of every row must be known and finite"),
        None if columns.y_true.is_empty() => Ok(()),
        None => error("None", "a window of time needs rows that say when they arrived"),
    }
}

fn check_reading_rows(reading_rows: &[usize], n: usize) -> Result<(), KernelError> {
    let valid = reading_rows.is_sorted() && reading_rows.last().is_none_or(|&last| last <= n);
    let expected = "they must ascend and not pass the end of the column";
    check_option("reading_rows", format_args!("{reading_rows:?}"), valid, expected)
}

/// Weights below this are counted in whole numbers: 2^33 rows of them still sum to a number that a float holds exactly.
const MAX_WHOLE: f64 = 1_048_576.0;
/// 2^52: a float of this size has no fraction, so that adding it rounds.
const ROUNDING: f64 = 4_503_599_627_370_496.0;

/// A weight as a whole number, where it is one; sums of these are exact in any order.
#[inline(always)]
fn as_whole(weight: f64) -> Option<u64> {
    ((weight + ROUNDING) - ROUNDING == weight && weight < MAX_WHOLE).then_some(weight as u64)
}

#[cfg(test)]
mod tests;
