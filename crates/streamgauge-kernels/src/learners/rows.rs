//! The memory layout of rows, and of the statistics beside them.
//!
//! A batch is one slice `x`, row by row; a nominal value is its code, a missing value NaN. [`Rows::fill`] copies a
//! block of up to [`BLOCK`] rows into **panels** of numbers, which vector instructions can load, and **codes** of
//! nominal values. With five numbers and two nominal attributes of three and two values (n2, n4):
//!
//! ```text
//! x          a0  a1  n2  a3  n4  a5  a6 | a0  a1  n2  a3  n4  a5  a6 | ...      row by row, f64
//!
//! RowPanel   lane 0   lane 1   lane 2   lane 3
//! vector 0     a0       a1       a3       a5        columns 0 to 3       an F64x4: 32 bytes, aligned
//! vector 1     a6        0        0        0        column 4 and padding
//! vector 2      -        -        -        -        not used, since V = 2
//! vector 3      -        -        -        -        not used
//!
//! codes      start of n2's table + n2, start of n4's table + n4                 u32, MISSING if missing
//! ```
//!
//! - A **column** is the index of a number among the numbers of a row. Column c is in lane c % 4 of vector c / 4.
//! - A panel has `V` vectors, from 1 to [`MAX_VECTORS`]. Loops over a panel have a constant length, so they are
//!   unrolled and stay in registers. Rows of more than 16 numbers have several panels of 4 vectors; column c is in
//!   panel c / 16.
//! - Padding is 0 in rows. In statistics it has the mean 0 and squared deviations of 1, so that it adds 0 to sums of
//!   log densities and multiplies products by 1: no loop has to know where the columns end.
//! - A leaf in a random subspace gathers its own attributes: [`Rows::gather`] writes them to the first columns.
//!
//! The statistics of a class have the same shape, so that a row and a class are combined vector by vector. The classes
//! of all models (leaves) are in one array, `Models::panels`:
//!
//! ```text
//! Models     model 0                                     | model 1
//!            class 0: panel 0, ... | class 1: panel 0, ... | class 0: ...
//!
//! ClassPanel class (weight, observed weight, log base)   32 bytes
//!            padding                                     32 bytes
//!            mean      V vectors                         V * 32 bytes each
//!            squares   V vectors                         sums of squared deviations
//!            decays    V vectors                         -1 / (2 variance)
//!            min, max  V vectors each                    for splits
//!
//! counts     n2: value 0, 1, 2 | n4: value 0, 1     vectors of classes, padded with 0, for each value
//! ```

use std::ops::Add;

use super::Schema;
use super::f64x4::{F64x4, LANES, Mask, mask_first};
use crate::dispatch;

/// The number of rows that are processed together.
pub(super) const BLOCK: usize = 32;

/// The most vectors of a panel. Panels have up to 16 columns, so that the number of vectors is known at compile time.
pub(super) const MAX_VECTORS: usize = 4;

/// The numbers of a row in one panel: always an array of 16, so that a mask keeps indices in bounds.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C, align(32))]
pub(super) struct RowPanel(pub [f64; MAX_VECTORS * LANES]);

impl RowPanel {
    /// Returns one of its vectors.
    #[inline(always)]
    pub fn vector(&self, v: usize) -> F64x4 {
        F64x4(self.0.as_chunks::<LANES>().0[v])
    }

    /// Returns its first vectors.
    #[inline(always)]
    pub fn vectors<const V: usize>(&self) -> [F64x4; V] {
        std::array::from_fn(|v| self.vector(v))
    }

    /// Returns one of its vectors for writing.
    #[inline(always)]
    fn vector_mut(&mut self, v: usize) -> &mut [f64; LANES] {
        &mut self.0.as_chunks_mut::<LANES>().0[v]
    }
}

/// 2^52: a number whose last bit is worth 1. Adding it leaves a whole number in the last bits.
pub(super) const WHOLE: f64 = 4_503_599_627_370_496.0;

/// The denominators of up to this many nominal attributes are multiplied.
const FEW_TABLES: usize = 16;

/// The code of a missing nominal value.
pub(super) const MISSING: u32 = u32::MAX;

