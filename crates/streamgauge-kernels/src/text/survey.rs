//! A survey of the columns of a delimited file, in one pass.

use std::ops::ControlFlow;

use super::fields::{Cursor, Field};
use super::lines::LineReader;
use super::names::scan_name;
use super::numbers::{find_number_end, parse_number};
use super::{Dialect, Line, Lines, Mark, Names, TextError, quote_excerpt};

/// The expected contents of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// Unknown: the values are all numbers, or all names.
    Anything,
    /// Names, even if they look like numbers.
    Names,
    /// Numbers, which are only checked.
    Numbers,
    /// A dropped column: any values are allowed, and no name is kept.
    Nothing,
}

/// The contents of a column.
#[derive(Debug, Clone, Default)]
pub struct ColumnSummary {
    /// The names, up to the maximum number.
    pub names: Names,
    /// The number of occurrences of each name.
    pub counts: Vec<u64>,
    /// The number of values that are numbers.
    pub n_numbers: u64,
    /// The number of missing values.
    pub n_missing: u64,
    /// The line of the first name beyond the maximum number.
    pub overflow: Option<u64>,
}

impl ColumnSummary {
    /// Adds a field of a line.
    fn add(
        &mut self,
        expected: Expected,
        field: &Field<'_>,
        is_missing: bool,
        max_names: usize,
        line: u64,
    ) -> Result<(), String> {
        if is_missing {
            self.n_missing += 1;
            return Ok(());
        }
        if expected == Expected::Nothing {
            match parse_number(&field.text) {
                Ok(_) => self.n_numbers += 1,
                Err(_) => _ = self.overflow.get_or_insert(line),
            }
            return Ok(());
        }
        if field.text.is_empty() && !field.quoted {
            return Err("the field is empty".into());
        }
        if expected != Expected::Names {
            let value = parse_number(&field.text);
            check_mixture(expected, self, value.as_ref().err(), field)?;
            if value.is_ok() {
                self.n_numbers += 1;
                return Ok(());
            }
        }
        if self.names.len() < max_names || self.names.find(&field.text).is_some() {
            let code = self.names.add(&field.text) as usize;
            self.counts.resize(self.names.len(), 0);
            self.counts[code] += 1;
        } else {
            self.overflow.get_or_insert(line);
        }
        Ok(())
    }
}

/// A survey of the columns of a file, chunk by chunk, in memory bounded by the number of names kept.
pub struct Survey {
    dialect: Dialect,
    columns: Vec<(String, Expected)>,
    summaries: Vec<ColumnSummary>,
    max_names: usize,
    n_rows: u64,
    missing_looks_numeric: bool,
    lines: Lines,
}

impl Survey {
    /// Creates a survey of columns with these names, from a mark on; at most `max_names` names are kept of each.
    #[must_use]
    pub fn new(dialect: Dialect, columns: Vec<(String, Expected)>, max_names: usize, from: Mark) -> Self {
        let summaries = vec![ColumnSummary::default(); columns.len()];
        let missing_looks_numeric = dialect.has_numeric_missing();
        Self {
            dialect,
            columns,
            summaries,
            max_names,
            n_rows: 0,
            missing_looks_numeric,
            lines: Lines::new(from.line, from.end),
        }
    }

    /// Returns the contents of each column.
    #[must_use]
    pub fn summaries(&self) -> &[ColumnSummary] {
        &self.summaries
    }

    /// Returns the number of rows.
    #[must_use]
    pub fn n_rows(&self) -> u64 {
        self.n_rows
    }

    /// Surveys the rows of a chunk.
    ///
    /// # Errors
    /// Returns the first fault of the file.
    pub fn update(&mut self, chunk: &[u8]) -> Result<(), TextError> {
        self.read_chunk(chunk).map(|_| ())
    }

    /// Surveys the last line of the file, if it has no line end.
    ///
    /// # Errors
    /// Returns the fault of the line.
    pub fn finish(&mut self) -> Result<(), TextError> {
        self.read_rest()
    }

    fn read_row(&mut self, line: &[u8], line_number: u64) -> Result<(), TextError> {
        let delimiter = self.dialect.delimiter();
        let mut cursor = Cursor::new(line);
        let n_columns = self.columns.len();
        for (column, ((_, expected), summary)) in self.columns.iter().zip(&mut self.summaries).enumerate() {
            if cursor.ended {
                let problem = format!("the row has only {column} of {n_columns} values");
                return Err(column_error(&self.columns, line_number, column, problem));
            }
            if *expected != Expected::Names
                && !self.missing_looks_numeric
                && summary.names.is_empty()
                && let Some(end) = find_number_end(line, cursor.position)
                && cursor.is_field_end(end, delimiter)
            {
                summary.n_numbers += 1;
                cursor.advance_past(end);
                continue;
            }
            if let Some((code, end)) = scan_name(&summary.names, line, cursor.position, delimiter) {
                summary.counts[code as usize] += 1;
                cursor.advance_past(end);
                continue;
            }
            let field = cursor.read_field(&self.dialect);
            let result = field.and_then(|field| {
                let is_missing = self.dialect.is_missing(&field);
                summary.add(*expected, &field, is_missing, self.max_names, line_number)
            });
            result.map_err(|reason| column_error(&self.columns, line_number, column, reason))?;
        }
        if cursor.ended {
            return Ok(());
        }
        Err(column_error(&self.columns, line_number, n_columns, format!("the row has more than {n_columns} values")))
    }
}

