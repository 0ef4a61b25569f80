//! The parameters of a request to the authentication proxy.

use quorate_common::api_error::ApiError;
use serde_json::{Map, Value};

use super::invalid;

/// The members of a body.
pub(super) struct Parameters(Map<String, Value>);

impl Parameters {
    pub(super) fn new(body: Value) -> Result<Self, ApiError> {
        match body {
            Value::Object(members) => Ok(Self(members)),
            _ => Err(invalid("invalid request body: expected an object")),
        }
    }

    /// Returns an optional text. An empty text counts as absent.
    pub(super) fn maybe_text(&self, name: &str) -> Result<Option<&str>, ApiError> {
        match self.0.get(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.as_str()).filter(|text| !text.is_empty())),
            Some(_) => Err(invalid(format!("invalid request body: `{name}`: expected a string"))),
        }
    }

    /// Returns a required text.
    pub(super) fn text(&self, name: &str) -> Result<&str, ApiError> {
        self.maybe_text(name)?.ok_or_else(|| invalid(format!("invalid request body: missing field `{name}`")))
    }

    /// Returns the members with these names, each under its new name.
    pub(super) fn renamed<const N: usize>(&self, names: [(&str, &str); N]) -> Map<String, Value> {
        let member = |(name, new): (&str, &str)| Some((new.to_owned(), self.0.get(name)?.clone()));
        names.into_iter().filter_map(member).collect()
    }

    /// Returns the members with these names.
    pub(super) fn only<const N: usize>(&self, names: [&str; N]) -> Map<String, Value> {
        self.renamed(names.map(|name| (name, name)))
    }

    /// Returns a member of an optional object.
    pub(super) fn inner(&self, name: &str, member: &str) -> Option<&Value> {
        self.0.get(name)?.get(member)
    }

    /// Returns the items of a list; none if there is no list.
    pub(super) fn items(&self, name: &str) -> &[Value] {
        self.0.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    /// Returns whether a list is present and not empty.
    pub(super) fn has_items(&self, name: &str) -> bool {
        !self.items(name).is_empty()
    }
}
