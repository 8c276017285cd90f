//! Nothing is forgotten.

use super::{Forgetting, Layout, Outcomes, Ranks, Rows, UsedBins, VoteBins, as_whole};
use crate::KernelError;
use crate::codec::{Reader, Writer};
use crate::error::{check_option, option_error};

const NAME: &str = "Landmark";

/// The number of codes (those of three classes) up to which rows are counted in four lanes.
const FEW_CODES: usize = 64;

/// Covers every row since the start.
#[derive(Debug, Clone)]
pub struct Landmark {
    layout: Layout,
    width: u64,
    /// The whole weights by code.
    counts: Vec<u64>,
    /// The other weights by code; empty until there is one.
    fractions: Vec<Compensated>,
    /// The votes, if ranks are requested.
    bins: Option<VoteBins>,
}

/// A compensated sum (Neumaier) that does not drift with the number of addends.
#[derive(Debug, Clone, Copy, Default)]
struct Compensated {
    sum: f64,
    compensation: f64,
}

impl Compensated {
    fn add(&mut self, number: f64) {
        let sum = self.sum + number;
        self.compensation +=
            if self.sum.abs() >= number.abs() { (self.sum - sum) + number } else { (number - sum) + self.sum };
        self.sum = sum;
    }
}

impl Landmark {
    /// Creates a state that has seen no row.
    #[must_use]
    pub fn new(layout: Layout) -> Self {
        let (counts, bins) = (vec![0; layout.n_codes()], VoteBins::for_layout(layout));
        Self { layout, width: 0, counts, fractions: vec![], bins }
    }

    /// Returns the number of rows it covers.
    #[must_use]
    pub fn width(&self) -> u64 {
        self.width
    }

    /// Removes all rows.
    pub fn clear(&mut self) {
        self.width = 0;
        self.counts.fill(0);
        self.fractions.clear();
        self.bins = VoteBins::for_layout(self.layout);
    }

    /// Appends its state.
    pub(super) fn write(&self, writer: &mut Writer) {
        self.layout.write(writer);
        writer.u64(self.width);
        writer.u64s(self.counts.iter().copied());
        writer.f64s(&self.fractions.iter().flat_map(|part| [part.sum, part.compensation]).collect::<Vec<_>>());
        self.bins.iter().for_each(|bins| bins.write(writer));
    }

    /// Reads the state of one with the same layout, or fewer classes; also returns its layout.
    pub(super) fn read(&self, reader: &mut Reader<'_>) -> Result<(Self, Layout), KernelError> {
        let saved = self.layout.read_saved(reader)?;
        let (width, counts, fractions) = (reader.u64()?, reader.u64s()?, reader.f64s()?);
        if counts.len() != saved.n_codes() || !(fractions.is_empty() || fractions.len() == 2 * counts.len()) {
            return Err(reader.error("it has a wrong number of sums"));
        }
        let fractions: Vec<Compensated> =
            fractions.chunks_exact(2).map(|part| Compensated { sum: part[0], compensation: part[1] }).collect();
        let fractions = if fractions.is_empty() { fractions } else { self.layout.adopt_table(saved, fractions) };
        let bins = self.bins.as_ref().map(|bins| bins.read(saved, reader)).transpose()?;
        let counts = self.layout.adopt_table(saved, counts);
        Ok((Self { layout: self.layout, width, counts, fractions, bins }, saved))
    }

    /// Counts rows of weight 1.
    ///
    /// Consecutive rows often have the same code, and each would wait for the sum of the one before; with few codes,
    /// rows are therefore counted in four lanes.
    fn count(&mut self, codes: &[u32]) {
        if self.counts.len() > FEW_CODES {
            return codes.iter().for_each(|&code| self.counts[code as usize] += 1);
        }
        let mut lanes = [[0_u64; FEW_CODES]; 4];
        let (fours, rest) = codes.as_chunks::<4>();
        for four in fours {
            for (counts, &code) in lanes.iter_mut().zip(four) {
                counts[code as usize % FEW_CODES] += 1;
            }
        }
        for &code in rest {
            lanes[0][code as usize % FEW_CODES] += 1;
        }
        for (code, count) in self.counts.iter_mut().enumerate() {
            *count += lanes.iter().map(|counts| counts[code]).sum::<u64>();
        }
    }