impl LineReader for Survey {
    fn lines(&mut self) -> &mut Lines {
        &mut self.lines
    }

    fn read(&mut self, line: Line<'_>) -> Result<ControlFlow<()>, TextError> {
        if !self.dialect.is_skipped(line.text) {
            self.read_row(line.text, line.number)?;
            self.n_rows += 1;
        }
        Ok(ControlFlow::Continue(()))
    }
}

fn column_error(columns: &[(String, Expected)], line: u64, column: usize, problem: String) -> TextError {
    let name = columns.get(column).map(|(name, _)| format!("attribute '{name}'"));
    TextError::in_column(line, column, name.unwrap_or_default(), problem)
}

/// Refuses a name among numbers and a number among names, since either could be the fault.
fn check_mixture(
    expected: Expected,
    summary: &ColumnSummary,
    not_number: Option<&String>,
    field: &Field<'_>,
) -> Result<(), String> {
    match not_number {
        Some(reason) if expected == Expected::Numbers => Err(reason.clone()),
        Some(reason) if summary.n_numbers > 0 => {
            Err(format!("{reason}, unlike the values above; declare the column nominal, or this text as missing"))
        }
        None if !summary.names.is_empty() => {
            let text = quote_excerpt(&field.text);
            Err(format!("{text} is a number, unlike the values above; declare the column nominal"))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn survey(text: &str, expected: &[Expected]) -> Result<Survey, TextError> {
        let dialect = Dialect::new(b',', vec!["?".into(), String::new()]).unwrap();
        let columns = expected.iter().enumerate().map(|(i, &expected)| (format!("x{i}"), expected)).collect();
        let mut survey = Survey::new(dialect, columns, 3, Mark { row: 0, end: 0, line: 0 });
        for part in text.as_bytes().chunks(5) {
            survey.update(part)?;
        }
        survey.finish()?;
        Ok(survey)
    }

    #[test]
    fn columns_are_numbers_or_names() {
        use Expected::{Anything, Names, Nothing, Numbers};
        let survey =
            survey("1,a,3,x,1\n\n?,\"b\",,x,2\n2.5,a,4,y,3", &[Anything, Anything, Names, Nothing, Numbers]).unwrap();
        assert_eq!(survey.n_rows(), 3);
        let summary = survey.summaries();
        assert_eq!((summary[0].n_numbers, summary[0].n_missing, summary[0].names.len()), (2, 1, 0));
        assert_eq!(
            (summary[1].names.as_slice(), &summary[1].counts),
            (&["a".to_string(), "b".into()][..], &vec![2, 1])
        );
        assert_eq!((summary[2].names.as_slice(), summary[2].n_missing), (&["3".to_string(), "4".into()][..], 1));
        assert!(summary[3].names.is_empty() && summary[3].overflow == Some(1) && summary[4].n_numbers == 3);
    }

    #[test]
    fn mixtures_are_refused_in_either_order() {
        let error = |text, expected| survey(text, &[expected]).err().unwrap().to_string();
        assert_eq!(
            error("1\nx\n", Expected::Anything),
            "line 2, column 1 (attribute 'x0'): 'x' is not a number, unlike the values above; declare the column nominal, or this text as missing"
        );
        assert_eq!(
            error("x\n1\n", Expected::Anything),
            "line 2, column 1 (attribute 'x0'): '1' is a number, unlike the values above; declare the column nominal"
        );
        assert_eq!(
            error("1\nnan\n", Expected::Numbers),
            "line 2, column 1 (attribute 'x0'): 'nan' is not a finite number"
        );
    }

    #[test]
    fn too_many_names_are_noted_with_their_line() {
        let survey = survey("a\nb\nc\na\nd\ne\n", &[Expected::Anything]).unwrap();
        assert_eq!((survey.summaries()[0].overflow, survey.summaries()[0].names.len()), (Some(5), 3));
        assert_eq!(survey.summaries()[0].counts, [2, 1, 1]);
    }

    #[test]
    fn rows_must_have_all_columns_and_no_more() {
        let error = |text| survey(text, &[Expected::Anything; 2]).err().unwrap().to_string();
        assert_eq!(error("1,2\n3\n"), "line 2, column 2 (attribute 'x1'): the row has only 1 of 2 values");
        assert_eq!(error("1,2,3\n"), "line 1, column 3: the row has more than 2 values");
        assert!(error("1,2\n3").ends_with("this is the last line: the file may be truncated"));
    }
}
