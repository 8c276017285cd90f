//! Rows of a text as bytes: where lines end, where their fields are, which one is the class. No value is parsed.

use std::borrow::Cow;
use std::ops::Range;

use memchr::{memchr, memchr_iter, memchr2, memchr3, memrchr};

use crate::KernelError;

/// How values are quoted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quoting {
    /// Single or double quotes, a backslash before one inside; `%` starts a comment line; `{weight}` may end a row.
    Arff,
    /// Double quotes, doubled inside.
    Csv,
}

/// What the lines of a text look like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dialect {
    /// Stands between two fields.
    pub separator: u8,
    /// How values are quoted.
    pub quoting: Quoting,
    /// How many fields a row has, the class among them.
    pub n_fields: usize,
    /// Which of them is the class.
    pub class_field: usize,
}

/// The class of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Class<'a> {
    /// Its name, without quotes.
    pub name: Cow<'a, [u8]>,
    /// Where it stands in the row, quotes included.
    pub place: Range<usize>,
}

/// Cuts a text that comes in chunks into lines, and counts them.
#[derive(Debug, Clone)]
pub struct Lines {
    carry: Vec<u8>,
    line: u64,
}

impl Lines {
    /// Lines of a text, the first of which has the given number.
    #[must_use]
    pub fn new(first: u64) -> Self {
        Self { carry: Vec::new(), line: first }
    }

    /// Visit each line that the chunk completes, without its end.
    ///
    /// # Errors
    /// What `visit` finds wrong with a line.
    pub fn update(
        &mut self,
        chunk: &[u8],
        mut visit: impl FnMut(u64, &[u8]) -> Result<(), KernelError>,
    ) -> Result<(), KernelError> {
        let mut rest = chunk;
        if !self.carry.is_empty() {
            let Some(end) = memchr(b'\n', rest) else {
                self.carry.extend_from_slice(rest);
                return Ok(());
            };
            self.carry.extend_from_slice(&rest[..end]);
            rest = &rest[end + 1..];
            visit(self.line, &self.carry)?;
            self.line += 1;
            self.carry.clear();
        }
        let mut start = 0;
        for end in memchr_iter(b'\n', rest) {
            visit(self.line, &rest[start..end])?;
            self.line += 1;
            start = end + 1;
        }
        self.carry.extend_from_slice(&rest[start..]);
        Ok(())
    }

    /// Visit what is left when the text has ended: a last line without an end.
    ///
    /// # Errors
    /// What `visit` finds wrong with it.
    pub fn finish(&mut self, visit: impl FnOnce(u64, &[u8]) -> Result<(), KernelError>) -> Result<(), KernelError> {
        let last = std::mem::take(&mut self.carry);
        if last.is_empty() { Ok(()) } else { visit(self.line, &last) }
    }
}

impl Dialect {
    /// Whether a line is a row, not a comment or blank.
    #[inline]
    #[must_use]
    pub fn is_row(&self, line: &[u8]) -> bool {
        match line.iter().find(|byte| !byte.is_ascii_whitespace()) {
            None => false,
            Some(b'%') => self.quoting != Quoting::Arff,
            Some(_) => true,
        }
    }

