//! The first pass: the number of rows per class, and optionally an index of the rows of each class.

use crate::KernelError;
use crate::text::{Classes, Line, Mark, RawLines, RawRows, TextError};

/// A counter of the rows of each class in a text read in chunks.
pub struct Counting {
    lines: RawLines,
    rows: RawRows,
    counter: Counter,
}

struct Counter {
    delimiter: u8,
    classes: Classes,
    counts: Vec<u64>,
    n_rows: u64,
    index: Option<Vec<Vec<u8>>>,
    ends: Vec<usize>,
}

impl Counting {
    /// Creates a counter of the rows after a mark; with `indexed`, each row is also kept under its class, preceded by
    /// its number (from 1).
    #[must_use]
    pub fn new(rows: RawRows, classes: Classes, from: Mark, indexed: bool) -> Self {
        let counts = vec![0; classes.names().len()];
        let index = indexed.then(Vec::new);
        let counter = Counter { delimiter: rows.delimiter(), classes, counts, n_rows: 0, index, ends: Vec::new() };
        Self { lines: RawLines::new(from), rows, counter }
    }

    /// Counts the rows of a chunk; returns the index of these rows, a text for each class.
    ///
    /// # Errors
    /// Returns an error for an invalid row.
    pub fn update(&mut self, chunk: &[u8]) -> Result<Vec<Vec<u8>>, KernelError> {
        let Self { lines, rows, counter } = self;
        lines.update(rows, chunk, |line, plain| counter.count(rows, &line, plain))?;
        Ok(self.counter.index.as_mut().map(std::mem::take).unwrap_or_default())
    }

    /// Counts a last line without a line end; returns its index.
    ///
    /// # Errors
    /// Returns an error if it is not a valid row.
    pub fn finish(&mut self) -> Result<Vec<Vec<u8>>, KernelError> {
        let Self { lines, rows, counter } = self;
        lines.finish(rows, |line, plain| counter.count(rows, &line, plain))?;
        Ok(self.counter.index.as_mut().map(std::mem::take).unwrap_or_default())
    }

    /// Returns the names of the classes, in the order of their codes.
    #[must_use]
    pub fn classes(&self) -> &[String] {
        self.counter.classes.names()
    }

    /// Returns the number of rows of each class.
    #[must_use]
    pub fn counts(&self) -> &[u64] {
        &self.counter.counts
    }

    /// Returns the number of rows, with and without a label.
    #[must_use]
    pub fn n_rows(&self) -> u64 {
        self.counter.n_rows
    }
}

impl Counter {
    #[inline(always)]
    fn count(&mut self, rows: &RawRows, line: &Line<'_>, plain: bool) -> Result<(), TextError> {
        self.n_rows += 1;
        if let Some(code) = rows.find_class(line, plain, &mut self.classes, &mut self.ends)?.code {
            if code == self.counts.len() {
                self.counts.push(0);
            }
            self.counts[code] += 1;
            if self.index.is_some() {
                self.keep(code, line.text);
            }
        }
        Ok(())
    }

    fn keep(&mut self, code: usize, row: &[u8]) {
        let Some(index) = &mut self.index else { return };
        if index.len() < self.counts.len() {
            index.resize(self.counts.len(), Vec::new());
        }
        let text = &mut index[code];
        text.extend_from_slice(self.n_rows.to_string().as_bytes());
        text.push(self.delimiter);
        text.extend_from_slice(row);
        text.push(b'\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Dialect;

    #[test]
    fn classes_are_counted_and_indexed_however_the_text_is_cut() {
        let text = b"1,up\n% note\n2,down\n3,?\r\n4,up\r\n5,'up'";
        for cut in 1..=text.len() {
            let rows = RawRows::new(Dialect::arff(b',', vec![]).unwrap(), 2, 1).unwrap();
            let classes = Classes::declared(["down", "up"].into_iter().collect());
            let mut counting = Counting::new(rows, classes, Mark { row: 0, end: 4, line: 1 }, true);
            let mut index = vec![Vec::new(); 2];
            let mut collect =
                |parts: Vec<Vec<u8>>| parts.into_iter().zip(&mut index).for_each(|(part, all)| all.extend(part));
            text.chunks(cut).for_each(|chunk| collect(counting.update(chunk).unwrap()));
            collect(counting.finish().unwrap());
            assert_eq!((counting.counts(), counting.n_rows()), (&[1, 3][..], 5));
            assert_eq!(index, [b"2,2,down\n".to_vec(), b"1,1,up\n4,4,up\n5,5,'up'\n".to_vec()]);
        }
    }
}
