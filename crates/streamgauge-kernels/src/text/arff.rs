//! The header of an ARFF file.

use std::collections::HashMap;
use std::ops::ControlFlow;

use super::fields::{Cursor, parse_utf8};
use super::lines::LineReader;
use super::{Dialect, Line, Lines, Mark, TextError, quote_excerpt};

/// The declared kind of an attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AttributeKind {
    /// `numeric`, `real` or `integer`.
    Numeric,
    /// A list of values in braces.
    Nominal(Vec<String>),
    /// `string`.
    Text,
    /// `date`, with its format as of Java, if it declares one.
    Date(Option<String>),
}

/// A parser of headers, chunk by chunk, up to the line `@data`.
#[derive(Debug, Clone)]
pub struct Header {
    relation: String,
    attributes: Vec<(String, AttributeKind)>,
    positions: HashMap<String, usize>,
    complete: bool,
    lines: Lines,
    dialect: Dialect,
}

impl Default for Header {
    fn default() -> Self {
        Self {
            relation: String::new(),
            attributes: Vec::new(),
            positions: HashMap::new(),
            complete: false,
            lines: Lines::new(0, 0),
            dialect: Dialect::arff_header(),
        }
    }
}

impl Header {
    /// Returns the name of the relation.
    #[must_use]
    pub fn relation(&self) -> &str {
        &self.relation
    }

    /// Returns the names and kinds of the attributes, from left to right.
    #[must_use]
    pub fn attributes(&self) -> &[(String, AttributeKind)] {
        &self.attributes
    }

    /// Returns whether `@data` has been read.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.complete
    }

    /// Returns the start of the rows.
    #[must_use]
    pub fn mark(&self) -> Mark {
        Mark { row: 0, end: self.lines.end(), line: self.lines.number() }
    }

    /// Reads lines until `@data` or the end of the chunk; returns the number of bytes used.
    ///
    /// # Errors
    /// Returns the first fault of the header.
    pub fn update(&mut self, chunk: &[u8]) -> Result<usize, TextError> {
        self.read_chunk(chunk)
    }

    /// Reads the last line of a file without a line end after `@data`.
    ///
    /// # Errors
    /// Returns the fault of that line, or of a missing `@data`.
    pub fn finish(&mut self) -> Result<(), TextError> {
        self.read_rest()?;
        if self.complete {
            return Ok(());
        }
        Err(TextError::in_line(self.lines.number(), "there is no @data line: the file is truncated or not ARFF"))
    }

    fn declare(&mut self, line: &[u8], number: u64) -> Result<(), TextError> {
        let in_line = |reason| TextError::in_line(number, reason);
        parse_utf8(line).map_err(in_line)?;
        let mut cursor = Cursor::new(line);
        let keyword = parse_word(&mut cursor, &self.dialect).map_err(in_line)?;
        match keyword.to_ascii_lowercase().as_str() {
            "@relation" => self.relation = parse_relation(&mut cursor, &self.dialect).map_err(in_line)?,
            "@attribute" => {
                let (name, kind) = parse_attribute(&mut cursor, &self.dialect)
                    .map_err(|(name, reason)| TextError::in_column(number, self.attributes.len(), name, reason))?;
                self.note_position(&name, number)?;
                self.attributes.push((name, kind));
            }
            "@data" => {
                expect_line_end(&mut cursor, &self.dialect).map_err(in_line)?;
                if self.attributes.is_empty() {
                    return Err(in_line("there is no @attribute before @data".into()));
                }
                self.complete = true;
            }
            _ => {
                let problem = format!("expected @relation, @attribute or @data, found {}", quote_excerpt(&keyword));
                return Err(in_line(problem));
            }
        }
        Ok(())
    }

    fn note_position(&mut self, name: &str, number: u64) -> Result<(), TextError> {
        let position = self.attributes.len();
        match self.positions.insert(name.to_owned(), position) {
            None => Ok(()),
            Some(first) => {
                let problem = format!("column {} has the same name", first + 1);
                Err(TextError::in_column(number, position, format!("attribute '{name}'"), problem))
            }
        }
    }
}

impl LineReader for Header {
    fn lines(&mut self) -> &mut Lines {
        &mut self.lines
    }