    /// Find the class of a row; checks how many fields the row has.
    ///
    /// # Errors
    /// [`KernelError::Line`] for a row with too few or too many fields, or a quote that does not end.
    #[inline]
    pub fn class_of<'a>(&self, line: u64, row: &'a [u8], ends: &mut Vec<usize>) -> Result<Class<'a>, KernelError> {
        if !self.has_marks(row) {
            let n_fields = 1 + memchr_iter(self.separator, row).count();
            if n_fields == self.n_fields && self.class_field + 1 == n_fields {
                let place = trimmed(row, memrchr(self.separator, row).map_or(0, |at| at + 1)..row.len());
                return Ok(Class { name: Cow::Borrowed(&row[place.clone()]), place });
            }
        }
        self.fields(line, row, ends)?;
        let place = trimmed(row, field(ends, self.class_field));
        Ok(Class { name: self.unquoted(&row[place.clone()]), place })
    }

    /// Check how many fields a row has and that its quotes end.
    ///
    /// # Errors
    /// [`KernelError::Line`] where they are too few or too many, or a quote does not end.
    #[inline]
    pub fn check(&self, line: u64, row: &[u8], ends: &mut Vec<usize>) -> Result<(), KernelError> {
        if !self.has_marks(row) && 1 + memchr_iter(self.separator, row).count() == self.n_fields {
            return Ok(());
        }
        self.fields(line, row, ends)
    }

    /// Where each field of a row ends; `ends` has one more where the row carries a weight.
    ///
    /// # Errors
    /// [`KernelError::Line`] for a row with too few or too many fields, or a quote that does not end.
    pub fn fields(&self, line: u64, row: &[u8], ends: &mut Vec<usize>) -> Result<(), KernelError> {
        ends.clear();
        if self.has_marks(row) {
            self.quoted_fields(line, row, ends)?;
        } else {
            ends.extend(memchr_iter(self.separator, row));
            ends.push(row.len());
        }
        if ends.len() == self.n_fields || (ends.len() == self.n_fields + 1 && self.is_weight(row, ends)) {
            return Ok(());
        }
        let why = format!("{} values where {} are expected: {}", ends.len(), self.n_fields, excerpt(row));
        Err(KernelError::Line { line, why })
    }

    /// Whether a row has quotes or braces, so that a separator may be part of a value.
    #[inline]
    fn has_marks(&self, row: &[u8]) -> bool {
        match self.quoting {
            Quoting::Arff => memchr3(b'\'', b'"', b'{', row).is_some(),
            Quoting::Csv => memchr(b'"', row).is_some(),
        }
    }

    fn is_weight(&self, row: &[u8], ends: &[usize]) -> bool {
        let last = &row[trimmed(row, field(ends, self.n_fields))];
        self.quoting == Quoting::Arff && last.starts_with(b"{") && last.ends_with(b"}")
    }

    fn quoted_fields(&self, line: u64, row: &[u8], ends: &mut Vec<usize>) -> Result<(), KernelError> {
        if self.quoting == Quoting::Arff && row.trim_ascii_start().starts_with(b"{") {
            let why = "a sparse row among dense ones; convert the file to dense rows first".into();
            return Err(KernelError::Line { line, why });
        }
        let mut start = 0;
        loop {
            let blank = row[start..].iter().take_while(|byte| matches!(byte, b' ' | b'\t') && **byte != self.separator);
            let value = start + blank.count();
            let closed = match row.get(value) {
                Some(&quote) if self.is_quote(quote) => self.closing(row, value),
                _ => Some(value),
            };
            let Some(from) = closed else {
                let why = format!("a quote that does not end on its line: {}", excerpt(&row[value..]));
                return Err(KernelError::Line { line, why });
            };
            let Some(length) = memchr(self.separator, &row[from..]) else {
                ends.push(row.len());
                return Ok(());
            };
            ends.push(from + length);
            start = from + length + 1;
        }
    }

    fn is_quote(&self, byte: u8) -> bool {
        byte == b'"' || (byte == b'\'' && self.quoting == Quoting::Arff)
    }

    /// Where the value that a quote opens has ended.
    fn closing(&self, row: &[u8], open: usize) -> Option<usize> {
        let quote = row[open];
        let mut at = open + 1;
        loop {
            let mark = at + memchr2(quote, b'\\', &row[at..])?;
            at = match (row[mark], self.quoting) {
                (b'\\', Quoting::Arff) => mark + 2,
                (b'\\', Quoting::Csv) => mark + 1,
                _ if self.quoting == Quoting::Csv && row.get(mark + 1) == Some(&quote) => mark + 2,
                _ => return Some(mark + 1),
            };
            if at > row.len() {
                return None;
            }
        }
    }

    /// A value without its quotes and without the marks before quotes inside.
    fn unquoted<'a>(&self, value: &'a [u8]) -> Cow<'a, [u8]> {
        let (Some(&quote), true) = (value.first(), value.len() >= 2) else { return Cow::Borrowed(value) };
        if !self.is_quote(quote) || value.last() != Some(&quote) {
            return Cow::Borrowed(value);
        }
        let inner = &value[1..value.len() - 1];
        let mark = if self.quoting == Quoting::Arff { b'\\' } else { quote };
        if memchr(mark, inner).is_none() {
            return Cow::Borrowed(inner);
        }
        let mut plain = Vec::with_capacity(inner.len());
        let mut bytes = inner.iter();
        while let Some(&byte) = bytes.next() {
            plain.push(if byte == mark { *bytes.next().unwrap_or(&byte) } else { byte });
        }
        Cow::Owned(plain)
    }
}

