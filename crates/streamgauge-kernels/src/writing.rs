//! Rows as text: each number is the shortest decimal that reads back as the same float.

use crate::KernelError;
use crate::error::check_length;

/// The position of the weight of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WeightStyle {
    /// No weight.
    None,
    /// At the end of the row, in braces, if it has one.
    Braces,
    /// In a separate column, before the class.
    Column,
}

/// The format of rows as lines of text.
#[derive(Debug, Clone)]
pub struct Writing {
    /// The separator of values.
    pub separator: u8,
    /// The quoted names of the nominal values of each attribute; None if it is numeric.
    pub values: Vec<Option<Vec<Vec<u8>>>>,
    /// The quoted names of the classes.
    pub classes: Vec<Vec<u8>>,
    /// The position of the weight.
    pub weight: WeightStyle,
}

impl Writing {
    /// Formats rows as lines; `x` has one value for each attribute of each row.
    ///
    /// # Errors
    /// Returns [`KernelError::Shape`] if columns do not fit, [`KernelError::Value`] or [`KernelError::Label`] for a
    /// code that has no name.
    pub fn lines(&self, x: &[f64], y: &[i32], weight: Option<&[f64]>) -> Result<Vec<u8>, KernelError> {
        let d = self.values.len();
        check_length("x", x.len(), y.len() * d)?;
        if let Some(weight) = weight {
            check_length("weight", weight.len(), y.len())?;
        }
        let mut text = Vec::with_capacity(y.len() * (d + 1) * 8);
        let mut digits = zmij::Buffer::new();
        for (row, &label) in y.iter().enumerate() {
            for (attribute, (&value, names)) in x[row * d..(row + 1) * d].iter().zip(&self.values).enumerate() {
                match names {
                    _ if value.is_nan() => text.push(b'?'),
                    None if value.is_finite() => push_number(&mut text, &mut digits, value),
                    None => {
                        let reason = format!("{value} is not a finite number and cannot be written to a text file");
                        return Err(KernelError::Value { row, attribute, reason });
                    }
                    Some(names) => {
                        text.extend_from_slice(find_name(names, value).ok_or_else(|| KernelError::Value {
                            row,
                            attribute,
                            reason: format!("{value} is not the code of a nominal value; there are {}", names.len()),
                        })?);
                    }
                }
                text.push(self.separator);
            }
            if self.weight == WeightStyle::Column {
                push_number(&mut text, &mut digits, weight.map_or(1.0, |weight| weight[row]));
                text.push(self.separator);
            }
            match usize::try_from(label).ok().map(|code| self.classes.get(code)) {
                None => text.push(b'?'),
                Some(Some(name)) => text.extend_from_slice(name),
                Some(None) => {
                    return Err(KernelError::Label { row, label, n_classes: self.classes.len() });
                }
            }
            if let (WeightStyle::Braces, Some(weight)) = (self.weight, weight) {
                text.extend_from_slice(&[self.separator, b'{']);
                push_number(&mut text, &mut digits, weight[row]);
                text.push(b'}');
            }
            text.push(b'\n');
        }
        Ok(text)
    }
}

fn find_name(names: &[Vec<u8>], code: f64) -> Option<&[u8]> {
    if code < 0.0 || code.fract() != 0.0 {
        return None;
    }
    names.get(code as usize).map(Vec::as_slice)
}

/// Appends the shortest text of a number, without a trailing `.0`.
fn push_number(text: &mut Vec<u8>, digits: &mut zmij::Buffer, value: f64) {
    let shortest = digits.format(value).as_bytes();
    text.extend_from_slice(shortest.strip_suffix(b".0").unwrap_or(shortest));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::randomness::{Draws, Purpose};

    fn writing(weight: WeightStyle) -> Writing {
        let names = vec![b"red".to_vec(), b"'dark blue'".to_vec()];
        Writing {
            separator: b',',
            values: vec![None, Some(names)],
            classes: vec![b"no".to_vec(), b"yes".to_vec()],
            weight,
        }
    }

    #[test]
    fn rows_are_written() {
        let x = [1.0, 0.0, -0.25, 1.0, f64::NAN, f64::NAN];
        let text = writing(WeightStyle::None).lines(&x, &[0, 1, -1], None).unwrap();
        assert_eq!(text, b"1,red,no\n-0.25,'dark blue',yes\n?,?,?\n");
        let text = writing(WeightStyle::Braces).lines(&x[..2], &[0], Some(&[0.5])).unwrap();
        assert_eq!(text, b"1,red,no,{0.5}\n");
        let text = writing(WeightStyle::Column).lines(&x[..2], &[0], Some(&[2.0])).unwrap();
        assert_eq!(text, b"1,red,2,no\n");
    }

    #[test]
    fn codes_without_a_name_are_refused() {
        let writing = writing(WeightStyle::None);
        assert!(writing.lines(&[1.0, 2.0], &[0], None).is_err());
        assert!(writing.lines(&[1.0, 0.5], &[0], None).is_err());
        assert!(writing.lines(&[1.0, 1.0], &[2], None).is_err());
        assert!(writing.lines(&[f64::INFINITY, 1.0], &[1], None).is_err());
        assert!(writing.lines(&[1.0], &[0], None).is_err());
    }

    #[test]
    fn any_number_reads_back_as_itself() {
        let draws = Draws::new(1, Purpose::named("numbers"), 0);
        let mut digits = zmij::Buffer::new();
        let fixed = [0.0, -0.0, 1e300, 1e-300, 5e-324, f64::MAX, 123_456_789_012_345_680.0, 0.1 + 0.2, 1e16, 1e15];
        let random = (0..100_000).map(|row| f64::from_bits(draws.at(row))).filter(|value| value.is_finite());
        for value in random.chain(fixed) {
            let mut text = Vec::new();
            push_number(&mut text, &mut digits, value);
            let read: f64 = std::str::from_utf8(&text).unwrap().parse().unwrap();
            assert_eq!(read.to_bits(), value.to_bits());
        }
    }
}
