//! Reads members of decoded parameters strictly: a wrong type is an error, never a guess.

use serde_json::Value;

/// A required member is absent, or a member has the wrong type or an unknown value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{path}` {problem}")]
pub(crate) struct Undecodable {
    path: String,
    problem: &'static str,
}

/// The result of reading parameters.
pub(crate) type Result<T, E = Undecodable> = std::result::Result<T, E>;

/// An object within the parameters.
pub(crate) struct Reader<'a> {
    value: &'a Value,
    path: String,
}

impl<'a> Reader<'a> {
    /// Creates a reader of the parameters themselves.
    pub(crate) fn new(value: &'a Value) -> Self {
        Self { value, path: String::new() }
    }

    /// Returns a required string.
    pub(crate) fn text(&self, name: &str) -> Result<&'a str> {
        self.value.get(name).and_then(Value::as_str).ok_or_else(|| self.error(name, "is not a string"))
    }

    /// Returns whether the member is present.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.value.get(name).is_some()
    }

    /// Returns an optional string. An empty string counts as absent.
    pub(crate) fn maybe_text(&self, name: &str) -> Result<Option<&'a str>> {
        match self.value.get(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.as_str()).filter(|text| !text.is_empty())),
            Some(_) => Err(self.error(name, "is not a string")),
        }
    }

    /// Returns a non-negative integer, written as a number or as a decimal string. Absent means zero.
    pub(crate) fn number(&self, name: &str) -> Result<u64> {
        match self.value.get(name) {
            None => Some(0),
            Some(Value::Number(number)) => number.as_u64(),
            Some(Value::String(text)) => text.parse().ok(),
            Some(_) => None,
        }
        .ok_or_else(|| self.error(name, "is not a non-negative integer"))
    }

    /// Returns a boolean. Absent means `false`.
    pub(crate) fn boolean(&self, name: &str) -> Result<bool> {
        match self.value.get(name) {
            None => Ok(false),
            Some(Value::Bool(yes)) => Ok(*yes),
            Some(_) => Err(self.error(name, "is not true or false")),
        }
    }

    /// Returns a list of strings. Absent means empty.
    pub(crate) fn texts(&self, name: &str) -> Result<Vec<&'a str>> {
        let items = self.items(name)?;
        items
            .iter()
            .map(|item| item.as_str().ok_or_else(|| self.error(name, "is not a list of strings")))
            .collect()
    }

    /// Returns a list of objects. Absent means empty.
    pub(crate) fn list(&self, name: &str) -> Result<Vec<Reader<'a>>> {
        let items = self.items(name)?;
        let reader = |(index, value): (usize, &'a Value)| {
            let path = format!("{}[{index}]", self.member_path(name));
            if value.is_object() {
                Ok(Reader { value, path })
            } else {
                Err(self.error(name, "is not a list of objects"))
            }
        };
        items.iter().enumerate().map(reader).collect()
    }

    /// Returns an optional object.
    pub(crate) fn object(&self, name: &str) -> Result<Option<Reader<'a>>> {
        match self.value.get(name) {
            None => Ok(None),
            Some(value) if value.is_object() => Ok(Some(Reader { value, path: self.member_path(name) })),
            Some(_) => Err(self.error(name, "is not an object")),
        }
    }

    /// Returns a member as it is.
    pub(crate) fn value_of(&self, name: &str) -> Option<&'a Value> {
        self.value.get(name)
    }

    /// Returns the error for a member whose value this console does not know.
    pub(crate) fn unknown(&self, name: &str) -> Undecodable {
        self.error(name, "has a value that this console does not know")
    }

    fn items(&self, name: &str) -> Result<&'a [Value]> {
        match self.value.get(name) {
            None => Ok(&[]),
            Some(Value::Array(items)) => Ok(items),
            Some(_) => Err(self.error(name, "is not a list")),
        }
    }

    fn member_path(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) }
    }

    fn error(&self, name: &str, problem: &'static str) -> Undecodable {
        Undecodable { path: self.member_path(name), problem }
    }
}
