//! Rows made ready for the learners: numbers in padded lanes, nominal values as places in a table of counts.

use super::Schema;
use super::lanes::{Lane, WIDTH};

/// How many rows are looked at ahead.
pub(super) const BLOCK: usize = 32;

/// The most lanes of a panel: numeric attributes come in panels of up to 16, so that their number is known when the
/// code is compiled.
pub(super) const MAX_LANES: usize = 4;

/// The place of a nominal value that is missing.
pub(super) const MISSING: u32 = u32::MAX;

/// Where an attribute's statistics stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// In this numeric column.
    Numeric(usize),
    /// In this table of counts.
    Nominal(usize),
}

/// A nominal attribute's part of a table of counts: one count per value, then their sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Nominal {
    /// Its attribute.
    pub attribute: usize,
    /// How many values it has.
    pub n_values: usize,
    /// Where its counts start.
    pub start: usize,
}

impl Nominal {
    /// Where the sum of its counts stands.
    #[inline(always)]
    pub fn total(self) -> usize {
        self.start + self.n_values
    }
}

/// Which attributes are numbers and which are nominal, and where each stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Layout {
    /// Per attribute, where its statistics stand.
    pub places: Vec<Place>,
    /// Per numeric column, its attribute.
    pub numeric: Vec<usize>,
    /// The nominal attributes.
    pub nominal: Vec<Nominal>,
    /// The length of a table of counts.
    pub n_counts: usize,
}

impl Layout {
    /// The layout of a schema's rows.
    pub fn new(schema: &Schema) -> Self {
        let mut layout = Self { places: vec![], numeric: vec![], nominal: vec![], n_counts: 0 };
        for (attribute, &n_values) in schema.n_values.iter().enumerate() {
            if n_values == 0 {
                layout.places.push(Place::Numeric(layout.numeric.len()));
                layout.numeric.push(attribute);
            } else {
                let nominal = Nominal { attribute, n_values: n_values as usize, start: layout.n_counts };
                layout.places.push(Place::Nominal(layout.nominal.len()));
                layout.n_counts = nominal.total() + 1;
                layout.nominal.push(nominal);
            }
        }
        layout
    }

    /// How many lanes a panel has for this many numeric columns.
    pub fn n_lanes(schema: &Schema) -> usize {
        let n_numeric = schema.n_values.iter().filter(|&&n| n == 0).count();
        n_numeric.div_ceil(WIDTH).clamp(1, MAX_LANES)
    }

    /// How many panels of `L` lanes the numeric columns fill; never 0.
    pub fn n_panels<const L: usize>(&self) -> usize {
        self.numeric.len().div_ceil(WIDTH * L).max(1)
    }

    /// How many numeric columns stand in a panel of `L` lanes.
    #[inline(always)]
    pub fn n_columns<const L: usize>(&self, panel: usize) -> usize {
        (self.numeric.len() - panel * WIDTH * L).min(WIDTH * L)
    }

    /// How many attributes a row has.
    #[inline(always)]
    pub fn n_attributes(&self) -> usize {
        self.places.len()
    }

    /// The bytes it holds on the heap.
    pub fn n_bytes(&self) -> usize {
        self.places.capacity() * size_of::<Place>()
            + self.numeric.capacity() * size_of::<usize>()
            + self.nominal.capacity() * size_of::<Nominal>()
    }
}

/// Up to [`BLOCK`] rows made ready.
#[derive(Debug, Clone)]
pub(super) struct Rows<const L: usize> {
    n_panels: usize,
    n_nominal: usize,
    panels: Vec<[Lane; L]>,
    codes: Vec<u32>,
    gaps: [bool; BLOCK],
}

/// One row made ready.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row<'a, const L: usize> {
    /// Its numbers, padded with 0; NaN where one is missing.
    pub panels: &'a [[Lane; L]],
    /// The places of its nominal values in a table of counts; [`MISSING`] where one is.
    pub codes: &'a [u32],
    /// Whether a value is missing.
    pub gaps: bool,
}

impl<const L: usize> Rows<L> {
    /// Room for a number of rows.
    pub fn new(layout: &Layout, n_rows: usize) -> Self {
        let (n_panels, n_nominal) = (layout.n_panels::<L>(), layout.nominal.len());
        Self {
            n_panels,
            n_nominal,
            panels: vec![[Lane::ZERO; L]; n_rows * n_panels],
            codes: vec![MISSING; n_rows * n_nominal],
            gaps: [false; BLOCK],
        }
    }

    /// No room at all, to stand in while the rows are in use.
    #[inline(always)]
    pub fn empty() -> Self {
        Self { n_panels: 0, n_nominal: 0, panels: vec![], codes: vec![], gaps: [false; BLOCK] }
    }

    /// Make ready the rows of `x`, which has no more of them than there is room for.
    #[inline(always)]
    pub fn fill(&mut self, layout: &Layout, x: &[f64]) {
        if self.n_nominal == 0 {
            self.fill_numeric(layout.n_attributes(), x);
        } else {
            self.fill_mixed(layout, x);
        }
    }

    /// Copy rows of numbers alone.
    #[inline(always)]
    fn fill_numeric(&mut self, d: usize, x: &[f64]) {
        let n_rows = x.len() / d.max(1);
        let mut zeros = Lane::ZERO;
        for (i, lanes) in self.panels.chunks_exact_mut(self.n_panels).take(n_rows).enumerate() {
            zeros = copy_row(lanes.as_flattened_mut(), &x[i * d..], d, zeros);
        }
        self.gaps = [false; BLOCK];
        // The sum has kept any missing value; only then is it asked which rows have one.
        if zeros.sum() != 0.0 {
            self.find_gaps();
        }
    }

