//! Strict JSON for signed request bodies, which must have one meaning only.
//!
//! Duplicate members, deep nesting and trailing text are rejected. Explicit nulls count as absent, and member
//! names are converted to lowerCamelCase, as the proto3 JSON mapping requires.
//!
//! The reader builds no tree of the body: a tree of small values takes up to a hundred times the memory of
//! the text.

mod member;
mod normal;

use serde::Deserialize;
use serde_json::Value;

pub use self::member::{Member, member};
use self::normal::normal_form;
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
        /// Complete error message, which states what was expected.
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
        let text = normal_form(bytes).map_err(|_| JsonError::Unreadable)?;
        String::from_utf8(text).map(Self).map_err(|_| JsonError::Unreadable)
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
        format!("expected {}", name_of(expected))
    } else {
        message.to_owned()
    };
    JsonError::Member { reason: format!("invalid request body: `{path}`: {rule}"), path, rule: Rule::Other }
}

/// Returns the name of a JSON type for what serde expects, which may contain the name of a type in Rust.
fn name_of(expected: &str) -> &str {
    let is_integer =
        matches!(expected, "u8" | "u16" | "u32" | "u64" | "usize" | "i8" | "i16" | "i32" | "i64");
    if expected.starts_with("struct ") {
        "an object"
    } else if is_integer {
        "an integer"
    } else {
        expected
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
            "invalid request body: `parameters.count[1]`: expected an integer",
        );
        check(
            json!({"userName": "a", "count": [1.0]}),
            "invalid request body: `parameters.count[0]`: expected an integer",
        );
        check(json!("a"), "invalid request body: `parameters`: expected an object");
    }
}
