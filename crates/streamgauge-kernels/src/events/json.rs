//! Events that are JSON objects.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Unexpected, Visitor};

use super::{Fields, Format, Row, Value};

/// Events that are JSON objects. Nested values are named by their path: names or positions joined by points. Values
/// without a field are skipped.
#[derive(Debug, Clone, Copy, Default)]
pub struct Json;

impl Format for Json {
    fn read(&self, event: &[u8], fields: &Fields, row: &mut Row) -> Result<(), String> {
        let mut json = serde_json::Deserializer::from_slice(event);
        Object { fields, row, path: "" }
            .deserialize(&mut json)
            .and_then(|()| json.end())
            .map_err(|error| error.to_string())
    }
}

/// An object or a list whose fields have a common path.
struct Object<'a> {
    fields: &'a Fields,
    row: &'a mut Row,
    path: &'a str,
}

impl<'de> DeserializeSeed<'de> for Object<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Object<'_> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            out.write_str("an object")
        } else {
            write!(out, "an object or a list, '{}'", self.path)
        }
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        if self.path.is_empty() { Err(E::invalid_type(Unexpected::Unit, &self)) } else { Ok(()) }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(member) = map.next_key_seed(Key { fields: self.fields, path: self.path })? {
            match member {
                Member::Field(index) => {
                    let value = map.next_value_seed(Plain)?;
                    self.row.set(self.fields, index, &value).map_err(A::Error::custom)?;
                }
                Member::Inner(path) => {
                    map.next_value_seed(Object { fields: self.fields, row: &mut *self.row, path: &path })?;
                }
                Member::Other => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        if self.path.is_empty() {
            return Err(A::Error::custom("it is a list, but an object is needed"));
        }
        for position in 0_usize.. {
            let path = format!("{}.{position}", self.path);
            let more = match self.fields.find(&path) {
                Some(index) => match list.next_element_seed(Plain)? {
                    Some(value) => {
                        self.row.set(self.fields, index, &value).map_err(A::Error::custom)?;
                        true
                    }
                    None => false,
                },
                None if self.fields.has_children(&path) => {
                    let inner = Object { fields: self.fields, row: &mut *self.row, path: &path };
                    list.next_element_seed(inner)?.is_some()
                }
                None => list.next_element::<IgnoredAny>()?.is_some(),
            };
            if !more {
                break;
            }
        }
        Ok(())
    }
}

/// The target of a member name.
enum Member {
    Field(usize),
    Inner(String),
    Other,
}

struct Key<'a> {
    fields: &'a Fields,
    path: &'a str,
}

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = Member;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Member, D::Error> {
        json.deserialize_str(self)
    }
}

impl Visitor<'_> for Key<'_> {
    type Value = Member;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a name")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Member, E> {
        let path = if self.path.is_empty() { Cow::Borrowed(name) } else { Cow::Owned(format!("{}.{name}", self.path)) };
        Ok(match self.fields.find(&path) {
            Some(index) => Member::Field(index),
            None if self.fields.has_children(&path) => Member::Inner(path.into_owned()),
            None => Member::Other,
        })
    }
}

/// A value that is neither an object nor a list.
struct Plain;

impl<'de> DeserializeSeed<'de> for Plain {
    type Value = Value<'de>;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Value<'de>, D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Plain {
    type Value = Value<'de>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a number, a text, true, false or null")
    }

    fn visit_unit<E>(self) -> Result<Value<'de>, E> {
        Ok(Value::Missing)
    }

    fn visit_bool<E>(self, truth: bool) -> Result<Value<'de>, E> {
        Ok(Value::Truth(truth))
    }

    fn visit_i64<E>(self, whole: i64) -> Result<Value<'de>, E> {
        Ok(Value::Whole(whole.into()))
    }

    fn visit_u64<E>(self, whole: u64) -> Result<Value<'de>, E> {
        Ok(Value::Whole(whole.into()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value<'de>, E> {
        Ok(Value::Number(number))
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Value<'de>, E> {
        Ok(Value::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value<'de>, E> {
        Ok(Value::Text(Cow::Owned(text.to_owned())))
    }
}
