//! One event, field by field.

use std::borrow::Cow;
use std::fmt;

use super::{Field, Fields, Use};
use crate::text::{listed, number, shown};

/// The class of a row whose class is not known.
const UNLABELLED: i32 = -1;

/// What a field holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Value<'a> {
    /// Nothing.
    Missing,
    /// A truth value.
    Truth(bool),
    /// A whole number.
    Whole(i128),
    /// A number.
    Number(f64),
    /// A text.
    Text(Cow<'a, str>),
}

impl fmt::Display for Value<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => write!(out, "nothing"),
            Self::Truth(truth) => write!(out, "{truth}"),
            Self::Whole(whole) => write!(out, "{whole}"),
            Self::Number(number) => write!(out, "{number}"),
            Self::Text(text) => write!(out, "{}", shown(text)),
        }
    }
}

/// The row of one event.
#[derive(Debug, Clone)]
pub struct Row {
    /// Values of the attributes; NaN where one is missing.
    pub x: Vec<f64>,
    /// The code of the class; -1 where it is not known.
    pub y: i32,
    /// The weight.
    pub weight: f64,
    /// The time; NaN where it is missing.
    pub time: f64,
    /// The key.
    pub key: Vec<u8>,
    seen: Vec<bool>,
    n_seen: usize,
}

impl Row {
    /// A row without any value.
    #[must_use]
    pub fn new(fields: &Fields) -> Self {
        let mut row = Self {
            x: vec![f64::NAN; fields.n_attributes],
            y: UNLABELLED,
            weight: 1.0,
            time: f64::NAN,
            key: Vec::new(),
            seen: vec![false; fields.all.len()],
            n_seen: 0,
        };
        row.clear();
        row
    }

    /// Forget all values.
    pub fn clear(&mut self) {
        self.x.fill(f64::NAN);
        self.seen.fill(false);
        self.key.clear();
        (self.y, self.weight, self.time, self.n_seen) = (UNLABELLED, 1.0, f64::NAN, 0);
    }

    /// Put the value of a field where it belongs.
    ///
    /// # Errors
    /// Why it has no place there.
    pub fn set(&mut self, fields: &Fields, place: usize, value: &Value<'_>) -> Result<(), String> {
        let field = &fields.all[place];
        if self.seen[place] {
            return Err(format!("{} is there twice", label(field)));
        }
        if *value == Value::Missing {
            return Ok(());
        }
        self.store(field, fields.slots[place], value).map_err(|why| format!("{}: {why}", label(field)))?;
        self.seen[place] = true;
        self.n_seen += 1;
        Ok(())
    }

    fn store(&mut self, field: &Field, slot: usize, value: &Value<'_>) -> Result<(), String> {
        match field.what {
            Use::Attribute => self.x[slot] = code_or_number(field, value)?,
            Use::Class => self.y = code_or_number(field, value)? as i32,
            Use::Time => self.time = finite(value)?,
            Use::Weight => {
                self.weight = finite(value)?;
                if self.weight < 0.0 {
                    return Err(format!("{} is below 0", self.weight));
                }
            }
            Use::Key => match value {
                Value::Text(text) => self.key.extend_from_slice(text.as_bytes()),
                other => self.key.extend_from_slice(other.to_string().as_bytes()),
            },
        }
        Ok(())
    }

    /// Check that nothing is missing that must be there.
    ///
    /// # Errors
    /// What is missing.
    pub fn check(&self, fields: &Fields) -> Result<(), String> {
        if self.n_seen == self.seen.len() {
            return Ok(());
        }
        match fields.all.iter().zip(&self.seen).find(|(field, seen)| !**seen && !field.missing) {
            Some((field, _)) => Err(format!("{} is missing", label(field))),
            None => Ok(()),
        }
    }
}

fn label(field: &Field) -> String {
    let word = match field.what {
        Use::Attribute => "attribute",
        Use::Class => "class",
        Use::Weight => "weight",
        Use::Time => "time",
        Use::Key => "key",
    };
    format!("{word} '{}'", field.name)
}

fn code_or_number(field: &Field, value: &Value<'_>) -> Result<f64, String> {
    let Some(names) = &field.names else { return finite(value) };
    let code = match value {
        Value::Text(text) => names.find(text),
        other => names.find(&other.to_string()),
    };
    code.map(f64::from).ok_or_else(|| {
        let known = listed(names.as_slice().iter().map(String::as_str));
        format!("{value} is not one of its values ({known})")
    })
}

fn finite(value: &Value<'_>) -> Result<f64, String> {
    match value {
        Value::Truth(truth) => Ok(f64::from(u8::from(*truth))),
        Value::Whole(whole) => Ok(*whole as f64),
        Value::Number(number) if number.is_finite() => Ok(*number),
        Value::Text(text) => number(text.trim()),
        other => Err(format!("{other} is not a finite number")),
    }
}