/// The location of an attribute's statistics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slot {
    /// A numeric column.
    Numeric(usize),
    /// A nominal table.
    Nominal(usize),
}

/// The counts of a nominal attribute: one per value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NominalTable {
    /// The attribute.
    pub attribute: usize,
    /// The number of its values.
    pub n_values: usize,
    /// The index of its first count.
    pub start: usize,
}

impl NominalTable {
    /// Returns the indices of its counts.
    #[inline(always)]
    pub fn range(self) -> std::ops::Range<usize> {
        self.start..self.start + self.n_values
    }

    /// Returns the index of a value's count; [`MISSING`] if it is none of the values.
    #[inline(always)]
    fn code(self, value: f64) -> u32 {
        find_code(value, self.n_values as u64, self.start as u64)
    }

    /// Writes the codes of rows of `d` attributes, each the `i`th of `n_nominal`; returns whether one is [`MISSING`].
    #[inline(always)]
    fn fill_codes(self, i: usize, codes: &mut [u32], n_nominal: usize, x: &[f64], d: usize) -> bool {
        let (attribute, offset) = (self.attribute, WHOLE + self.start as f64);
        if attribute >= d || i >= n_nominal {
            return false;
        }
        // As if no value were missing: the last bits of the sum are the code.
        let mut largest = 0;
        for (codes, x) in codes.chunks_exact_mut(n_nominal).zip(x.chunks_exact(d)) {
            let bits = (x[attribute] + offset).to_bits();
            codes[i] = bits as u32;
            largest = largest.max(bits.wrapping_sub(offset.to_bits()));
        }
        let is_missing = largest >= self.n_values as u64;
        if is_missing {
            for (codes, x) in codes.chunks_exact_mut(n_nominal).zip(x.chunks_exact(d)) {
                codes[i] = self.code(x[attribute]);
            }
        }
        is_missing
    }
}

/// Per nominal attribute, the number of its values and the index of its first count: columns, for vector instructions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Codings {
    n_values: Vec<u64>,
    starts: Vec<u64>,
}

/// Returns the index of a value's count; [`MISSING`] if it is none of the values.
#[inline(always)]
fn find_code(value: f64, n_values: u64, start: u64) -> u32 {
    // By the bits: a conversion that saturates takes several instructions.
    let value = (value + WHOLE).to_bits().wrapping_sub(WHOLE.to_bits());
    let code = if value < n_values { start.wrapping_add(value) } else { u64::from(MISSING) };
    code as u32
}

/// The columns of the numeric attributes and the tables of the nominal ones.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Layout {
    /// Per attribute, the location of its statistics.
    pub slots: Vec<Slot>,
    /// Per numeric column, its attribute.
    pub numeric: Vec<usize>,
    /// The tables of the nominal attributes.
    pub nominal: Vec<NominalTable>,
    /// How the values of each nominal attribute are coded.
    codings: Codings,
    /// The different numbers of values of the nominal attributes, each with the number of attributes.
    pub table_sizes: Vec<(usize, usize)>,
    /// The number of values of each nominal attribute; none if they are more than [`FEW_TABLES`].
    pub few_sizes: Vec<f64>,
    /// The number of counts of all tables.
    pub n_counts: usize,
    /// The number of numeric columns to store: all of them, or as many as a subspace has.
    pub n_columns: usize,
    /// The number of nominal codes to store, likewise.
    pub n_codes: usize,
}

impl Layout {
    /// Returns the layout of a schema's rows.
    pub fn new(schema: &Schema) -> Self {
        let mut layout = Self {
            slots: vec![],
            numeric: vec![],
            nominal: vec![],
            codings: Codings::default(),
            table_sizes: vec![],
            few_sizes: vec![],
            n_counts: 0,
            n_columns: 0,
            n_codes: 0,
        };
        for (attribute, &n_values) in schema.n_values.iter().enumerate() {
            if n_values == 0 {
                layout.slots.push(Slot::Numeric(layout.numeric.len()));
                layout.numeric.push(attribute);
            } else {
                let nominal = NominalTable { attribute, n_values: n_values as usize, start: layout.n_counts };
                layout.slots.push(Slot::Nominal(layout.nominal.len()));
                layout.n_counts = nominal.range().end;
                layout.nominal.push(nominal);
                layout.codings.n_values.push(u64::from(n_values));
                layout.codings.starts.push(nominal.start as u64);
                match layout.table_sizes.iter_mut().find(|size| size.0 == nominal.n_values) {
                    Some(size) => size.1 += 1,
                    None => layout.table_sizes.push((nominal.n_values, 1)),
                }
            }
        }
        if layout.nominal.len() <= FEW_TABLES {
            layout.few_sizes = layout.nominal.iter().map(|table| table.n_values as f64).collect();
        }
        (layout.n_columns, layout.n_codes) = (layout.numeric.len(), layout.nominal.len());
        layout
    }

