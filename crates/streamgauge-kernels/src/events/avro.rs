//! Events that are Avro records.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::Value as Json;

use super::{Fields, Format, Row, Value};
use crate::KernelError;

/// The maximum depth of nested types, so that no event can exhaust the stack.
const MAX_DEPTH: usize = 64;

/// A type of the schema of the writer.
#[derive(Debug, Clone)]
enum Type {
    Null,
    Boolean,
    Whole,
    /// A time, as a whole number of units since 1970, of which a second has this many.
    Timestamp(i64),
    /// A day, counted from 1970.
    Date,
    /// A whole number with `scale` digits after the point, in bytes of a fixed size or of any size.
    Decimal {
        size: Option<usize>,
        scale: u64,
    },
    Float,
    Double,
    Bytes,
    Text,
    Fixed(usize),
    Enum(Vec<String>),
    List(Box<Type>),
    Map(Box<Type>),
    Union(Vec<Type>),
    Record(Vec<(String, Type)>),
    /// A type that was named before.
    Named(String),
}

/// Events that are Avro records, in the binary form without a header.
#[derive(Debug, Clone)]
pub struct Avro {
    record: Type,
    named: HashMap<String, Type>,
}

impl Avro {
    /// Creates a format from a schema, which is given as JSON.
    ///
    /// # Errors
    /// Returns [`KernelError::Option`] if it is not the schema of a record.
    pub fn new(schema: &str) -> Result<Self, KernelError> {
        let schema_error = |found: String| KernelError::Option {
            option: "schema",
            found,
            expected: "it must be an Avro schema of a record, as JSON",
        };
        let json: Json = serde_json::from_str(schema).map_err(|error| schema_error(error.to_string()))?;
        let mut named = HashMap::new();
        let record = parse_type(&json, "", &mut named, 0).map_err(schema_error)?;
        let is_record = match &record {
            Type::Named(name) => matches!(named.get(name), Some(Type::Record(_))),
            _ => false,
        };
        if is_record { Ok(Self { record, named }) } else { Err(schema_error("another type".into())) }
    }
}

fn parse_type(json: &Json, namespace: &str, named: &mut HashMap<String, Type>, depth: usize) -> Result<Type, String> {
    if depth > MAX_DEPTH {
        return Err("types that are nested too deeply".into());
    }
    match json {
        Json::String(name) => {
            parse_primitive(name).or_else(|| resolve_name(name, namespace, named)).ok_or_else(|| name.clone())
        }
        Json::Array(types) => {
            let types: Result<Vec<Type>, String> =
                types.iter().map(|branch| parse_type(branch, namespace, named, depth + 1)).collect();
            Ok(Type::Union(types?))
        }
        Json::Object(_) => parse_complex(json, namespace, named, depth),
        other => Err(other.to_string()),
    }
}

fn parse_primitive(name: &str) -> Option<Type> {
    Some(match name {
        "null" => Type::Null,
        "boolean" => Type::Boolean,
        "int" | "long" => Type::Whole,
        "float" => Type::Float,
        "double" => Type::Double,
        "bytes" => Type::Bytes,
        "string" => Type::Text,
        _ => return None,
    })
}

fn resolve_name(name: &str, namespace: &str, named: &HashMap<String, Type>) -> Option<Type> {
    let full = full_name(name, namespace);
    [full, name.to_owned()].into_iter().find(|name| named.contains_key(name)).map(Type::Named)
}

fn full_name(name: &str, namespace: &str) -> String {
    if name.contains('.') || namespace.is_empty() { name.to_owned() } else { format!("{namespace}.{name}") }
}

fn parse_complex(
    json: &Json,
    namespace: &str,
    named: &mut HashMap<String, Type>,
    depth: usize,
) -> Result<Type, String> {
    let inner = |key: &str| json.get(key).ok_or_else(|| format!("a type without {key}"));
    let kind = inner("type")?;
    let Json::String(kind) = kind else { return parse_type(kind, namespace, named, depth + 1) };
    let logical = json.get("logicalType").and_then(Json::as_str);
    let named_kind = match kind.as_str() {
        "array" => return Ok(Type::List(Box::new(parse_type(inner("items")?, namespace, named, depth + 1)?))),
        "map" => return Ok(Type::Map(Box::new(parse_type(inner("values")?, namespace, named, depth + 1)?))),
        "record" | "error" | "enum" | "fixed" => kind.as_str(),
        "int" if logical == Some("date") => return Ok(Type::Date),
        "int" | "long" => return Ok(units_per_second(logical).map_or(Type::Whole, Type::Timestamp)),
        "bytes" if logical == Some("decimal") => return Ok(Type::Decimal { size: None, scale: parse_scale(json)? }),
        other => return parse_type(&Json::String(other.into()), namespace, named, depth + 1),
    };
    let namespace = json.get("namespace").and_then(Json::as_str).unwrap_or(namespace).to_owned();
    let name = full_name(inner("name")?.as_str().unwrap_or_default(), &namespace);
    let namespace = name.rsplit_once('.').map_or("", |(namespace, _)| namespace).to_owned();
    named.insert(name.clone(), Type::Null); // until it is known, so that it may hold itself
    let parsed = match named_kind {
        "enum" => Type::Enum(parse_symbols(inner("symbols")?)?),
        "fixed" => {
            let size = inner("size")?.as_u64().ok_or("a fixed type without a size")? as usize;
            match logical {
                Some("decimal") => Type::Decimal { size: Some(size), scale: parse_scale(json)? },
                _ => Type::Fixed(size),
            }
        }
        _ => {
            let mut members = Vec::new();
            for member in inner("fields")?.as_array().ok_or("a record without fields")? {
                let name = member.get("name").and_then(Json::as_str).ok_or("a field without a name")?;
                let member_type = member.get("type").ok_or("a field without a type")?;
                members.push((name.to_owned(), parse_type(member_type, &namespace, named, depth + 1)?));
            }
            Type::Record(members)
        }
    };
    named.insert(name.clone(), parsed);
    Ok(Type::Named(name))
}

