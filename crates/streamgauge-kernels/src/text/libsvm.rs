//! Rows of libsvm (svmlight): `label index:value index:value # comment`.

use std::ops::ControlFlow;

use super::fields::parse_utf8;
use super::lines::LineReader;
use super::numbers::parse_number;
use super::{Line, Lines, Names, Parser, Rows, TextError, join_first, quote_excerpt};

/// A parser of libsvm lines into dense rows; an omitted value is 0.
pub struct Libsvm {
    classes: Names,
    /// The smallest index, 0 or 1.
    base: usize,
    n_attributes: usize,
}

impl Libsvm {
    /// Creates a parser of rows whose indexes start at `base`.
    #[must_use]
    pub fn new(classes: Names, base: usize, n_attributes: usize) -> Self {
        Self { classes, base, n_attributes }
    }

    fn attribute_index(&self, index: usize) -> Result<usize, String> {
        index.checked_sub(self.base).filter(|&slot| slot < self.n_attributes).ok_or_else(|| {
            let last = (self.base + self.n_attributes).saturating_sub(1);
            format!("index {index} is out of range ({} to {last})", self.base)
        })
    }
}

impl Parser for Libsvm {
    fn n_attributes(&self) -> usize {
        self.n_attributes
    }

    fn holds_row(&self, line: &[u8]) -> bool {
        holds_row(line)
    }

    fn parse(&mut self, line: Line<'_>, rows: &mut Rows) -> Result<(), TextError> {
        let start = rows.x.len();
        rows.x.resize(start + self.n_attributes, 0.0);
        let label = read_row(line.text, line.number, |index, value| {
            rows.x[start + self.attribute_index(index)?] = value;
            Ok(())
        })?;
        let Some(code) = self.classes.find(label) else {
            let known = join_first(self.classes.as_slice().iter().map(String::as_str));
            let problem = format!("{} is not one of the classes ({known})", quote_excerpt(label));
            return Err(TextError::in_column(line.number, 0, "class".into(), problem));
        };
        rows.y.push(code as i32);
        Ok(())
    }
}

/// A survey of the classes and the range of the indexes of a libsvm file.
#[derive(Debug, Clone)]
pub struct LibsvmSurvey {
    /// The classes.
    pub classes: Names,
    /// The smallest index.
    pub min_index: usize,
    /// The largest index.
    pub max_index: usize,
    /// The number of rows.
    pub n_rows: u64,
    max_classes: usize,
    lines: Lines,
}

impl LibsvmSurvey {
    /// Creates a survey of a file with at most `max_classes` classes.
    #[must_use]
    pub fn new(max_classes: usize) -> Self {
        let (min_index, max_index) = (usize::MAX, 0);
        Self { classes: Names::default(), min_index, max_index, n_rows: 0, max_classes, lines: Lines::new(0, 0) }
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
}

impl LineReader for LibsvmSurvey {
    fn lines(&mut self) -> &mut Lines {
        &mut self.lines
    }

    fn read(&mut self, line: Line<'_>) -> Result<ControlFlow<()>, TextError> {
        if holds_row(line.text) {
            let (mut min_index, mut max_index) = (self.min_index, self.max_index);
            let label = read_row(line.text, line.number, |index, _| {
                (min_index, max_index) = (min_index.min(index), max_index.max(index));
                Ok(())
            })?;
            (self.min_index, self.max_index) = (min_index, max_index);
            self.classes.add(label);
            self.n_rows += 1;
            if self.classes.len() > self.max_classes {
                let problem = format!("there are more than {} classes: is the target numeric?", self.max_classes);
                return Err(TextError::in_column(line.number, 0, "class".into(), problem));
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

fn holds_row(line: &[u8]) -> bool {
    line.iter().find(|&&byte| byte != b' ' && byte != b'\t').is_some_and(|&first| first != b'#')
}

/// Parses a line with a row: passes each index with its value, in ascending order, to `on_entry`; returns the label.
fn read_row(
    line: &[u8],
    number: u64,
    mut on_entry: impl FnMut(usize, f64) -> Result<(), String>,
) -> Result<&str, TextError> {
    let end = line.iter().position(|&byte| byte == b'#').unwrap_or(line.len());
    let text = parse_utf8(&line[..end]).map_err(|reason| TextError::in_line(number, reason))?;
    let mut words = text.split([' ', '\t']).filter(|word| !word.is_empty());
    let label = words.next().unwrap_or_default();
    if label.contains([':', ',']) {
        let problem = format!("{} is not a label; a row must start with its label", quote_excerpt(label));
        return Err(TextError::in_column(number, 0, "class".into(), problem));
    }
    let mut last = None;
    for (column, word) in words.enumerate() {
        let result = parse_entry(word).and_then(|(index, value)| {
            if last.replace(index).is_some_and(|last| last >= index) {
                return Err(format!("index {index} is not greater than the one before it"));
            }
            on_entry(index, value)
        });
        result.map_err(|reason| TextError::in_column(number, column + 1, String::new(), reason))?;
    }
    Ok(label)
}

fn parse_entry(word: &str) -> Result<(usize, f64), String> {
    let error = || format!("{} is not an index and a value, as in 3:0.5", quote_excerpt(word));
    let (index, value) = word.split_once(':').ok_or_else(error)?;
    if !index.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(error());
    }
    Ok((index.parse().map_err(|_| error())?, self::parse_number(value)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Rows, String> {
        let mut rows = Rows::default();
        let mut parser = Libsvm::new(["-1", "+1"].into_iter().collect(), 1, 3);
        assert!(parser.holds_row(line.as_bytes()));
        parser.parse(Line::alone(line.as_bytes(), 7), &mut rows).map_err(|error| error.to_string())?;
        Ok(rows)
    }

    #[test]
    fn what_is_left_out_is_0() {
        assert_eq!(
            parse("+1 1:0.5 3:2 # note").unwrap(),
            Rows { x: vec![0.5, 0.0, 2.0], y: vec![1], ..Rows::default() }
        );
        assert_eq!(parse("-1").unwrap().x, [0.0; 3]);
        assert!(!holds_row(b"  # comment") && !holds_row(b""));
    }

    #[test]
    fn faults_are_reported_with_line_and_column() {
        assert_eq!(parse("1 1:2").unwrap_err(), "line 7, column 1 (class): '1' is not one of the classes (-1, +1)");
        assert_eq!(parse("+1 1:2 4:1").unwrap_err(), "line 7, column 3: index 4 is out of range (1 to 3)");
        assert_eq!(parse("+1 0:2").unwrap_err(), "line 7, column 2: index 0 is out of range (1 to 3)");
        assert_eq!(parse("+1 2:2 2:1").unwrap_err(), "line 7, column 3: index 2 is not greater than the one before it");
        assert_eq!(parse("+1 2:x").unwrap_err(), "line 7, column 2: 'x' is not a number");
        assert_eq!(
            parse("+1 qid:3").unwrap_err(),
            "line 7, column 2: 'qid:3' is not an index and a value, as in 3:0.5"
        );
        assert_eq!(
            parse("1:2").unwrap_err(),
            "line 7, column 1 (class): '1:2' is not a label; a row must start with its label"
        );
    }
}