    /// Returns the layout of rows of which at most `size` attributes are used.
    pub fn in_subspace(schema: &Schema, size: usize) -> Self {
        let layout = Self::new(schema);
        Self { n_columns: layout.n_columns.min(size), n_codes: layout.n_codes.min(size), ..layout }
    }

    /// Returns the number of vectors of a panel if at most `size` attributes are used.
    pub fn n_vectors(schema: &Schema, size: usize) -> usize {
        let n_numeric = schema.n_values.iter().filter(|&&n| n == 0).count();
        n_numeric.min(size).div_ceil(LANES).clamp(1, MAX_VECTORS)
    }

    /// Returns the number of panels of `V` vectors that the numeric columns fill; at least 1.
    pub fn n_panels<const V: usize>(&self) -> usize {
        self.n_columns.div_ceil(LANES * V).max(1)
    }

    /// Returns the number of attributes.
    #[inline(always)]
    pub fn n_attributes(&self) -> usize {
        self.slots.len()
    }

    /// Returns the heap size in bytes.
    pub fn n_bytes(&self) -> usize {
        self.slots.capacity() * size_of::<Slot>()
            + self.numeric.capacity() * size_of::<usize>()
            + self.nominal.capacity() * size_of::<NominalTable>()
            + (self.codings.n_values.capacity() + self.codings.starts.capacity()) * size_of::<u64>()
            + self.table_sizes.capacity() * size_of::<(usize, usize)>()
            + self.few_sizes.capacity() * size_of::<f64>()
    }
}

/// Returns how many of `n_columns` columns are in a panel of `V` vectors.
#[inline(always)]
pub(super) fn columns_in_panel<const V: usize>(n_columns: usize, panel: usize) -> usize {
    n_columns.saturating_sub(panel * LANES * V).min(LANES * V)
}

/// Up to [`BLOCK`] rows in panels.
#[derive(Debug, Clone)]
pub(super) struct Rows<const V: usize> {
    n_panels: usize,
    /// The number of codes of a row.
    n_nominal: usize,
    panels: Vec<RowPanel>,
    codes: Vec<u32>,
    has_missing: [bool; BLOCK],
    /// Per panel, which numbers are not padding.
    masks: Vec<[Mask; V]>,
    /// The sum of 0 times all numbers of the block: NaN if one is missing or infinite.
    zeros: F64x4,
}

/// A row in panels.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row<'a, const V: usize> {
    rows: &'a Rows<V>,
    i: usize,
}

impl<'a, const V: usize> Row<'a, V> {
    /// Returns its numbers, padded with 0; NaN if missing.
    #[inline(always)]
    pub fn panels(self) -> &'a [RowPanel] {
        let n = self.rows.n_panels();
        &self.rows.panels[self.i * n..self.i * n + n]
    }

    /// Returns the codes of its nominal values, the indices of their counts; [`MISSING`] if missing, and beyond those
    /// that a subspace has.
    #[inline(always)]
    pub fn codes(self) -> &'a [u32] {
        let n = self.rows.n_nominal;
        &self.rows.codes[self.i * n..self.i * n + n]
    }

    /// Returns whether a value is missing.
    #[inline(always)]
    pub fn has_missing(self) -> bool {
        self.rows.has_missing[self.i % BLOCK]
    }
}

