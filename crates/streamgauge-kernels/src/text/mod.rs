//! Files of text as rows: ARFF, delimited (CSV and its kin) and libsvm.
//!
//! ```text
//! chunk of bytes --Lines--> line --Parser--> Rows
//! ```
//!
//! [`RowReader`] takes the bytes of a file in chunks of any size and gives columns; [`Header`] reads what stands
//! before the rows of an ARFF file; [`Survey`] finds out what the columns of a file without a declaration hold. A
//! file is read right, or the first fault is told with its line, its column and what was expected ([`TextError`]).
//! Memory is bounded: a line has at most [`LONGEST_LINE`] bytes, and line breaks inside quotes are refused.

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

pub use arff::{Declared, Header};
pub use delimited::Delimited;
pub use fields::{Dialect, split};
pub use layout::{Column, Layout, Role};
pub use libsvm::{Libsvm, LibsvmSurvey};
pub use lines::{LONGEST_LINE, Line, Lines};
pub use names::Names;
pub use numbers::number;
pub use raw::{Classes, RawClass, RawLines, RawRows, field};
pub use rows::{MARK_EVERY, Mark, Parser, RowReader, Rows};
pub use survey::{Expected, Seen, Survey};

pub(crate) use fields::Cursor;
pub(crate) use numbers::scan;

/// A fault in a file, and where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextError {
    /// The line, counted from 1.
    pub line: u64,
    /// The column, where the fault lies in one.
    pub column: Option<Place>,
    /// What is wrong, and what was expected.
    pub problem: String,
}

/// A column of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Its number, counted from 1.
    pub number: usize,
    /// What it is and what it is called, as in `attribute 'day'`; empty where it has no name.
    pub name: String,
}

impl TextError {
    /// A fault in a line as a whole.
    #[must_use]
    pub fn in_line(line: u64, problem: impl Into<String>) -> Self {
        Self { line, column: None, problem: problem.into() }
    }

    /// A fault in a column, counted from 0.
    #[must_use]
    pub fn in_column(line: u64, column: usize, name: String, problem: impl Into<String>) -> Self {
        Self { line, column: Some(Place { number: column + 1, name }), problem: problem.into() }
    }
}

impl fmt::Display for TextError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "line {}", self.line)?;
        if let Some(place) = &self.column {
            write!(out, ", column {}", place.number)?;
            if !place.name.is_empty() {
                write!(out, " ({})", place.name)?;
            }
        }
        write!(out, ": {}", self.problem)
    }
}

impl std::error::Error for TextError {}

/// A text of a file for a message: in quotes, without control characters, not too long.
pub(crate) fn shown(text: &str) -> String {
    const MOST: usize = 40;
    let start: String = text.chars().take(MOST).flat_map(char::escape_debug).collect();
    let rest = if text.chars().nth(MOST).is_some() { "…" } else { "" };
    format!("'{}{rest}'", start.replace("\\'", "'").replace("\\\"", "\""))
}

/// The first few of a list for a message.
pub(crate) fn listed<'a>(items: impl Iterator<Item = &'a str>) -> String {
    const MOST: usize = 8;
    let mut items = items.peekable();
    let mut text = items.by_ref().take(MOST).collect::<Vec<_>>().join(", ");
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
        assert_eq!(shown("it's \t\"x\""), "'it's \\t\"x\"'");
        assert_eq!(shown(&"é".repeat(100)), format!("'{}…'", "é".repeat(40)));
    }
}
