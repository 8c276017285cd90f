//! Rows of delimited values: CSV and similar formats, and the dense and sparse rows of ARFF.

use super::bytes::find_end;
use super::fields::{Cursor, Field};
use super::numbers::{parse_number, read_number};
use super::times::scan_time;
use super::{
    Column, Dialect, Layout, Line, Names, Parser, Role, Rows, TextError, TimeFormat, join_first, quote_excerpt,
};
use crate::dispatch;
use crate::learners::UNLABELLED;

/// The fault of a row without a time.
pub(super) const MISSING_TIME: &str = "the time is missing: fill it in, or remove the row";

/// The way to parse the field of a column.
enum Plan {
    /// A number, stored at a position of the row.
    Number(usize),
    /// A name, whose code is stored at a position of the row.
    Name(usize, Names),
    /// A name, whose code is the class.
    Class(Names),
    /// The time of the row.
    Time(TimeFormat),
    /// A time, stored at a position of the row.
    Seconds(usize, TimeFormat),
    /// Any other field, parsed the slow way.
    Other,
}

/// A parser of delimited lines.
///
/// Plain numbers and known names take a fast path; any other field (quotes, blanks, `?`) goes through
/// [`Cursor::read_field`], which defines the syntax.
pub struct Delimited {
    pub(super) layout: Layout,
    plans: Vec<Plan>,
    /// The position of each column in a row, if it is an attribute.
    slots: Vec<Option<usize>>,
    pub(super) n_attributes: usize,
    pub(super) has_class: bool,
    pub(super) has_weight: bool,
    /// Whether a text for a missing value looks like a number, so that numbers must be compared with it.
    missing_looks_numeric: bool,
}

impl Delimited {
    /// Creates a parser of rows of a layout.
    #[must_use]
    pub fn new(layout: Layout) -> Self {
        let mut n_attributes = 0;
        let slots: Vec<Option<usize>> = layout
            .columns
            .iter()
            .map(|column| {
                let slot = (column.role == Role::Attribute).then_some(n_attributes);
                n_attributes += usize::from(slot.is_some());
                slot
            })
            .collect();
        let plans = layout.columns.iter().zip(&slots).map(|(column, &slot)| plan_column(column, slot, &layout.dialect));
        Self {
            plans: plans.collect(),
            slots,
            n_attributes,
            has_class: layout.columns.iter().any(|column| column.role == Role::Class),
            has_weight: layout.columns.iter().any(|column| column.role == Role::Weight),
            missing_looks_numeric: layout.dialect.has_numeric_missing(),
            layout,
        }
    }

    pub(super) fn column_error(&self, line: u64, column: usize, problem: impl Into<String>) -> TextError {
        let name = self.layout.columns.get(column).map(Column::describe).unwrap_or_default();
        TextError::in_column(line, column, name, problem)
    }

    /// Parses a row with a value for every column.
    #[inline(always)]
    fn parse_dense(&self, line: Line<'_>, rows: &mut Rows) -> Result<(), TextError> {
        let Line { text, ahead, number, .. } = line;
        let dialect = &self.layout.dialect;
        let (first_value, row) = (rows.x.len(), rows.y.len());
        rows.x.resize(first_value + self.n_attributes, f64::NAN);
        rows.y.push(UNLABELLED);
        let mut start = 0;
        for (column, plan) in self.plans.iter().enumerate() {
            if start > text.len() {
                return Err(self.missing_values_error(number, column));
            }
            let end = find_end(ahead, text.len(), start, dialect.delimiter());
            let known = match plan {
                Plan::Number(slot) => read_number(ahead, start, end)
                    .filter(|_| !(self.missing_looks_numeric && self.is_missing(&text[start..end])))
                    .map(|value| rows.x[first_value + slot] = value),
                Plan::Name(slot, names) => {
                    names.find_in(ahead, start, end).map(|code| rows.x[first_value + slot] = f64::from(code))
                }
                Plan::Class(names) => names.find_in(ahead, start, end).map(|code| rows.y[row] = code as i32),
                Plan::Time(format) => {
                    scan_time(format, &text[start..end], dialect).map(|time| rows.time.push(time.seconds))
                }
                Plan::Seconds(slot, format) => {
                    scan_time(format, &text[start..end], dialect).map(|time| rows.x[first_value + slot] = time.seconds)
                }
                Plan::Other => None,
            };
            start = match known {
                Some(()) => end + 1,
                None => self.parse_field(text, start, number, column, rows)?,
            };
        }
        if start > text.len() {
            return Ok(());
        }
        self.parse_row_end(&mut Cursor { line: text, position: start, ended: false }, number, rows)
    }

