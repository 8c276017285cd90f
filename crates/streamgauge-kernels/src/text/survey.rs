//! A survey of the columns of a delimited file, in one pass.

use std::ops::ControlFlow;

use super::bytes::find_end;
use super::delimited::MISSING_TIME;
use super::fields::{Cursor, Field};
use super::lines::LineReader;
use super::names::is_plain;
use super::numbers::{is_number, parse_number};
use super::times::scan_time;
use super::{Dialect, Line, Lines, Mark, Names, TextError, Time, TimeFormat, TimeKind, format_time, quote_excerpt};
use crate::dispatch;

/// The expected contents of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// Unknown: the values are all numbers, all times, or all names.
    Anything,
    /// Unknown, but not times: the values are all numbers, or all names.
    NoTimes,
    /// Names, even if they look like numbers.
    Names,
    /// Numbers, or times as numbers of seconds, which are only checked.
    Numbers,
    /// Times, one in every row, that never decrease.
    Times,
    /// A dropped column: any values are allowed, and no name is kept.
    Nothing,
}

/// A column to survey.
#[derive(Debug, Clone)]
pub struct SurveyedColumn {
    /// Its name.
    pub name: String,
    /// Its contents.
    pub expected: Expected,
    /// How its times, if it has any, are written.
    pub times: TimeFormat,
    /// The largest number of names to keep.
    pub max_names: usize,
}

impl SurveyedColumn {
    /// Counts a field if it is a time that is not earlier than the last one, and written like it.
    #[inline(always)]
    fn read_time(&self, field: &[u8], dialect: &Dialect, summary: &mut ColumnSummary) -> bool {
        match (scan_time(&self.times, field, dialect), &mut summary.times) {
            (Some(time), Some(times)) if times.is_expected(time) => {
                times.add(time);
                true
            }
            _ => false,
        }
    }
}

/// The times of a column.
#[derive(Debug, Clone, Default)]
pub struct TimeSummary {
    /// The number of times.
    pub n: u64,
    /// Whether a time is earlier than the one before.
    pub decreases: bool,
    /// Whether a value is not a time, or not written like those before it: a second survey must look for names.
    pub is_broken: bool,
    last: f64,
    kind: Option<TimeKind>,
}

impl TimeSummary {
    /// Adds a time.
    #[inline(always)]
    fn add(&mut self, time: Time) {
        self.decreases |= self.n > 0 && time.seconds < self.last;
        self.is_broken |= self.kind.is_some_and(|kind| kind != time.kind);
        self.n += 1;
        (self.last, self.kind) = (time.seconds, Some(time.kind));
    }

    /// Returns whether a time is later than the last one, or equal, and written like it.
    #[inline(always)]
    fn is_expected(&self, time: Time) -> bool {
        self.n > 0 && time.seconds >= self.last && self.kind == Some(time.kind)
    }

    /// Adds a time of the rows; returns why it cannot be one.
    fn check(&mut self, time: Time, text: &str, column: &str) -> Result<(), String> {
        time.kind.check_same(self.kind, text)?;
        let last = self.last;
        self.add(time);
        if !self.decreases {
            return Ok(());
        }
        let (earlier, later) = (format_time(time.seconds), format_time(last));
        Err(format!(
            "the time {earlier} is before that of the row above, {later}: sort the rows by it, or leave it out with \
             drop=('{column}',) (--drop {column})"
        ))
    }
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
    /// The times, if the first value is one.
    pub times: Option<TimeSummary>,
    /// Whether a field with the text of a name may mean something else, such as a missing value.
    is_ambiguous: bool,
}

/// The fields of a column that take a fast path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fast {
    /// Numbers.
    Numbers,
    /// Names that have occurred before.
    Names,
    /// Times that are not earlier than the last one.
    Times,
    /// None.
    Nothing,
}

