//! The normal form of a JSON value, written while the value is read.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::DEPTH_LIMIT;

/// Returns the normal form of one value.
pub(super) fn normal_form(bytes: &[u8]) -> serde_json::Result<Vec<u8>> {
    let mut writer = Writer { text: Vec::with_capacity(bytes.len()), ..Writer::default() };
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    Strict { writer: &mut writer, depth: 0 }.deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(writer.text)
}

/// Appends a member name in lowerCamelCase: `user_name` becomes `userName`.
pub(super) fn camel(name: &str, out: &mut String) {
    let mut parts = name.split('_');
    out.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let mut letters = part.chars();
        out.extend(letters.next().into_iter().flat_map(char::to_uppercase));
        out.push_str(letters.as_str());
    }
}

/// Builds the normal form, and keeps the member names of the objects that are still open.
#[derive(Default)]
struct Writer {
    text: Vec<u8>,
    /// Member names of all open objects, concatenated.
    names: String,
    /// Start offset of each name in `names`.
    starts: Vec<usize>,
}

impl Writer {
    fn json<T: serde::Serialize + ?Sized, E: Error>(&mut self, value: &T) -> Result<(), E> {
        serde_json::to_writer(&mut self.text, value).map_err(E::custom)
    }

    /// Writes the member name that was read last.
    fn last_name<E: Error>(&mut self) -> Result<(), E> {
        let name = self.starts.last().and_then(|start| self.names.get(*start..)).unwrap_or_default();
        serde_json::to_writer(&mut self.text, name).map_err(E::custom)
    }

    /// Removes the names from index `first` on, and returns whether they were unique.
    fn close(&mut self, first: usize) -> bool {
        let starts = self.starts.get(first..).unwrap_or_default();
        let ends = starts.iter().skip(1).copied().chain([self.names.len()]);
        let names = starts.iter().zip(ends).filter_map(|(start, end)| self.names.get(*start..end));
        let mut names: Vec<&str> = names.collect();
        names.sort_unstable();
        let is_unique = names.iter().zip(names.iter().skip(1)).all(|(one, next)| one != next);
        if let Some(start) = starts.first().copied() {
            self.names.truncate(start);
        }
        self.starts.truncate(first);
        is_unique
    }
}

/// Reads one value into the writer and returns whether it is null.
struct Strict<'w> {
    writer: &'w mut Writer,
    depth: usize,
}

impl Strict<'_> {
    fn deeper<E: Error>(&mut self) -> Result<Strict<'_>, E> {
        if self.depth >= DEPTH_LIMIT {
            return Err(E::custom("nested too deep"));
        }
        Ok(Strict { writer: &mut *self.writer, depth: self.depth.saturating_add(1) })
    }
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<bool, E> {
        self.writer.json(&value).map(|()| false)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<bool, E> {
        self.writer.json(&value).map(|()| false)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<bool, E> {
        self.writer.json(&value).map(|()| false)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<bool, E> {
        self.writer.json(&value).map(|()| false)
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<bool, E> {
        self.writer.json(value).map(|()| false)
    }

    fn visit_unit<E: Error>(self) -> Result<bool, E> {
        self.writer.json(&()).map(|()| true)
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut seq: A) -> Result<bool, A::Error> {
        self.writer.text.push(b'[');
        let first = self.writer.text.len();
        loop {
            let before = self.writer.text.len();
            if before > first {
                self.writer.text.push(b',');
            }
            if seq.next_element_seed(self.deeper()?)?.is_none() {
                self.writer.text.truncate(before);
                break;
            }
        }
        self.writer.text.push(b']');
        Ok(false)
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<bool, A::Error> {
        let names = self.writer.starts.len();
        self.writer.text.push(b'{');
        let first = self.writer.text.len();
        while map.next_key_seed(Name(self.writer))?.is_some() {
            let before = self.writer.text.len();
            if before > first {
                self.writer.text.push(b',');
            }
            self.writer.last_name()?;
            self.writer.text.push(b':');
            if map.next_value_seed(self.deeper()?)? {
                self.writer.text.truncate(before);
            }
        }
        if !self.writer.close(names) {
            return Err(A::Error::custom("duplicate member"));
        }
        self.writer.text.push(b'}');
        Ok(false)
    }
}

/// Appends a member name to the names of the writer.
struct Name<'w>(&'w mut Writer);

impl<'de> DeserializeSeed<'de> for Name<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Name<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a member name")
    }

    fn visit_str<E>(self, name: &str) -> Result<(), E> {
        self.0.starts.push(self.0.names.len());
        camel(name, &mut self.0.names);
        Ok(())
    }
}