fn parse_symbols(json: &Json) -> Result<Vec<String>, String> {
    let list = json.as_array().ok_or("symbols that are not a list")?;
    list.iter()
        .map(|text| text.as_str().map(str::to_owned).ok_or_else(|| "a symbol that is not a text".into()))
        .collect()
}

/// Returns the number of digits of a decimal after the point.
fn parse_scale(decimal: &Json) -> Result<u64, String> {
    let Some(scale) = decimal.get("scale") else { return Ok(0) };
    scale.as_u64().ok_or_else(|| format!("a decimal of scale {scale}"))
}

/// Returns the number of units per second of a logical type; none if it is not a time.
fn units_per_second(logical: Option<&str>) -> Option<i64> {
    match logical? {
        "timestamp-millis" | "local-timestamp-millis" | "time-millis" => Some(1_000),
        "timestamp-micros" | "local-timestamp-micros" | "time-micros" => Some(1_000_000),
        "timestamp-nanos" | "local-timestamp-nanos" => Some(1_000_000_000),
        _ => None,
    }
}

impl Format for Avro {
    fn read(&self, event: &[u8], fields: &Fields, row: &mut Row) -> Result<(), String> {
        let mut reader = AvroReader { bytes: event, named: &self.named, fields, row };
        reader.walk(&self.record, Some(String::new()), 0)?;
        if reader.bytes.is_empty() { Ok(()) } else { Err(format!("there are {} extra bytes", reader.bytes.len())) }
    }
}

struct AvroReader<'a> {
    bytes: &'a [u8],
    named: &'a HashMap<String, Type>,
    fields: &'a Fields,
    row: &'a mut Row,
}

impl<'a> AvroReader<'a> {
    /// Reads a value; `path` leads to the fields in it, or is none if the value is skipped.
    fn walk(&mut self, value_type: &Type, path: Option<String>, depth: usize) -> Result<(), String> {
        if depth > MAX_DEPTH {
            return Err(format!("values are nested deeper than {MAX_DEPTH} levels"));
        }
        match value_type {
            Type::Named(name) => {
                let named = self.named;
                named.get(name).map_or(Ok(()), |value_type| self.walk(value_type, path, depth + 1))
            }
            Type::Union(types) => {
                let branch = self.read_long()?;
                let value_type = usize::try_from(branch).ok().and_then(|branch| types.get(branch));
                self.walk(value_type.ok_or_else(|| format!("{branch} is not a branch of the union"))?, path, depth + 1)
            }
            Type::Record(members) => {
                for (name, value_type) in members {
                    let inner = path.as_ref().map(|path| join_path(path, name));
                    self.walk(value_type, inner.and_then(|inner| self.if_needed(inner)), depth + 1)?;
                }
                Ok(())
            }
            Type::List(value_type) => self.read_blocks(value_type, path.as_deref(), depth, false),
            Type::Map(value_type) => self.read_blocks(value_type, path.as_deref(), depth, true),
            Type::Decimal { size, scale } => {
                let bytes = match size {
                    Some(size) => self.take(*size)?,
                    None => self.read_bytes()?,
                };
                match path.and_then(|path| self.fields.find(&path)) {
                    Some(index) => {
                        let name = &self.fields.list[index].name;
                        let value = decode_decimal(bytes, *scale).map_err(|reason| format!("'{name}': {reason}"))?;
                        self.row.set(self.fields, index, &value)
                    }
                    None => Ok(()),
                }
            }
            plain => {
                let value = self.read_plain(plain)?;
                match path.and_then(|path| self.fields.find(&path)) {
                    Some(index) => self.row.set(self.fields, index, &value),
                    None => Ok(()),
                }
            }
        }
    }

    fn if_needed(&self, path: String) -> Option<String> {
        (self.fields.find(&path).is_some() || self.fields.has_children(&path)).then_some(path)
    }

