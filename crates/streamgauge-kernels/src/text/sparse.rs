//! What only ARFF has: sparse rows, and weights in braces.

use super::delimited::{Delimited, checked_weight};
use super::fields::{Cursor, Field, checked_text};
use super::{Dialect, Role, Rows, TextError, shown};
use crate::learners::UNLABELLED;

impl Delimited {
    /// Read what stands behind the last value: in ARFF a weight in braces, else nothing may.
    pub(super) fn behind_the_row(&self, cursor: &mut Cursor<'_>, line: u64, rows: &mut Rows) -> Result<(), TextError> {
        let dialect = &self.layout.dialect;
        cursor.skip_blanks(dialect);
        if !(dialect.is_arff() && cursor.peek() == Some(b'{')) {
            let problem = format!("the row goes on behind its {} values", self.layout.columns.len());
            return Err(self.fault(line, self.layout.columns.len(), problem));
        }
        let weight = if self.has_weight {
            Err("the row has a weight in braces besides that of its column".into())
        } else {
            braced_weight(&cursor.line[cursor.at..])
        };
        rows.weigh(weight.map_err(|why| TextError::in_line(line, why))?);
        Ok(())
    }

    /// Read a sparse row of ARFF: `{1 2.5, 4 red}`. What is left out is 0, or the first value of a nominal column.
    pub(super) fn sparse(&self, line: &[u8], line_number: u64, rows: &mut Rows) -> Result<(), TextError> {
        let dialect = &self.layout.dialect;
        let in_line = |why: String| TextError::in_line(line_number, why);
        rows.x.resize(rows.x.len() + self.n_attributes, 0.0);
        rows.y.push(if self.has_class { 0 } else { UNLABELLED });
        let mut given = vec![false; self.layout.columns.len()];
        let mut cursor = Cursor::new(line);
        cursor.skip_blanks(dialect);
        cursor.at += 1;
        cursor.skip_blanks(dialect);
        let mut closed = cursor.peek() == Some(b'}');
        while !closed {
            let column = sparse_index(&mut cursor, dialect, &mut given).map_err(in_line)?;
            let field = sparse_value(&mut cursor, dialect).map_err(|why| self.fault(line_number, column, why))?;
            self.store(column, &field, rows).map_err(|why| self.fault(line_number, column, why))?;
            closed = cursor.peek() == Some(b'}');
            cursor.at += usize::from(!closed);
        }
        if self.has_weight && !self.layout.columns.iter().zip(&given).any(|(c, &given)| given && c.role == Role::Weight)
        {
            rows.weigh(0.0);
        }
        cursor.at += 1;
        cursor.skip_blanks(dialect);
        match cursor.peek() {
            None => Ok(()),
            Some(byte) if byte == dialect.delimiter() => {
                cursor.at += 1;
                self.behind_the_row(&mut cursor, line_number, rows)
            }
            Some(_) => Err(in_line("there is text behind the closing brace".into())),
        }
    }
}

/// The weight of a row in ARFF: `{0.5}`.
fn braced_weight(text: &[u8]) -> Result<f64, String> {
    let text = checked_text(text)?.trim_matches([' ', '\t']);
    let inner = text.strip_prefix('{').and_then(|text| text.strip_suffix('}'));
    let Some(inner) = inner.map(|text| text.trim_matches([' ', '\t'])) else {
        return Err(format!("{} is not a weight in braces, as in {{0.5}}", shown(text)));
    };
    checked_weight(inner)
}

/// Read the column number of an entry of a sparse row, and the blanks behind it.
fn sparse_index(cursor: &mut Cursor<'_>, dialect: &Dialect, given: &mut [bool]) -> Result<usize, String> {
    cursor.skip_blanks(dialect);
    let start = cursor.at;
    while cursor.peek().is_some_and(|byte| byte.is_ascii_digit()) {
        cursor.at += 1;
    }
    let digits = checked_text(&cursor.line[start..cursor.at])?;
    let end = cursor.at;
    cursor.skip_blanks(dialect);
    if digits.is_empty() || cursor.at == end {
        return Err("an entry of a sparse row must be a column number from 0 on, a blank and a value".into());
    }
    match digits.parse::<usize>() {
        Ok(column) if column < given.len() => {
            if std::mem::replace(&mut given[column], true) {
                return Err(format!("column number {column} is given twice in a sparse row"));
            }
            Ok(column)
        }
        _ => Err(format!("{digits} is not a column number; they go from 0 to {}", given.len() - 1)),
    }
}

/// Read the value of an entry of a sparse row; the place is then at the delimiter or the closing brace.
fn sparse_value<'a>(cursor: &mut Cursor<'a>, dialect: &Dialect) -> Result<Field<'a>, String> {
    let is_end = |byte: u8| byte == dialect.delimiter() || byte == b'}';
    let field = if cursor.peek().is_some_and(|byte| dialect.is_quote(byte)) {
        Field { text: cursor.quoted(dialect)?, quoted: true }
    } else {
        let start = cursor.at;
        while cursor.peek().is_some_and(|byte| !is_end(byte)) {
            cursor.at += 1;
        }
        let text = checked_text(&cursor.line[start..cursor.at])?;
        Field { text: text.trim_end_matches([' ', '\t']).into(), quoted: false }
    };
    cursor.skip_blanks(dialect);
    match cursor.peek() {
        Some(byte) if is_end(byte) => Ok(field),
        None => Err("the sparse row has no closing brace".into()),
        Some(_) => Err("there is text behind the closing quote".into()),
    }
}