    /// Parses a field that starts at `start` the slow way; returns the start of the next one.
    fn parse_field(
        &self,
        text: &[u8],
        start: usize,
        number: u64,
        column: usize,
        rows: &mut Rows,
    ) -> Result<usize, TextError> {
        let mut cursor = Cursor { line: text, position: start, ended: false };
        let field = cursor.read_field(&self.layout.dialect);
        let result = field.and_then(|field| self.store(column, &field, rows));
        result.map_err(|reason| self.column_error(number, column, reason))?;
        Ok(cursor.position)
    }

    fn missing_values_error(&self, line: u64, n_found: usize) -> TextError {
        self.column_error(line, n_found, format!("the row has only {n_found} of {} values", self.plans.len()))
    }

    /// Stores the value of a field in the last row.
    pub(super) fn store(&self, column: usize, field: &Field<'_>, rows: &mut Rows) -> Result<(), String> {
        let spec = &self.layout.columns[column];
        if spec.role == Role::Dropped {
            return Ok(());
        }
        let code = if self.layout.dialect.is_missing(field) {
            self.check_may_be_missing(column)?;
            None
        } else {
            Some(parse_value(spec, field, &self.layout.dialect)?)
        };
        match (spec.role, self.slots[column]) {
            (Role::Class, _) => {
                if let Some(label) = rows.y.last_mut() {
                    *label = code.map_or(UNLABELLED, |code| code as i32);
                }
            }
            (Role::Weight, _) => rows.set_weight(code.unwrap_or(1.0)),
            (Role::Time, _) => rows.time.push(code.unwrap_or(f64::NAN)),
            (_, Some(slot)) => {
                let start = rows.x.len() - self.n_attributes;
                rows.x[start + slot] = code.unwrap_or(f64::NAN);
            }
            _ => {}
        }
        Ok(())
    }

    fn check_may_be_missing(&self, column: usize) -> Result<(), String> {
        let spec = &self.layout.columns[column];
        if spec.role == Role::Weight {
            return Err("the weight is missing".into());
        }
        if spec.role == Role::Time {
            return Err(MISSING_TIME.into());
        }
        if spec.role == Role::Attribute && !spec.missing {
            return Err("the value is missing, which the schema does not allow".into());
        }
        Ok(())
    }

    fn is_missing(&self, text: &[u8]) -> bool {
        self.layout.dialect.missing().iter().any(|missing| missing.as_bytes() == text)
    }
}

impl Parser for Delimited {
    fn n_attributes(&self) -> usize {
        self.n_attributes
    }

    #[inline(always)]
    fn holds_row(&self, line: &[u8]) -> bool {
        !self.layout.dialect.is_skipped(line)
    }

    fn parse(&mut self, line: Line<'_>, rows: &mut Rows) -> Result<(), TextError> {
        let dialect = &self.layout.dialect;
        if dialect.is_arff() && line.text.iter().find(|&&byte| !dialect.is_blank(byte)) == Some(&b'{') {
            return self.parse_sparse(line.text, line.number, rows);
        }
        dispatch::run(
            #[inline(always)]
            || self.parse_dense(line, rows),
        )
    }
}

fn plan_column(column: &Column, slot: Option<usize>, dialect: &Dialect) -> Plan {
    if let Some(format) = column.times.as_ref().filter(|format| !dialect.has_missing_time(format)) {
        match slot {
            Some(slot) => return Plan::Seconds(slot, format.clone()),
            None if column.role == Role::Time => return Plan::Time(format.clone()),
            None => {}
        }
    }
    match (column.role, &column.names, slot) {
        (Role::Attribute, None, Some(slot)) if column.times.is_none() => Plan::Number(slot),
        (Role::Attribute, Some(names), Some(slot)) => Plan::Name(slot, names.keep_plain(dialect)),
        (Role::Class, Some(names), _) => Plan::Class(names.keep_plain(dialect)),
        _ => Plan::Other,
    }
}

