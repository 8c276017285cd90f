//! A reader of chunks of bytes into columns.

use std::ops::ControlFlow;

use super::{Line, Lines, TextError};

/// The number of rows between two marks.
pub const MARK_INTERVAL: u64 = 65_536;

/// Consecutive rows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rows {
    /// Values, `d` for each row; a nominal value is its code, a missing one NaN.
    pub x: Vec<f64>,
    /// Class codes; -1 if the class is unknown.
    pub y: Vec<i32>,
    /// Weights; empty if no row has one.
    pub weight: Vec<f64>,
    /// Times, in seconds since 1970-01-01 UTC; empty if the rows have none.
    pub time: Vec<f64>,
}

impl Rows {
    /// Sets the weight of the last row; earlier rows without a weight get weight 1.
    pub fn set_weight(&mut self, weight: f64) {
        self.weight.resize(self.y.len() - 1, 1.0);
        self.weight.push(weight);
    }

    /// Extends the weights, if there are any, to all rows.
    fn fill_weights(&mut self) {
        if !self.weight.is_empty() {
            self.weight.resize(self.y.len(), 1.0);
        }
    }
}

/// A parser of lines into rows.
pub trait Parser: Send + Sync {
    /// Returns the number of attributes of a row.
    fn n_attributes(&self) -> usize;

    /// Returns whether a line contains a row, without checking the row.
    fn holds_row(&self, line: &[u8]) -> bool;

    /// Appends the row of a line that contains one.
    ///
    /// # Errors
    /// Returns the first fault of the line; the appended values are then invalid.
    fn parse(&mut self, line: Line<'_>, rows: &mut Rows) -> Result<(), TextError>;
}

/// A position in a file from which reading can resume.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    /// The number of rows before it.
    pub row: u64,
    /// The number of bytes before it.
    pub end: u64,
    /// The number of lines before it.
    pub line: u64,
}

/// A reader of the rows of a file, chunk by chunk.
pub struct RowReader {
    parser: Box<dyn Parser>,
    lines: Lines,
    rows: Rows,
    row: u64,
    skip_to: u64,
    marks: Vec<Mark>,
}

impl RowReader {
    /// Creates a reader from a mark on that skips, without checking, the rows before `skip_to`.
    #[must_use]
    pub fn new(parser: Box<dyn Parser>, from: Mark, skip_to: u64) -> Self {
        let lines = Lines::new(from.line, from.end);
        Self { parser, lines, rows: Rows::default(), row: from.row, skip_to, marks: Vec::new() }
    }

    /// Returns the number of attributes of a row.
    #[must_use]
    pub fn n_attributes(&self) -> usize {
        self.parser.n_attributes()
    }

    /// Returns the number of buffered rows.
    #[must_use]
    pub fn n_rows(&self) -> usize {
        self.rows.y.len()
    }

    /// Returns the position of the next row in the file.
    #[must_use]
    pub fn row(&self) -> u64 {
        self.row
    }

    /// Reads lines until `limit` rows are buffered or the chunk ends; returns the number of bytes used.
    ///
    /// # Errors
    /// Returns the first fault of the file; the rows before it stay buffered.
    pub fn update(&mut self, chunk: &[u8], limit: usize) -> Result<usize, TextError> {
        if self.rows.y.is_empty() {
            // A value takes at least two bytes, so that no more than a few times the chunk is reserved.
            let n = limit.min(chunk.len() / (2 * self.n_attributes() + 1));
            self.rows.x.reserve_exact(n * self.n_attributes());
            self.rows.y.reserve_exact(n);
        }
        let Self { parser, lines, rows, row, skip_to, marks } = self;
        let mut sink = RowSink { parser: parser.as_mut(), rows, row, skip_to: *skip_to, marks, limit };
        lines.update(chunk, |line| sink.read_line(line))
    }

    /// Reads the last line of the file, if it has no line end.
    ///
    /// # Errors
    /// Returns the fault of the line.
    pub fn finish(&mut self) -> Result<(), TextError> {
        let Self { parser, lines, rows, row, skip_to, marks } = self;
        let mut sink = RowSink { parser: parser.as_mut(), rows, row, skip_to: *skip_to, marks, limit: usize::MAX };
        lines.finish(|line| sink.read_line(line))
    }

    /// Takes the buffered rows.
    pub fn take(&mut self) -> Rows {
        self.rows.fill_weights();
        std::mem::take(&mut self.rows)
    }

    /// Takes the marks since the last call, one every [`MARK_INTERVAL`] rows.
    pub fn take_marks(&mut self) -> Vec<Mark> {
        std::mem::take(&mut self.marks)
    }
}

/// The parts of a reader that one update works on.
struct RowSink<'a> {
    parser: &'a mut dyn Parser,
    rows: &'a mut Rows,
    row: &'a mut u64,
    skip_to: u64,
    marks: &'a mut Vec<Mark>,
    limit: usize,
}

impl RowSink<'_> {
    #[inline(always)]
    fn read_line(&mut self, line: Line<'_>) -> Result<ControlFlow<()>, TextError> {
        if !self.parser.holds_row(line.text) {
            return Ok(ControlFlow::Continue(()));
        }
        if *self.row >= self.skip_to {
            let (n_values, n) = (self.rows.x.len(), self.rows.y.len());
            if let Err(error) = self.parser.parse(line, self.rows) {
                self.rows.x.truncate(n_values);
                self.rows.y.truncate(n);
                self.rows.weight.truncate(n);
                self.rows.time.truncate(n);
                return Err(error);
            }
        }
        *self.row += 1;
        if self.row.is_multiple_of(MARK_INTERVAL) {
            self.marks.push(Mark { row: *self.row, end: line.end, line: line.number });
        }
        Ok(if self.rows.y.len() >= self.limit { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }
}