    fn add(&mut self, code: u32, weight: f64) {
        if let Some(count) = as_whole(weight) {
            self.counts[code as usize] += count;
        } else {
            if self.fractions.is_empty() {
                self.fractions = vec![Compensated::default(); self.counts.len()];
            }
            self.fractions[code as usize].add(weight);
        }
    }
}

impl Forgetting for Landmark {
    fn layout(&self) -> Layout {
        self.layout
    }

    fn push_rows(&mut self, rows: &Rows<'_>) {
        self.width += rows.len() as u64;
        self.bins.iter_mut().for_each(|bins| bins.add(rows, |row| rows.row_weight(row)));
        match rows.weight {
            None => self.count(rows.codes),
            Some(weight) => rows.codes.iter().zip(weight).for_each(|(&code, &weight)| self.add(code, weight)),
        }
    }

    fn add_weights(&self, weights: &mut [f64]) -> u64 {
        weights.iter_mut().zip(&self.counts).for_each(|(weight, &count)| *weight = count as f64);
        weights.iter_mut().zip(&self.fractions).for_each(|(weight, part)| *weight += part.sum + part.compensation);
        self.width
    }

    fn ranks(&self) -> Option<Ranks> {
        self.bins.as_ref().map(VoteBins::ranks)
    }

    fn vote_bins(&self, max_bins: usize) -> Result<Vec<UsedBins>, KernelError> {
        match &self.bins {
            Some(bins) => bins.list_used(max_bins),
            None => Err(option_error("statistics", "without ranks", "bins of votes need the statistic ranks")),
        }
    }

    fn merge(&mut self, bytes: &[u8], classes: &[u32]) -> Result<(), KernelError> {
        let n_classes = self.layout.outcomes().n_classes();
        let is_own = |(index, class): (usize, &u32)| (*class as usize) < n_classes && !classes[..index].contains(class);
        let expected = "each must be a class of its own here";
        check_option("classes", format_args!("{classes:?}"), classes.iter().enumerate().all(is_own), expected)?;
        let layout = if self.layout.n_amounts() > 0 {
            self.layout
        } else {
            Layout::new(Outcomes::new(classes.len())?, self.layout.statistics(), false)?
        };
        let mut other = Self::new(layout);
        other.load(bytes)?;
        let place = |code: usize| self.layout.adopt_code(layout, code as u32, |class| classes[class as usize]) as usize;
        self.width += other.width;
        other.counts.iter().enumerate().for_each(|(code, count)| self.counts[place(code)] += count);
        if self.fractions.is_empty() && !other.fractions.is_empty() {
            self.fractions = vec![Compensated::default(); self.counts.len()];
        }
        for (code, more) in other.fractions.iter().enumerate() {
            let sum = &mut self.fractions[place(code)];
            sum.add(more.sum);
            sum.add(more.compensation);
        }
        if let (Some(bins), Some(more)) = (&mut self.bins, &other.bins) {
            bins.merge(more, classes);
        }
        Ok(())
    }

    fn n_bytes(&self) -> usize {
        let bins = self.bins.as_ref().map_or(0, VoteBins::n_bytes);
        size_of::<Self>() + 8 * self.counts.capacity() + size_of::<Compensated>() * self.fractions.capacity() + bins
    }

    fn save(&self) -> Vec<u8> {
        let mut writer = Writer::new(NAME, 1);
        self.write(&mut writer);
        writer.finish()
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), KernelError> {
        let mut reader = Reader::new(NAME, 1, bytes)?;
        let (state, _) = self.read(&mut reader)?;
        reader.finish()?;
        *self = state;
        Ok(())
    }
}
