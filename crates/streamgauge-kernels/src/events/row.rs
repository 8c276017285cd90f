//! The row of one event, built field by field.

use std::borrow::Cow;
use std::fmt;

use super::{Field, FieldRole, Fields};
use crate::text::{TimeFormat, join_first, parse_number, quote_excerpt};

/// The class of a row whose class is not known.
const UNLABELLED: i32 = -1;

/// The value of a field.
#[derive(Debug, Clone, PartialEq)]
pub enum Value<'a> {
    /// No value.
    Missing,
    /// A truth value.
    Truth(bool),
    /// A whole number.
    Whole(i128),
    /// A number.
    Number(f64),
    /// A time that is typed as such, in seconds since 1970-01-01 UTC.
    Time(f64),
    /// A text.
    Text(Cow<'a, str>),
}

impl fmt::Display for Value<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => write!(out, "nothing"),
            Self::Truth(truth) => write!(out, "{truth}"),
            Self::Whole(whole) => write!(out, "{whole}"),
            Self::Number(number) | Self::Time(number) => write!(out, "{number}"),
            Self::Text(text) => write!(out, "{}", quote_excerpt(text)),
        }
    }
}

/// The row of one event.
#[derive(Debug, Clone)]
pub struct Row {
    /// Values of the attributes; NaN if one is missing.
    pub x: Vec<f64>,
    /// The code of the class; -1 if it is not known.
    pub y: i32,
    /// The weight.
    pub weight: f64,
    /// The time; NaN if it is missing.
    pub time: f64,
    /// The key.
    pub key: Vec<u8>,
    seen: Vec<bool>,
    n_seen: usize,
}

impl Row {
    /// Creates a row without values.
    #[must_use]
    pub fn new(fields: &Fields) -> Self {
        let mut row = Self {
            x: vec![f64::NAN; fields.n_attributes],
            y: UNLABELLED,
            weight: 1.0,
            time: f64::NAN,
            key: Vec::new(),
            seen: vec![false; fields.list.len()],
            n_seen: 0,
        };
        row.clear();
        row
    }

    /// Removes all values.
    pub fn clear(&mut self) {
        self.x.fill(f64::NAN);
        self.seen.fill(false);
        self.key.clear();
        (self.y, self.weight, self.time, self.n_seen) = (UNLABELLED, 1.0, f64::NAN, 0);
    }

    /// Stores the value of a field.
    ///
    /// # Errors
    /// Returns the reason if the value is invalid.
    pub fn set(&mut self, fields: &Fields, index: usize, value: &Value<'_>) -> Result<(), String> {
        let field = &fields.list[index];
        if self.seen[index] {
            return Err(format!("{} occurs twice", describe(field)));
        }
        if *value == Value::Missing {
            return Ok(());
        }
        self.store(field, fields.slots[index], value, &fields.time_format)
            .map_err(|reason| format!("{}: {reason}", describe(field)))?;
        self.seen[index] = true;
        self.n_seen += 1;
        Ok(())
    }

    fn store(&mut self, field: &Field, slot: usize, value: &Value<'_>, times: &TimeFormat) -> Result<(), String> {
        match field.role {
            FieldRole::Attribute => self.x[slot] = encode(field, value)?,
            FieldRole::Class => self.y = encode(field, value)? as i32,
            FieldRole::Time => self.time = parse_time(value, times)?,
            FieldRole::Weight => {
                self.weight = parse_finite(value)?;
                if self.weight < 0.0 {
                    return Err(format!("{} is below 0", self.weight));
                }
            }
            FieldRole::Key => match value {
                Value::Text(text) => self.key.extend_from_slice(text.as_bytes()),
                other => self.key.extend_from_slice(other.to_string().as_bytes()),
            },
        }
        Ok(())
    }

    /// Checks that no required field is missing.
    ///
    /// # Errors
    /// Returns the missing field.
    pub fn check(&self, fields: &Fields) -> Result<(), String> {
        if self.n_seen == self.seen.len() {
            return Ok(());
        }
        match fields.list.iter().zip(&self.seen).find(|(field, seen)| !**seen && !field.missing) {
            Some((field, _)) => Err(format!("{} is missing", describe(field))),
            None => Ok(()),
        }
    }
}

fn describe(field: &Field) -> String {
    let word = match field.role {
        FieldRole::Attribute => "attribute",
        FieldRole::Class => "class",
        FieldRole::Weight => "weight",
        FieldRole::Time => "time",
        FieldRole::Key => "key",
    };
    format!("{word} '{}'", field.name)
}

fn encode(field: &Field, value: &Value<'_>) -> Result<f64, String> {
    let Some(names) = &field.names else { return parse_finite(value) };
    let code = match value {
        Value::Text(text) => names.find(text),
        other => names.find(&other.to_string()),
    };
    code.map(f64::from).ok_or_else(|| {
        let known = join_first(names.as_slice().iter().map(String::as_str));
        format!("{value} is not one of its values ({known})")
    })
}

fn parse_finite(value: &Value<'_>) -> Result<f64, String> {
    match value {
        Value::Truth(truth) => Ok(f64::from(u8::from(*truth))),
        Value::Whole(whole) => Ok(*whole as f64),
        Value::Number(number) | Value::Time(number) if number.is_finite() => Ok(*number),
        Value::Text(text) => parse_number(text.trim()),
        other => Err(format!("{other} is not a finite number")),
    }
}

/// Returns a time in seconds since 1970-01-01 UTC.
fn parse_time(value: &Value<'_>, format: &TimeFormat) -> Result<f64, String> {
    let text = match value {
        Value::Time(seconds) => return Ok(*seconds),
        Value::Number(number) if !number.is_finite() => return Err(format!("{number} is not a time")),
        Value::Number(number) if *format == TimeFormat::Recognised && is_plainly_seconds(*number) => {
            return Ok(*number);
        }
        Value::Whole(_) | Value::Number(_) => Cow::Owned(value.to_string()),
        Value::Text(text) => Cow::Borrowed(text.trim()),
        Value::Truth(_) | Value::Missing => return Err(format!("{value} is not a time")),
    };
    format.parse(&text).map(|time| time.seconds)
}

/// Returns whether a number is neither a date of eight digits nor too large for seconds.
fn is_plainly_seconds(number: f64) -> bool {
    (1e8..1e11).contains(&number)
}