/// Where a field is, given where each ends.
#[inline]
#[must_use]
pub fn field(ends: &[usize], index: usize) -> Range<usize> {
    let start = if index == 0 { 0 } else { ends[index - 1] + 1 };
    start..ends[index]
}

/// A range without the blanks at its ends.
#[inline]
#[must_use]
pub fn trimmed(row: &[u8], value: Range<usize>) -> Range<usize> {
    let bytes = &row[value.clone()];
    let start = value.start + bytes.len() - bytes.trim_ascii_start().len();
    start..start + bytes.trim_ascii().len()
}

/// The beginning of a text, to be shown in an error.
#[must_use]
pub fn excerpt(text: &[u8]) -> String {
    let shown: String = String::from_utf8_lossy(text).chars().take(60).collect();
    format!("{shown:?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const ARFF: Dialect = Dialect { separator: b',', quoting: Quoting::Arff, n_fields: 3, class_field: 2 };
    const CSV: Dialect = Dialect { separator: b',', quoting: Quoting::Csv, n_fields: 3, class_field: 1 };

    fn class(dialect: &Dialect, row: &str) -> Result<String, String> {
        let mut ends = Vec::new();
        let class = dialect.class_of(7, row.as_bytes(), &mut ends).map_err(|error| error.to_string())?;
        Ok(String::from_utf8(class.name.into_owned()).unwrap())
    }

    #[test]
    fn lines_are_the_same_however_the_text_is_cut() {
        let text = b"a,b\r\n\nccc\nlast";
        for first in 0..=text.len() {
            for second in first..=text.len() {
                let (mut lines, mut seen) = (Lines::new(5), Vec::new());
                let mut see = |line: u64, row: &[u8]| {
                    seen.push((line, row.to_vec()));
                    Ok(())
                };
                for chunk in [&text[..first], &text[first..second], &text[second..]] {
                    lines.update(chunk, &mut see).unwrap();
                }
                lines.finish(&mut see).unwrap();
                let expected: Vec<(u64, Vec<u8>)> =
                    vec![(5, b"a,b\r".into()), (6, b"".into()), (7, b"ccc".into()), (8, b"last".into())];
                assert_eq!(seen, expected);
            }
        }
    }

    #[test]
    fn the_class_is_found() {
        assert_eq!(class(&ARFF, "1, 2, up \r").unwrap(), "up");
        assert_eq!(class(&ARFF, "'a,b',2,'it\\'s, so'").unwrap(), "it's, so");
        assert_eq!(class(&ARFF, "1,2,up,{0.5}").unwrap(), "up");
        assert_eq!(class(&ARFF, "1,\"x\",?").unwrap(), "?");
        assert_eq!(class(&CSV, "1,up,2").unwrap(), "up");
        assert_eq!(class(&CSV, "\"a,\"\"b\",\"u,\"\"p\",2").unwrap(), "u,\"p");
    }

    #[test]
    fn rows_that_are_none_are_told() {
        assert!(class(&ARFF, "1,2").unwrap_err().starts_with("line 7: 2 values where 3 are expected"));
        assert!(class(&ARFF, "1,2,3,4").unwrap_err().contains("4 values"));
        assert!(class(&ARFF, "'a,2,up").unwrap_err().contains("does not end"));
        assert!(class(&ARFF, "'a\\").unwrap_err().contains("does not end"));
        assert!(class(&ARFF, "{0 1, 2 up}").unwrap_err().contains("sparse"));
        assert!(class(&CSV, "\"a,2,up").unwrap_err().contains("does not end"));
        assert!(class(&CSV, "1,2,3,{4}").unwrap_err().contains("4 values"));
    }

    #[test]
    fn comments_and_blank_lines_are_no_rows() {
        assert!(!ARFF.is_row(b" % note") && !ARFF.is_row(b" \r") && ARFF.is_row(b"1,2"));
        assert!(CSV.is_row(b"%,1,2") && !CSV.is_row(b""));
    }
}
