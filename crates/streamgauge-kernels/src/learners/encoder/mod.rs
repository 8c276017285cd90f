//! Encoding of rows for learners that need plain numbers: gaps are filled, nominal values become numbers, and numbers
//! are standardised.
//!
//! A row is encoded with the statistics of the rows learnt before it. The columns of an encoded row are those of the
//! attributes in their order, then the buckets of hashed values, then the indicators of missing values.

use std::ops::Range;

use super::f64x4::{F64x4, LANES};
use super::moments::{LIMIT, Moments, load_vectors, save_vectors};
use super::{UNLABELLED, check_weights};
use crate::codec::{Reader, Writer};
use crate::error::check_length;
use crate::{KernelError, dispatch};
use feature_hash::find_bucket;

mod feature_hash;

/// How the nominal values of a row are encoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NominalEncoding {
    /// A column per attribute: the code.
    Codes,
    /// A column per value: 1 for the value of the row, else 0.
    OneHot,
    /// Columns that the values of all attributes share: 1 or -1 in the column of the value of the row, added up.
    Hashed {
        /// The number of columns.
        n_buckets: u32,
        /// A name for each nominal value of each attribute, to be hashed.
        names: Vec<String>,
    },
}

/// The options of an encoder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EncoderOptions {
    /// How nominal values are encoded.
    pub nominal: NominalEncoding,
    /// Whether missing values are replaced: numbers by their mean, nominal values by the most frequent one.
    pub impute: bool,
    /// Whether numbers are standardised by their mean and deviation.
    pub standardise: bool,
    /// The attributes that get a column that is 1 if the value is missing, else 0.
    pub indicated: Vec<bool>,
}

/// Encodes rows, and keeps the statistics for it.
#[derive(Debug, Clone)]
pub struct Encoder {
    n_attributes: usize,
    n_columns: usize,
    impute: bool,
    standardise: bool,
    /// The numeric attributes.
    runs: Vec<Run>,
    moments: Vec<Moments>,
    /// The number of rows in which each number was known.
    n_known: Vec<F64x4>,
    nominal: Vec<Nominal>,
    /// Where each nominal value is encoded; empty if codes are.
    marks: Vec<Mark>,
    /// The weight of each nominal value.
    counts: Vec<f64>,
    indicators: Vec<Indicator>,
}

/// Consecutive numeric attributes, in consecutive columns.
#[derive(Debug, Clone, Copy)]
struct Run {
    attribute: usize,
    column: usize,
    /// The index of its first attribute among the numeric ones.
    start: usize,
    length: usize,
}

/// The numbers of a row in vectors; 0 in the rest of the last one.
struct Numbers {
    /// As in the row; NaN for what is not finite.
    raw: Vec<f64>,
    encoded: Vec<f64>,
}

/// A nominal attribute.
#[derive(Debug, Clone, Copy)]
struct Nominal {
    attribute: usize,
    /// The column of its code.
    column: usize,
    n_values: u32,
    /// The index of its first value among those of all attributes.
    start: usize,
    /// The value with the greatest weight, the first of equals.
    mode: usize,
}

/// The column of a nominal value, and what is added there.
#[derive(Debug, Clone, Copy)]
struct Mark {
    column: u32,
    amount: f32,
}

/// The column that is 1 if a value is missing.
#[derive(Debug, Clone, Copy)]
struct Indicator {
    attribute: usize,
    column: usize,
    n_values: u32,
}

/// Returns whether a value is known: a number that is finite, or one of the nominal values of its attribute.
#[inline(always)]
fn is_known(value: f64, n_values: u32) -> bool {
    if n_values == 0 { value.is_finite() } else { value >= 0.0 && value < f64::from(n_values) }
}

impl Nominal {
    /// Returns where its values are among those of all attributes.
    #[inline(always)]
    fn values(&self) -> Range<usize> {
        self.start..self.start + self.n_values as usize
    }

    /// Returns the value in a row, if it is known.
    #[inline(always)]
    fn find(&self, x: &[f64]) -> Option<usize> {
        let value = x[self.attribute];
        is_known(value, self.n_values).then_some(value as usize)
    }
}

impl Numbers {
    fn new(n_vectors: usize) -> Self {
        Self { raw: vec![0.0; n_vectors * LANES], encoded: vec![0.0; n_vectors * LANES] }
    }
}

