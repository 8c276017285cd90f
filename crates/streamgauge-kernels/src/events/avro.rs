//! Events that are Avro records.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::Value as Json;

use super::{Fields, Format, Row, Value};
use crate::KernelError;

/// Types inside types beyond this depth are refused, so that no event can exhaust the stack.
const DEEPEST: usize = 64;

/// A type of the schema of the writer.
#[derive(Debug, Clone)]
enum Type {
    Null,
    Boolean,
    /// A whole number, and what a second is in it: 1 unless it is a moment of another unit.
    Whole(f64),
    /// A day, counted from 1970.
    Date,
    /// A whole number of so many digits behind the point: bytes of a fixed size, or of any.
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

/// An Avro record per event, in the binary form without a header.
#[derive(Debug, Clone)]
pub struct Avro {
    of: Type,
    named: HashMap<String, Type>,
}

impl Avro {
    /// Records of a schema, which is given as JSON.
    ///
    /// # Errors
    /// [`KernelError::Option`] where it is no schema of a record.
    pub fn new(schema: &str) -> Result<Self, KernelError> {
        let fault = |found: String| KernelError::Option {
            option: "schema",
            found,
            expected: "it must be an Avro schema of a record, as JSON",
        };
        let json: Json = serde_json::from_str(schema).map_err(|error| fault(error.to_string()))?;
        let mut named = HashMap::new();
        let of = parse(&json, "", &mut named, 0).map_err(fault)?;
        let is_record = match &of {
            Type::Named(name) => matches!(named.get(name), Some(Type::Record(_))),
            _ => false,
        };
        if is_record { Ok(Self { of, named }) } else { Err(fault("another type".into())) }
    }
}

fn parse(json: &Json, space: &str, named: &mut HashMap<String, Type>, depth: usize) -> Result<Type, String> {
    if depth > DEEPEST {
        return Err("types inside types".into());
    }
    match json {
        Json::String(name) => primitive(name).or_else(|| reference(name, space, named)).ok_or_else(|| name.clone()),
        Json::Array(types) => {
            let types: Result<Vec<Type>, String> = types.iter().map(|of| parse(of, space, named, depth + 1)).collect();
            Ok(Type::Union(types?))
        }
        Json::Object(_) => complex(json, space, named, depth),
        other => Err(other.to_string()),
    }
}

fn primitive(name: &str) -> Option<Type> {
    Some(match name {
        "null" => Type::Null,
        "boolean" => Type::Boolean,
        "int" | "long" => Type::Whole(1.0),
        "float" => Type::Float,
        "double" => Type::Double,
        "bytes" => Type::Bytes,
        "string" => Type::Text,
        _ => return None,
    })
}

fn reference(name: &str, space: &str, named: &HashMap<String, Type>) -> Option<Type> {
    let full = full_name(name, space);
    [full, name.to_owned()].into_iter().find(|name| named.contains_key(name)).map(Type::Named)
}

fn full_name(name: &str, space: &str) -> String {
    if name.contains('.') || space.is_empty() { name.to_owned() } else { format!("{space}.{name}") }
}

fn complex(json: &Json, space: &str, named: &mut HashMap<String, Type>, depth: usize) -> Result<Type, String> {
    let inner = |key: &str| json.get(key).ok_or_else(|| format!("a type without {key}"));
    let kind = inner("type")?;
    let Json::String(kind) = kind else { return parse(kind, space, named, depth + 1) };
    let logical = json.get("logicalType").and_then(Json::as_str);
    let of = match kind.as_str() {
        "array" => return Ok(Type::List(Box::new(parse(inner("items")?, space, named, depth + 1)?))),
        "map" => return Ok(Type::Map(Box::new(parse(inner("values")?, space, named, depth + 1)?))),
        "record" | "error" | "enum" | "fixed" => kind.as_str(),
        "int" if logical == Some("date") => return Ok(Type::Date),
        "int" | "long" => return Ok(Type::Whole(unit(logical))),
        "bytes" if logical == Some("decimal") => return Ok(Type::Decimal { size: None, scale: scale(json)? }),
        other => return parse(&Json::String(other.into()), space, named, depth + 1),
    };
    let space = json.get("namespace").and_then(Json::as_str).unwrap_or(space).to_owned();
    let name = full_name(inner("name")?.as_str().unwrap_or_default(), &space);
    let space = name.rsplit_once('.').map_or("", |(space, _)| space).to_owned();
    named.insert(name.clone(), Type::Null); // until it is known, so that it may hold itself
    let built = match of {
        "enum" => Type::Enum(texts(inner("symbols")?)?),
        "fixed" => {
            let size = inner("size")?.as_u64().ok_or("a fixed type without a size")? as usize;
            match logical {
                Some("decimal") => Type::Decimal { size: Some(size), scale: scale(json)? },
                _ => Type::Fixed(size),
            }
        }
        _ => {
            let mut members = Vec::new();
            for member in inner("fields")?.as_array().ok_or("a record without fields")? {
                let name = member.get("name").and_then(Json::as_str).ok_or("a field without a name")?;
                let of = member.get("type").ok_or("a field without a type")?;
                members.push((name.to_owned(), parse(of, &space, named, depth + 1)?));
            }
            Type::Record(members)
        }
    };
    named.insert(name.clone(), built);
    Ok(Type::Named(name))
}

fn texts(json: &Json) -> Result<Vec<String>, String> {
    let list = json.as_array().ok_or("symbols that are no list")?;
    list.iter().map(|text| text.as_str().map(str::to_owned).ok_or_else(|| "a symbol that is no text".into())).collect()
}

/// How many digits of a decimal stand behind the point.
fn scale(decimal: &Json) -> Result<u64, String> {
    let Some(scale) = decimal.get("scale") else { return Ok(0) };
    scale.as_u64().ok_or_else(|| format!("a decimal of scale {scale}"))
}

/// What a second is in the whole numbers of a logical type.
fn unit(logical: Option<&str>) -> f64 {
    match logical {
        Some("timestamp-millis" | "local-timestamp-millis" | "time-millis") => 1e3,
        Some("timestamp-micros" | "local-timestamp-micros" | "time-micros") => 1e6,
        Some("timestamp-nanos" | "local-timestamp-nanos") => 1e9,
        _ => 1.0,
    }
}

impl Format for Avro {
    fn read(&self, event: &[u8], fields: &Fields, row: &mut Row) -> Result<(), String> {
        let mut reading = Reading { bytes: event, named: &self.named, fields, row };
        reading.walk(&self.of, Some(String::new()), 0)?;
        if reading.bytes.is_empty() { Ok(()) } else { Err(format!("{} bytes are left over", reading.bytes.len())) }
    }
}

struct Reading<'a> {
    bytes: &'a [u8],
    named: &'a HashMap<String, Type>,
    fields: &'a Fields,
    row: &'a mut Row,
}