impl ColumnSummary {
    /// Returns which of the next fields take a fast path.
    fn choose_fast(&self, column: &SurveyedColumn, missing_looks_numeric: bool, missing_looks_timely: bool) -> Fast {
        if self.times.is_some() {
            return if missing_looks_timely { Fast::Nothing } else { Fast::Times };
        }
        if !self.names.is_empty() {
            return if self.is_ambiguous { Fast::Nothing } else { Fast::Names };
        }
        let may_be_numbers = !matches!(column.expected, Expected::Names | Expected::Times);
        if may_be_numbers && !missing_looks_numeric && !column.times.has_directives() {
            Fast::Numbers
        } else {
            Fast::Nothing
        }
    }

    /// Adds a field of a line.
    fn add(&mut self, column: &SurveyedColumn, field: &Field<'_>, dialect: &Dialect, line: u64) -> Result<(), String> {
        let expected = column.expected;
        if dialect.is_missing(field) {
            self.n_missing += 1;
            return if expected == Expected::Times { Err(MISSING_TIME.into()) } else { Ok(()) };
        }
        if expected == Expected::Nothing {
            match parse_number(&field.text) {
                Ok(_) => self.n_numbers += 1,
                Err(_) => _ = self.overflow.get_or_insert(line),
            }
            return Ok(());
        }
        if field.text.is_empty() && !field.quoted {
            return Err("the field is empty: add '' to missing (--missing '')".into());
        }
        if expected == Expected::Times {
            let time = column.times.parse(&field.text)?;
            return self.times.get_or_insert_default().check(time, &field.text, &column.name);
        }
        if self.is_time(column, field) {
            return self.add_time(column, field);
        }
        if expected != Expected::Names {
            let value = parse_number(&field.text);
            check_mixture(expected, self, value.as_ref().err(), field)?;
            if value.is_ok() {
                self.n_numbers += 1;
                return Ok(());
            }
        }
        if self.names.len() < column.max_names || self.names.find(&field.text).is_some() {
            let code = self.names.add(&field.text) as usize;
            self.counts.resize(self.names.len(), 0);
            self.counts[code] += 1;
            self.is_ambiguous |= !is_plain(&field.text, dialect);
        } else {
            self.overflow.get_or_insert(line);
        }
        Ok(())
    }

    /// Returns whether the column holds times as far as is known; the first value that is not missing decides.
    fn is_time(&mut self, column: &SurveyedColumn, field: &Field<'_>) -> bool {
        let is_first = self.n_numbers == 0 && self.names.is_empty() && self.overflow.is_none();
        if self.times.is_none()
            && is_first
            && matches!(column.expected, Expected::Anything | Expected::Numbers)
            && (column.times.has_directives() || parse_number(&field.text).is_err())
            && column.times.parse(&field.text).is_ok()
        {
            self.times = Some(TimeSummary::default());
        }
        self.times.is_some()
    }

    /// Adds a value of a column that holds times.
    fn add_time(&mut self, column: &SurveyedColumn, field: &Field<'_>) -> Result<(), String> {
        let Some(times) = &mut self.times else { return Ok(()) };
        match column.times.parse(&field.text) {
            Ok(time) if column.expected == Expected::Numbers => {
                time.kind.check_same(times.kind, &field.text)?;
                times.add(time);
            }
            Ok(time) => times.add(time),
            Err(reason) if column.expected == Expected::Numbers => return Err(reason),
            Err(_) => times.is_broken = true,
        }
        Ok(())
    }
}

/// A survey of the columns of a file, chunk by chunk, in memory bounded by the number of names kept.
pub struct Survey {
    dialect: Dialect,
    columns: Vec<SurveyedColumn>,
    summaries: Vec<ColumnSummary>,
    fast: Vec<Fast>,
    n_rows: u64,
    missing_looks_numeric: bool,
    missing_looks_timely: bool,
    lines: Lines,
}