impl Encoder {
    /// Creates an encoder that has learnt nothing. An attribute has the given number of nominal values, 0 for numbers.
    ///
    /// # Errors
    /// [`KernelError::Shape`] if a column of the options does not have the length that the attributes need.
    pub fn new(n_values: &[u32], options: &EncoderOptions) -> Result<Self, KernelError> {
        check_length("indicated", options.indicated.len(), n_values.len())?;
        let n_nominal_values = n_values.iter().map(|&n| n as usize).sum();
        let (mut runs, mut nominal, mut marks): (Vec<Run>, Vec<_>, Vec<_>) = (vec![], vec![], vec![]);
        let (mut n_numeric, mut column, mut start) = (0, 0, 0);
        for (attribute, &n) in n_values.iter().enumerate() {
            if n == 0 {
                match runs.last_mut() {
                    Some(run) if run.attribute + run.length == attribute => run.length += 1,
                    _ => runs.push(Run { attribute, column, start: n_numeric, length: 1 }),
                }
                n_numeric += 1;
                column += 1;
                continue;
            }
            nominal.push(Nominal { attribute, column, n_values: n, start, mode: 0 });
            start += n as usize;
            match options.nominal {
                NominalEncoding::Codes => column += 1,
                NominalEncoding::OneHot => {
                    marks.extend((0..n).map(|value| Mark { column: column as u32 + value, amount: 1.0 }));
                    column += n as usize;
                }
                NominalEncoding::Hashed { .. } => {}
            }
        }
        if let NominalEncoding::Hashed { n_buckets, names } = &options.nominal {
            check_length("names", names.len(), n_nominal_values)?;
            check_length("buckets", (*n_buckets).min(1) as usize, 1)?;
            marks.extend(names.iter().map(|name| {
                let (bucket, amount) = find_bucket(name, *n_buckets);
                Mark { column: column as u32 + bucket, amount }
            }));
            column += *n_buckets as usize;
        }
        let indicated = options.indicated.iter().enumerate().filter(|(_, indicated)| **indicated);
        let indicators: Vec<_> = indicated
            .zip(column..)
            .map(|((attribute, _), column)| Indicator { attribute, column, n_values: n_values[attribute] })
            .collect();
        let n_vectors = n_numeric.div_ceil(LANES);
        Ok(Self {
            n_attributes: n_values.len(),
            n_columns: column + indicators.len(),
            impute: options.impute,
            standardise: options.standardise,
            runs,
            moments: vec![Moments::default(); n_vectors],
            n_known: vec![F64x4::ZERO; n_vectors],
            nominal,
            marks,
            counts: vec![0.0; n_nominal_values],
            indicators,
        })
    }

    /// Returns the number of columns of an encoded row.
    #[must_use]
    pub fn n_columns(&self) -> usize {
        self.n_columns
    }

    /// Encodes rows by what has been learnt.
    ///
    /// # Errors
    /// [`KernelError::Shape`] if the number of values does not match the number of rows.
    pub fn encode(&self, x: &[f64], n_rows: usize) -> Result<Vec<f64>, KernelError> {
        let (d, width) = (self.n_attributes, self.n_columns);
        check_length("x", x.len(), n_rows * d)?;
        let mut encoded = vec![0.0; n_rows * width];
        let mut numbers = Numbers::new(self.moments.len());
        dispatch::run(
            #[inline(always)]
            || {
                for i in 0..n_rows {
                    self.encode_row(&x[i * d..(i + 1) * d], &mut numbers, &mut encoded[i * width..(i + 1) * width]);
                }
            },
        );
        Ok(encoded)
    }

    /// Encodes each row by what was learnt before it, then learns it if it has a label, or if `unlabelled` is set.
    ///
    /// # Errors
    /// [`KernelError::Shape`] or [`KernelError::Weight`] if the columns do not match, or a weight cannot be learnt.
    pub fn learn(
        &mut self,
        x: &[f64],
        y: &[i32],
        weight: Option<&[f64]>,
        unlabelled: bool,
    ) -> Result<Vec<f64>, KernelError> {
        let (d, width) = (self.n_attributes, self.n_columns);
        check_length("x", x.len(), y.len() * d)?;
        weight.map_or(Ok(()), |weight| check_weights(weight, y.len()))?;
        let mut encoded = vec![0.0; y.len() * width];
        let mut numbers = Numbers::new(self.moments.len());
        dispatch::run(
            #[inline(always)]
            || {
                for (i, &label) in y.iter().enumerate() {
                    let row = &x[i * d..(i + 1) * d];
                    self.encode_row(row, &mut numbers, &mut encoded[i * width..(i + 1) * width]);
                    let weight = weight.map_or(1.0, |weight| weight[i]);
                    if weight > 0.0 && (unlabelled || label != UNLABELLED) {
                        self.observe(row, &numbers, weight.min(LIMIT));
                    }
                }
            },
        );
        Ok(encoded)
    }

