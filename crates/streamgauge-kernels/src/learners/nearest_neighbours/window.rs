//! The last rows: their values and, for the screening, normalised columns in blocks of rows.

use crate::KernelError;
use crate::codec::{Reader, Writer};
use crate::learners::Schema;
use crate::learners::vector_math::clamp_finite;

/// The number of rows of a block.
pub(super) const BLOCK_ROWS: usize = 32;

/// Numbers are clamped to this magnitude, so that their differences are finite.
pub(super) const LIMIT: f64 = 1e150;

/// One column of a block.
pub(super) type Column = [f32; BLOCK_ROWS];

/// The range of a numeric column in the window, and the number of rows at either end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Range {
    pub low: f64,
    pub high: f64,
    n_low: usize,
    n_high: usize,
    pub n_missing: usize,
}

impl Range {
    const EMPTY: Self = Self { low: f64::INFINITY, high: f64::NEG_INFINITY, n_low: 0, n_high: 0, n_missing: 0 };

    fn add(&mut self, value: f64) {
        if value.is_nan() {
            self.n_missing += 1;
            return;
        }
        if value < self.low {
            (self.low, self.n_low) = (value, 0);
        }
        if value > self.high {
            (self.high, self.n_high) = (value, 0);
        }
        self.n_low += usize::from(value == self.low);
        self.n_high += usize::from(value == self.high);
    }

    /// Returns whether another range has the same ends.
    fn same_ends(&self, other: Self) -> bool {
        self.low == other.low && self.high == other.high
    }

    /// Returns the lower end; 0 if no value is known.
    #[inline(always)]
    pub fn start(&self) -> f64 {
        if self.low.is_finite() { self.low } else { 0.0 }
    }

    /// Returns 1 over the width; 0 if that is 0.
    #[inline(always)]
    pub fn scale(&self) -> f64 {
        let scale = 1.0 / (self.high - self.low);
        if scale.is_finite() && scale > 0.0 { scale } else { 0.0 }
    }

    /// Returns the position of a value in the range: 0 for the least, 1 for the greatest.
    #[inline(always)]
    pub fn normalise(&self, value: f64) -> f64 {
        (value - self.start()) * self.scale()
    }

    /// Removes a value; returns false if an end of the range is then unknown.
    fn remove(&mut self, value: f64) -> bool {
        self.n_missing -= usize::from(value.is_nan());
        self.n_low -= usize::from(value == self.low);
        self.n_high -= usize::from(value == self.high);
        !((value == self.low && self.n_low == 0) || (value == self.high && self.n_high == 0))
    }
}

/// The last rows.
#[derive(Debug, Clone)]
pub(super) struct Window {
    width: usize,
    nominal: Vec<bool>,
    /// The values, row by row.
    rows: Vec<f64>,
    /// Per block, a column per attribute: the position of a number in its range, the code of a nominal value.
    columns: Vec<Column>,
    pub labels: Vec<u32>,
    pub weights: Vec<f64>,
    pub ranges: Vec<Range>,
    /// The index of the next row: that of the oldest one once the window is full.
    next: usize,
}

impl Window {
    /// Creates an empty window of `width` rows.
    pub fn new(schema: &Schema, width: usize) -> Self {
        Self {
            width,
            nominal: schema.n_values.iter().map(|&n| n > 0).collect(),
            rows: vec![],
            columns: vec![],
            labels: vec![],
            weights: vec![],
            ranges: vec![Range::EMPTY; schema.n_attributes()],
            next: 0,
        }
    }

    /// Returns the number of rows.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Returns the greatest number of rows.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Returns the number of attributes.
    #[inline(always)]
    pub fn n_attributes(&self) -> usize {
        self.nominal.len()
    }

    /// Returns whether an attribute is nominal.
    #[inline(always)]
    pub fn is_nominal(&self, attribute: usize) -> bool {
        self.nominal[attribute]
    }

    /// Returns the values of a row.
    #[inline(always)]
    pub fn row(&self, row: usize) -> &[f64] {
        &self.rows[row * self.n_attributes()..(row + 1) * self.n_attributes()]
    }