impl<const V: usize> Rows<V> {
    /// Allocates `n_rows` rows.
    pub fn new(layout: &Layout, n_rows: usize) -> Self {
        let (n_panels, n_numeric, n_nominal) = (layout.n_panels::<V>(), layout.numeric.len(), layout.n_codes);
        Self {
            n_panels,
            n_nominal,
            panels: vec![RowPanel([0.0; MAX_VECTORS * LANES]); n_rows * n_panels],
            codes: vec![MISSING; n_rows * n_nominal],
            has_missing: [false; BLOCK],
            masks: (0..n_panels)
                .map(|p| std::array::from_fn(|v| mask_first(n_numeric.saturating_sub((p * V + v) * LANES))))
                .collect(),
            zeros: F64x4::ZERO,
        }
    }

    /// Creates an empty placeholder, for the time that the rows are moved out.
    #[inline(always)]
    pub fn empty() -> Self {
        Self {
            n_panels: 0,
            n_nominal: 0,
            panels: vec![],
            codes: vec![],
            has_missing: [false; BLOCK],
            masks: vec![],
            zeros: F64x4::ZERO,
        }
    }

    /// Fills in the first `n_rows` rows of `x`, at most as many as are allocated; `x` may be longer.
    #[inline(always)]
    pub fn fill(&mut self, layout: &Layout, x: &[f64], n_rows: usize) {
        if self.n_nominal == 0 {
            self.fill_numeric(layout.n_attributes(), x, n_rows);
        } else {
            self.fill_mixed(layout, x, n_rows);
        }
    }

    /// Copies rows of numbers only.
    #[inline(always)]
    fn fill_numeric(&mut self, d: usize, x: &[f64], n_rows: usize) {
        self.zeros = match self.masks[..] {
            [masks] => copy_short_rows(&mut self.panels[..n_rows], &masks, x, d),
            _ => copy_long_rows(&mut self.panels[..n_rows * self.n_panels], &self.masks, x, d),
        };
        self.find_missing();
    }

    /// Finds the rows with missing values, and replaces infinite numbers by missing ones: statistics cannot hold them.
    #[inline(never)]
    fn find_missing(&mut self) {
        self.has_missing = [false; BLOCK];
        if self.zeros == F64x4::ZERO {
            return;
        }
        for (missing, panels) in self.has_missing.iter_mut().zip(self.panels.chunks_exact_mut(self.n_panels)) {
            for number in panels.iter_mut().flat_map(|panel| &mut panel.0) {
                if !number.is_finite() {
                    (*missing, *number) = (true, f64::NAN);
                }
            }
        }
    }

    /// Separates the values of rows into numbers and codes.
    #[inline(never)]
    fn fill_mixed(&mut self, layout: &Layout, x: &[f64], n_rows: usize) {
        dispatch::run(
            #[inline(always)]
            || self.fill_mixed_inlined(layout, x, n_rows),
        );
    }

    #[inline(always)]
    fn fill_mixed_inlined(&mut self, layout: &Layout, x: &[f64], n_rows: usize) {
        if layout.numeric.is_empty() {
            return self.fill_nominal(layout, x, n_rows);
        }
        self.has_missing = [false; BLOCK];
        // One attribute of all rows after the other, so that nothing is looked up per value. Rows for a subspace have
        // fewer columns and codes than the schema.
        let (d, n_panels, n_nominal) = (layout.n_attributes(), self.n_panels(), self.n_nominal);
        let (x, panels) = (&x[..n_rows * d], &mut self.panels[..n_rows * n_panels]);
        let mut largest = 0;
        for (column, &attribute) in layout.numeric.iter().take(n_panels * V * LANES).enumerate() {
            // Only `V` vectors of each panel are used.
            let (panel, i) = (column / (V * LANES), column % (V * LANES));
            if attribute < d && panel < n_panels {
                for (panels, x) in panels.chunks_exact_mut(n_panels).zip(x.chunks_exact(d)) {
                    panels[panel].0[i] = x[attribute];
                    largest = largest.max(x[attribute].to_bits() << 1);
                }
            }
        }
        // By the bits without the sign, from which missing and infinite numbers are the largest. Vectors of the panels
        // could not be loaded yet: a load waits for several stores that are narrower.
        let is_finite = largest < f64::INFINITY.to_bits() << 1;
        self.zeros = if is_finite { F64x4::ZERO } else { F64x4::splat(f64::NAN) };
        let mut has_missing_code = false;
        for (i, nominal) in layout.nominal.iter().take(n_nominal).enumerate() {
            has_missing_code |= nominal.fill_codes(i, &mut self.codes[..n_rows * n_nominal], n_nominal, x, d);
        }
        if has_missing_code || !is_finite {
            self.find_missing();
            let codes = self.codes.chunks_exact(self.n_nominal).take(n_rows);
            for (missing, codes) in self.has_missing.iter_mut().zip(codes) {
                *missing |= codes.contains(&MISSING);
            }
        }
    }