impl Survey {
    /// Creates a survey of columns, from a mark on.
    #[must_use]
    pub fn new(dialect: Dialect, columns: Vec<SurveyedColumn>, from: Mark) -> Self {
        let summaries = vec![ColumnSummary::default(); columns.len()];
        let missing_looks_numeric = dialect.has_numeric_missing();
        let missing_looks_timely = columns.iter().any(|column| dialect.has_missing_time(&column.times));
        Self {
            fast: columns
                .iter()
                .zip(&summaries)
                .map(|(column, summary)| summary.choose_fast(column, missing_looks_numeric, missing_looks_timely))
                .collect(),
            lines: Lines::new(from.line, from.end),
            dialect,
            columns,
            summaries,
            n_rows: 0,
            missing_looks_numeric,
            missing_looks_timely,
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

    #[inline(always)]
    fn read_row(&mut self, line: Line<'_>) -> Result<(), TextError> {
        let Line { text, ahead, number, .. } = line;
        let n_columns = self.columns.len();
        let mut start = 0;
        for index in 0..n_columns {
            if start > text.len() {
                let problem = format!("the row has only {index} of {n_columns} values");
                return Err(column_error(&self.columns, number, index, problem));
            }
            let end = find_end(ahead, text.len(), start, self.dialect.delimiter());
            let summary = &mut self.summaries[index];
            let is_known = match self.fast[index] {
                Fast::Numbers => {
                    let is_number = is_number(ahead, start, end);
                    summary.n_numbers += u64::from(is_number);
                    is_number
                }
                Fast::Names => match summary.names.find_in(ahead, start, end) {
                    Some(code) => {
                        summary.counts[code as usize] += 1;
                        true
                    }
                    None => false,
                },
                Fast::Times => self.columns[index].read_time(&text[start..end], &self.dialect, summary),
                Fast::Nothing => false,
            };
            start = if is_known { end + 1 } else { self.read_field(text, start, number, index)? };
        }
        let mut rest = Cursor { line: text, position: start, ended: false };
        if start > text.len() || self.is_weight(&mut rest) {
            return Ok(());
        }
        Err(column_error(&self.columns, number, n_columns, format!("the row has more than {n_columns} values")))
    }

    /// Reads a field that starts at `start` the slow way; returns the start of the next one.
    fn read_field(&mut self, text: &[u8], start: usize, number: u64, index: usize) -> Result<usize, TextError> {
        let (column, summary) = (&self.columns[index], &mut self.summaries[index]);
        let mut cursor = Cursor { line: text, position: start, ended: false };
        let field = cursor.read_field(&self.dialect);
        let result = field.and_then(|field| summary.add(column, &field, &self.dialect, number));
        result.map_err(|reason| column_error(&self.columns, number, index, reason))?;
        self.fast[index] = summary.choose_fast(column, self.missing_looks_numeric, self.missing_looks_timely);
        Ok(cursor.position)
    }

    /// Returns whether the rest of a row may be its weight, as in ARFF.
    fn is_weight(&self, cursor: &mut Cursor<'_>) -> bool {
        cursor.skip_blanks(&self.dialect);
        self.dialect.is_arff() && cursor.peek() == Some(b'{')
    }
}

impl LineReader for Survey {
    fn lines(&mut self) -> &mut Lines {
        &mut self.lines
    }

    fn read(&mut self, line: Line<'_>) -> Result<ControlFlow<()>, TextError> {
        if !self.dialect.is_skipped(line.text) {
            if self.dialect.is_arff() && line.text.iter().find(|&&byte| !self.dialect.is_blank(byte)) == Some(&b'{') {
                let problem =
                    "a sparse row cannot be searched for times and names: drop the date and string attributes";
                return Err(TextError::in_line(line.number, problem));
            }
            dispatch::run(
                #[inline(always)]
                || self.read_row(line),
            )?;
            self.n_rows += 1;
        }
        Ok(ControlFlow::Continue(()))
    }
}

fn column_error(columns: &[SurveyedColumn], line: u64, column: usize, problem: String) -> TextError {
    let name = columns.get(column).map(|column| {
        let role = if column.expected == Expected::Times { "time" } else { "attribute" };
        format!("{role} '{}'", column.name)
    });
    TextError::in_column(line, column, name.unwrap_or_default(), problem)
}

const NOMINAL: &str = "declare the column nominal (nominal=, --nominal)";

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
            Err(format!("{reason}, unlike the values above; {NOMINAL}, or this text missing (missing=, --missing)"))
        }
        None if !summary.names.is_empty() => {
            let text = quote_excerpt(&field.text);
            Err(format!("{text} is a number, unlike the values above; {NOMINAL}"))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn survey(text: &str, expected: &[Expected]) -> Result<Survey, TextError> {
        let dialect = Dialect::new(b',', vec!["?".into(), String::new()]).unwrap();
        let column = |(i, &expected)| {
            let times = TimeFormat::new(None).unwrap();
            SurveyedColumn { name: format!("x{i}"), expected, times, max_names: 3 }
        };
        let columns = expected.iter().enumerate().map(column).collect();
        let mut survey = Survey::new(dialect, columns, Mark { row: 0, end: 0, line: 0 });
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
            "line 2, column 1 (attribute 'x0'): 'x' is not a number, unlike the values above; declare the column nominal (nominal=, --nominal), or this text missing (missing=, --missing)"
        );
        assert_eq!(
            error("x\n1\n", Expected::Anything),
            "line 2, column 1 (attribute 'x0'): '1' is a number, unlike the values above; declare the column nominal (nominal=, --nominal)"
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
    fn times_are_distinguished_from_names() {
        use Expected::{Anything, NoTimes, Numbers, Times};
        let text = "2024-01-02,2024-01-02,2024-01-02,2024-01-02 01:00,\"2024-01-02\"\n\
                    2024-01-02,2024-01-01,2024-01-01,2024-01-01 01:00,2024-01-03\n2024-01-04,?,2024-01-01,,2024-01-03\n";
        let survey = survey(text, &[Anything, Anything, NoTimes, Numbers, Times]).unwrap();
        let times = |i: usize| survey.summaries()[i].times.as_ref().map(|t| (t.n, t.decreases, t.is_broken));
        assert_eq!(times(0), Some((3, false, false)));
        assert_eq!((times(1), survey.summaries()[1].n_missing), (Some((2, true, false)), 1));
        assert_eq!((times(2), survey.summaries()[2].names.len()), (None, 2));
        assert_eq!((times(3), times(4)), (Some((2, true, false)), Some((3, false, false))));
    }

    #[test]
    fn a_column_that_is_not_all_times_is_broken() {
        for text in ["2024-01-02\nnone\n2024-01-03\n", "2024-01-02\n2024-01-02 10:00Z\n", "2024-01-02\n5\n"] {
            let survey = survey(text, &[Expected::Anything]).unwrap();
            assert!(survey.summaries()[0].times.as_ref().unwrap().is_broken, "{text}");
        }
        assert!(survey("none\n2024-01-02\n", &[Expected::Anything]).unwrap().summaries()[0].times.is_none());
    }

    #[test]
    fn declared_times_must_be_complete_ordered_and_alike() {
        let error = |text| survey(text, &[Expected::Times]).err().unwrap().to_string();
        assert_eq!(
            error("2024-01-02\n2024-01-01 10:00:00.5\n"),
            "line 2, column 1 (time 'x0'): the time 2024-01-01T10:00:00.5Z is before that of the row above, \
             2024-01-02T00:00:00Z: sort the rows by it, or leave it out with drop=('x0',) (--drop x0)"
        );
        assert_eq!(
            error("5\n?\n6\n"),
            "line 2, column 1 (time 'x0'): the time is missing: fill it in, or remove the row"
        );
        assert!(
            error("2024-01-02\n2024-01-02T10:00Z\n")
                .contains("line 2, column 1 (time 'x0'): '2024-01-02T10:00Z' has a time zone")
        );
        assert!(error("5\n03/04/2024\n").contains("is ambiguous: day or month first"));
        assert!(survey("5\n5\n6.5", &[Expected::Times]).is_ok());
    }

    #[test]
    fn rows_must_have_all_columns_and_no_more() {
        let error = |text| survey(text, &[Expected::Anything; 2]).err().unwrap().to_string();
        assert_eq!(error("1,2\n3\n"), "line 2, column 2 (attribute 'x1'): the row has only 1 of 2 values");
        assert_eq!(error("1,2,3\n"), "line 1, column 3: the row has more than 2 values");
        assert!(error("1,2\n3").ends_with("this is the last line: the file may be truncated"));
    }
}