    /// Find the rows with gaps, and make infinite numbers missing: no statistics can hold one.
    #[cold]
    #[inline(never)]
    fn find_gaps(&mut self) {
        for (gap, panels) in self.gaps.iter_mut().zip(self.panels.chunks_exact_mut(self.n_panels)) {
            for number in panels.as_flattened_mut().iter_mut().flat_map(|lane| &mut lane.0) {
                if !number.is_finite() {
                    (*gap, *number) = (true, f64::NAN);
                }
            }
        }
    }

    /// Sort the values of rows into numbers and places of nominal values.
    #[inline(never)]
    fn fill_mixed(&mut self, layout: &Layout, x: &[f64]) {
        for (i, values) in x.chunks_exact(layout.n_attributes()).enumerate() {
            let mut gap = false;
            let lanes = self.panels[i * self.n_panels..(i + 1) * self.n_panels].as_flattened_mut();
            for (number, &attribute) in lanes.iter_mut().flat_map(|lane| &mut lane.0).zip(&layout.numeric) {
                let finite = values[attribute].is_finite();
                *number = if finite { values[attribute] } else { f64::NAN };
                gap |= !finite;
            }
            let codes = &mut self.codes[i * self.n_nominal..(i + 1) * self.n_nominal];
            for (code, nominal) in codes.iter_mut().zip(&layout.nominal) {
                let value = values[nominal.attribute];
                let known = value >= 0.0 && value < nominal.n_values as f64;
                *code = if known { nominal.start as u32 + value as u32 } else { MISSING };
                gap |= !known;
            }
            self.gaps[i % BLOCK] = gap;
        }
    }

    /// A row.
    #[inline(always)]
    pub fn row(&self, i: usize) -> Row<'_, L> {
        Row {
            panels: &self.panels[i * self.n_panels..(i + 1) * self.n_panels],
            codes: &self.codes[i * self.n_nominal..(i + 1) * self.n_nominal],
            gaps: self.gaps[i % BLOCK],
        }
    }

    /// The bytes it holds on the heap.
    pub fn n_bytes(&self) -> usize {
        self.panels.capacity() * size_of::<[Lane; L]>() + self.codes.capacity() * size_of::<u32>()
    }
}

/// Copy the first `d` values into lanes, padded with 0, and add 0 times each to a sum: NaN where one is not finite.
#[inline(always)]
fn copy_row(lanes: &mut [Lane], values: &[f64], d: usize, mut zeros: Lane) -> Lane {
    let (whole, n) = (d / WIDTH, d % WIDTH);
    for (lane, &values) in lanes.iter_mut().zip(values[..d].as_chunks::<WIDTH>().0) {
        *lane = Lane(values);
        zeros = Lane(values).mul_add(Lane::ZERO, zeros);
    }
    if let Some(lane) = lanes.get_mut(whole) {
        let rest = &values[whole * WIDTH..];
        // What follows is the next row, unless the block ends here.
        *lane = match rest.first_chunk::<WIDTH>() {
            Some(&four) => Lane(four).first(n),
            None => Lane(std::array::from_fn(|i| if i < n { rest[i] } else { 0.0 })),
        };
        zeros = lane.mul_add(Lane::ZERO, zeros);
    }
    zeros
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sorted_into_lanes_and_places() {
        let layout = Layout::new(&Schema { n_values: vec![0, 3, 0, 2], n_classes: 2 });
        assert_eq!(layout.places[3], Place::Nominal(1));
        let mut rows = Rows::<1>::new(&layout, 2);
        rows.fill(&layout, &[1.5, 2.0, -1.0, 1.0, f64::INFINITY, f64::NAN, 0.0, 0.0]);
        assert_eq!(rows.row(0).panels, &[[Lane([1.5, -1.0, 0.0, 0.0])]]);
        assert_eq!((rows.row(0).codes, rows.row(0).gaps), ([2, 5].as_slice(), false));
        assert!(rows.row(1).panels[0][0].0[0].is_nan());
        assert_eq!((rows.row(1).codes, rows.row(1).gaps), ([MISSING, 4].as_slice(), true));
    }

    #[test]
    fn numbers_alone_are_padded_with_zeros() {
        for d in [1_usize, 3, 4, 10, 16, 17, 1000] {
            let schema = Schema { n_values: vec![0; d], n_classes: 2 };
            let layout = Layout::new(&schema);
            let x: Vec<f64> = (0..2 * d).map(|i| i as f64).collect();
            let mut rows = Rows::<MAX_LANES>::new(&layout, 2);
            rows.fill(&layout, &x);
            for i in 0..2 {
                let numbers: Vec<f64> = rows.row(i).panels.as_flattened().iter().flat_map(|lane| lane.0).collect();
                assert_eq!(numbers[..d], x[i * d..(i + 1) * d]);
                assert!(numbers[d..].iter().all(|&number| number == 0.0));
                assert!(!rows.row(i).gaps);
            }
            let total: usize = (0..layout.n_panels::<MAX_LANES>()).map(|p| layout.n_columns::<MAX_LANES>(p)).sum();
            assert_eq!(total, d);
        }
    }
}
