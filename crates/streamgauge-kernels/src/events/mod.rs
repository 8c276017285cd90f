//! Decoding of events from a broker, a socket or a growing file into rows, many at a time.
//!
//! Every event is decoded independently. An invalid one becomes a [`Fault`] with the reason and does not affect the
//! others: [`Decoder::decode`] never fails and never panics, for any bytes.

mod avro;
mod csv;
mod json;
mod row;

use crate::KernelError;
use crate::error::check_length;
use crate::text::{Names, TimeFormat};

pub use avro::Avro;
pub use csv::Csv;
pub use json::Json;
pub use row::{Row, Value};

/// The role of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldRole {
    /// The next attribute of the row.
    Attribute,
    /// The class.
    Class,
    /// The weight of the row.
    Weight,
    /// The time of the row.
    Time,
    /// The key that joins rows and labels.
    Key,
}

/// A field of an event.
#[derive(Debug, Clone)]
pub struct Field {
    /// Its name; a nested field is named by its path, joined by points.
    pub name: String,
    /// The names of its nominal values; none if it is numeric.
    pub names: Option<Names>,
    /// Its role.
    pub role: FieldRole,
    /// Whether it may be missing.
    pub missing: bool,
}

/// The fields to read from an event.
#[derive(Debug, Clone)]
pub struct Fields {
    list: Vec<Field>,
    slots: Vec<usize>,
    indexes: Names,
    parents: Names,
    n_attributes: usize,
    time_format: TimeFormat,
}

impl Fields {
    /// Creates the fields of an event, with attributes in the order given.
    #[must_use]
    pub fn new(fields: Vec<Field>) -> Self {
        let indexes: Names = fields.iter().map(|field| &field.name).collect();
        let (mut slots, mut n_attributes, mut parents) = (Vec::new(), 0, Names::default());
        for field in &fields {
            slots.push(n_attributes);
            n_attributes += usize::from(field.role == FieldRole::Attribute);
            for (position, _) in field.name.match_indices('.') {
                parents.add(&field.name[..position]);
            }
        }
        Self { list: fields, slots, indexes, parents, n_attributes, time_format: TimeFormat::Recognised }
    }

    /// Sets how times are written.
    #[must_use]
    pub fn with_time_format(mut self, format: TimeFormat) -> Self {
        self.time_format = format;
        self
    }

    /// Returns the number of attributes of a row.
    #[must_use]
    pub fn n_attributes(&self) -> usize {
        self.n_attributes
    }

    /// Returns the index of a field.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<usize> {
        self.indexes.find(name).map(|index| index as usize)
    }

    /// Returns whether the object of this name contains fields.
    #[must_use]
    pub fn has_children(&self, name: &str) -> bool {
        self.parents.find(name).is_some()
    }

    fn has_role(&self, role: FieldRole) -> bool {
        self.list.iter().any(|field| field.role == role)
    }
}

/// The fault of an invalid event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The event, relative to the first of those decoded together.
    pub event: usize,
    /// The reason.
    pub reason: String,
}

/// Valid events as columns, and the faults of the others.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Decoded {
    /// The valid events, relative to the first of those decoded together.
    pub event: Vec<i64>,
    /// Values of the attributes, the same number for each event.
    pub x: Vec<f64>,
    /// Class codes; -1 if the class is unknown.
    pub y: Vec<i32>,
    /// Weights; empty if no field is the weight.
    pub weight: Vec<f64>,
    /// Times in seconds since 1970-01-01 UTC, NaN if one is missing; empty if no field is the time.
    pub time: Vec<f64>,
    /// The bytes of all keys; empty if no field is the key.
    pub keys: Vec<u8>,
    /// The end of the key of each event.
    pub key_ends: Vec<usize>,
    /// The faults of the invalid events.
    pub faults: Vec<Fault>,
}

/// A format of events.
pub trait Format: Send + Sync {
    /// Reads the values of an event into a row.
    ///
    /// # Errors
    /// Returns the fault of the event.
    fn read(&self, event: &[u8], fields: &Fields, row: &mut Row) -> Result<(), String>;
}

/// A decoder of many events at once.
pub struct Decoder {
    fields: Fields,
    format: Box<dyn Format>,
}

impl Decoder {
    /// Creates a decoder of events of one format.
    #[must_use]
    pub fn new(fields: Fields, format: Box<dyn Format>) -> Self {
        Self { fields, format }
    }

    /// Returns the number of attributes of a row.
    #[must_use]
    pub fn n_attributes(&self) -> usize {
        self.fields.n_attributes
    }

    /// Returns whether events have a weight, a time and a key.
    #[must_use]
    pub fn carries(&self) -> (bool, bool, bool) {
        (
            self.fields.has_role(FieldRole::Weight),
            self.fields.has_role(FieldRole::Time),
            self.fields.has_role(FieldRole::Key),
        )
    }

    /// Decodes consecutive events in `bytes`, which end at `ends`.
    ///
    /// # Errors
    /// Returns [`KernelError::Shape`] if the ends do not ascend to the end of the bytes; no event is ever an error.
    pub fn decode(&self, bytes: &[u8], ends: &[i64]) -> Result<Decoded, KernelError> {
        let last = ends.last().map_or(0, |&end| usize::try_from(end).unwrap_or(usize::MAX));
        check_length("bytes", bytes.len(), last)?;
        let mut decoded = Decoded::default();
        decoded.x.reserve_exact(ends.len() * self.fields.n_attributes);
        let (with_weight, with_time, with_key) = self.carries();
        let mut row = Row::new(&self.fields);
        let mut start = 0;
        for (event, &end) in ends.iter().enumerate() {
            let end = end as usize;
            let Some(text) = bytes.get(start..end) else {
                return Err(KernelError::Shape { what: "ends", found: end, expected: start });
            };
            start = end;
            row.clear();
            if let Err(reason) = self.format.read(text, &self.fields, &mut row).and_then(|()| row.check(&self.fields)) {
                decoded.faults.push(Fault { event, reason });
                continue;
            }
            decoded.event.push(event as i64);
            decoded.x.extend_from_slice(&row.x);
            decoded.y.push(row.y);
            if with_weight {
                decoded.weight.push(row.weight);
            }
            if with_time {
                decoded.time.push(row.time);
            }
            if with_key {
                decoded.keys.extend_from_slice(&row.key);
                decoded.key_ends.push(decoded.keys.len());
            }
        }
        Ok(decoded)
    }
}

#[cfg(test)]
mod tests;
