//! Strict JSON for signed request bodies, which must have one meaning only.
//!
//! Duplicate members, deep nesting and trailing text are rejected. Explicit nulls count as absent, and member
//! names are converted to lowerCamelCase, as the proto3 JSON mapping requires.
//!
//! The reader builds no tree of the body: a tree of small values takes up to a hundred times the memory of
//! the text.

use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use crate::bounded::Email;

/// Maximum nesting depth of objects and lists.
pub const DEPTH_LIMIT: usize = 64;

/// Error returned for an unacceptable body. It never repeats a value from the body.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JsonError {
    /// The bytes are not JSON, not exactly one value, have a duplicate member, or nest too deep.
    #[error("bad request body")]
    Unreadable,
    /// A required member is missing. Holds its name.
    #[error("invalid request body: missing field `{0}`")]
    Missing(String),
    /// A member has a wrong type or breaks a rule of its type.
    #[error("{reason}")]
    Member {
        /// Dotted path of the member, for example `parameters.users[0].userName`.
        path: String,
        /// Complete error message, which says what was expected.
        reason: String,
        /// Rule that the member breaks, as far as clients distinguish rules.
        rule: Rule,
    },
}

/// Rule that a member breaks, as far as clients distinguish rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// The text is not an email address.
    Email,
    /// Any other rule.
    Other,
}

impl Rule {
    /// Returns the rule that belongs to an error message. Errors of serde carry nothing but a message.
    fn of(message: &str) -> Self {
        if message == Email::EXPECTED { Self::Email } else { Self::Other }
    }
}

/// A strictly parsed JSON value, stored as text in normal form: without white space, with member names in
/// lowerCamelCase, and without null members.
pub struct Document(String);

impl Document {
    /// Parses one JSON value. The module documentation lists what is rejected.
    ///
    /// # Errors
    ///
    /// [`JsonError::Unreadable`] if the bytes are not one acceptable value.
    pub fn read(bytes: &[u8]) -> Result<Self, JsonError> {
        let mut writer = Writer { text: Vec::with_capacity(bytes.len()), ..Writer::default() };
        let mut deserializer = serde_json::Deserializer::from_slice(bytes);
        let strict = Strict { writer: &mut writer, depth: 0 };
        strict.deserialize(&mut deserializer).map_err(|_| JsonError::Unreadable)?;
        deserializer.end().map_err(|_| JsonError::Unreadable)?;
        String::from_utf8(writer.text).map(Self).map_err(|_| JsonError::Unreadable)
    }

    /// Returns the text in normal form.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns whether the value is an object.
    pub fn is_object(&self) -> bool {
        self.0.starts_with('{')
    }

    /// Deserializes the value into a type.
    ///
    /// # Errors
    ///
    /// [`JsonError::Missing`] or [`JsonError::Member`] for the first member that does not fit the type.
    pub fn typed<'a, T: Deserialize<'a>>(&'a self) -> Result<T, JsonError> {
        typed(&self.0, "")
    }
}

/// Parses one JSON value into a tree, which takes up to a hundred times the memory of the text.
///
/// # Errors
///
/// [`JsonError::Unreadable`] if the bytes are not one acceptable value.
pub fn parse(bytes: &[u8]) -> Result<Value, JsonError> {
    serde_json::from_str(&Document::read(bytes)?.0).map_err(|_| JsonError::Unreadable)
}

/// Deserializes JSON in normal form into a type. `path` is the path of the value in the body.
///
/// # Errors
///
/// [`JsonError::Missing`] or [`JsonError::Member`] for the first member that does not fit the type.
pub fn typed<'a, T: Deserialize<'a>>(text: &'a str, path: &str) -> Result<T, JsonError> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        let relative = error.path().to_string();
        let cause = error.into_inner();
        let message = cause.to_string();
        // The position refers to the normal form, which the client has not seen.
        let position = format!(" at line {} column {}", cause.line(), cause.column());
        member_error(path, &relative, message.strip_suffix(&position).unwrap_or(&message))
    })
}

/// Value of one member of an object, as [`member`] finds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Member {
    /// The member is missing or null.
    Absent,
    /// The value is a string.
    Text(String),
    /// The value has another type.
    Other,
}

/// Finds one member of a JSON object without storing the rest.
///
/// The bytes are not fully checked: [`Document::read`] may still reject them, but it never finds another
/// value for this member.
///
/// # Errors
///
/// [`JsonError::Unreadable`] if the bytes are not one JSON object, or if the member appears twice.
pub fn member(bytes: &[u8], name: &'static str) -> Result<Member, JsonError> {
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let found = deserializer.deserialize_map(Find(name)).map_err(|_| JsonError::Unreadable)?;
    deserializer.end().map_err(|_| JsonError::Unreadable)?;
    Ok(found)
}