    /// Writes an encoded row over zeros.
    #[inline(always)]
    fn encode_row(&self, x: &[f64], numbers: &mut Numbers, encoded: &mut [f64]) {
        for run in &self.runs {
            let values = &x[run.attribute..run.attribute + run.length];
            numbers.raw[run.start..run.start + run.length].copy_from_slice(values);
        }
        let (raw, out) = (numbers.raw.as_chunks_mut().0, numbers.encoded.as_chunks_mut().0);
        for ((raw, out), (moments, &n_known)) in raw.iter_mut().zip(out).zip(self.moments.iter().zip(&self.n_known)) {
            let known = F64x4(*raw).map(|number| if number.is_finite() { number } else { f64::NAN });
            let filled = if self.impute { moments.fill(known) } else { known };
            *raw = known.0;
            *out = if self.standardise { standardise(filled, moments, n_known).0 } else { filled.0 };
        }
        for run in &self.runs {
            let values = &numbers.encoded[run.start..run.start + run.length];
            encoded[run.column..run.column + run.length].copy_from_slice(values);
        }
        for nominal in &self.nominal {
            let value = nominal.find(x).or(self.impute.then_some(nominal.mode));
            if self.marks.is_empty() {
                encoded[nominal.column] = value.map_or(f64::NAN, |value| value as f64);
            } else if let Some(value) = value {
                let mark = self.marks[nominal.start + value];
                encoded[mark.column as usize] += f64::from(mark.amount);
            }
        }
        for indicator in &self.indicators {
            let is_known = is_known(x[indicator.attribute], indicator.n_values);
            encoded[indicator.column] = if is_known { 0.0 } else { 1.0 };
        }
    }

    /// Updates the statistics with a row and its numbers.
    #[inline(always)]
    fn observe(&mut self, x: &[f64], numbers: &Numbers, weight: f64) {
        let raw = numbers.raw.as_chunks().0.iter();
        for (&raw, (moments, n_known)) in raw.zip(self.moments.iter_mut().zip(&mut self.n_known)) {
            let raw = F64x4(raw);
            moments.observe(raw.map(clamp), weight);
            *n_known = *n_known + raw.map(|number| if number.is_nan() { 0.0 } else { 1.0 });
        }
        for nominal in &mut self.nominal {
            if let Some(value) = nominal.find(x) {
                let counts = &mut self.counts[nominal.values()];
                counts[value] += weight;
                let most = counts[nominal.mode];
                if counts[value] > most || (counts[value] == most && value < nominal.mode) {
                    nominal.mode = value;
                }
            }
        }
    }

    /// Returns the bytes it holds, on the heap and off it.
    #[must_use]
    pub fn n_bytes(&self) -> usize {
        size_of::<Self>()
            + self.runs.capacity() * size_of::<Run>()
            + self.moments.capacity() * size_of::<Moments>()
            + self.n_known.capacity() * size_of::<F64x4>()
            + self.nominal.capacity() * size_of::<Nominal>()
            + self.marks.capacity() * size_of::<Mark>()
            + self.counts.capacity() * size_of::<f64>()
            + self.indicators.capacity() * size_of::<Indicator>()
    }

    /// Returns its state; an encoder with the same options continues from it bit for bit.
    #[must_use]
    pub fn save(&self) -> Vec<u8> {
        let mut writer = Writer::new("Encoder", 1);
        writer.u64(self.n_columns as u64);
        Moments::save_all(&self.moments, &mut writer);
        save_vectors(&mut writer, &self.n_known);
        writer.f64s(&self.counts);
        writer.finish()
    }

    /// Restores a saved state.
    ///
    /// # Errors
    /// [`KernelError::Saved`] if the bytes are damaged or of an encoder with other options; it is then unchanged.
    pub fn load(&mut self, bytes: &[u8]) -> Result<(), KernelError> {
        let mut loaded = self.clone();
        let mut reader = Reader::new("Encoder", 1, bytes)?;
        if reader.usize()? != self.n_columns {
            return Err(reader.error("it has another number of columns"));
        }
        Moments::load_all(&mut loaded.moments, &mut reader)?;
        load_vectors(&mut reader, &mut loaded.n_known)?;
        reader.f64s_into(&mut loaded.counts)?;
        reader.finish()?;
        for nominal in &mut loaded.nominal {
            nominal.mode = find_mode(&loaded.counts[nominal.values()]);
        }
        *self = loaded;
        Ok(())
    }
}

/// Returns numbers in deviations from their mean, 0 while they have been the same in all rows.
///
/// Among n + 1 numbers, none is further than the root of n from their mean. A number that is compared with the n before
/// it could be at any distance, if these are close to each other, so it is limited to the same.
#[inline(always)]
fn standardise(numbers: F64x4, moments: &Moments, n_known: F64x4) -> F64x4 {
    let scaled = (numbers.map(clamp) - moments.mean) * moments.scale;
    let beyond = scaled.zip(n_known, |scaled, n_known| if scaled * scaled > n_known { 1.0 } else { 0.0 });
    if beyond.sum() == 0.0 {
        return scaled; // which saves four roots
    }
    scaled.zip(n_known, |scaled, n| if scaled * scaled > n { n.sqrt().copysign(scaled) } else { scaled })
}

