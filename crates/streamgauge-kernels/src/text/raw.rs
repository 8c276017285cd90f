//! Unparsed rows: the ends of the fields of a line, and the class. No other value is parsed.

use std::ops::{ControlFlow, Range};

use memchr::{memchr, memchr_iter, memchr3, memrchr};

use super::fields::Cursor;
use super::{Dialect, Line, Lines, Mark, Names, TextError, join_first, quote_excerpt};
use crate::KernelError;
use crate::error::check_option;

/// The maximum number of classes.
const MAX_CLASSES: usize = 10_000;

/// The shape of the rows of a file: the number of fields, and the class field.
#[derive(Debug, Clone)]
pub struct RawRows {
    dialect: Dialect,
    n_fields: usize,
    class_field: usize,
}

/// The lines of a file that contain rows.
///
/// Quotes and braces, which need the slow path, are searched in whole chunks: a `plain` line has none.
#[derive(Debug, Clone)]
pub struct RawLines {
    lines: Lines,
    partial_has_marks: bool,
}

impl RawLines {
    /// Creates the lines after a mark.
    #[must_use]
    pub fn new(from: Mark) -> Self {
        Self { lines: Lines::new(from.line, from.end), partial_has_marks: false }
    }

    /// Passes each row that the chunk completes to `on_row`, with whether it is plain.
    ///
    /// # Errors
    /// Returns the error of `on_row`, or an error for a line that is too long.
    pub fn update(
        &mut self,
        rows: &RawRows,
        chunk: &[u8],
        mut on_row: impl FnMut(Line<'_>, bool) -> Result<(), TextError>,
    ) -> Result<(), TextError> {
        let has_quotes_or_braces = rows.has_quotes_or_braces(chunk);
        let plain = !has_quotes_or_braces && !self.partial_has_marks;
        let before = self.lines.number();
        self.lines.update(chunk, |line| {
            if rows.holds_row(line.text) {
                on_row(line, plain)?;
            }
            Ok(ControlFlow::Continue(()))
        })?;
        self.partial_has_marks = has_quotes_or_braces || (self.partial_has_marks && self.lines.number() == before);
        Ok(())
    }

    /// Passes a last row without a line end to `on_row`.
    ///
    /// # Errors
    /// Returns the error of `on_row`.
    pub fn finish(
        &mut self,
        rows: &RawRows,
        mut on_row: impl FnMut(Line<'_>, bool) -> Result<(), TextError>,
    ) -> Result<(), TextError> {
        let plain = !self.partial_has_marks;
        self.lines.finish(|line| {
            if rows.holds_row(line.text) {
                on_row(line, plain)?;
            }
            Ok(ControlFlow::Continue(()))
        })
    }
}

/// The class of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawClass {
    /// Its code; None if the row has no label.
    pub code: Option<usize>,
    /// Its range in the line, including quotes.
    pub range: Range<usize>,
}

/// The classes of a file: declared by its header, or discovered as they appear.
#[derive(Debug, Clone)]
pub struct Classes {
    names: Names,
    declared: bool,
}

impl Classes {
    /// Creates declared classes.
    #[must_use]
    pub fn declared(names: Names) -> Self {
        Self { names, declared: true }
    }

    /// Creates classes that are discovered as they appear.
    #[must_use]
    pub fn discovered() -> Self {
        Self { names: Names::default(), declared: false }
    }

    /// Returns the names, in the order of their codes.
    #[must_use]
    pub fn names(&self) -> &[String] {
        self.names.as_slice()
    }

    fn find_or_add(&mut self, name: &str) -> Result<usize, String> {
        match self.names.find(name) {
            Some(code) => Ok(code as usize),
            None if name.is_empty() => Err("the class is empty; write ? if it is unknown".into()),
            None if self.declared => {
                let known = join_first(self.names().iter().map(String::as_str));
                Err(format!("{} is not one of the classes ({known})", quote_excerpt(name)))
            }
            None if self.names.len() == MAX_CLASSES => {
                Err(format!("there are more than {MAX_CLASSES} classes; is this the class column?"))
            }
            None => Ok(self.names.add(name) as usize),
        }
    }
}

impl RawRows {
    /// Creates rows of `n_fields` fields.
    ///
    /// # Errors
    /// Returns [`KernelError::Option`] if the class is none of them.
    pub fn new(dialect: Dialect, n_fields: usize, class_field: usize) -> Result<Self, KernelError> {
        check_option("class_field", class_field, class_field < n_fields, "it must be one of the fields of a row")?;
        Ok(Self { dialect, n_fields, class_field })
    }

    /// Returns the number of fields of a row.
    #[must_use]
    pub fn n_fields(&self) -> usize {
        self.n_fields
    }

    /// Returns the index of the class field.
    #[must_use]
    pub fn class_field(&self) -> usize {
        self.class_field
    }

