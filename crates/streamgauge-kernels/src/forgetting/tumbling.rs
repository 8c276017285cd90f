//! Consecutive windows without overlap.

use super::{Forgetting, Landmark, Layout, Ranks, Rows, VoteHistory};
use crate::KernelError;
use crate::codec::{Reader, Writer};
use crate::error::check_option;

const NAME: &str = "Tumbling";

/// Consecutive windows: covers the rows since the last multiple of `width`.
#[derive(Debug, Clone)]
pub struct Tumbling {
    width: u64,
    /// The current window.
    window: Landmark,
    /// The votes of its rows, if ranks are requested.
    votes: Option<VoteHistory>,
}

impl Tumbling {
    /// Creates a state that has seen no row.
    ///
    /// # Errors
    /// Returns [`KernelError::Option`] if the width is 0.
    pub fn new(layout: Layout, width: u64) -> Result<Self, KernelError> {
        check_option("width", width, width > 0, "it must be at least 1")?;
        let votes = VoteHistory::for_layout(layout);
        Ok(Self { width, window: Landmark::new(layout), votes })
    }
}

impl Forgetting for Tumbling {
    fn layout(&self) -> Layout {
        self.window.layout()
    }

    fn push_rows(&mut self, rows: &Rows<'_>) {
        let mut start = 0;
        while start < rows.len() {
            // A full window stays readable until the next row.
            if self.window.width() == self.width {
                self.window.clear();
                self.votes.iter_mut().for_each(|votes| votes.keep_newest(0));
            }
            let room = usize::try_from(self.width - self.window.width()).unwrap_or(usize::MAX);
            let stop = rows.len().min(start.saturating_add(room));
            let part = rows.slice(start..stop);
            self.window.push_rows(&part);
            self.votes.iter_mut().for_each(|votes| votes.extend(&part));
            start = stop;
        }
    }

    fn add_weights(&self, weights: &mut [f64]) -> u64 {
        self.window.add_weights(weights)
    }

    fn ranks(&self) -> Option<Ranks> {
        self.votes.as_ref().map(VoteHistory::ranks)
    }

    fn n_bytes(&self) -> usize {
        size_of::<Self>() - size_of::<Landmark>()
            + self.window.n_bytes()
            + self.votes.as_ref().map_or(0, VoteHistory::n_bytes)
    }

    fn save(&self) -> Vec<u8> {
        let mut writer = Writer::new(NAME, 1);
        writer.u64(self.width);
        self.window.write(&mut writer);
        self.votes.iter().for_each(|votes| votes.write(&mut writer));
        writer.finish()
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), KernelError> {
        let mut reader = Reader::new(NAME, 1, bytes)?;
        if reader.u64()? != self.width {
            return Err(reader.error("it has another width"));
        }
        let (window, saved) = self.window.read(&mut reader)?;
        if window.width() > self.width {
            return Err(reader.error("it has a wrong number of rows"));
        }
        let n_rows = window.width() as usize;
        let votes = self.votes.as_ref().map(|votes| votes.read(n_rows, saved, &mut reader)).transpose()?;
        reader.finish()?;
        (self.window, self.votes) = (window, votes);
        Ok(())
    }
}
