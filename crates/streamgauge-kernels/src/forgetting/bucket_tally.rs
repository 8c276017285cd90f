//! The tally of a bucket of rows: a table, or a list if few of many outcomes occur.

use super::Layout;
use crate::KernelError;
use crate::codec::{Reader, Writer};

/// The number of outcomes up to which a tally is always a table.
const SMALL_TABLE: usize = 1024;

/// The weights of a bucket by outcome.
#[derive(Debug, Clone)]
pub enum BucketTally {
    /// A weight for each outcome.
    Table(Vec<f64>),
    /// A weight for each outcome that occurs, in ascending order.
    List(Vec<(u32, f64)>),
}

impl BucketTally {
    /// Creates the tally of rows from the codes and weights of their entries (`None` if all are 1).
    pub fn new(layout: Layout, codes: &[u32], weights: Option<&[f64]>) -> Self {
        if layout.n_codes() <= SMALL_TABLE {
            let mut table = vec![0.0; layout.n_codes()];
            add_rows(&mut table, codes, weights);
            return Self::Table(table);
        }
        let weight = |row: usize| weights.map_or(1.0, |weights| weights[row]);
        let mut rows: Vec<(u32, f64)> = codes.iter().enumerate().map(|(row, &code)| (code, weight(row))).collect();
        // A stable sort: the weights of an outcome are added in the order of the rows.
        rows.sort_by_key(|&(code, _)| code);
        rows.dedup_by(|later, first| {
            let is_same = later.0 == first.0;
            first.1 += if is_same { later.1 } else { 0.0 };
            is_same
        });
        rows.shrink_to_fit();
        Self::List(rows)
    }

    /// Merges the tallies of two buckets.
    pub fn merge_with(self, newer: Self, layout: Layout) -> Self {
        match (self, newer) {
            (Self::List(older), Self::List(newer)) => {
                let sum = add_lists(&older, &newer);
                // A table takes half the bytes per outcome.
                if 2 * sum.len() < layout.n_codes() { Self::List(sum) } else { Self::from_list(&sum, layout) }
            }
            (Self::Table(mut older), newer) => {
                newer.add_to(&mut older);
                Self::Table(older)
            }
            (older @ Self::List(_), Self::Table(mut newer)) => {
                older.add_to(&mut newer);
                Self::Table(newer)
            }
        }
    }

    /// Creates a table from a list.
    pub fn from_list(list: &[(u32, f64)], layout: Layout) -> Self {
        let mut table = vec![0.0; layout.n_codes()];
        for &(code, weight) in list {
            table[code as usize] = weight;
        }
        Self::Table(table)
    }

    /// Adds it to a table.
    pub fn add_to(&self, sums: &mut [f64]) {
        match self {
            Self::Table(table) => sums.iter_mut().zip(table).for_each(|(sum, weight)| *sum += weight),
            Self::List(list) => list.iter().for_each(|&(code, weight)| sums[code as usize] += weight),
        }
    }

    /// Returns the memory it uses on the heap in bytes.
    pub fn n_bytes(&self) -> usize {
        match self {
            Self::Table(table) => 8 * table.capacity(),
            Self::List(list) => size_of::<(u32, f64)>() * list.capacity(),
        }
    }

    /// Appends it to a saved state.
    pub fn write(&self, writer: &mut Writer) {
        match self {
            Self::Table(table) => {
                writer.u64s([].into_iter());
                writer.f64s(table);
            }
            Self::List(list) => {
                writer.u64s(list.iter().map(|&(code, _)| u64::from(code)));
                writer.f64s(&list.iter().map(|&(_, weight)| weight).collect::<Vec<_>>());
            }
        }
    }

    /// Reads it from a state that was saved with a layout of at most as many classes.
    pub fn read(layout: Layout, saved: Layout, reader: &mut Reader<'_>) -> Result<Self, KernelError> {
        let (codes, weights) = (saved.read_codes(reader)?, reader.f64s()?);
        if codes.is_empty() && weights.len() == saved.n_codes() {
            return Ok(Self::Table(layout.adopt_table(saved, weights)));
        }
        if codes.len() != weights.len() || codes.windows(2).any(|pair| pair[0] >= pair[1]) {
            return Err(reader.error("the tally of a bucket is not in order"));
        }
        Ok(Self::List(layout.adopt_codes(saved, codes).into_iter().zip(weights).collect()))
    }
}

/// Adds rows to a table.
pub fn add_rows(sums: &mut [f64], codes: &[u32], weights: Option<&[f64]>) {
    match weights {
        None => codes.iter().for_each(|&code| sums[code as usize] += 1.0),
        Some(weights) => codes.iter().zip(weights).for_each(|(&code, weight)| sums[code as usize] += weight),
    }
}

fn add_lists(older: &[(u32, f64)], newer: &[(u32, f64)]) -> Vec<(u32, f64)> {
    let mut sum = Vec::with_capacity(older.len() + newer.len());
    let (mut i, mut j) = (0, 0);
    while let (Some(&(first, weight)), Some(&(second, other))) = (older.get(i), newer.get(j)) {
        let (from_older, from_newer) = (first <= second, second <= first);
        let weight = if from_older { weight } else { 0.0 };
        sum.push((first.min(second), weight + if from_newer { other } else { 0.0 }));
        i += usize::from(from_older);
        j += usize::from(from_newer);
    }
    sum.extend_from_slice(&older[i..]);
    sum.extend_from_slice(&newer[j..]);
    sum.shrink_to_fit();
    sum
}