    /// Returns the delimiter of fields.
    #[must_use]
    pub fn delimiter(&self) -> u8 {
        self.dialect.delimiter()
    }

    /// Returns whether a line contains a row.
    #[inline(always)]
    #[must_use]
    pub fn holds_row(&self, line: &[u8]) -> bool {
        !self.dialect.is_skipped(line)
    }

    /// Finds the class of a row, and checks the number of its fields.
    ///
    /// # Errors
    /// Returns an error for too few or too many fields, an unclosed quote, or an undeclared class.
    #[inline(always)]
    pub fn find_class(
        &self,
        line: &Line<'_>,
        plain: bool,
        classes: &mut Classes,
        ends: &mut Vec<usize>,
    ) -> Result<RawClass, TextError> {
        let text = line.text;
        if plain && self.class_field + 1 == self.n_fields && self.has_all_fields(text) {
            let range = self.trim(text, find_last_field(text, self.dialect.delimiter())..text.len());
            // The slow path decides whether a question mark is a class or missing.
            if text.get(range.start) != Some(&b'?')
                && let Some(code) = classes.names.find_in(text, range.start, range.end)
            {
                return Ok(RawClass { code: Some(code as usize), range });
            }
        }
        self.find_class_in_any_row(line, classes, ends)
    }

    #[cold]
    fn find_class_in_any_row(
        &self,
        line: &Line<'_>,
        classes: &mut Classes,
        ends: &mut Vec<usize>,
    ) -> Result<RawClass, TextError> {
        self.find_fields(line, ends)?;
        let range = self.trim(line.text, field_range(ends, self.class_field));
        let error = |reason| TextError::in_column(line.number, self.class_field, "class".into(), reason);
        let field = Cursor::new(&line.text[range.clone()]).read_field(&self.dialect).map_err(error)?;
        let code =
            if self.dialect.is_missing(&field) { None } else { Some(classes.find_or_add(&field.text).map_err(error)?) };
        Ok(RawClass { code, range })
    }

    /// Checks the number of fields of a row and that its quotes are closed.
    ///
    /// # Errors
    /// Returns an error for too few or too many fields, or an unclosed quote.
    #[inline(always)]
    pub fn check(&self, line: &Line<'_>, plain: bool, ends: &mut Vec<usize>) -> Result<(), TextError> {
        if plain && self.has_all_fields(line.text) { Ok(()) } else { self.find_fields(line, ends) }
    }

    /// Finds the end of each field of a row; there is one more if the row has a weight in braces.
    ///
    /// # Errors
    /// Returns an error for too few or too many fields, or an unclosed quote.
    pub fn find_fields(&self, line: &Line<'_>, ends: &mut Vec<usize>) -> Result<(), TextError> {
        ends.clear();
        if !self.has_quotes_or_braces(line.text) {
            ends.extend(memchr_iter(self.dialect.delimiter(), line.text));
            ends.push(line.text.len());
            return if ends.len() == self.n_fields { Ok(()) } else { Err(self.field_count_error(line, ends.len())) };
        }
        if self.dialect.is_arff() && line.text.trim_ascii_start().starts_with(b"{") {
            return Err(TextError::in_line(line.number, "sparse rows are not supported here; convert the file first"));
        }
        let mut cursor = Cursor::new(line.text);
        while !cursor.ended {
            if ends.len() == self.n_fields {
                cursor.skip_blanks(&self.dialect);
                if !self.dialect.is_arff() || cursor.peek() != Some(b'{') {
                    return Err(self.field_count_error(line, ends.len() + 1));
                }
                ends.push(line.text.len());
                return Ok(());
            }
            let column = ends.len();
            let error = |reason| TextError::in_column(line.number, column, String::new(), reason);
            cursor.read_field(&self.dialect).map_err(error)?;
            ends.push(cursor.position - 1);
        }
        if ends.len() == self.n_fields { Ok(()) } else { Err(self.field_count_error(line, ends.len())) }
    }

    /// Trims the blanks at the ends of a range of a line.
    #[inline(always)]
    #[must_use]
    pub fn trim(&self, line: &[u8], range: Range<usize>) -> Range<usize> {
        let Range { mut start, mut end } = range;
        while start < end && self.dialect.is_blank(line[start]) {
            start += 1;
        }
        while end > start && self.dialect.is_blank(line[end - 1]) {
            end -= 1;
        }
        start..end
    }

    /// Returns whether a plain row has the right number of fields.
    #[inline(always)]
    fn has_all_fields(&self, line: &[u8]) -> bool {
        1 + memchr_iter(self.dialect.delimiter(), line).count() == self.n_fields
    }

    /// Returns whether a text has quotes or braces, so that a delimiter may be part of a value.
    #[inline(always)]
    fn has_quotes_or_braces(&self, text: &[u8]) -> bool {
        if self.dialect.is_arff() { memchr3(b'\'', b'"', b'{', text).is_some() } else { memchr(b'"', text).is_some() }
    }