/// Messages that clients compare byte for byte, so that no path is added to them.
const VERBATIM: [&str; 12] = [
    "invalid curve",
    "curve required",
    "invalid path",
    "invalid path format",
    "invalid address format",
    "invalid payload encoding",
    "invalid hash function",
    Email::EXPECTED,
    "invalid api key expiration",
    "missing wallet params",
    "invalid authenticator attestation",
    "missing parameter: user authenticator attestation",
];

/// Creates the error for the member at path `relative` below path `base`, from the message of its type.
pub fn member_error(base: &str, relative: &str, message: &str) -> JsonError {
    let path = match (base, relative) {
        ("", relative) => relative.to_owned(),
        (base, ".") => base.to_owned(),
        (base, relative) => format!("{base}.{relative}"),
    };
    if let Some(name) = message.strip_prefix("missing field `").and_then(|rest| rest.strip_suffix('`')) {
        return JsonError::Missing(name.to_owned());
    }
    if VERBATIM.contains(&message) {
        return JsonError::Member { path, reason: message.to_owned(), rule: Rule::of(message) };
    }
    let rule = if message.starts_with("unknown variant") {
        "unknown name".to_owned()
    } else if message.starts_with("invalid type") || message.starts_with("invalid value") {
        // The text before `expected` repeats the value that was sent.
        let expected = message.rsplit_once("expected ").map_or("another type", |(_, expected)| expected);
        format!("expected {expected}")
    } else {
        message.to_owned()
    };
    JsonError::Member { reason: format!("invalid request body: `{path}`: {rule}"), path, rule: Rule::Other }
}

