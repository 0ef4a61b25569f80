//! Reads members of decoded parameters, strictly: a wrong type is a refusal, never a guess.

use serde_json::Value;

/// A member that the kind needs is absent or of another type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{path}` is not {expected}")]
pub(crate) struct Undecodable {
    path: String,
    expected: &'static str,
}

/// An object within the parameters.
pub(crate) struct Reader<'a> {
    value: &'a Value,
    path: String,
}

impl<'a> Reader<'a> {
    /// Of the parameters themselves.
    pub(crate) fn new(value: &'a Value) -> Self {
        Self { value, path: String::new() }
    }

    /// A text that must be there.
    pub(crate) fn text(&self, name: &str) -> Result<&'a str, Undecodable> {
        self.value.get(name).and_then(Value::as_str).ok_or_else(|| self.flaw(name, "a text"))
    }

    /// Whether the member is there at all.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.value.get(name).is_some()
    }

    /// A text that may be absent; empty counts as absent.
    pub(crate) fn maybe_text(&self, name: &str) -> Result<Option<&'a str>, Undecodable> {
        match self.value.get(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.as_str()).filter(|text| !text.is_empty())),
            Some(_) => Err(self.flaw(name, "a text")),
        }
    }

    /// A whole number, as number or decimal text; absent is zero.
    pub(crate) fn number(&self, name: &str) -> Result<u64, Undecodable> {
        match self.value.get(name) {
            None => Some(0),
            Some(Value::Number(number)) => number.as_u64(),
            Some(Value::String(text)) => text.parse().ok(),
            Some(_) => None,
        }
        .ok_or_else(|| self.flaw(name, "a whole number"))
    }

    /// A yes or no; absent is no.
    pub(crate) fn yes(&self, name: &str) -> Result<bool, Undecodable> {
        match self.value.get(name) {
            None => Ok(false),
            Some(Value::Bool(yes)) => Ok(*yes),
            Some(_) => Err(self.flaw(name, "true or false")),
        }
    }

    /// A list of texts; absent is empty.
    pub(crate) fn texts(&self, name: &str) -> Result<Vec<&'a str>, Undecodable> {
        let items = self.items(name)?;
        items.iter().map(|item| item.as_str().ok_or_else(|| self.flaw(name, "a list of texts"))).collect()
    }

    /// A list of objects; absent is empty.
    pub(crate) fn list(&self, name: &str) -> Result<Vec<Reader<'a>>, Undecodable> {
        let items = self.items(name)?;
        let reader = |(index, value): (usize, &'a Value)| {
            let path = format!("{}[{index}]", self.place(name));
            if value.is_object() {
                Ok(Reader { value, path })
            } else {
                Err(self.flaw(name, "a list of objects"))
            }
        };
        items.iter().enumerate().map(reader).collect()
    }

    /// An object that may be absent.
    pub(crate) fn object(&self, name: &str) -> Result<Option<Reader<'a>>, Undecodable> {
        match self.value.get(name) {
            None => Ok(None),
            Some(value) if value.is_object() => Ok(Some(Reader { value, path: self.place(name) })),
            Some(_) => Err(self.flaw(name, "an object")),
        }
    }

    /// That a member has no value that is known here.
    pub(crate) fn unknown(&self, name: &str) -> Undecodable {
        self.flaw(name, "known here")
    }

    fn items(&self, name: &str) -> Result<&'a [Value], Undecodable> {
        match self.value.get(name) {
            None => Ok(&[]),
            Some(Value::Array(items)) => Ok(items),
            Some(_) => Err(self.flaw(name, "a list")),
        }
    }

    fn place(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) }
    }

    fn flaw(&self, name: &str, expected: &'static str) -> Undecodable {
        Undecodable { path: self.place(name), expected }
    }
}