    fn field_count_error(&self, line: &Line<'_>, n_fields: usize) -> TextError {
        let start = quote_excerpt(&String::from_utf8_lossy(line.text));
        TextError::in_line(
            line.number,
            format!("the row {start} has {n_fields} values where {} are expected", self.n_fields),
        )
    }
}

/// Returns the start of the last field of a line.
#[inline(always)]
fn find_last_field(line: &[u8], delimiter: u8) -> usize {
    // Most last fields are short: checking each byte is faster than setting up a search.
    const SHORT: usize = 12;
    let near = line.len().saturating_sub(SHORT);
    match line[near..].iter().rposition(|&byte| byte == delimiter) {
        Some(position) => near + position + 1,
        None => memrchr(delimiter, &line[..near]).map_or(0, |position| position + 1),
    }
}

/// Returns the range of a field, given the ends of all fields.
#[inline(always)]
#[must_use]
pub fn field_range(ends: &[usize], index: usize) -> Range<usize> {
    let start = if index == 0 { 0 } else { ends[index - 1] + 1 };
    start..ends[index]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arff() -> RawRows {
        RawRows::new(Dialect::arff(b',', vec![]).unwrap(), 3, 2).unwrap()
    }

    fn csv() -> RawRows {
        RawRows::new(Dialect::new(b',', vec!["?".into(), String::new()]).unwrap(), 3, 1).unwrap()
    }

    fn find_class(rows: &RawRows, text: &str) -> Result<Option<String>, String> {
        let line = Line::alone(text.as_bytes(), 7);
        let mut classes = Classes::discovered();
        let class = rows
            .find_class(&line, !rows.has_quotes_or_braces(line.text), &mut classes, &mut Vec::new())
            .map_err(|error| error.to_string())?;
        Ok(class.code.map(|code| classes.names()[code].clone()))
    }

    #[test]
    fn the_class_is_found() {
        let find = |rows: &RawRows, text| find_class(rows, text).unwrap().unwrap();
        assert_eq!(find(&arff(), "1, 2, up "), "up");
        assert_eq!(find(&arff(), "'a,b',2,'it\\'s, so'"), "it's, so");
        assert_eq!(find(&arff(), "1,2,up,{0.5}"), "up");
        assert_eq!(find(&arff(), "1,2,'?'"), "?");
        assert_eq!(find(&csv(), "1,up,2"), "up");
        assert_eq!(find(&csv(), "\"a,\"\"b\",\"u,\"\"p\",2"), "u,\"p");
        assert_eq!(find_class(&arff(), "1,\"x\",?"), Ok(None));
        assert_eq!(find_class(&csv(), "1,,2"), Ok(None));
    }

    #[test]
    fn invalid_rows_are_reported() {
        let assert_error = |rows: &RawRows, text, expected: &str| {
            let error = find_class(rows, text).unwrap_err();
            assert!(error.starts_with("line 7") && error.contains(expected), "{error}");
        };
        assert_error(&arff(), "1,2", "the row '1,2' has 2 values where 3 are expected");
        assert_error(&arff(), "1,2,3,4", "4 values");
        assert_error(&arff(), "1,2,,{1}", "the class is empty");
        assert_error(&arff(), "'a,2,up", "not closed");
        assert_error(&arff(), "'a\\", "backslash");
        assert_error(&arff(), "{0 1, 2 up}", "sparse");
        assert_error(&csv(), "\"a,2,up", "not closed");
        assert_error(&csv(), "1,2,\"3\",{4}", "4 values");
        assert_error(&csv(), "1,\"2\"", "2 values");
    }

    #[test]
    fn a_line_with_marks_is_never_plain_however_the_text_is_cut() {
        let text = b"1,2,up\n1,'2',up\n1,2,up\n1,2,up,{2}\n1,2,up";
        for cut in 1..=text.len() {
            let (mut lines, rows, mut n) = (RawLines::new(Mark { row: 0, end: 0, line: 0 }), arff(), 0);
            let mut on_row = |line: Line<'_>, plain: bool| {
                n += 1;
                assert!(!plain || !rows.has_quotes_or_braces(line.text), "{cut}");
                Ok(())
            };
            text.chunks(cut).for_each(|chunk| lines.update(&rows, chunk, &mut on_row).unwrap());
            lines.finish(&rows, &mut on_row).unwrap();
            assert_eq!(n, 5);
        }
    }

    #[test]
    fn an_undeclared_class_is_reported() {
        let line = Line::alone(b"1,2,upp", 7);
        let mut classes = Classes::declared(["up", "down"].into_iter().collect());
        let error = arff().find_class(&line, true, &mut classes, &mut Vec::new()).unwrap_err();
        assert_eq!(error.to_string(), "line 7, column 3 (class): 'upp' is not one of the classes (up, down)");
    }
}