/// Parses a field that is not missing into its number or code.
fn parse_value(column: &Column, field: &Field<'_>, dialect: &Dialect) -> Result<f64, String> {
    if field.text.is_empty() && !field.quoted {
        let hint = dialect.missing().first().map(|text| format!("; write {text} for a missing value"));
        return Err(format!("the field is empty{}", hint.unwrap_or_default()));
    }
    if let Some(format) = &column.times {
        return Ok(format.parse(&field.text)?.seconds);
    }
    match &column.names {
        Some(names) => names.find(&field.text).map(f64::from).ok_or_else(|| {
            let known = join_first(names.as_slice().iter().map(String::as_str));
            format!("{} is not one of its values ({known})", quote_excerpt(&field.text))
        }),
        _ if column.role == Role::Weight => parse_weight(&field.text),
        _ => parse_number(&field.text),
    }
}

pub(super) fn parse_weight(text: &str) -> Result<f64, String> {
    let weight = parse_number(text)?;
    if weight < 0.0 {
        return Err(format!("the weight {weight} is below 0"));
    }
    Ok(weight)
}

#[cfg(test)]
mod tests {
    use super::super::{Mark, RowReader};
    use super::*;

    const START: Mark = Mark { row: 0, end: 0, line: 0 };

    fn column(name: &str, role: Role, values: &[&str]) -> Column {
        let names = (!values.is_empty()).then(|| values.iter().collect());
        Column { name: name.into(), names, role, missing: true, times: None }
    }

    fn parser(arff: bool) -> Delimited {
        let missing = vec!["?".into(), String::new(), "-9".into()];
        let dialect = if arff { Dialect::arff(b',', missing) } else { Dialect::new(b',', missing) };
        let columns = vec![
            column("n", Role::Attribute, &[]),
            column("day", Role::Attribute, &["mo", "tu", "a, b", "much longer name"]),
            column("left", Role::Dropped, &[]),
            column("class", Role::Class, &["1", "2", "3"]),
        ];
        Delimited::new(Layout::new(dialect.unwrap(), columns).unwrap())
    }

    fn read(arff: bool, text: &[u8], chunk: usize, limit: usize) -> Result<Rows, String> {
        let mut reader = RowReader::new(Box::new(parser(arff)), START, 0);
        let mut all = Rows::default();
        let mut keep = |rows: Rows| {
            let n = all.y.len();
            all.x.extend(rows.x);
            all.y.extend(rows.y);
            if !rows.weight.is_empty() {
                all.weight.resize(n, 1.0);
                all.weight.extend(rows.weight);
            }
        };
        for part in text.chunks(chunk) {
            let mut position = 0;
            while position < part.len() {
                position += reader.update(&part[position..], limit).map_err(|error| error.to_string())?;
                if reader.n_rows() >= limit {
                    keep(reader.take());
                }
            }
        }
        reader.finish().map_err(|error| error.to_string())?;
        keep(reader.take());
        if !all.weight.is_empty() {
            all.weight.resize(all.y.len(), 1.0);
        }
        Ok(all)
    }

    #[test]
    fn chunks_and_limits_make_no_difference() {
        let text = b"1.5,mo,zzz,3\r\n\n ? , tu ,?,?\n-9,\"a, b\",\"q,\"\"\",1\n2e3,much longer name,,2";
        for chunk in 1..=text.len() {
            for limit in [1, 2, 3, 100] {
                let rows = read(false, text, chunk, limit).unwrap();
                let x = [1.5, 0.0, f64::NAN, 1.0, f64::NAN, 2.0, 2000.0, 3.0];
                assert!(rows.x.iter().zip(x).all(|(a, b)| a.total_cmp(&b).is_eq()), "{:?}", rows.x);
                assert_eq!((rows.y, rows.weight), (vec![2, UNLABELLED, 0, 1], vec![]));
            }
        }
    }