/// Clamps a number, so that no sum or product overflows; NaN stays NaN.
#[inline(always)]
fn clamp(number: f64) -> f64 {
    number.clamp(-LIMIT, LIMIT)
}

/// Returns the index of the greatest count, the first of equals.
fn find_mode(counts: &[f64]) -> usize {
    let mut mode = 0;
    for (value, &count) in counts.iter().enumerate() {
        if count > counts[mode] {
            mode = value;
        }
    }
    mode
}

#[cfg(test)]
mod tests {
    use super::*;

    const GAP: f64 = f64::NAN;

    fn build(nominal: NominalEncoding, standardise: bool) -> Encoder {
        let options = EncoderOptions { nominal, impute: true, standardise, indicated: vec![true, false, false] };
        Encoder::new(&[0, 3, 0], &options).unwrap()
    }

    #[test]
    fn a_row_is_encoded_by_the_rows_learnt_before_it() {
        let mut encoder = build(NominalEncoding::OneHot, true);
        let x = [1.0, 2.0, 5.0, 3.0, GAP, GAP, GAP, 1.0, 5.0, 100.0, 1.0, 7.0];
        let encoded = encoder.learn(&x, &[0, 1, UNLABELLED, 1], Some(&[1.0, 3.0, 1.0, 0.0]), false).unwrap();
        // Of 1, 3, 3, 3: mean 2.5, variance 0.75; 100 is limited to the root of 2 rows. The third column is constant.
        let expected = [
            [0.0, 0.0, 0.0, 1.0, 0.0, 0.0],
            [0.0, 0.0, 0.0, 1.0, 0.0, 0.0],
            [0.0, 0.0, 1.0, 0.0, 0.0, 1.0],
            [2.0_f64.sqrt(), 0.0, 1.0, 0.0, 0.0, 0.0],
        ];
        assert_eq!(encoded, expected.concat());
        let next = encoder.encode(&[2.5 + 0.75_f64.sqrt(), GAP, GAP], 1).unwrap();
        assert!((next[0] - 1.0).abs() < 1e-15);
        assert_eq!(next[1..], [0.0, 0.0, 1.0, 0.0, 0.0]);
    }

    #[test]
    fn codes_are_filled_by_the_first_of_the_most_frequent_values() {
        let mut encoder = build(NominalEncoding::Codes, false);
        let x = [GAP, GAP, 1e200, 4.0, 2.0, GAP, GAP, 1.0, 8.0, 6.0, GAP, GAP];
        let encoded = encoder.learn(&x[..3], &[UNLABELLED], None, false).unwrap();
        assert_eq!(encoded, [0.0, 0.0, 1e200, 1.0]);
        let encoded = encoder.learn(&x[3..], &[0; 3], None, false).unwrap();
        assert_eq!(encoded, [[4.0, 2.0, 0.0, 0.0], [4.0, 1.0, 8.0, 1.0], [6.0, 1.0, 8.0, 0.0]].concat());
    }

    #[test]
    fn hashed_values_share_columns() {
        let names = ["a=x", "a=y", "a=z"].map(String::from).to_vec();
        let encoder = build(NominalEncoding::Hashed { n_buckets: 1, names }, false);
        assert_eq!(encoder.n_columns(), 4);
        for value in 0..3 {
            let encoded = encoder.encode(&[8.0, f64::from(value), 9.0], 1).unwrap();
            assert_eq!((encoded[0], encoded[1], encoded[2].abs(), encoded[3]), (8.0, 9.0, 1.0, 0.0));
        }
    }

    #[test]
    fn a_saved_state_continues_the_same_and_others_are_refused() {
        let mut encoder = build(NominalEncoding::OneHot, true);
        let x = [1.0, 2.0, 5.0, 3.0, GAP, GAP, GAP, 2.0, 6.0];
        encoder.learn(&x, &[0, 1, 1], None, false).unwrap();
        let state = encoder.save();
        let mut second = build(NominalEncoding::OneHot, true);
        second.load(&state).unwrap();
        assert_eq!(second.learn(&x, &[0, 1, 1], None, false), encoder.learn(&x, &[0, 1, 1], None, false));
        assert!(second.load(&state[..state.len() - 1]).is_err());
        assert!(build(NominalEncoding::Codes, true).load(&state).is_err());
        assert!(encoder.encode(&x, 2).is_err());
    }
}
