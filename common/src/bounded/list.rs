//! Lists with a maximum length.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, de};

/// A list of at most `N` elements. An absent list equals an empty one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AtMost<T, const N: usize>(Vec<T>);

impl<T, const N: usize> AtMost<T, N> {
    /// Converts into the vector of elements.
    pub fn into_vec(self) -> Vec<T> {
        self.0
    }

    /// Creates a list from the first `N` elements and drops the others.
    pub fn cut(mut items: Vec<T>) -> Self {
        items.truncate(N);
        Self(items)
    }
}

impl<T, const N: usize> Default for AtMost<T, N> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T, const N: usize> Deref for AtMost<T, N> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T, const N: usize> IntoIterator for AtMost<T, N> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a, T, const N: usize> IntoIterator for &'a AtMost<T, N> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<'de, T: Deserialize<'de>, const N: usize> Deserialize<'de> for AtMost<T, N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(Items(PhantomData))
    }
}

/// Reads a list and stops at the first element beyond the limit.
struct Items<T, const N: usize>(PhantomData<T>);

impl<'de, T: Deserialize<'de>, const N: usize> de::Visitor<'de> for Items<T, N> {
    type Value = AtMost<T, N>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a sequence")
    }

    fn visit_seq<A: de::SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            if items.len() == N {
                return Err(de::Error::custom(format!("must have at most {N} elements")));
            }
            items.push(item);
        }
        Ok(AtMost(items))
    }
}

impl<T: JsonSchema, const N: usize> JsonSchema for AtMost<T, N> {
    fn schema_name() -> Cow<'static, str> {
        format!("{}AtMost{N}", T::schema_name()).into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let items = generator.subschema_for::<T>();
        json_schema!({"type": "array", "items": items, "maxItems": N})
    }
}