impl<'a> Reading<'a> {
    /// Read a value; a path leads to the fields that it holds, none where it is passed over.
    fn walk(&mut self, of: &Type, path: Option<String>, depth: usize) -> Result<(), String> {
        if depth > DEEPEST {
            return Err(format!("there are more than {DEEPEST} values inside values"));
        }
        match of {
            Type::Named(name) => {
                let named = self.named;
                named.get(name).map_or(Ok(()), |of| self.walk(of, path, depth + 1))
            }
            Type::Union(types) => {
                let branch = self.whole()?;
                let of = usize::try_from(branch).ok().and_then(|branch| types.get(branch));
                self.walk(of.ok_or_else(|| format!("{branch} is no branch of a union"))?, path, depth + 1)
            }
            Type::Record(members) => {
                for (name, of) in members {
                    let inner = path.as_ref().map(|path| joined(path, name));
                    self.walk(of, inner.and_then(|inner| self.wanted(inner)), depth + 1)?;
                }
                Ok(())
            }
            Type::List(of) => self.blocks(of, path.as_deref(), depth, false),
            Type::Map(of) => self.blocks(of, path.as_deref(), depth, true),
            Type::Decimal { size, scale } => {
                let bytes = match size {
                    Some(size) => self.take(*size)?,
                    None => self.sized()?,
                };
                match path.and_then(|path| self.fields.find(&path)) {
                    Some(place) => {
                        let name = &self.fields.all[place].name;
                        let value = decimal(bytes, *scale).map_err(|why| format!("'{name}': {why}"))?;
                        self.row.set(self.fields, place, &value)
                    }
                    None => Ok(()),
                }
            }
            plain => {
                let value = self.plain(plain)?;
                match path.and_then(|path| self.fields.find(&path)) {
                    Some(place) => self.row.set(self.fields, place, &value),
                    None => Ok(()),
                }
            }
        }
    }

