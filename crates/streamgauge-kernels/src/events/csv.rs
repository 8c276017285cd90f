//! Events that are lines of delimited values.

use super::{FieldRole, Fields, Format, Row, Value};
use crate::text::{Cursor, Dialect, scan_number};

/// Events that are lines of delimited values.
#[derive(Debug, Clone)]
pub struct Csv {
    dialect: Dialect,
    /// The index of the field in each column; none if the column is skipped.
    columns: Vec<Option<usize>>,
}

impl Csv {
    /// Creates a format with these columns.
    #[must_use]
    pub fn new(dialect: Dialect, columns: &[String], fields: &Fields) -> Self {
        Self { dialect, columns: columns.iter().map(|name| fields.find(name)).collect() }
    }

    fn read_column(&self, cursor: &mut Cursor<'_>, index: usize, fields: &Fields, row: &mut Row) -> Result<(), String> {
        if fields.list[index].names.is_none()
            && let Some((value, end)) = scan_number(cursor.line, cursor.position)
            && cursor.is_field_end(end, self.dialect.delimiter())
            && !matches!(fields.list[index].role, FieldRole::Key | FieldRole::Time)
        {
            cursor.advance_past(end);
            return row.set(fields, index, &Value::Number(value));
        }
        let field = cursor.read_field(&self.dialect)?;
        let value = if self.dialect.is_missing(&field) { Value::Missing } else { Value::Text(field.text) };
        row.set(fields, index, &value)
    }
}

impl Format for Csv {
    fn read(&self, event: &[u8], fields: &Fields, row: &mut Row) -> Result<(), String> {
        let line = event.strip_suffix(b"\n").unwrap_or(event);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if memchr::memchr2(b'\n', b'\r', line).is_some() {
            return Err("it has more than one line".into());
        }
        let mut cursor = Cursor::new(line);
        for (number, column) in self.columns.iter().enumerate() {
            if cursor.ended {
                return Err(format!("it has only {number} of {} values", self.columns.len()));
            }
            match column {
                Some(index) => self.read_column(&mut cursor, *index, fields, row),
                None => cursor.read_field(&self.dialect).map(|_| ()),
            }
            .map_err(|reason| format!("column {}: {reason}", number + 1))?;
        }
        if cursor.ended { Ok(()) } else { Err(format!("it has more than {} values", self.columns.len())) }
    }
}
