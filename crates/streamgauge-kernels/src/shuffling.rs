//! Shuffling of rows that need not fit into memory: scatter them over buckets, then shuffle each bucket.
//!
//! The bucket of a row and the order within a bucket are independent uniform draws, so that every permutation is
//! equally likely.

use memchr::memchr_iter;

use crate::KernelError;
use crate::error::check_option;
use crate::randomness::{Draws, Purpose};
use crate::text::{Line, Mark, RawLines, RawRows, TextError};

const BUCKETS: Purpose = Purpose::named("shuffle buckets");
const ORDER: Purpose = Purpose::named("shuffle order");

/// A scatter of the rows of a text, read in chunks, over buckets.
#[derive(Debug, Clone)]
pub struct Scatter {
    lines: RawLines,
    rows: RawRows,
    writer: BucketWriter,
}

#[derive(Debug, Clone)]
struct BucketWriter {
    draws: Draws,
    n_rows: u64,
    buckets: Vec<Vec<u8>>,
    ends: Vec<usize>,
}

impl Scatter {
    /// Creates a scatter over `n_buckets` buckets; `address` distinguishes the scatters of one shuffle.
    ///
    /// # Errors
    /// Returns [`KernelError::Option`] if there is no bucket.
    pub fn new(rows: RawRows, n_buckets: usize, seed: u64, address: u64, from: Mark) -> Result<Self, KernelError> {
        check_option("n_buckets", n_buckets, n_buckets > 0, "there must be at least one")?;
        let draws = Draws::new(seed, BUCKETS, address);
        let writer = BucketWriter { draws, n_rows: 0, buckets: vec![Vec::new(); n_buckets], ends: Vec::new() };
        Ok(Self { lines: RawLines::new(from), rows, writer })
    }

    /// Scatters the rows of a chunk; returns the rows added to each bucket. Blank lines and comments are skipped.
    ///
    /// # Errors
    /// Returns an error for an invalid row.
    pub fn update(&mut self, chunk: &[u8]) -> Result<Vec<Vec<u8>>, KernelError> {
        let Self { lines, rows, writer } = self;
        lines.update(rows, chunk, |line, plain| writer.write(rows, &line, plain))?;
        Ok(self.writer.buckets.iter_mut().map(std::mem::take).collect())
    }

    /// Scatters a last line without a line end.
    ///
    /// # Errors
    /// Returns an error if it is not a valid row.
    pub fn finish(&mut self) -> Result<Vec<Vec<u8>>, KernelError> {
        let Self { lines, rows, writer } = self;
        lines.finish(rows, |line, plain| writer.write(rows, &line, plain))?;
        Ok(self.writer.buckets.iter_mut().map(std::mem::take).collect())
    }

    /// Returns the number of rows.
    #[must_use]
    pub fn n_rows(&self) -> u64 {
        self.writer.n_rows
    }
}

impl BucketWriter {
    fn write(&mut self, rows: &RawRows, line: &Line<'_>, plain: bool) -> Result<(), TextError> {
        rows.check(line, plain, &mut self.ends)?;
        let index = self.draws.below(self.n_rows, self.buckets.len() as u64) as usize;
        let bucket = &mut self.buckets[index];
        bucket.extend_from_slice(line.text);
        bucket.push(b'\n');
        self.n_rows += 1;
        Ok(())
    }
}

/// Shuffles the lines of a text, each with its end (Fisher and Yates).
#[must_use]
pub fn shuffle_lines(text: &[u8], seed: u64, address: u64) -> Vec<u8> {
    let mut start = 0;
    let mut lines: Vec<&[u8]> = memchr_iter(b'\n', text)
        .map(|end| {
            let line = &text[start..=end];
            start = end + 1;
            line
        })
        .collect();
    let draws = Draws::new(seed, ORDER, address);
    for last in (1..lines.len()).rev() {
        lines.swap(last, draws.below(last as u64, last as u64 + 1) as usize);
    }
    lines.concat()
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::text::Dialect;

    fn build_scatter(n_buckets: usize, seed: u64) -> Scatter {
        let rows = RawRows::new(Dialect::new(b',', vec![]).unwrap(), 1, 0).unwrap();
        Scatter::new(rows, n_buckets, seed, 0, Mark { row: 0, end: 0, line: 0 }).unwrap()
    }

    #[test]
    fn every_permutation_is_equally_likely() {
        let mut counts: HashMap<Vec<u8>, f64> = HashMap::new();
        let n = 48_000;
        for seed in 0..n {
            let mut scatter = build_scatter(3, seed);
            let mut buckets = scatter.update(b"a\nb\nc\nd").unwrap();
            for (bucket, last) in buckets.iter_mut().zip(scatter.finish().unwrap()) {
                bucket.extend(last);
            }
            let order: Vec<u8> = (0..).zip(&buckets).flat_map(|(i, text)| shuffle_lines(text, seed, i)).collect();
            *counts.entry(order).or_default() += 1.0;
        }
        assert_eq!(counts.len(), 24);
        let expected = n as f64 / 24.0;
        let chi_square: f64 = counts.values().map(|count| (count - expected).powi(2) / expected).sum();
        assert!(chi_square < 49.7, "{chi_square}"); // the 0.999 quantile of 23 degrees of freedom
    }

    #[test]
    fn an_invalid_row_is_reported() {
        let mut scatter = build_scatter(1, 1);
        assert!(scatter.update(b"a\nb,c\n").unwrap_err().to_string().starts_with("line 2: the row 'b,c' has 2 values"));
    }
}
