//! Parsers of text files: ARFF, delimited (CSV and similar formats) and libsvm.
//!
//! ```text
//! chunk of bytes --Lines--> line --Parser--> Rows
//! ```
//!
//! [`RowReader`] turns the bytes of a file, in chunks of any size, into columns; [`Header`] parses the header of an
//! ARFF file; [`Survey`] finds the contents of the columns of a file without declarations. The first fault is reported
//! with its line, its column and what was expected ([`TextError`]). Memory is bounded: a line has at most
//! [`MAX_LINE_BYTES`] bytes, and line breaks inside quotes are not allowed.

use std::fmt;

mod arff;
mod bytes;
mod delimited;
mod fields;
mod layout;
mod libsvm;
mod lines;
mod names;
mod numbers;
mod raw;
mod rows;
mod sparse;
mod survey;
mod times;

pub use arff::{AttributeKind, Header};
pub use delimited::Delimited;
pub use fields::{Dialect, split};
pub use layout::{Column, Layout, Role};
pub use libsvm::{Libsvm, LibsvmSurvey};
pub use lines::{Line, Lines, MAX_LINE_BYTES};
pub use names::Names;
pub use numbers::parse_number;
pub use raw::{Classes, RawClass, RawLines, RawRows, field_range};
pub use rows::{MARK_INTERVAL, Mark, Parser, RowReader, Rows};
pub use survey::{ColumnSummary, Expected, Survey, SurveyedColumn, TimeSummary};
pub use times::{Time, TimeFormat, TimeKind, format_time, is_time, parse_times};

pub(crate) use fields::Cursor;
pub(crate) use numbers::scan_number;

/// A fault in a file, with its location.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextError {
    /// The line, counted from 1.
    pub line: u64,
    /// The column, if the fault is in one.
    pub column: Option<ColumnLocation>,
    /// The problem, and what was expected.
    pub problem: String,
}

/// A column of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnLocation {
    /// Its number, counted from 1.
    pub parse_number: usize,
    /// Its role and name, as in `attribute 'day'`; empty if it has no name.
    pub name: String,
}

impl TextError {
    /// Creates a fault in a line as a whole.
    #[must_use]
    pub fn in_line(line: u64, problem: impl Into<String>) -> Self {
        Self { line, column: None, problem: problem.into() }
    }

    /// Creates a fault in a column, counted from 0.
    #[must_use]
    pub fn in_column(line: u64, column: usize, name: String, problem: impl Into<String>) -> Self {
        Self { line, column: Some(ColumnLocation { parse_number: column + 1, name }), problem: problem.into() }
    }
}

impl fmt::Display for TextError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "line {}", self.line)?;
        if let Some(location) = &self.column {
            write!(out, ", column {}", location.parse_number)?;
            if !location.name.is_empty() {
                write!(out, " ({})", location.name)?;
            }
        }
        write!(out, ": {}", self.problem)
    }
}

impl std::error::Error for TextError {}

/// Quotes a text of a file for a message, without control characters and truncated.
pub(crate) fn quote_excerpt(text: &str) -> String {
    const MAX_CHARS: usize = 40;
    let start: String = text.chars().take(MAX_CHARS).flat_map(char::escape_debug).collect();
    let rest = if text.chars().nth(MAX_CHARS).is_some() { "…" } else { "" };
    format!("'{}{rest}'", start.replace("\\'", "'").replace("\\\"", "\""))
}

/// Joins the first few items of a list for a message.
pub(crate) fn join_first<'a>(items: impl Iterator<Item = &'a str>) -> String {
    const MAX_ITEMS: usize = 8;
    let mut items = items.peekable();
    let mut text = items.by_ref().take(MAX_ITEMS).collect::<Vec<_>>().join(", ");
    if items.peek().is_some() {
        text.push_str(", …");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_line_column_and_attribute() {
        let error = TextError::in_column(17, 2, "attribute 'day'".into(), "'xx' is not one of its values (1, 2)");
        assert_eq!(error.to_string(), "line 17, column 3 (attribute 'day'): 'xx' is not one of its values (1, 2)");
        assert_eq!(TextError::in_line(3, "broken").to_string(), "line 3: broken");
    }

    #[test]
    fn long_and_odd_texts_are_shown_short() {
        assert_eq!(quote_excerpt("it's \t\"x\""), "'it's \\t\"x\"'");
        assert_eq!(quote_excerpt(&"é".repeat(100)), format!("'{}…'", "é".repeat(40)));
    }
}
