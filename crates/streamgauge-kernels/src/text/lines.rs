//! Splitting of chunks of any size into lines.

use std::ops::ControlFlow;

use memchr::memchr;

use super::TextError;

/// The maximum length of a line in bytes.
pub const MAX_LINE_BYTES: usize = 1 << 24;

/// A line of a file.
#[derive(Debug, Clone, Copy)]
pub struct Line<'a> {
    /// Its bytes without the line end, and without a byte order mark.
    pub text: &'a [u8],
    /// The bytes from its start on, as far as they are known: the text, and perhaps its end and further lines.
    pub ahead: &'a [u8],
    /// Its number, counted from 1.
    pub number: u64,
    /// The position in the file after it.
    pub end: u64,
}

#[cfg(test)]
impl<'a> Line<'a> {
    /// Creates a line without anything after it.
    pub(super) fn alone(text: &'a [u8], number: u64) -> Self {
        Self { text, ahead: text, number, end: 0 }
    }
}

/// A splitter of a file into lines that buffers the partial last line of a chunk.
#[derive(Debug, Clone)]
pub struct Lines {
    partial: Vec<u8>,
    number: u64,
    end: u64,
    max_length: usize,
}

impl Lines {
    /// Creates a splitter for the file after its first `number` lines and `end` bytes.
    #[must_use]
    pub fn new(number: u64, end: u64) -> Self {
        Self { partial: Vec::new(), number, end, max_length: MAX_LINE_BYTES }
    }

    /// Sets the maximum length of a line.
    #[must_use]
    pub fn with_max_length(self, max_length: usize) -> Self {
        Self { max_length, ..self }
    }

