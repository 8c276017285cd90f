//! The fields of a line: quotes, escapes, blanks.

use std::borrow::Cow;

use super::TimeFormat;
use super::bytes::find_byte;
use super::numbers::parse_number;
use crate::KernelError;
use crate::error::check_option;

/// The syntax of values in a file.
///
/// A field may be in double quotes (in ARFF also in single ones) and then contain the delimiter; a quote inside is
/// doubled, in ARFF escaped by a backslash. Blanks around a field are ignored unless they are quoted. Line breaks
/// inside quotes are not allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dialect {
    delimiter: u8,
    arff: bool,
    missing: Vec<String>,
}

impl Dialect {
    /// Creates a dialect; `missing` are the texts that mean a missing value.
    ///
    /// # Errors
    /// Returns [`KernelError::Option`] if the delimiter could be part of a value.
    pub fn new(delimiter: u8, missing: Vec<String>) -> Result<Self, KernelError> {
        let usable = delimiter == b' ' || delimiter == b'\t' || delimiter.is_ascii_punctuation();
        check_option(
            "delimiter",
            format!("{:?}", char::from(delimiter)),
            usable && !b"\"'.+-%{}?\\@_".contains(&delimiter),
            "it must be a comma, a semicolon, a tab or another punctuation mark that cannot be part of a value",
        )?;
        Ok(Self { delimiter, arff: false, missing })
    }

    /// Creates the dialect of ARFF, in which `?` is a missing value and an empty field is not.
    ///
    /// # Errors
    /// As for [`Dialect::new`].
    pub fn arff(delimiter: u8, mut missing: Vec<String>) -> Result<Self, KernelError> {
        missing.retain(|text| !text.is_empty() && text != "?");
        missing.insert(0, "?".into());
        Ok(Self { arff: true, ..Self::new(delimiter, missing)? })
    }

    /// Returns the dialect of the header of an ARFF file.
    pub(super) fn arff_header() -> Self {
        Self { delimiter: b',', arff: true, missing: Vec::new() }
    }

    /// Returns the delimiter of fields.
    #[inline(always)]
    #[must_use]
    pub fn delimiter(&self) -> u8 {
        self.delimiter
    }

    /// Returns whether it is the dialect of ARFF.
    #[inline(always)]
    #[must_use]
    pub fn is_arff(&self) -> bool {
        self.arff
    }

    /// Returns the texts that mean a missing value.
    #[must_use]
    pub fn missing(&self) -> &[String] {
        &self.missing
    }

    /// Returns whether a text for a missing value looks like a number.
    #[must_use]
    pub fn has_numeric_missing(&self) -> bool {
        self.missing.iter().any(|text| parse_number(text).is_ok())
    }

    /// Returns whether a text for a missing value looks like a time.
    pub(super) fn has_missing_time(&self, format: &TimeFormat) -> bool {
        self.missing.iter().any(|text| format.parse(text).is_ok())
    }

    /// Returns whether a field means a missing value; in ARFF a quoted one never does.
    #[must_use]
    pub fn is_missing(&self, field: &Field<'_>) -> bool {
        !(self.arff && field.quoted) && self.missing.iter().any(|text| *text == field.text)
    }

    /// Returns whether a byte is a blank.
    #[inline(always)]
    #[must_use]
    pub fn is_blank(&self, byte: u8) -> bool {
        (byte == b' ' || byte == b'\t') && byte != self.delimiter
    }

    /// Returns whether a line contains no row: it is blank, or a comment of ARFF.
    #[inline(always)]
    #[must_use]
    pub fn is_skipped(&self, line: &[u8]) -> bool {
        match line.iter().find(|&&byte| !self.is_blank(byte)) {
            None => true,
            Some(&first) => self.arff && first == b'%',
        }
    }

    #[inline(always)]
    pub(super) fn is_quote(&self, byte: u8) -> bool {
        byte == b'"' || (self.arff && byte == b'\'')
    }
}

/// A field of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field<'a> {
    /// Its text, without quotes and escapes.
    pub text: Cow<'a, str>,
    /// Whether it was in quotes.
    pub quoted: bool,
}