/// Appends a member name in lowerCamelCase: `user_name` becomes `userName`.
fn camel(name: &str, out: &mut String) {
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

/// Finds the value of the member with this name.
struct Find(&'static str);

impl<'de> Visitor<'de> for Find {
    type Value = Member;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Member, A::Error> {
        let mut found = None;
        while let Some(is_match) = map.next_key_seed(NameEquals(self.0))? {
            if !is_match {
                map.next_value::<IgnoredAny>()?;
            } else if found.replace(map.next_value_seed(Text)?).is_some() {
                return Err(A::Error::custom("duplicate member"));
            }
        }
        Ok(found.unwrap_or(Member::Absent))
    }
}

/// Reads a member name and returns whether it equals this one.
struct NameEquals(&'static str);

impl<'de> DeserializeSeed<'de> for NameEquals {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for NameEquals {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a member name")
    }

    fn visit_str<E>(self, name: &str) -> Result<bool, E> {
        if !name.contains('_') {
            return Ok(name == self.0);
        }
        let mut out = String::new();
        camel(name, &mut out);
        Ok(out == self.0)
    }
}

/// Reads the value of the matching member.
struct Text;

impl<'de> DeserializeSeed<'de> for Text {
    type Value = Member;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Member, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Text {
    type Value = Member;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Member, E> {
        Ok(Member::Other)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Member, E> {
        Ok(Member::Other)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Member, E> {
        Ok(Member::Other)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Member, E> {
        Ok(Member::Other)
    }

    fn visit_str<E>(self, value: &str) -> Result<Member, E> {
        Ok(Member::Text(value.to_owned()))
    }

    fn visit_unit<E>(self) -> Result<Member, E> {
        Ok(Member::Absent)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Member, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Member::Other)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Member, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Member::Other)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use serde::Deserialize;
    use serde_json::json;

    #[test]
    fn rejects_ambiguous_json() {
        let deep = format!("{}1{}", "[".repeat(DEPTH_LIMIT + 1), "]".repeat(DEPTH_LIMIT + 1));
        for bad in [
            "",
            "{",
            "{} {}",
            "{\"a\":1,}",
            "{'a':1}",
            "NaN",
            "\u{feff}{}",
            "1e999",
            "{\"a\":1,\"a\":1}",
            "{\"a\":1,\"\\u0061\":1}",
            "{\"x\":{\"a\":1,\"a\":2}}",
            "{\"user_name\":1,\"userName\":2}",
            "{\"a\":null,\"a\":1}",
            "\"\\ud800\"",
            &deep,
        ] {
            assert_eq!(parse(bad.as_bytes()), Err(JsonError::Unreadable), "{bad}");
        }
        assert_eq!(parse(&[b'"', 0xff, b'"']), Err(JsonError::Unreadable));
    }

    #[test]
    fn finds_one_member_without_parsing_the_rest() {
        let text = |text: &str| Ok(Member::Text(text.to_owned()));
        for (body, expected) in [
            (r#"{"id":"a"}"#, text("a")),
            (r#" { "b" : [{"id":1}], "id" : "a\u0062" } "#, text("ab")),
            (r#"{"\u0069d":"a"}"#, text("a")),
            (r#"{"i_d":"a"}"#, Ok(Member::Absent)),
            (r#"{"Id":"a"}"#, Ok(Member::Absent)),
            (r#"{"id":null}"#, Ok(Member::Absent)),
            ("{}", Ok(Member::Absent)),
            (r#"{"id":7}"#, Ok(Member::Other)),
            (r#"{"id":{"id":"a"}}"#, Ok(Member::Other)),
            (r#"{"id":["a"]}"#, Ok(Member::Other)),
            (r#"{"id":"a","id":"a"}"#, Err(JsonError::Unreadable)),
            (r#"{"id":null,"id":"a"}"#, Err(JsonError::Unreadable)),
            (r#"{"id":"a","_id":"a"}"#, text("a")),
            (r#"{"id":"a"}{}"#, Err(JsonError::Unreadable)),
            (r#"{"id":"a""#, Err(JsonError::Unreadable)),
            (r#"["id","a"]"#, Err(JsonError::Unreadable)),
            ("null", Err(JsonError::Unreadable)),
            ("", Err(JsonError::Unreadable)),
        ] {
            assert_eq!(member(body.as_bytes(), "id"), expected, "{body}");
        }
        let twice = br#"{"userName":"a","user_name":"a"}"#;
        assert_eq!(member(twice, "userName"), Err(JsonError::Unreadable));
        assert_eq!(member(br#"{"user_name":"a"}"#, "userName"), text("a"));
    }

    proptest::proptest! {
        /// The search finds the same value as the complete parser, if that accepts the body.
        #[test]
        fn member_agrees_with_the_complete_parser(body in r#"\{("(a|b|a_b|aB|\\u0061)":(null|"x"|"y"|1|\{"aB":"z"\}|\["x"\]),?){0,3}\}"#) {
            for name in ["a", "aB"] {
                let Ok(value) = parse(body.as_bytes()) else { continue };
                let expected = match value.get(name) {
                    None => Member::Absent,
                    Some(Value::String(text)) => Member::Text(text.clone()),
                    Some(_) => Member::Other,
                };
                proptest::prop_assert_eq!(member(body.as_bytes(), name), Ok(expected));
            }
        }

        /// The normal form has the value that a lenient parser finds, except for names and nulls.
        #[test]
        fn normal_form_keeps_the_value(text in r#"(\[|\{"a":|1|-0|2\.50|1e15|"[ab\\n\u{e9}]{0,3}"|true|null|,|\]|\}| ){0,12}"#) {
            let plain = serde_json::from_str::<Value>(&text);
            match parse(text.as_bytes()) {
                Err(_) => proptest::prop_assert!(plain.is_err() || text.matches('a').count() > 1),
                Ok(read) => proptest::prop_assert_eq!(read, without_nulls(plain.unwrap())),
            }
        }
    }

    fn without_nulls(value: Value) -> Value {
        match value {
            Value::Object(members) => {
                let kept = members.into_iter().filter(|(_, value)| !value.is_null());
                Value::Object(kept.map(|(name, value)| (name, without_nulls(value))).collect())
            }
            Value::Array(items) => items.into_iter().map(without_nulls).collect(),
            other => other,
        }
    }

    #[test]
    fn follows_the_proto3_json_mapping() {
        let body =
            br#"{"user_name":"a", "b":null,"c":[null,{"d":null}], "_e_":"\u0041\n", "f__g":-0.5e1, "h": []}"#;
        let expected = r#"{"userName":"a","c":[null,{}],"E":"A\n","fG":-5.0,"h":[]}"#;
        assert_eq!(Document::read(body).unwrap().as_str(), expected);
    }

    #[derive(Deserialize, Debug)]
    #[serde(rename_all = "camelCase")]
    #[allow(dead_code, reason = "only parsed")]
    struct Sample {
        user_name: String,
        count: Vec<u32>,
    }

    #[test]
    fn errors_contain_the_path_and_not_the_value() {
        let check = |value: Value, expected: &str| {
            let message = typed::<Sample>(&value.to_string(), "parameters").unwrap_err().to_string();
            assert_eq!(message, expected);
        };
        check(json!({"count": []}), "invalid request body: missing field `userName`");
        check(
            json!({"userName": 7, "count": []}),
            "invalid request body: `parameters.userName`: expected a string",
        );
        check(
            json!({"userName": "a", "count": [1, "secret"]}),
            "invalid request body: `parameters.count[1]`: expected u32",
        );
        check(
            json!({"userName": "a", "count": [1.0]}),
            "invalid request body: `parameters.count[0]`: expected u32",
        );
    }
}