    /// Returns the columns of all blocks.
    #[inline(always)]
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Adds a row, replacing the oldest if the window is full.
    pub fn push(&mut self, x: &[f64], label: usize, weight: f64) {
        let (d, row) = (self.n_attributes(), self.next);
        let (full, weight) = (self.len() == self.width, weight.min(LIMIT));
        if full {
            (self.labels[row], self.weights[row]) = (label as u32, weight);
        } else {
            self.labels.push(label as u32);
            self.weights.push(weight);
            self.rows.resize((row + 1) * d, 0.0);
            self.columns.resize((row / BLOCK_ROWS + 1) * d, [0.0; BLOCK_ROWS]);
        }
        for (attribute, &value) in x.iter().enumerate() {
            let value = clamp_finite(value, LIMIT);
            let replaced = std::mem::replace(&mut self.rows[row * d + attribute], value);
            let before = self.ranges[attribute];
            let known = !full || self.ranges[attribute].remove(replaced);
            if known {
                self.ranges[attribute].add(value);
            } else {
                self.ranges[attribute] = self.compute_range(attribute);
            }
            let moved = !self.nominal[attribute] && !self.ranges[attribute].same_ends(before);
            self.write_column(attribute, if moved { 0..self.len() } else { row..row + 1 });
        }
        self.next = (row + 1) % self.width;
    }

    /// Writes the normalised values of an attribute for some rows.
    fn write_column(&mut self, attribute: usize, rows: std::ops::Range<usize>) {
        let (d, range) = (self.n_attributes(), self.ranges[attribute]);
        let (start, scale) = if self.nominal[attribute] { (0.0, 1.0) } else { (range.start(), range.scale()) };
        for row in rows {
            let normalised = (self.rows[row * d + attribute] - start) * scale;
            self.columns[row / BLOCK_ROWS * d + attribute][row % BLOCK_ROWS] = normalised as f32;
        }
    }

    /// Computes the range of a column from all rows.
    fn compute_range(&self, attribute: usize) -> Range {
        let mut range = Range::EMPTY;
        for row in 0..self.len() {
            range.add(self.rows[row * self.n_attributes() + attribute]);
        }
        range
    }

    /// Returns the heap size in bytes.
    pub fn n_bytes(&self) -> usize {
        self.nominal.capacity()
            + self.rows.capacity() * size_of::<f64>()
            + self.columns.capacity() * size_of::<Column>()
            + self.labels.capacity() * size_of::<u32>()
            + self.weights.capacity() * size_of::<f64>()
            + self.ranges.capacity() * size_of::<Range>()
    }

    /// Writes the rows.
    pub fn save(&self, writer: &mut Writer) {
        writer.u64(self.width as u64);
        writer.u64(self.next as u64);
        writer.u64s(self.labels.iter().map(|&label| u64::from(label)));
        writer.f64s(&self.weights);
        writer.f64s(&self.rows);
    }

    /// Reads rows into an empty window.
    ///
    /// # Errors
    /// [`KernelError::Saved`] if the bytes end or are of another window.
    pub fn load(&mut self, reader: &mut Reader<'_>, n_classes: usize) -> Result<(), KernelError> {
        let (width, next) = (reader.usize()?, reader.usize()?);
        let (labels, weights, rows) = (reader.u64s()?, reader.f64s()?, reader.f64s()?);
        let (full, d) = (labels.len() == width, self.n_attributes());
        let sizes_fit = weights.len() == labels.len() && rows.len() == labels.len() * d;
        if width != self.width || labels.len() > width || !sizes_fit {
            return Err(reader.error("its window has another size"));
        }
        if next >= width || (!full && next != labels.len()) || labels.iter().any(|&label| label >= n_classes as u64) {
            return Err(reader.error("its window has invalid rows"));
        }
        for (row, (label, weight)) in labels.into_iter().zip(weights).enumerate() {
            self.push(&rows[row * d..(row + 1) * d], label as usize, weight);
        }
        self.next = next;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::randomness::{Draws, Purpose};

    #[test]
    fn ranges_are_those_of_the_rows_in_the_window() {
        let draws = Draws::new(1, Purpose::named("rows"), 0);
        for (width, n_values) in [(1, 100), (7, 3), (40, 1000), (33, 5)] {
            let mut window = Window::new(&Schema { n_values: vec![0], n_classes: 2 }, width);
            let value = |row| match draws.below(row, n_values) {
                0 => f64::NAN,
                value => value as f64,
            };
            for row in 0..200_u64 {
                window.push(&[value(row)], 0, 1.0);
                let window_values: Vec<f64> = (0..=row).rev().take(width).map(value).collect();
                let known = || window_values.iter().filter(|value| !value.is_nan());
                let range = window.ranges[0];
                assert_eq!(range.low, known().fold(f64::INFINITY, |low, &value| low.min(value)));
                assert_eq!(range.high, known().fold(f64::NEG_INFINITY, |high, &value| high.max(value)));
                assert_eq!(range.n_missing, window_values.len() - known().count());
                assert_eq!(window.len(), window_values.len());
            }
        }
    }
}
