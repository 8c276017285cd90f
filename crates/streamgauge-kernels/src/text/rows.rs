//! Chunks of bytes in, columns out.

use std::ops::ControlFlow;

use super::{Line, Lines, TextError};

/// After how many rows the place in the file is noted.
pub const MARK_INTERVAL: u64 = 65_536;

/// Consecutive rows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rows {
    /// Values, `d` for each row; a nominal value is its code, a missing one NaN.
    pub x: Vec<f64>,
    /// Class codes; -1 where the class is not known.
    pub y: Vec<i32>,
    /// Weights; empty where no row carries one.
    pub weight: Vec<f64>,
}

impl Rows {
    /// Give a row the weight it carries; rows before it that carry none have weight 1.
    pub fn set_weight(&mut self, weight: f64) {
        self.weight.resize(self.y.len() - 1, 1.0);
        self.weight.push(weight);
    }

    /// Make the weights, if there are any, as many as the rows.
    fn fill_weights(&mut self) {
        if !self.weight.is_empty() {
            self.weight.resize(self.y.len(), 1.0);
        }
    }
}

/// Turns a line into a row.
pub trait Parser: Send + Sync {
    /// How many attributes a row has.
    fn n_attributes(&self) -> usize;

    /// Whether a line holds a row at all; nothing of the row is checked.
    fn holds_row(&self, line: &[u8]) -> bool;

    /// Append the row of a line that holds one.
    ///
    /// # Errors
    /// The first fault of the line; what was appended then is not to be used.
    fn parse(&mut self, line: &[u8], number: u64, rows: &mut Rows) -> Result<(), TextError>;
}

/// A place in a file from which reading can go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    /// How many rows are before it.
    pub row: u64,
    /// How many bytes are before it.
    pub end: u64,
    /// How many lines are before it.
    pub line: u64,
}

/// Reads the rows of a file, chunk by chunk.
pub struct RowReader {
    parser: Box<dyn Parser>,
    lines: Lines,
    rows: Rows,
    row: u64,
    skip_to: u64,
    marks: Vec<Mark>,
}

impl RowReader {
    /// Read on from a place, but leave out (and do not check) the rows before `skip_to`.
    #[must_use]
    pub fn new(parser: Box<dyn Parser>, from: Mark, skip_to: u64) -> Self {
        let lines = Lines::new(from.line, from.end);
        Self { parser, lines, rows: Rows::default(), row: from.row, skip_to, marks: Vec::new() }
    }

    /// How many attributes a row has.
    #[must_use]
    pub fn n_attributes(&self) -> usize {
        self.parser.n_attributes()
    }

    /// How many rows wait to be taken.
    #[must_use]
    pub fn n_rows(&self) -> usize {
        self.rows.y.len()
    }

    /// The position of the next row in the file.
    #[must_use]
    pub fn row(&self) -> u64 {
        self.row
    }

    /// Read lines until `limit` rows wait or the chunk ends; how many bytes were used.
    ///
    /// # Errors
    /// The first fault of the file. The rows before it stay.
    pub fn update(&mut self, chunk: &[u8], limit: usize) -> Result<usize, TextError> {
        if self.rows.y.is_empty() {
            // A value takes two bytes at least, so that no more room is asked for than a few times the chunk.
            let n = limit.min(chunk.len() / (2 * self.n_attributes() + 1));
            self.rows.x.reserve_exact(n * self.n_attributes());
            self.rows.y.reserve_exact(n);
        }
        let Self { parser, lines, rows, row, skip_to, marks } = self;
        let mut sink = RowSink { parser: parser.as_mut(), rows, row, skip_to: *skip_to, marks, limit };
        lines.update(chunk, |line| sink.read_line(line))
    }

    /// Read the last line of the file, where it has no line end.
    ///
    /// # Errors
    /// Its fault.
    pub fn finish(&mut self) -> Result<(), TextError> {
        let Self { parser, lines, rows, row, skip_to, marks } = self;
        let mut sink = RowSink { parser: parser.as_mut(), rows, row, skip_to: *skip_to, marks, limit: usize::MAX };
        lines.finish(|line| sink.read_line(line))
    }

    /// Take the rows that wait.
    pub fn take(&mut self) -> Rows {
        self.rows.fill_weights();
        std::mem::take(&mut self.rows)
    }

    /// Take the places passed since the last call, one every [`MARK_INTERVAL`] rows.
    pub fn take_marks(&mut self) -> Vec<Mark> {
        std::mem::take(&mut self.marks)
    }
}

/// What one call of an update works on.
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
            if let Err(error) = self.parser.parse(line.text, line.number, self.rows) {
                self.rows.x.truncate(n_values);
                self.rows.y.truncate(n);
                self.rows.weight.truncate(n);
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