    /// Finds the codes of rows without numbers, several at a time.
    #[inline(always)]
    fn fill_nominal(&mut self, layout: &Layout, x: &[f64], n_rows: usize) {
        let d = layout.n_attributes();
        let rows = x.chunks_exact(d).zip(self.codes.chunks_exact_mut(self.n_nominal)).take(n_rows);
        for ((x, codes), has_missing) in rows.zip(&mut self.has_missing) {
            let mut missing = 0;
            let tables = layout.codings.n_values.iter().zip(&layout.codings.starts);
            for ((code, &x), (&n_values, &start)) in codes.iter_mut().zip(x).zip(tables) {
                *code = find_code(x, n_values, start);
                missing |= u32::from(*code == MISSING);
            }
            *has_missing = missing > 0;
        }
    }

    /// Fills in the given attributes of a row, its numbers in the first columns.
    #[inline(always)]
    pub fn gather(&mut self, i: usize, layout: &Layout, x: &[f64], attributes: &[u32]) {
        if self.n_nominal > 0 || V == MAX_VECTORS {
            return self.gather_mixed(i, layout, x, attributes);
        }
        let (mut zeros, numbers) = (0.0, &mut self.panels[i].0);
        for (number, &attribute) in numbers.iter_mut().zip(attributes) {
            *number = x[attribute as usize];
            zeros += 0.0 * *number;
        }
        // 0 times a missing or infinite number is not 0.
        self.has_missing[i % BLOCK] = zeros != 0.0;
        if zeros != 0.0 {
            numbers.iter_mut().filter(|number| !number.is_finite()).for_each(|number| *number = f64::NAN);
        }
    }

    /// Does the same for a row of numbers without missing values.
    #[inline(always)]
    pub fn gather_complete(&mut self, i: usize, layout: &Layout, x: &[f64], attributes: &[u32]) {
        if V == MAX_VECTORS {
            return self.gather_mixed(i, layout, x, attributes);
        }
        for (number, &attribute) in self.panels[i].0.iter_mut().zip(attributes) {
            *number = x[attribute as usize];
        }
        self.has_missing[i % BLOCK] = false;
    }

    /// Does the same for any attributes; the codes of the nominal ones come first, the rest are [`MISSING`].
    #[inline(never)]
    fn gather_mixed(&mut self, i: usize, layout: &Layout, x: &[f64], attributes: &[u32]) {
        let panels = &mut self.panels[i * self.n_panels..(i + 1) * self.n_panels];
        let codes = &mut self.codes[i * self.n_nominal..(i + 1) * self.n_nominal];
        codes.fill(MISSING);
        let (mut column, mut n_codes, mut missing) = (0, 0, false);
        for &attribute in attributes {
            let value = x[attribute as usize];
            match layout.slots[attribute as usize] {
                Slot::Numeric(_) => {
                    let known = value.is_finite();
                    panels[column / (V * LANES)].0[column % (V * LANES)] = if known { value } else { f64::NAN };
                    (column, missing) = (column + 1, missing || !known);
                }
                Slot::Nominal(table) => {
                    codes[n_codes] = layout.nominal[table].code(value);
                    missing |= codes[n_codes] == MISSING;
                    n_codes += 1;
                }
            }
        }
        for padding in column..layout.n_columns {
            panels[padding / (V * LANES)].0[padding % (V * LANES)] = 0.0;
        }
        self.has_missing[i % BLOCK] = missing;
    }

    /// Returns whether no value of the block is missing; also false if there are nominal attributes, which are not
    /// checked.
    #[inline(always)]
    pub fn are_complete(&self) -> bool {
        (self.n_nominal == 0) & (self.zeros == F64x4::ZERO)
    }