/// A position in a line.
#[derive(Debug, Clone)]
pub struct Cursor<'a> {
    /// The line.
    pub line: &'a [u8],
    /// The start of the next field.
    pub position: usize,
    /// Whether the last field has been read.
    pub ended: bool,
}

impl<'a> Cursor<'a> {
    /// Creates a cursor at the start of a line.
    #[inline(always)]
    pub fn new(line: &'a [u8]) -> Self {
        Self { line, position: 0, ended: false }
    }

    /// Moves past a field that ends at `end`, which is a delimiter or the end of the line.
    #[inline(always)]
    pub fn advance_past(&mut self, end: usize) {
        self.ended = end >= self.line.len();
        self.position = end + 1;
    }

    /// Returns whether a field may end at `end`.
    #[inline(always)]
    pub fn is_field_end(&self, end: usize, delimiter: u8) -> bool {
        self.line.get(end).is_none_or(|&byte| byte == delimiter)
    }

    /// Reads the next field.
    pub fn read_field(&mut self, dialect: &Dialect) -> Result<Field<'a>, String> {
        self.skip_blanks(dialect);
        let start = self.position.min(self.line.len());
        if self.line.get(start).is_some_and(|&byte| dialect.is_quote(byte)) {
            return self.read_quoted_field(dialect);
        }
        let rest = &self.line[start..];
        let end = start + find_byte(rest, dialect.delimiter).unwrap_or(rest.len());
        self.advance_past(end);
        let text = &self.line[start..end];
        let trailing = text.iter().rev().take_while(|&&byte| dialect.is_blank(byte)).count();
        Ok(Field { text: Cow::Borrowed(parse_utf8(&text[..text.len() - trailing])?), quoted: false })
    }

    fn read_quoted_field(&mut self, dialect: &Dialect) -> Result<Field<'a>, String> {
        let text = self.read_quoted(dialect)?;
        self.skip_blanks(dialect);
        if !self.is_field_end(self.position, dialect.delimiter) {
            return Err("unexpected text after the closing quote".into());
        }
        self.advance_past(self.position);
        Ok(Field { text, quoted: true })
    }

    /// Reads a quoted text; the cursor is then after the closing quote.
    pub fn read_quoted(&mut self, dialect: &Dialect) -> Result<Cow<'a, str>, String> {
        let quote = self.line[self.position];
        let start = self.position + 1;
        let (mut position, mut start_of_text) = (start, start);
        let mut text = Cow::Borrowed("");
        loop {
            let Some(&byte) = self.line.get(position) else {
                return Err("the quote is not closed in this line (line breaks inside quotes are not supported)".into());
            };
            let doubled = byte == quote && !dialect.arff && self.line.get(position + 1) == Some(&quote);
            if byte == quote && !doubled {
                break;
            }
            if doubled || (dialect.arff && byte == b'\\') {
                let escaped = if doubled { char::from(quote) } else { unescape(self.line.get(position + 1))? };
                text += parse_utf8(&self.line[start_of_text..position])?;
                text.to_mut().push(escaped);
                position += 1;
                start_of_text = position + 1;
            }
            position += 1;
        }
        self.position = position + 1;
        text += parse_utf8(&self.line[start_of_text..position])?;
        Ok(text)
    }

    /// Moves to the next byte that is not a blank.
    #[inline(always)]
    pub fn skip_blanks(&mut self, dialect: &Dialect) {
        while self.line.get(self.position).is_some_and(|&byte| dialect.is_blank(byte)) {
            self.position += 1;
        }
    }

    /// Returns the next byte.
    #[inline(always)]
    pub fn peek(&self) -> Option<u8> {
        self.line.get(self.position).copied()
    }
}

/// Returns the character of an escape sequence.
fn unescape(byte: Option<&u8>) -> Result<char, String> {
    match byte {
        Some(b'n') => Ok('\n'),
        Some(b'r') => Ok('\r'),
        Some(b't') => Ok('\t'),
        Some(&byte @ (b'\\' | b'\'' | b'"' | b'%')) => Ok(char::from(byte)),
        _ => Err("a backslash in quotes must be followed by one of \\ ' \" % n r t".into()),
    }
}

