//! Forgetting: how the past fades out of the tally of a cell.
//!
//! Every state here keeps weights by outcome ([`Outcomes`]): what is told apart of a row is one small code, so that a
//! row costs one addition whatever is measured later. Tallies are given at stops within a column; how a stream is cut
//! into columns changes no bit of them.

use crate::KernelError;

mod adwin;
mod bucket_tally;
mod fading;
mod landmark;
mod tally;
mod window;

pub use adwin::Adwin;
pub use fading::Fading;
pub use landmark::Landmark;
pub use tally::{Columns, Outcomes, Rows, Tallies};
pub use window::Window;

/// Keeps the tally of one cell, in bounded memory.
pub trait Forgetting: Send + Sync {
    /// The outcomes it tells apart.
    fn outcomes(&self) -> Outcomes;

    /// Take in checked rows.
    fn take(&mut self, rows: &Rows<'_>);

    /// Add the weight of each outcome to `weights`, which holds zeros; returns how many rows they cover.
    fn weigh(&self, weights: &mut [f64]) -> u64;

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
    fn update(&mut self, columns: &Columns<'_>, stops: &[usize]) -> Result<Tallies, KernelError> {
        let outcomes = self.outcomes();
        let codes = outcomes.encode(columns)?;
        check_stops(stops, codes.len())?;
        let mut tallies = Tallies::new(outcomes);
        let mut weights = vec![0.0; if stops.is_empty() { 0 } else { outcomes.n_codes() }];
        let mut start = 0;
        for &stop in stops {
            self.take(&columns.rows(&codes, start..stop));
            weights.fill(0.0);
            let width = self.weigh(&mut weights);
            tallies.push(&weights, width);
            start = stop;
        }
        self.take(&columns.rows(&codes, start..codes.len()));
        Ok(tallies)
    }
}

fn check_stops(stops: &[usize], n: usize) -> Result<(), KernelError> {
    let ascend = stops.windows(2).all(|pair| pair[0] <= pair[1]);
    if ascend && stops.last().is_none_or(|&last| last <= n) {
        return Ok(());
    }
    let expected = "they must ascend and not pass the end of the column";
    Err(KernelError::Option { option: "stops", found: format!("{stops:?}"), expected })
}

/// Weights below this are counted in whole numbers: 2^33 rows of them still sum to a number that a float holds exactly.
const MOST_WHOLE: f64 = 1_048_576.0;
/// 2^52: a float of this size has no fraction, so that adding it rounds.
const ROUNDING: f64 = 4_503_599_627_370_496.0;

/// A weight as a whole number, where it is one; sums of these are exact in any order.
#[inline(always)]
fn whole(weight: f64) -> Option<u64> {
    ((weight + ROUNDING) - ROUNDING == weight && weight < MOST_WHOLE).then_some(weight as u64)
}

#[cfg(test)]
mod tests;