    fn wanted(&self, path: String) -> Option<String> {
        (self.fields.find(&path).is_some() || self.fields.holds(&path)).then_some(path)
    }

    /// Read the values of a list or a map, which come in blocks.
    fn blocks(&mut self, of: &Type, path: Option<&str>, depth: usize, keyed: bool) -> Result<(), String> {
        let mut position = 0_usize;
        loop {
            let mut count = self.whole()?;
            if count == 0 {
                return Ok(());
            }
            if count < 0 {
                self.whole()?; // the size of the block in bytes
                count = count.saturating_neg();
            }
            if count as u64 > self.bytes.len() as u64 {
                return Err(format!("a list of {count} values where {} bytes are left", self.bytes.len()));
            }
            for _ in 0..count {
                let name = if keyed { self.text()?.to_owned() } else { position.to_string() };
                let inner = path.and_then(|path| self.wanted(joined(path, &name)));
                self.walk(of, inner, depth + 1)?;
                position += 1;
            }
        }
    }

    fn plain(&mut self, of: &Type) -> Result<Value<'a>, String> {
        Ok(match of {
            Type::Boolean => match self.take(1)? {
                [0] => Value::Truth(false),
                [1] => Value::Truth(true),
                other => return Err(format!("the byte {} is no truth value", other[0])),
            },
            Type::Whole(unit) if *unit == 1.0 => Value::Whole(self.whole()?.into()),
            Type::Whole(unit) => Value::Number(self.whole()? as f64 / unit),
            Type::Date => Value::Whole(i128::from(self.whole()?) * 86_400),
            Type::Float => known(f32::from_le_bytes(self.array()?).into()),
            Type::Double => known(f64::from_le_bytes(self.array()?)),
            Type::Text => Value::Text(Cow::Borrowed(self.text()?)),
            Type::Bytes => {
                let bytes = self.sized()?;
                Value::Text(String::from_utf8_lossy(bytes))
            }
            Type::Fixed(size) => Value::Text(String::from_utf8_lossy(self.take(*size)?)),
            Type::Enum(symbols) => {
                let place = self.whole()?;
                let symbol = usize::try_from(place).ok().and_then(|place| symbols.get(place));
                Value::Text(Cow::Owned(symbol.ok_or_else(|| format!("{place} is no symbol of an enum"))?.clone()))
            }
            _ => Value::Missing,
        })
    }

    fn take(&mut self, n: usize) -> Result<&'a [u8], String> {
        let Some((taken, rest)) = self.bytes.split_at_checked(n) else {
            return Err("it ends in the middle of a value".into());
        };
        self.bytes = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], String> {
        self.take(N)?.try_into().map_err(|_| "it ends in the middle of a value".into())
    }

    fn sized(&mut self) -> Result<&'a [u8], String> {
        let size = self.whole()?;
        self.take(usize::try_from(size).map_err(|_| format!("{size} is no size"))?)
    }

    fn text(&mut self) -> Result<&'a str, String> {
        std::str::from_utf8(self.sized()?).map_err(|_| "a text is not UTF-8".into())
    }

    /// Read a whole number: seven bits to a byte, the sign in the lowest.
    fn whole(&mut self) -> Result<i64, String> {
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

/// The nearest number to a decimal, whose digits are a whole number in two's complement, the highest byte first.
fn decimal(bytes: &[u8], scale: u64) -> Result<Value<'static>, String> {
    let Some(first) = bytes.first() else { return Err("a decimal has no bytes".into()) };
    let sign = if *first < 0x80 { 0_i128 } else { -1 };
    let (spare, held) = bytes.split_at(bytes.len().saturating_sub(size_of::<i128>()));
    let digits = held.iter().fold(sign, |digits, byte| (digits << 8) | i128::from(*byte));
    if digits.signum().min(0) != sign || spare.iter().any(|byte| *byte != sign as u8) {
        return Err(format!("a decimal of {} bytes, where no more than 16 can be read", bytes.len()));
    }
    if scale == 0 {
        return Ok(Value::Whole(digits));
    }
    // read as text, so that it is rounded once
    let number = format!("{digits}e-{scale}").parse().map_err(|_| format!("a decimal of scale {scale}"))?;
    Ok(Value::Number(number))
}

/// A number; NaN stands for a missing one.
fn known(number: f64) -> Value<'static> {
    if number.is_nan() { Value::Missing } else { Value::Number(number) }
}

fn joined(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}
