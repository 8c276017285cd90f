//! A sliding window of the last seconds.

use std::collections::VecDeque;

use super::{Forgetting, Layout, Ranks, Rows, VoteHistory, as_whole};
use crate::KernelError;
use crate::codec::{Reader, Writer};

const NAME: &str = "TimeWindow";

/// A sliding window of time: covers the rows that arrived in the `seconds` up to the newest.
///
/// Rows leave in the order of arrival. Whole weights are added and subtracted as integers; while the window contains a
/// fractional weight, its sums are recomputed from its rows at each reading.
#[derive(Debug, Clone)]
pub struct TimeWindow {
    layout: Layout,
    seconds: f64,
    /// The latest arrival time.
    now: f64,
    /// The arrival times of the rows, the oldest first, and the codes and amounts of their entries.
    times: VecDeque<f64>,
    codes: VecDeque<u32>,
    weights: VecDeque<f64>,
    /// The whole weights by code.
    counts: Vec<u64>,
    /// The number of entries with a fractional weight.
    n_fractions: usize,
    votes: Option<VoteHistory>,
}

impl TimeWindow {
    /// Creates a state that has seen no row.
    #[must_use]
    pub fn new(layout: Layout, seconds: f64) -> Self {
        let votes = VoteHistory::for_layout(layout);
        let (times, codes, weights) = (VecDeque::new(), VecDeque::new(), VecDeque::new());
        let counts = vec![0; layout.n_codes()];
        Self { layout, seconds, now: f64::NEG_INFINITY, times, codes, weights, counts, n_fractions: 0, votes }
    }

    fn add(&mut self, code: u32, weight: f64) {
        self.codes.push_back(code);
        self.weights.push_back(weight);
        match as_whole(weight) {
            Some(count) => self.counts[code as usize] += count,
            None => self.n_fractions += 1,
        }
    }

    /// Drops the rows that arrived too long ago.
    fn expire(&mut self) {
        while self.times.front().is_some_and(|&time| time <= self.now - self.seconds) {
            self.times.pop_front();
            for _ in 0..self.layout.entries_per_row() {
                if let (Some(code), Some(weight)) = (self.codes.pop_front(), self.weights.pop_front()) {
                    match as_whole(weight) {
                        Some(count) => self.counts[code as usize] -= count,
                        None => self.n_fractions -= 1,
                    }
                }
            }
        }
    }
}

impl Forgetting for TimeWindow {
    fn layout(&self) -> Layout {
        self.layout
    }

    fn push_rows(&mut self, rows: &Rows<'_>) {
        for (row, &time) in rows.time.unwrap_or_default().iter().enumerate() {
            self.now = self.now.max(time);
            self.times.push_back(time);
            for entry in row * rows.entries_per_row..(row + 1) * rows.entries_per_row {
                self.add(rows.codes[entry], rows.weight.map_or(1.0, |weight| weight[entry]));
            }
            self.expire();
        }
        if let Some(votes) = &mut self.votes {
            votes.extend(rows);
            votes.keep_newest(self.times.len());
        }
    }

    fn add_weights(&self, weights: &mut [f64]) -> u64 {
        if self.n_fractions == 0 {
            weights.iter_mut().zip(&self.counts).for_each(|(weight, &count)| *weight = count as f64);
        } else {
            self.codes.iter().zip(&self.weights).for_each(|(&code, weight)| weights[code as usize] += weight);
        }
        self.times.len() as u64
    }

    fn ranks(&self) -> Option<Ranks> {
        self.votes.as_ref().map(VoteHistory::ranks)
    }

    fn needs_time(&self) -> bool {
        true
    }

    fn n_bytes(&self) -> usize {
        let words = self.times.capacity() + self.weights.capacity() + self.counts.capacity();
        let votes = self.votes.as_ref().map_or(0, VoteHistory::n_bytes);
        size_of::<Self>() + 4 * self.codes.capacity() + 8 * words + votes
    }

    fn save(&self) -> Vec<u8> {
        let mut writer = Writer::new(NAME, 1);
        self.layout.write(&mut writer);
        writer.f64s(&[self.seconds, self.now]);
        writer.f64s(&self.times.iter().copied().collect::<Vec<_>>());
        writer.u64s(self.codes.iter().map(|&code| u64::from(code)));
        writer.f64s(&self.weights.iter().copied().collect::<Vec<_>>());
        self.votes.iter().for_each(|votes| votes.write(&mut writer));
        writer.finish()
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), KernelError> {
        let mut reader = Reader::new(NAME, 1, bytes)?;
        let saved = self.layout.read_saved(&mut reader)?;
        let mut clock = [0.0; 2];
        reader.f64s_into(&mut clock)?;
        if clock[0] != self.seconds {
            return Err(reader.error("it covers another number of seconds"));
        }
        let times = reader.f64s()?;
        let codes = self.layout.adopt_codes(saved, saved.read_row_codes(&mut reader)?);
        let weights = reader.f64s()?;
        if codes.len() != times.len() * self.layout.entries_per_row() || weights.len() != codes.len() {
            return Err(reader.error("it has a wrong number of rows"));
        }
        let votes = self.votes.as_ref().map(|votes| votes.read(times.len(), saved, &mut reader)).transpose()?;
        reader.finish()?;
        let mut window = Self::new(self.layout, self.seconds);
        codes.iter().zip(&weights).for_each(|(&code, &weight)| window.add(code, weight));
        *self = Self { now: clock[1], times: times.into(), votes, ..window };
        Ok(())
    }
}