    /// Returns a row.
    #[inline(always)]
    pub fn row(&self, i: usize) -> Row<'_, V> {
        Row { rows: self, i }
    }

    /// Returns the panels of all rows; one per row if rows are short.
    #[inline(always)]
    pub fn panels(&self) -> &[RowPanel] {
        &self.panels
    }

    /// Returns which rows have missing values; `None` if no row has any.
    #[inline(always)]
    pub fn missing_rows(&self) -> Option<&[bool; BLOCK]> {
        if self.are_complete() { None } else { Some(&self.has_missing) }
    }

    /// Returns the number of panels per row, known to the compiler if rows are short.
    #[inline(always)]
    fn n_panels(&self) -> usize {
        if V < MAX_VECTORS { 1 } else { self.n_panels }
    }

    /// Returns the heap size in bytes.
    pub fn n_bytes(&self) -> usize {
        self.panels.capacity() * size_of::<RowPanel>()
            + self.codes.capacity() * size_of::<u32>()
            + self.masks.capacity() * size_of::<[Mask; V]>()
    }
}

/// Copies rows that fill one panel, padded with 0; returns the sum of 0 times each value, which is NaN unless all are
/// finite.
#[inline(always)]
fn copy_short_rows<const V: usize>(panels: &mut [RowPanel], masks: &[Mask; V], x: &[f64], d: usize) -> F64x4 {
    let mut zeros = [F64x4::ZERO; V];
    let (mut rest, d) = (x, d.clamp(1, V * LANES));
    let mut panels = panels.iter_mut();
    // A row is followed by the next one, which the masks clear, except at the end of the batch.
    while let Some(vectors) = rest.as_chunks::<LANES>().0.first_chunk::<V>() {
        let Some(panel) = panels.next() else { break };
        zeros = copy_panel(panel, masks, vectors, zeros);
        rest = &rest[d..];
    }
    for (panel, x) in panels.zip(rest.chunks(d)) {
        zeros = copy_last_panel(panel, masks, x, zeros);
    }
    zeros.into_iter().fold(F64x4::ZERO, F64x4::add)
}

/// Does the same for rows of any length.
#[inline(always)]
fn copy_long_rows<const V: usize>(panels: &mut [RowPanel], masks: &[[Mask; V]], x: &[f64], d: usize) -> F64x4 {
    let mut zeros = [F64x4::ZERO; V];
    for (i, panels) in panels.chunks_exact_mut(masks.len()).enumerate() {
        for (j, (panel, masks)) in panels.iter_mut().zip(masks).enumerate() {
            let rest = &x[i * d + j * V * LANES..];
            zeros = match rest.as_chunks::<LANES>().0.first_chunk::<V>() {
                Some(vectors) => copy_panel(panel, masks, vectors, zeros),
                None => copy_last_panel(panel, masks, rest, zeros),
            };
        }
    }
    zeros.into_iter().fold(F64x4::ZERO, F64x4::add)
}

/// Copies the numbers of a row that fill one panel, and adds 0 times each to one sum per vector: a single sum would be
/// a long chain of additions.
#[inline(always)]
fn copy_panel<const V: usize>(
    panel: &mut RowPanel,
    masks: &[Mask; V],
    vectors: &[[f64; LANES]; V],
    mut zeros: [F64x4; V],
) -> [F64x4; V] {
    for v in 0..V {
        let vector = F64x4(vectors[v]).masked(&masks[v]);
        *panel.vector_mut(v) = vector.0;
        zeros[v] = vector.mul_add(F64x4::ZERO, zeros[v]);
    }
    zeros
}

/// Does the same for the end of the batch, which is shorter than a panel.
#[cold]
#[inline(never)]
fn copy_last_panel<const V: usize>(
    panel: &mut RowPanel,
    masks: &[Mask; V],
    x: &[f64],
    zeros: [F64x4; V],
) -> [F64x4; V] {
    let mut padded = [[0.0; LANES]; V];
    for (number, &value) in padded.as_flattened_mut().iter_mut().zip(x) {
        *number = value;
    }
    copy_panel(panel, masks, &padded, zeros)
}

#[cfg(test)]
mod tests;