/// Parses bytes as text: UTF-8 without zero bytes.
pub fn parse_utf8(bytes: &[u8]) -> Result<&str, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| {
        format!("{} is not UTF-8; convert the file", super::quote_excerpt(&String::from_utf8_lossy(bytes)))
    })?;
    if bytes.contains(&0) {
        return Err("zero byte found: this is not a text file".into());
    }
    Ok(text)
}

/// Splits a line into fields, each with whether it was in quotes.
///
/// # Errors
/// Returns the index of the invalid field, from 0, and the reason.
pub fn split(line: &[u8], dialect: &Dialect) -> Result<Vec<(String, bool)>, (usize, String)> {
    let mut cursor = Cursor::new(line);
    let mut fields = Vec::new();
    while !cursor.ended {
        let field = cursor.read_field(dialect).map_err(|problem| (fields.len(), problem))?;
        fields.push((field.text.into_owned(), field.quoted));
    }
    Ok(fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(line: &str, dialect: &Dialect) -> Result<Vec<String>, String> {
        split(line.as_bytes(), dialect)
            .map(|fields| fields.into_iter().map(|(text, _)| text).collect())
            .map_err(|(column, problem)| format!("{column}: {problem}"))
    }

    #[test]
    fn fields_lose_blanks_and_quotes() {
        let csv = Dialect::new(b',', vec![]).unwrap();
        assert_eq!(texts(" a b ,\t\"x, \"\"y\"\"\" ,,1\"2 ", &csv).unwrap(), ["a b", "x, \"y\"", "", "1\"2"]);
        assert_eq!(texts("", &csv).unwrap(), [""]);
        assert_eq!(texts("'a", &csv).unwrap(), ["'a"]);
        let arff = Dialect::arff(b',', vec![]).unwrap();
        assert_eq!(texts(r#"'it\'s', "a\\\"\n" ,x"#, &arff).unwrap(), ["it's", "a\\\"\n", "x"]);
        let tabs = Dialect::new(b'\t', vec![]).unwrap();
        assert_eq!(texts("\ta b\t ", &tabs).unwrap(), ["", "a b", ""]);
    }

    #[test]
    fn broken_fields_are_refused() {
        let csv = Dialect::new(b',', vec![]).unwrap();
        assert!(texts("1,\"a", &csv).unwrap_err().starts_with("1: the quote is not closed"));
        assert!(texts("\"a\"b,1", &csv).unwrap_err().starts_with("0: unexpected text after"));
        assert!(texts("1,a\0", &csv).unwrap_err().starts_with("1: zero byte found"));
        let arff = Dialect::arff(b',', vec![]).unwrap();
        assert!(texts("1,'a\\d'", &arff).unwrap_err().starts_with("1: a backslash"));
        assert!(texts("1,'a\\", &arff).unwrap_err().starts_with("1: a backslash"));
        let (column, problem) = split(b"1,2,\xff\xfe", &csv).unwrap_err();
        assert!(column == 2 && problem.ends_with("is not UTF-8; convert the file"));
    }

    #[test]
    fn a_delimiter_is_no_part_of_a_value() {
        for byte in *b"\"'.-+%{}?\\a0\n\0@_" {
            assert!(Dialect::new(byte, vec![]).is_err(), "{}", char::from(byte));
        }
        for byte in *b",;\t| :" {
            assert!(Dialect::new(byte, vec![]).is_ok());
        }
    }

    #[test]
    fn in_arff_a_quoted_question_mark_is_a_value() {
        let (arff, csv) =
            (Dialect::arff(b',', vec![String::new()]).unwrap(), Dialect::new(b',', vec!["?".into()]).unwrap());
        let field = |quoted| Field { text: "?".into(), quoted };
        assert!(arff.is_missing(&field(false)) && !arff.is_missing(&field(true)));
        assert!(csv.is_missing(&field(false)) && csv.is_missing(&field(true)));
        assert!(!arff.is_missing(&Field { text: "".into(), quoted: false }));
    }
}
