//! Exponential fading: weights fade by a factor with every row.

use std::ops::RangeInclusive;

use super::{Forgetting, Layout, Ranks, Rows, VoteBins};
use crate::KernelError;
use crate::codec::{Reader, Writer};

const NAME: &str = "Fading";

/// The bounds of the maximum period, which is the number of outcomes in between, or the upper one with bins of votes: rescaling is rare enough to cost
/// little per row, and frequent enough to keep the table of powers small.
const MAX_PERIOD: RangeInclusive<usize> = 1024..=8192;
/// The maximum growth of weights before the sums are rescaled.
const MAX_GROWTH: f64 = 18_446_744_073_709_551_616.0;
/// A faded sum below this is set to 0.
const NEGLIGIBLE: f64 = 1e-290;

/// Exponential fading: a row that is `age` rows old has the weight `factor^age`.
///
/// Instead of fading all sums with each row, new rows get growing weights. The sums are rescaled when a period of rows
/// ends, which depends only on the number of rows.
#[derive(Debug, Clone)]
pub struct Fading {
    layout: Layout,
    width: u64,
    /// The powers of the factor, up to a whole period.
    decay: Vec<f64>,
    /// Their reciprocals: the weights of the rows of a period.
    growth: Vec<f64>,
    /// The number of rows in the current period.
    age: usize,
    /// The sums by code, on the scale of the first row of the period.
    sums: Vec<f64>,
    /// The votes on the same scale, if ranks are requested.
    bins: Option<VoteBins>,
}

impl Fading {
    /// Creates a state that has seen no row.
    #[must_use]
    pub fn new(layout: Layout, factor: f64) -> Self {
        let n_sums = if layout.bins_votes() { *MAX_PERIOD.end() } else { layout.n_codes() };
        let max_period = n_sums.clamp(*MAX_PERIOD.start(), *MAX_PERIOD.end());
        let mut decay = vec![1.0, factor];
        let mut power = factor * factor;
        while decay.len() <= max_period && power * MAX_GROWTH > 1.0 {
            decay.push(power);
            power *= factor;
        }
        let growth = decay[..decay.len() - 1].iter().map(|power| 1.0 / power).collect();
        let (sums, bins) = (vec![0.0; layout.n_codes()], VoteBins::for_layout(layout));
        Self { layout, width: 0, decay, growth, age: 0, sums, bins }
    }

    fn rescale(&mut self) {
        let decay = self.decay[self.growth.len()];
        for sum in &mut self.sums {
            let faded = *sum * decay;
            *sum = if faded.abs() < NEGLIGIBLE { 0.0 } else { faded };
        }
        // Squared weights fade by the squared factor.
        if let Some(squared) = self.layout.squared_weight() {
            self.sums[squared] *= decay;
        }
        self.bins.iter_mut().for_each(|bins| bins.fade(decay));
        self.age = 0;
    }

    /// Adds rows of several entries; the entries of a row have the same growth.
    fn push_entries(&mut self, rows: &Rows<'_>) {
        let squared = self.layout.squared_weight();
        let weights = rows.weight.unwrap_or_default().chunks_exact(rows.entries_per_row);
        let growths = &self.growth[self.age..];
        for ((codes, weights), growth) in rows.codes.chunks_exact(rows.entries_per_row).zip(weights).zip(growths) {
            for (&code, weight) in codes.iter().zip(weights) {
                let factor = if squared == Some(code as usize) { *growth } else { 1.0 };
                self.sums[code as usize] += weight * growth * factor;
            }
        }
    }
}

impl Forgetting for Fading {
    fn layout(&self) -> Layout {
        self.layout
    }

    fn push_rows(&mut self, rows: &Rows<'_>) {
        self.width += rows.len() as u64;
        let mut start = 0;
        while start < rows.len() {
            if self.age == self.growth.len() {
                self.rescale();
            }
            let stop = rows.len().min(start + self.growth.len() - self.age);
            let part = rows.slice(start..stop);
            let growths = &self.growth[self.age..];
            self.bins.iter_mut().for_each(|bins| bins.add(&part, |row| part.row_weight(row) * growths[row]));
            let entering = part.codes.iter().zip(&self.growth[self.age..]);
            match part.weight {
                None => entering.for_each(|(&code, growth)| self.sums[code as usize] += growth),
                Some(weight) if part.entries_per_row == 1 => entering
                    .zip(weight)
                    .for_each(|((&code, growth), weight)| self.sums[code as usize] += weight * growth),
                Some(_) => self.push_entries(&part),
            }
            self.age += stop - start;
            start = stop;
        }
    }

    fn add_weights(&self, weights: &mut [f64]) -> u64 {
        let decay = self.decay[self.age.saturating_sub(1)];
        weights.iter_mut().zip(&self.sums).for_each(|(weight, sum)| *weight = sum * decay);
        if let Some(squared) = self.layout.squared_weight() {
            weights[squared] *= decay;
        }
        self.width
    }

    fn ranks(&self) -> Option<Ranks> {
        self.bins.as_ref().map(VoteBins::ranks)
    }

    fn n_bytes(&self) -> usize {
        let bins = self.bins.as_ref().map_or(0, VoteBins::n_bytes);
        size_of::<Self>() + bins + 8 * (self.decay.capacity() + self.growth.capacity() + self.sums.capacity())
    }

    fn save(&self) -> Vec<u8> {
        let mut writer = Writer::new(NAME, 1);
        self.layout.write(&mut writer);
        writer.f64(self.decay[1]);
        writer.u64(self.width);
        writer.u64(self.age as u64);
        writer.f64s(&self.sums);
        self.bins.iter().for_each(|bins| bins.write(&mut writer));
        writer.finish()
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), KernelError> {
        let mut reader = Reader::new(NAME, 1, bytes)?;
        let saved = self.layout.read_saved(&mut reader)?;
        if reader.f64()? != self.decay[1] {
            return Err(reader.error("it has another factor"));
        }
        let (width, age) = (reader.u64()?, reader.usize()?);
        if age > self.growth.len() {
            return Err(reader.error("its period is too long"));
        }
        let mut sums = vec![0.0; saved.n_codes()];
        reader.f64s_into(&mut sums)?;
        let sums = self.layout.adopt_table(saved, sums);
        let bins = self.bins.as_ref().map(|bins| bins.read(saved, &mut reader)).transpose()?;
        reader.finish()?;
        (self.width, self.age, self.sums, self.bins) = (width, age, sums, bins);
        Ok(())
    }
}
