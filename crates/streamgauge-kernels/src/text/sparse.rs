//! Features of ARFF only: sparse rows, and weights in braces.

use super::delimited::{Delimited, MISSING_TIME, parse_weight};
use super::fields::{Cursor, Field, parse_utf8};
use super::{Dialect, Role, Rows, TextError, quote_excerpt};
use crate::learners::UNLABELLED;

impl Delimited {
    /// Parses the text after the last value: in ARFF a weight in braces, otherwise an error.
    pub(super) fn parse_row_end(&self, cursor: &mut Cursor<'_>, line: u64, rows: &mut Rows) -> Result<(), TextError> {
        let dialect = &self.layout.dialect;
        cursor.skip_blanks(dialect);
        if !(dialect.is_arff() && cursor.peek() == Some(b'{')) {
            let problem = format!("the row has more than {} values", self.layout.columns.len());
            return Err(self.column_error(line, self.layout.columns.len(), problem));
        }
        let weight = if self.has_weight {
            Err("the row has a weight in braces and another in a column".into())
        } else {
            parse_braced_weight(&cursor.line[cursor.position..])
        };
        rows.set_weight(weight.map_err(|reason| TextError::in_line(line, reason))?);
        Ok(())
    }

    /// Parses a sparse row of ARFF: `{1 2.5, 4 red}`. An omitted value is 0, or the first value of a nominal column.
    pub(super) fn parse_sparse(&self, line: &[u8], line_number: u64, rows: &mut Rows) -> Result<(), TextError> {
        let dialect = &self.layout.dialect;
        let in_line = |reason: String| TextError::in_line(line_number, reason);
        rows.x.resize(rows.x.len() + self.n_attributes, 0.0);
        rows.y.push(if self.has_class { 0 } else { UNLABELLED });
        let mut seen = vec![false; self.layout.columns.len()];
        let mut cursor = Cursor::new(line);
        cursor.skip_blanks(dialect);
        cursor.position += 1;
        cursor.skip_blanks(dialect);
        let mut closed = cursor.peek() == Some(b'}');
        while !closed {
            let column = parse_sparse_index(&mut cursor, dialect, &mut seen).map_err(in_line)?;
            let field = parse_sparse_value(&mut cursor, dialect)
                .map_err(|reason| self.column_error(line_number, column, reason))?;
            self.store(column, &field, rows).map_err(|reason| self.column_error(line_number, column, reason))?;
            closed = cursor.peek() == Some(b'}');
            cursor.position += usize::from(!closed);
        }
        if self.layout.columns.iter().zip(&seen).any(|(c, &seen)| !seen && c.role == Role::Time) {
            return Err(in_line(MISSING_TIME.into()));
        }
        if self.has_weight && !self.layout.columns.iter().zip(&seen).any(|(c, &seen)| seen && c.role == Role::Weight) {
            rows.set_weight(0.0);
        }
        cursor.position += 1;
        cursor.skip_blanks(dialect);
        match cursor.peek() {
            None => Ok(()),
            Some(byte) if byte == dialect.delimiter() => {
                cursor.position += 1;
                self.parse_row_end(&mut cursor, line_number, rows)
            }
            Some(_) => Err(in_line("unexpected text after the closing brace".into())),
        }
    }
}

/// Parses the weight of a row in ARFF: `{0.5}`.
fn parse_braced_weight(text: &[u8]) -> Result<f64, String> {
    let text = parse_utf8(text)?.trim_matches([' ', '\t']);
    let inner = text.strip_prefix('{').and_then(|text| text.strip_suffix('}'));
    let Some(inner) = inner.map(|text| text.trim_matches([' ', '\t'])) else {
        return Err(format!("{} is not a weight in braces, as in {{0.5}}", quote_excerpt(text)));
    };
    parse_weight(inner)
}

/// Parses the column number of an entry of a sparse row, and the blanks after it.
fn parse_sparse_index(cursor: &mut Cursor<'_>, dialect: &Dialect, seen: &mut [bool]) -> Result<usize, String> {
    cursor.skip_blanks(dialect);
    let start = cursor.position;
    while cursor.peek().is_some_and(|byte| byte.is_ascii_digit()) {
        cursor.position += 1;
    }
    let digits = parse_utf8(&cursor.line[start..cursor.position])?;
    let end = cursor.position;
    cursor.skip_blanks(dialect);
    if digits.is_empty() || cursor.position == end {
        return Err("an entry of a sparse row must be a column number (from 0), a blank and a value".into());
    }
    match digits.parse::<usize>() {
        Ok(column) if column < seen.len() => {
            if std::mem::replace(&mut seen[column], true) {
                return Err(format!("column number {column} occurs twice in a sparse row"));
            }
            Ok(column)
        }
        _ => Err(format!("column number {digits} is out of range (0 to {})", seen.len() - 1)),
    }
}

/// Parses the value of an entry of a sparse row; the cursor is then at the delimiter or the closing brace.
fn parse_sparse_value<'a>(cursor: &mut Cursor<'a>, dialect: &Dialect) -> Result<Field<'a>, String> {
    let is_end = |byte: u8| byte == dialect.delimiter() || byte == b'}';
    let field = if cursor.peek().is_some_and(|byte| dialect.is_quote(byte)) {
        Field { text: cursor.read_quoted(dialect)?, quoted: true }
    } else {
        let start = cursor.position;
        while cursor.peek().is_some_and(|byte| !is_end(byte)) {
            cursor.position += 1;
        }
        let text = parse_utf8(&cursor.line[start..cursor.position])?;
        Field { text: text.trim_end_matches([' ', '\t']).into(), quoted: false }
    };
    cursor.skip_blanks(dialect);
    match cursor.peek() {
        Some(byte) if is_end(byte) => Ok(field),
        None => Err("the sparse row has no closing brace".into()),
        Some(_) => Err("unexpected text after the closing quote".into()),
    }
}
