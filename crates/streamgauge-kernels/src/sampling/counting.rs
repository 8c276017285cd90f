//! The first pass: how many rows each class has, and on request an index of the rows of each.

use std::io::Write as _;

use xxhash_rust::xxh3::Xxh3;

use super::Classes;
use crate::KernelError;
use crate::rows::{Dialect, Lines};

/// Counts the rows of each class in a text that comes in chunks.
pub struct Counting {
    dialect: Dialect,
    lines: Lines,
    classes: Classes,
    counts: Vec<u64>,
    unlabelled: u64,
    hash: Xxh3,
    index: Option<Vec<Vec<u8>>>,
    ends: Vec<usize>,
}

impl Counting {
    /// A count that starts at the given line; with `indexed`, each row is also kept under its class, its number
    /// (from 1) in front.
    #[must_use]
    pub fn new(dialect: Dialect, classes: Classes, first_line: u64, indexed: bool) -> Self {
        Self {
            dialect,
            lines: Lines::new(first_line),
            counts: vec![0; classes.names().len()],
            classes,
            unlabelled: 0,
            hash: Xxh3::new(),
            index: indexed.then(Vec::new),
            ends: Vec::new(),
        }
    }

    /// Count the rows of a chunk; gives the index of these rows, a text for each class.
    ///
    /// # Errors
    /// [`KernelError::Line`] for a line that is not a row.
    pub fn update(&mut self, chunk: &[u8]) -> Result<Vec<Vec<u8>>, KernelError> {
        self.hash.update(chunk);
        let mut lines = std::mem::replace(&mut self.lines, Lines::new(0));
        let done = lines.update(chunk, |line, row| self.count(line, row));
        self.lines = lines;
        done?;
        Ok(self.index.as_mut().map(std::mem::take).unwrap_or_default())
    }

    /// Count a last line that has no end; gives its index.
    ///
    /// # Errors
    /// [`KernelError::Line`] where it is not a row.
    pub fn finish(&mut self) -> Result<Vec<Vec<u8>>, KernelError> {
        let mut lines = std::mem::replace(&mut self.lines, Lines::new(0));
        lines.finish(|line, row| self.count(line, row))?;
        Ok(self.index.as_mut().map(std::mem::take).unwrap_or_default())
    }

    #[inline]
    fn count(&mut self, line: u64, row: &[u8]) -> Result<(), KernelError> {
        if !self.dialect.is_row(row) {
            return Ok(());
        }
        let class = self.dialect.class_of(line, row, &mut self.ends)?;
        let Some(code) = self.classes.code(line, &class.name)? else {
            self.unlabelled += 1;
            return Ok(());
        };
        if code == self.counts.len() {
            self.counts.push(0);
        }
        self.counts[code] += 1;
        if self.index.is_some() {
            self.keep(code, row);
        }
        Ok(())
    }

    fn keep(&mut self, code: usize, row: &[u8]) {
        let number = self.counts.iter().sum::<u64>() + self.unlabelled;
        let Some(index) = &mut self.index else { return };
        if index.len() < self.counts.len() {
            index.resize(self.counts.len(), Vec::new());
        }
        let text = &mut index[code];
        // Writing into memory cannot fail.
        let _ = write!(text, "{number}{}", char::from(self.dialect.separator));
        text.extend_from_slice(row.trim_ascii());
        text.push(b'\n');
    }

    /// The names of the classes, in the order of their codes.
    #[must_use]
    pub fn classes(&self) -> &[Vec<u8>] {
        self.classes.names()
    }

    /// How many rows each class has.
    #[must_use]
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// How many rows have no label.
    #[must_use]
    pub fn unlabelled(&self) -> u64 {
        self.unlabelled
    }

    /// A hash of all bytes.
    #[must_use]
    pub fn hash(&self) -> u128 {
        self.hash.digest128()
    }
}