    /// Reads the values of a list or a map, which are stored in blocks.
    fn read_blocks(&mut self, value_type: &Type, path: Option<&str>, depth: usize, is_map: bool) -> Result<(), String> {
        let mut position = 0_usize;
        loop {
            let mut count = self.read_long()?;
            if count == 0 {
                return Ok(());
            }
            if count < 0 {
                self.read_long()?; // the size of the block in bytes
                count = count.saturating_neg();
            }
            if count as u64 > self.bytes.len() as u64 {
                return Err(format!("a list of {count} values, but only {} bytes are left", self.bytes.len()));
            }
            for _ in 0..count {
                let name = if is_map { self.read_text()?.to_owned() } else { position.to_string() };
                let inner = path.and_then(|path| self.if_needed(join_path(path, &name)));
                self.walk(value_type, inner, depth + 1)?;
                position += 1;
            }
        }
    }

    fn read_plain(&mut self, value_type: &Type) -> Result<Value<'a>, String> {
        Ok(match value_type {
            Type::Boolean => match self.take(1)? {
                [0] => Value::Truth(false),
                [1] => Value::Truth(true),
                other => return Err(format!("the byte {} is not a boolean", other[0])),
            },
            Type::Whole => Value::Whole(self.read_long()?.into()),
            Type::Timestamp(units) => {
                let count = self.read_long()?;
                Value::Time(count.div_euclid(*units) as f64 + count.rem_euclid(*units) as f64 / *units as f64)
            }
            Type::Date => Value::Time(self.read_long()? as f64 * 86_400.0),
            Type::Float => number_or_missing(f32::from_le_bytes(self.read_array()?).into()),
            Type::Double => number_or_missing(f64::from_le_bytes(self.read_array()?)),
            Type::Text => Value::Text(Cow::Borrowed(self.read_text()?)),
            Type::Bytes => {
                let bytes = self.read_bytes()?;
                Value::Text(String::from_utf8_lossy(bytes))
            }
            Type::Fixed(size) => Value::Text(String::from_utf8_lossy(self.take(*size)?)),
            Type::Enum(symbols) => {
                let index = self.read_long()?;
                let symbol = usize::try_from(index).ok().and_then(|index| symbols.get(index));
                Value::Text(Cow::Owned(symbol.ok_or_else(|| format!("{index} is not a symbol of the enum"))?.clone()))
            }
            _ => Value::Missing,
        })
    }

    fn take(&mut self, n: usize) -> Result<&'a [u8], String> {
        let Some((bytes, rest)) = self.bytes.split_at_checked(n) else {
            return Err("it ends in the middle of a value".into());
        };
        self.bytes = rest;
        Ok(bytes)
    }

    fn read_array<const N: usize>(&mut self) -> Result<[u8; N], String> {
        self.take(N)?.try_into().map_err(|_| "it ends in the middle of a value".into())
    }

    fn read_bytes(&mut self) -> Result<&'a [u8], String> {
        let size = self.read_long()?;
        self.take(usize::try_from(size).map_err(|_| format!("{size} is not a valid size"))?)
    }

    fn read_text(&mut self) -> Result<&'a str, String> {
        std::str::from_utf8(self.read_bytes()?).map_err(|_| "a text is not UTF-8".into())
    }

    /// Reads a zigzag-encoded whole number: seven bits per byte, the sign in the lowest.
    fn read_long(&mut self) -> Result<i64, String> {
        let mut bits = 0_u64;
        for shift in (0..70).step_by(7) {
            let byte = self.take(1)?[0];
            if shift == 63 && byte > 1 {
                break;
            }
            bits |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok((bits >> 1) as i64 ^ -((bits & 1) as i64));
            }
        }
        Err("a whole number has more than 64 bits".into())
    }
}

/// Returns the nearest number to a decimal, whose digits are a whole number in two's complement, big-endian.
fn decode_decimal(bytes: &[u8], scale: u64) -> Result<Value<'static>, String> {
    let Some(first) = bytes.first() else { return Err("a decimal has no bytes".into()) };
    let sign = if *first < 0x80 { 0_i128 } else { -1 };
    let (spare, held) = bytes.split_at(bytes.len().saturating_sub(size_of::<i128>()));
    let digits = held.iter().fold(sign, |digits, byte| (digits << 8) | i128::from(*byte));
    if digits.signum().min(0) != sign || spare.iter().any(|byte| *byte != sign as u8) {
        return Err(format!("a decimal of {} bytes, but at most 16 are supported", bytes.len()));
    }
    if scale == 0 {
        return Ok(Value::Whole(digits));
    }
    // parsed from text, so that it is rounded once
    let number = format!("{digits}e-{scale}").parse().map_err(|_| format!("a decimal of scale {scale}"))?;
    Ok(Value::Number(number))
}

/// Returns a number; NaN means missing.
fn number_or_missing(number: f64) -> Value<'static> {
    if number.is_nan() { Value::Missing } else { Value::Number(number) }
}

fn join_path(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}