    /// Returns the number of lines so far.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Returns the position in the file after the last line.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.end
    }

    /// Passes the whole lines of a chunk to `on_line` until it breaks; returns the number of bytes used.
    ///
    /// # Errors
    /// Returns the error of `on_line`, or an error for a line that is too long.
    pub fn update(
        &mut self,
        chunk: &[u8],
        mut on_line: impl FnMut(Line<'_>) -> Result<ControlFlow<()>, TextError>,
    ) -> Result<usize, TextError> {
        let mut position = 0;
        if !self.partial.is_empty() {
            let Some(length) = memchr(b'\n', chunk) else {
                self.buffer(chunk)?;
                return Ok(chunk.len());
            };
            position = length + 1;
            self.buffer(&chunk[..length])?;
            let mut partial = std::mem::take(&mut self.partial);
            let flow = self.emit(&partial, partial.len(), 1, &mut on_line)?;
            partial.clear();
            self.partial = partial;
            if flow.is_break() {
                return Ok(position);
            }
        }
        while let Some(length) = memchr(b'\n', &chunk[position..]) {
            let ahead = &chunk[position..];
            position += length + 1;
            if self.emit(ahead, length, 1, &mut on_line)?.is_break() {
                return Ok(position);
            }
        }
        self.buffer(&chunk[position..])?;
        Ok(chunk.len())
    }

    /// Passes a last line without a line end to `on_line`.
    ///
    /// # Errors
    /// Returns the error of `on_line`, with the hint that the file may be truncated.
    pub fn finish(
        &mut self,
        mut on_line: impl FnMut(Line<'_>) -> Result<ControlFlow<()>, TextError>,
    ) -> Result<(), TextError> {
        if self.partial.is_empty() {
            return Ok(());
        }
        let partial = std::mem::take(&mut self.partial);
        match self.emit(&partial, partial.len(), 0, &mut on_line) {
            Ok(_) => Ok(()),
            Err(mut error) => {
                error.problem.push_str("; this is the last line: the file may be truncated");
                Err(error)
            }
        }
    }

    fn buffer(&mut self, part: &[u8]) -> Result<(), TextError> {
        self.partial.extend_from_slice(part);
        self.check_length(self.partial.len(), self.number + 1)
    }

    fn check_length(&self, length: usize, number: u64) -> Result<(), TextError> {
        if length > self.max_length {
            let problem = format!("the line is longer than {} bytes", self.max_length);
            return Err(TextError::in_line(number, problem));
        }
        Ok(())
    }

    #[inline(always)]
    fn emit(
        &mut self,
        ahead: &[u8],
        length: usize,
        n_ends: usize,
        on_line: &mut impl FnMut(Line<'_>) -> Result<ControlFlow<()>, TextError>,
    ) -> Result<ControlFlow<()>, TextError> {
        self.number += 1;
        self.end += (length + n_ends) as u64;
        self.check_length(length, self.number)?;
        let line = &ahead[..length];
        let mut text = line.strip_suffix(b"\r").unwrap_or(line);
        let mut ahead = ahead;
        if self.number == 1 {
            let n_before = text.len();
            text = strip_byte_order_mark(text)?;
            ahead = &ahead[n_before - text.len()..];
        }
        on_line(Line { text, ahead, number: self.number, end: self.end })
    }
}

/// A state that reads lines and keeps the [`Lines`] of its file.
pub(super) trait LineReader {
    /// Returns the lines of the file.
    fn lines(&mut self) -> &mut Lines;

    /// Reads a line.
    fn read(&mut self, line: Line<'_>) -> Result<ControlFlow<()>, TextError>;

    /// Reads the whole lines of a chunk until one breaks; returns the number of bytes used.
    fn read_chunk(&mut self, chunk: &[u8]) -> Result<usize, TextError> {
        let mut lines = std::mem::replace(self.lines(), Lines::new(0, 0));
        let result = lines.update(chunk, |line| self.read(line));
        *self.lines() = lines;
        result
    }

    /// Reads a last line without a line end.
    fn read_rest(&mut self) -> Result<(), TextError> {
        let mut lines = std::mem::replace(self.lines(), Lines::new(0, 0));
        let result = lines.finish(|line| self.read(line));
        *self.lines() = lines;
        result
    }
}

/// Removes the byte order mark of UTF-8 from the first line; that of UTF-16 is an error.
fn strip_byte_order_mark(line: &[u8]) -> Result<&[u8], TextError> {
    if line.starts_with(b"\xff\xfe") || line.starts_with(b"\xfe\xff") {
        return Err(TextError::in_line(1, "the file is in UTF-16; convert it to UTF-8"));
    }
    Ok(line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all_lines(file: &[u8], chunk: usize, max_length: usize) -> Result<Vec<(String, u64, u64)>, TextError> {
        let mut lines = Lines::new(0, 0).with_max_length(max_length);
        let mut lines_read = Vec::new();
        let mut on_line = |line: Line<'_>| {
            lines_read.push((String::from_utf8(line.text.to_vec()).unwrap(), line.number, line.end));
            Ok(if lines_read.len() % 2 == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        };
        for part in file.chunks(chunk) {
            let mut position = 0;
            while position < part.len() {
                position += lines.update(&part[position..], &mut on_line)?;
            }
        }
        lines.finish(&mut on_line)?;
        Ok(lines_read)
    }

    #[test]
    fn the_size_of_the_chunks_makes_no_difference() {
        let file = b"\xef\xbb\xbfone\r\n\r\nthree\n\nfive";
        let expected = [("one", 1, 8), ("", 2, 10), ("three", 3, 16), ("", 4, 17), ("five", 5, 21)];
        for chunk in 1..=file.len() {
            let lines_read = all_lines(file, chunk, 10).unwrap();
            assert!(lines_read.iter().map(|(text, n, end)| (text.as_str(), *n, *end)).eq(expected), "{lines_read:?}");
        }
    }

    #[test]
    fn a_line_that_is_too_long_is_refused_however_it_comes() {
        for chunk in 1..20 {
            let error = all_lines(b"short\nlonger\nlongest line\n", chunk, 6).unwrap_err();
            assert_eq!(error.to_string(), "line 3: the line is longer than 6 bytes");
        }
    }

    #[test]
    fn utf_16_is_refused() {
        let error = all_lines(b"\xff\xfea\0\n\0", 100, 100).unwrap_err();
        assert_eq!(error.to_string(), "line 1: the file is in UTF-16; convert it to UTF-8");
    }
}
