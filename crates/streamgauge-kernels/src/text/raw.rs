//! Rows as the bytes they are: where the fields of a line end and which one is the class. No value is parsed.

use std::ops::{ControlFlow, Range};

use memchr::{memchr, memchr_iter, memchr3, memrchr};

use super::fields::Cursor;
use super::{Dialect, Line, Lines, Mark, Names, TextError, join_first, quote_excerpt};
use crate::KernelError;
use crate::error::check_option;

/// A class column with more values than this is none.
const MAX_CLASSES: usize = 10_000;

/// What the rows of a file look like: how many fields they have, and which is the class.
#[derive(Debug, Clone)]
pub struct RawRows {
    dialect: Dialect,
    n_fields: usize,
    class_field: usize,
}

/// The lines of a file that hold rows.
///
/// Quotes and braces, which make a line hard to read, are looked for in whole chunks: a line is `plain` where it
/// surely has none.
#[derive(Debug, Clone)]
pub struct RawLines {
    lines: Lines,
    partial_has_marks: bool,
}

impl RawLines {
    /// Lines from a place on.
    #[must_use]
    pub fn new(from: Mark) -> Self {
        Self { lines: Lines::new(from.line, from.end), partial_has_marks: false }
    }

    /// Hand over each row that the chunk completes, and whether it is plain.
    ///
    /// # Errors
    /// That of `on_row`, or a line that is too long.
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

    /// Hand over a last row that has no line end.
    ///
    /// # Errors
    /// That of `on_row`.
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
    /// Its code; None where the row has no label.
    pub code: Option<usize>,
    /// Where it stands in the line, quotes included.
    pub range: Range<usize>,
}

/// The classes of a file: declared by its header, or known as they appear.
#[derive(Debug, Clone)]
pub struct Classes {
    names: Names,
    declared: bool,
}

impl Classes {
    /// The classes that are declared.
    #[must_use]
    pub fn declared(names: Names) -> Self {
        Self { names, declared: true }
    }

    /// Classes that become known as they appear.
    #[must_use]
    pub fn discovered() -> Self {
        Self { names: Names::default(), declared: false }
    }

    /// The names, in the order of their codes.
    #[must_use]
    pub fn names(&self) -> &[String] {
        self.names.as_slice()
    }

    fn find_or_add(&mut self, name: &str) -> Result<usize, String> {
        match self.names.find(name) {
            Some(code) => Ok(code as usize),
            None if name.is_empty() => Err("the class is empty; write ? for one that is not known".into()),
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
    /// Rows of so many fields.
    ///
    /// # Errors
    /// [`KernelError::Option`] where the class is none of them.
    pub fn new(dialect: Dialect, n_fields: usize, class_field: usize) -> Result<Self, KernelError> {
        check_option("class_field", class_field, class_field < n_fields, "it must be one of the fields of a row")?;
        Ok(Self { dialect, n_fields, class_field })
    }

    /// How many fields a row has.
    #[must_use]
    pub fn n_fields(&self) -> usize {
        self.n_fields
    }

    /// Which of them is the class.
    #[must_use]
    pub fn class_field(&self) -> usize {
        self.class_field
    }

    /// What stands between two fields.
    #[must_use]
    pub fn delimiter(&self) -> u8 {
        self.dialect.delimiter()
    }

    /// Whether a line holds a row.
    #[inline(always)]
    #[must_use]
    pub fn holds_row(&self, line: &[u8]) -> bool {
        !self.dialect.is_skipped(line)
    }

    /// Find the class of a row, and check how many fields the row has.
    ///
    /// # Errors
    /// A row with too few or too many fields, a quote that does not end, or a class that is not declared.
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
            // Whether a question mark is a class or a missing one is told the slow way.
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

    /// Check how many fields a row has and that its quotes end.
    ///
    /// # Errors
    /// Where they are too few or too many, or a quote does not end.
    #[inline(always)]
    pub fn check(&self, line: &Line<'_>, plain: bool, ends: &mut Vec<usize>) -> Result<(), TextError> {
        if plain && self.has_all_fields(line.text) { Ok(()) } else { self.find_fields(line, ends) }
    }

    /// Find where each field of a row ends; there is one more where the row carries a weight in braces.
    ///
    /// # Errors
    /// A row with too few or too many fields, or a quote that does not end.
    pub fn find_fields(&self, line: &Line<'_>, ends: &mut Vec<usize>) -> Result<(), TextError> {
        ends.clear();
        if !self.has_quotes_or_braces(line.text) {
            ends.extend(memchr_iter(self.dialect.delimiter(), line.text));
            ends.push(line.text.len());
            return if ends.len() == self.n_fields { Ok(()) } else { Err(self.field_count_error(line, ends.len())) };
        }
        if self.dialect.is_arff() && line.text.trim_ascii_start().starts_with(b"{") {
            return Err(TextError::in_line(line.number, "a sparse row among dense ones; convert the file first"));
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

    /// A range of a line without the blanks at its ends.
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

    /// Whether a plain row has as many fields as it should.
    #[inline(always)]
    fn has_all_fields(&self, line: &[u8]) -> bool {
        1 + memchr_iter(self.dialect.delimiter(), line).count() == self.n_fields
    }

    /// Whether a text has quotes or braces, so that a delimiter may be part of a value.
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

/// Where the last field of a line starts.
#[inline(always)]
fn find_last_field(line: &[u8], delimiter: u8) -> usize {
    // Most last fields are short: looking at each byte is quicker than to set up a search.
    const SHORT: usize = 12;
    let near = line.len().saturating_sub(SHORT);
    match line[near..].iter().rposition(|&byte| byte == delimiter) {
        Some(position) => near + position + 1,
        None => memrchr(delimiter, &line[..near]).map_or(0, |position| position + 1),
    }
}

/// Where a field is, given where each ends.
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
        let line = Line { text: text.as_bytes(), number: 7, end: 0 };
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
        let line = Line { text: b"1,2,upp", number: 7, end: 0 };
        let mut classes = Classes::declared(["up", "down"].into_iter().collect());
        let error = arff().find_class(&line, true, &mut classes, &mut Vec::new()).unwrap_err();
        assert_eq!(error.to_string(), "line 7, column 3 (class): 'upp' is not one of the classes (up, down)");
    }
}
