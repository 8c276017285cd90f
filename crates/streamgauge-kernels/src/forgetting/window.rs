//! A sliding window of the last rows.

use super::{Forgetting, Layout, Ranks, Rows, VoteHistory, as_whole};
use crate::KernelError;
use crate::codec::{Reader, Writer};
use crate::error::option_error;

const NAME: &str = "Window";

/// A sliding window: covers the last `width` rows.
///
/// Whole weights are added and subtracted as integers. While the window contains a fractional weight, its sums are
/// recomputed from its rows at each reading, so that rows that left do not affect them.
#[derive(Debug, Clone)]
pub struct Window {
    layout: Layout,
    width: usize,
    /// The number of entries of a full window.
    n_entries: usize,
    /// The codes of the entries; a ring buffer once it is full.
    codes: Vec<u32>,
    /// Their weights; empty while all are 1.
    weights: Vec<f64>,
    /// The index of the next entry once the ring is full, which is the oldest.
    next: usize,
    /// The number of entries with a fractional weight.
    n_fractions: usize,
    /// The whole weights by code that have entered, and that have left; the window holds their difference. Two tables,
    /// because the addition and subtraction of a row would wait for each other in one.
    entered: Vec<u64>,
    left: Vec<u64>,
    /// The votes of the rows, if ranks are requested.
    votes: Option<VoteHistory>,
}

impl Window {
    /// Creates a state that has seen no row.
    ///
    /// # Errors
    /// Returns [`KernelError::Option`] if the width is 0.
    pub fn new(layout: Layout, width: usize) -> Result<Self, KernelError> {
        let n_entries = width.checked_mul(layout.entries_per_row()).filter(|&n_entries| n_entries > 0);
        let expected = "it must be at least 1 and fit into memory";
        let n_entries = n_entries.ok_or_else(|| option_error("width", width, expected))?;
        let (entered, left) = (vec![0; layout.n_codes()], vec![0; layout.n_codes()]);
        let votes = VoteHistory::for_layout(layout);
        let (codes, weights) = (vec![], vec![]);
        Ok(Self { layout, width, n_entries, codes, weights, next: 0, n_fractions: 0, entered, left, votes })
    }

    fn add(&mut self, code: u32, weight: f64) {
        match as_whole(weight) {
            Some(count) => self.entered[code as usize] = self.entered[code as usize].wrapping_add(count),
            None => self.n_fractions += 1,
        }
    }

    fn remove(&mut self, code: u32, weight: f64) {
        match as_whole(weight) {
            Some(count) => self.left[code as usize] = self.left[code as usize].wrapping_add(count),
            None => self.n_fractions -= 1,
        }
    }

    /// Adds entries of weight 1 to a window without other weights.
    fn push_unweighted(&mut self, codes: &[u32]) {
        let (filling, mut rest) = codes.split_at(codes.len().min(self.n_entries - self.codes.len()));
        self.codes.extend_from_slice(filling);
        for &code in filling {
            self.entered[code as usize] += 1;
        }
        while !rest.is_empty() {
            let (batch, remaining) = rest.split_at(rest.len().min(self.n_entries - self.next));
            let slots = &mut self.codes[self.next..self.next + batch.len()];
            for (slot, &code) in slots.iter_mut().zip(batch) {
                self.left[*slot as usize] += 1;
                self.entered[code as usize] += 1;
                *slot = code;
            }
            self.next = (self.next + batch.len()) % self.n_entries;
            rest = remaining;
        }
    }

    fn push_weighted(&mut self, code: u32, weight: f64) {
        self.add(code, weight);
        if self.codes.len() < self.n_entries {
            self.codes.push(code);
            self.weights.push(weight);
            return;
        }
        self.remove(self.codes[self.next], self.weights[self.next]);
        (self.codes[self.next], self.weights[self.next]) = (code, weight);
        self.next = if self.next + 1 == self.n_entries { 0 } else { self.next + 1 };
    }

    /// Iterates over a ring, the oldest first.
    fn oldest_first<'a, T>(&self, ring: &'a [T]) -> impl Iterator<Item = &'a T> {
        let (newer, older) = ring.split_at(self.next.min(ring.len()));
        older.iter().chain(newer)
    }

    /// Returns a copy with other rows.
    fn with_rows(&self, codes: Vec<u32>, weights: Vec<f64>) -> Result<Self, KernelError> {
        let mut window = Self::new(self.layout, self.width)?;
        for (i, &code) in codes.iter().enumerate() {
            window.add(code, weights.get(i).copied().unwrap_or(1.0));
        }
        (window.codes, window.weights) = (codes, weights);
        Ok(window)
    }
}

impl Forgetting for Window {
    fn layout(&self) -> Layout {
        self.layout
    }

    fn push_rows(&mut self, rows: &Rows<'_>) {
        if let Some(votes) = &mut self.votes {
            votes.extend(rows);
            votes.keep_newest(self.width);
        }
        if self.weights.is_empty() && rows.weight.is_none() {
            return self.push_unweighted(rows.codes);
        }
        self.weights.resize(self.codes.len(), 1.0);
        for (i, &code) in rows.codes.iter().enumerate() {
            self.push_weighted(code, rows.weight.map_or(1.0, |weight| weight[i]));
        }
    }

    fn add_weights(&self, weights: &mut [f64]) -> u64 {
        if self.n_fractions == 0 {
            for (weight, (entered, left)) in weights.iter_mut().zip(self.entered.iter().zip(&self.left)) {
                *weight = entered.wrapping_sub(*left) as f64;
            }
        } else {
            for (&code, &weight) in self.oldest_first(&self.codes).zip(self.oldest_first(&self.weights)) {
                weights[code as usize] += weight;
            }
        }
        (self.codes.len() / self.layout.entries_per_row()) as u64
    }

    fn ranks(&self) -> Option<Ranks> {
        self.votes.as_ref().map(VoteHistory::ranks)
    }

    fn n_bytes(&self) -> usize {
        let words = self.weights.capacity() + self.entered.capacity() + self.left.capacity();
        let votes = self.votes.as_ref().map_or(0, VoteHistory::n_bytes);
        size_of::<Self>() + 4 * self.codes.capacity() + 8 * words + votes
    }

    fn save(&self) -> Vec<u8> {
        let mut writer = Writer::new(NAME, 1);
        self.layout.write(&mut writer);
        writer.u64(self.width as u64);
        let codes: Vec<u64> = self.oldest_first(&self.codes).map(|&code| u64::from(code)).collect();
        writer.u64s(codes.into_iter());
        writer.f64s(&self.oldest_first(&self.weights).copied().collect::<Vec<_>>());
        self.votes.iter().for_each(|votes| votes.write(&mut writer));
        writer.finish()
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), KernelError> {
        let mut reader = Reader::new(NAME, 1, bytes)?;
        let saved = self.layout.read_saved(&mut reader)?;
        if reader.usize()? != self.width {
            return Err(reader.error("it has another width"));
        }
        let codes = self.layout.adopt_codes(saved, saved.read_row_codes(&mut reader)?);
        let weights = reader.f64s()?;
        if codes.len() > self.n_entries || !(weights.is_empty() || weights.len() == codes.len()) {
            return Err(reader.error("it has a wrong number of rows"));
        }
        let n_rows = codes.len() / self.layout.entries_per_row();
        let votes = self.votes.as_ref().map(|votes| votes.read(n_rows, saved, &mut reader)).transpose()?;
        reader.finish()?;
        *self = Self { votes, ..self.with_rows(codes, weights)? };
        Ok(())
    }
}