    #[test]
    fn sparse_rows_and_weights_of_arff_are_read() {
        let text = b"% note\n{0 2.5, 3 '3'}\n{ } , {0.5}\n4,'tu',x,1,{2}\n{1 ?,3 2}\n{ 1 \"a, b\" , 2 x }";
        for chunk in [1, 5, 1000] {
            let rows = read(true, text, chunk, 2).unwrap();
            assert_eq!((rows.y, rows.weight), (vec![2, 0, 0, 1, 0], vec![1.0, 0.5, 2.0, 1.0, 1.0]));
            let x = [2.5, 0.0, 0.0, 0.0, 4.0, 1.0, 0.0, f64::NAN, 0.0, 2.0];
            assert!(rows.x.iter().zip(x).all(|(a, b)| a.total_cmp(&b).is_eq()), "{:?}", rows.x);
        }
    }

    #[test]
    pub(super) fn faults_are_reported_with_line_and_column() {
        let csv = [
            ("1,mo,x\n", "line 1, column 4 (class 'class'): the row has only 3 of 4 values"),
            ("1,mo,x,1,\n", "line 1, column 5: the row has more than 4 values"),
            ("1,mo,x,1\n1.2.3,mo,x,1\n", "line 2, column 1 (attribute 'n'): '1.2.3' is not a number"),
            ("nan,mo,x,1\n", "line 1, column 1 (attribute 'n'): 'nan' is not a finite number"),
            (
                "1,we,x,1\n",
                "line 1, column 2 (attribute 'day'): 'we' is not one of its values (mo, tu, a, b, much longer name)",
            ),
            ("1,mo,x,0\n", "line 1, column 4 (class 'class'): '0' is not one of its values (1, 2, 3)"),
            ("1,mo,x,1.0\n", "line 1, column 4 (class 'class'): '1.0' is not one of its values (1, 2, 3)"),
            (
                "1,mo,\"x,1\n",
                "line 1, column 3 (attribute 'left'): the quote is not closed in this line (line breaks inside quotes are not supported)",
            ),
            ("1,mo,\0,1\n", "line 1, column 3 (attribute 'left'): zero byte found: this is not a text file"),
        ];
        let arff = [
            ("1,,x,1\n", "line 1, column 2 (attribute 'day'): the field is empty; write ? for a missing value"),
            (
                "1,'?',x,1\n",
                "line 1, column 2 (attribute 'day'): '?' is not one of its values (mo, tu, a, b, much longer name)",
            ),
            ("1,mo,x,1,{x}\n", "line 1: 'x' is not a number"),
            ("1,mo,x,1,{-1}\n", "line 1: the weight -1 is below 0"),
            ("1,mo,x,1,{1} 2\n", "line 1: '{1} 2' is not a weight in braces, as in {0.5}"),
            ("{4 1}\n", "line 1: column number 4 is out of range (0 to 3)"),
            ("{0 1, 0 2}\n", "line 1: column number 0 occurs twice in a sparse row"),
            ("{0 1\n", "line 1, column 1 (attribute 'n'): the sparse row has no closing brace"),
            ("{0 1} x\n", "line 1: unexpected text after the closing brace"),
            ("{0}\n", "line 1: an entry of a sparse row must be a column number (from 0), a blank and a value"),
            ("{1 'mo'x}\n", "line 1, column 2 (attribute 'day'): unexpected text after the closing quote"),
        ];
        for (is_arff, cases) in [(false, &csv[..]), (true, &arff[..])] {
            for (text, expected) in cases {
                for chunk in [1, 3, 100] {
                    assert_eq!(&read(is_arff, text.as_bytes(), chunk, 10).unwrap_err(), expected, "{text:?}");
                }
            }
        }
    }

    #[test]
    fn reading_resumes_from_a_mark_and_skips_to_a_row() {
        let text = (0..150_000).map(|i| format!("{i},mo,x,{}\n", i % 3 + 1)).collect::<Vec<_>>().concat();
        let mut reader = RowReader::new(Box::new(parser(false)), START, 149_990);
        reader.update(text.as_bytes(), usize::MAX).unwrap();
        let (rows, marks) = (reader.take(), reader.take_marks());
        assert_eq!(
            rows.x.iter().step_by(2).copied().collect::<Vec<_>>(),
            (149_990..150_000).map(f64::from).collect::<Vec<_>>()
        );
        assert_eq!(marks.len(), 2);
        let mut again = RowReader::new(Box::new(parser(false)), marks[1], 149_990);
        again.update(&text.as_bytes()[marks[1].end as usize..], usize::MAX).unwrap();
        assert_eq!(again.take(), rows);
        assert_eq!(again.row(), 150_000);
    }
}