    fn read(&mut self, line: Line<'_>) -> Result<ControlFlow<()>, TextError> {
        if !self.dialect.is_skipped(line.text) {
            self.declare(line.text, line.number)?;
        }
        Ok(if self.complete { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }
}

/// Parses the name and kind of an attribute; an error holds the name, if known, and the reason.
fn parse_attribute(cursor: &mut Cursor<'_>, dialect: &Dialect) -> Result<(String, AttributeKind), (String, String)> {
    let name = parse_name(cursor, dialect).map_err(|reason| (String::new(), reason))?;
    if name.is_empty() {
        return Err((String::new(), "the attribute has no name".into()));
    }
    match parse_kind(cursor, dialect) {
        Ok(kind) => Ok((name, kind)),
        Err(reason) => Err((format!("attribute '{name}'"), reason)),
    }
}

fn parse_kind(cursor: &mut Cursor<'_>, dialect: &Dialect) -> Result<AttributeKind, String> {
    cursor.skip_blanks(dialect);
    if cursor.peek() == Some(b'{') {
        let values = parse_nominal_values(cursor, dialect)?;
        expect_line_end(cursor, dialect)?;
        return Ok(AttributeKind::Nominal(values));
    }
    let kind = parse_word(cursor, dialect)?;
    let declared = match kind.to_ascii_lowercase().as_str() {
        "numeric" | "real" | "integer" => AttributeKind::Numeric,
        "string" => AttributeKind::Text,
        "date" => {
            cursor.skip_blanks(dialect);
            let has_format = !matches!(cursor.peek(), None | Some(b'%'));
            AttributeKind::Date(if has_format { Some(parse_name(cursor, dialect)?) } else { None })
        }
        "relational" => return Err("relational attributes are not supported".into()),
        _ => {
            let found = quote_excerpt(&kind);
            return Err(format!("expected numeric, real, integer, string, date or values in braces, found {found}"));
        }
    };
    expect_line_end(cursor, dialect)?;
    Ok(declared)
}

/// Parses the values of a nominal attribute; the cursor is then after the closing brace.
fn parse_nominal_values(cursor: &mut Cursor<'_>, dialect: &Dialect) -> Result<Vec<String>, String> {
    let mut values: Vec<String> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    loop {
        cursor.position += 1;
        cursor.skip_blanks(dialect);
        let quoted = cursor.peek().is_some_and(|byte| dialect.is_quote(byte));
        let value = if quoted { cursor.read_quoted(dialect)?.into_owned() } else { parse_plain_value(cursor)? };
        if !quoted && (value.is_empty() || value == "?") {
            return Err("a nominal value is empty or ?, which means missing: remove or quote it".into());
        }
        if !seen.insert(value.clone()) {
            return Err(format!("value {} is declared twice", quote_excerpt(&value)));
        }
        values.push(value);
        cursor.skip_blanks(dialect);
        match cursor.peek() {
            Some(b',') => {}
            Some(b'}') => break,
            None => return Err("the list of values has no closing brace".into()),
            Some(_) => return Err("values must be separated by commas, and quoted if they contain blanks".into()),
        }
    }
    cursor.position += 1;
    Ok(values)
}

/// Parses a value without quotes, up to a blank, a comma or the closing brace.
fn parse_plain_value(cursor: &mut Cursor<'_>) -> Result<String, String> {
    let start = cursor.position;
    while cursor.peek().is_some_and(|byte| !b" \t,}".contains(&byte)) {
        cursor.position += 1;
    }
    Ok(parse_utf8(&cursor.line[start..cursor.position])?.to_owned())
}

/// Parses the name of the relation: the rest of the line, or a quoted text.
fn parse_relation(cursor: &mut Cursor<'_>, dialect: &Dialect) -> Result<String, String> {
    cursor.skip_blanks(dialect);
    if cursor.peek().is_some_and(|byte| dialect.is_quote(byte)) {
        let name = cursor.read_quoted(dialect)?.into_owned();
        expect_line_end(cursor, dialect)?;
        return Ok(name);
    }
    Ok(parse_utf8(&cursor.line[cursor.position..])?.trim_end_matches([' ', '\t']).to_owned())
}

/// Parses the next name: a quoted text, or a bare word.
fn parse_name(cursor: &mut Cursor<'_>, dialect: &Dialect) -> Result<String, String> {
    cursor.skip_blanks(dialect);
    if cursor.peek().is_some_and(|byte| dialect.is_quote(byte)) {
        return Ok(cursor.read_quoted(dialect)?.into_owned());
    }
    parse_word(cursor, dialect)
}

/// Parses the next word without quotes, up to a blank or an opening brace.
fn parse_word(cursor: &mut Cursor<'_>, dialect: &Dialect) -> Result<String, String> {
    cursor.skip_blanks(dialect);
    let start = cursor.position;
    while cursor.peek().is_some_and(|byte| !b" \t{".contains(&byte)) {
        cursor.position += 1;
    }
    Ok(parse_utf8(&cursor.line[start..cursor.position])?.to_owned())
}

/// Checks that only a comment follows.
fn expect_line_end(cursor: &mut Cursor<'_>, dialect: &Dialect) -> Result<(), String> {
    cursor.skip_blanks(dialect);
    match cursor.peek() {
        None | Some(b'%') => Ok(()),
        Some(_) => Err(format!(
            "unexpected text {} at the end of the line",
            quote_excerpt(parse_utf8(&cursor.line[cursor.position..])?)
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8], chunk: usize) -> Result<Header, TextError> {
        let mut header = Header::default();
        for part in text.chunks(chunk) {
            if header.update(part)? < part.len() || header.is_complete() {
                return Ok(header);
            }
        }
        header.finish()?;
        Ok(header)
    }

    #[test]
    fn a_header_is_read_whatever_its_case_quotes_and_blanks() {
        let text = b"\xef\xbb\xbf% \xff comment\r\n@RELATION 'a b'\r\n\n@Attribute\t'it\\'s'  REAL % note\n@attribute kind{x, 'y z',\"?\"}\n\
                     @attribute when DATE \"yyyy-MM-dd\"\n @attribute \"n\" Integer\n@attribute s string\n@DATA\n1,x,2,3,4\n";
        for chunk in [1, 7, 1000] {
            let header = read(text, chunk).unwrap();
            assert_eq!(header.relation(), "a b");
            let values = ["x", "y z", "?"].map(String::from).to_vec();
            let expected = [
                ("it's", AttributeKind::Numeric),
                ("kind", AttributeKind::Nominal(values)),
                ("when", AttributeKind::Date(Some("yyyy-MM-dd".into()))),
                ("n", AttributeKind::Numeric),
                ("s", AttributeKind::Text),
            ];
            assert!(header.attributes().iter().map(|(name, kind)| (name.as_str(), kind.clone())).eq(expected));
            assert_eq!(header.mark(), Mark { row: 0, end: text.len() as u64 - 10, line: 9 });
        }
    }

    #[test]
    fn faults_of_a_header_are_reported_with_their_line() {
        let cases: [(&str, &str); 14] = [
            ("@attribute a real\n@attribute a real\n", "line 2, column 2 (attribute 'a'): column 1 has the same name"),
            ("@relation x\n@data\n", "line 2: there is no @attribute before @data"),
            ("1,2\n", "line 1: expected @relation, @attribute or @data, found '1,2'"),
            (
                "@attribute a\n",
                "line 1, column 1 (attribute 'a'): expected numeric, real, integer, string, date or values in braces, found ''",
            ),
            ("@attribute\n", "line 1, column 1: the attribute has no name"),
            ("@attribute a {x,y\n", "line 1, column 1 (attribute 'a'): the list of values has no closing brace"),
            (
                "@attribute a {}\n",
                "line 1, column 1 (attribute 'a'): a nominal value is empty or ?, which means missing: remove or quote it",
            ),
            ("@attribute a {x,x}\n", "line 1, column 1 (attribute 'a'): value 'x' is declared twice"),
            (
                "@attribute a {x y,z}\n",
                "line 1, column 1 (attribute 'a'): values must be separated by commas, and quoted if they contain blanks",
            ),
            (
                "@attribute a real {0.5}\n",
                "line 1, column 1 (attribute 'a'): unexpected text '{0.5}' at the end of the line",
            ),
            ("@attribute a relational\n", "line 1, column 1 (attribute 'a'): relational attributes are not supported"),
            (
                "@attribute 'a real\n",
                "line 1, column 1: the quote is not closed in this line (line breaks inside quotes are not supported)",
            ),
            ("@attribute a real\n@data 1,2\n", "line 2: unexpected text '1,2' at the end of the line"),
            ("@attribute a real\n", "line 1: there is no @data line: the file is truncated or not ARFF"),
        ];
        for (text, expected) in cases {
            assert_eq!(read(text.as_bytes(), 5).unwrap_err().to_string(), expected);
        }
    }

    #[test]
    fn a_file_may_end_with_data() {
        assert!(read(b"@attribute a real\n@data", 100).unwrap().is_complete());
    }
}
