//! Events as rows: what a broker, a socket or a growing file brings, many at a time.
//!
//! Every event is decoded on its own. One that is not what it should be becomes a [`Fault`] that says why, and costs
//! the others nothing: [`Decoder::decode`] never fails and never panics, whatever the bytes are.

mod avro;
mod csv;
mod json;
mod row;

use crate::KernelError;
use crate::error::check_length;
use crate::text::Names;

pub use avro::Avro;
pub use csv::Csv;
pub use json::Json;
pub use row::{Row, Value};

/// What becomes of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldRole {
    /// It is an attribute of the row, the next one.
    Attribute,
    /// It is the class.
    Class,
    /// It is the weight of the row.
    Weight,
    /// It is the time of the row, in seconds.
    Time,
    /// It is what rows and labels are joined by.
    Key,
}

/// A field of an event.
#[derive(Debug, Clone)]
pub struct Field {
    /// What it is called; a field of an object inside the event has the names of both, with a point between.
    pub name: String,
    /// The names of its nominal values; none where it is numeric.
    pub names: Option<Names>,
    /// What becomes of it.
    pub role: FieldRole,
    /// Whether it may be missing.
    pub missing: bool,
}

/// The fields that matter in an event.
#[derive(Debug, Clone)]
pub struct Fields {
    list: Vec<Field>,
    slots: Vec<usize>,
    indexes: Names,
    parents: Names,
    n_attributes: usize,
}

impl Fields {
    /// The fields of an event; attributes come in the order in which they are named.
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
        Self { list: fields, slots, indexes, parents, n_attributes }
    }

    /// How many attributes a row has.
    #[must_use]
    pub fn n_attributes(&self) -> usize {
        self.n_attributes
    }

    /// The place of a field.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<usize> {
        self.indexes.find(name).map(|index| index as usize)
    }

    /// Whether fields lie inside the object of this name.
    #[must_use]
    pub fn has_children(&self, name: &str) -> bool {
        self.parents.find(name).is_some()
    }

    fn has_role(&self, role: FieldRole) -> bool {
        self.list.iter().any(|field| field.role == role)
    }
}

/// Why an event is not what it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Which event, counted from the first of those decoded together.
    pub event: usize,
    /// What is wrong with it.
    pub reason: String,
}

/// Events as columns; only those without a fault.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Decoded {
    /// Which events these are, counted from the first of those decoded together.
    pub event: Vec<i64>,
    /// Values of attributes, as many for each event.
    pub x: Vec<f64>,
    /// Class codes; -1 where the class is not known.
    pub y: Vec<i32>,
    /// Weights; empty where no field is the weight.
    pub weight: Vec<f64>,
    /// Times, NaN where one is missing; empty where no field is the time.
    pub time: Vec<f64>,
    /// The bytes of all keys; empty where no field is the key.
    pub keys: Vec<u8>,
    /// Where the key of each event ends in them.
    pub key_ends: Vec<usize>,
    /// What is wrong with the others.
    pub faults: Vec<Fault>,
}

/// Says what an event holds.
pub trait Format: Send + Sync {
    /// Put the values of an event into a row.
    ///
    /// # Errors
    /// What is wrong with the event.
    fn read(&self, event: &[u8], fields: &Fields, row: &mut Row) -> Result<(), String>;
}

/// Decodes many events at once.
pub struct Decoder {
    fields: Fields,
    format: Box<dyn Format>,
}

impl Decoder {
    /// A decoder of events of one format.
    #[must_use]
    pub fn new(fields: Fields, format: Box<dyn Format>) -> Self {
        Self { fields, format }
    }

    /// How many attributes a row has.
    #[must_use]
    pub fn n_attributes(&self) -> usize {
        self.fields.n_attributes
    }

    /// Whether events carry their weight, their time, their key.
    #[must_use]
    pub fn carries(&self) -> (bool, bool, bool) {
        (
            self.fields.has_role(FieldRole::Weight),
            self.fields.has_role(FieldRole::Time),
            self.fields.has_role(FieldRole::Key),
        )
    }

    /// Decode the events that stand one behind the other in `bytes` and end at `ends`.
    ///
    /// # Errors
    /// [`KernelError::Shape`] where the ends do not ascend to the end of the bytes; no event is ever an error.
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
