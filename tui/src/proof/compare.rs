//! Compares the daemon's intent with the signed parameters, member by member.

use serde_json::Value;

/// A member that differs between the signed parameters and the daemon's intent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Difference {
    /// Path of the member.
    pub(super) path: String,
    /// Signed value.
    pub(super) signed: String,
    /// Value that the daemon states.
    pub(super) stated: String,
}

/// Returns the differences. The daemon writes defaults out. An absent member therefore equals an empty
/// string, list or object, zero and an `_UNSPECIFIED` name. It also equals `false`, except for a few members.
/// A number equals its decimal string. Members in `unknown_members` may be missing in the daemon's intent,
/// because the daemon ignores them.
pub(super) fn differences(signed: &Value, stated: &Value, unknown_members: &[String]) -> Vec<Difference> {
    let mut out = Vec::new();
    compare("", Some(signed), Some(stated), unknown_members, &mut out);
    out
}

/// Members whose absence means this value, which the daemon writes out.
const DEFAULTS: [(&str, &str); 1] = [("curveType", "API_KEY_CURVE_P256")];

/// Boolean members for which `false` differs from absence.
const EXPLICIT_FLAGS: [&str; 2] = ["enabled", "isActive"];

/// Returns the number of leaves in a value, which is the number of compared fields.
pub(super) fn size(value: &Value) -> usize {
    match value {
        Value::Object(members) => members.values().map(size).sum(),
        Value::Array(items) => items.iter().map(size).sum(),
        _ => 1,
    }
}

fn compare(
    path: &str,
    signed: Option<&Value>,
    stated: Option<&Value>,
    unknown_members: &[String],
    out: &mut Vec<Difference>,
) {
    let differs = signed.is_some() != stated.is_some() && EXPLICIT_FLAGS.contains(&name_of(path));
    if !differs && is_empty(signed) && (is_empty(stated) || is_default(path, stated)) {
        return;
    }
    if stated.is_none() && unknown_members.iter().any(|known| known == path) {
        return;
    }
    match (signed, stated) {
        (Some(Value::Object(signed_value)), Some(Value::Object(stated_value))) => {
            let added = stated_value.keys().filter(|name| !signed_value.contains_key(*name));
            for name in signed_value.keys().chain(added) {
                let member_path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                compare(&member_path, signed_value.get(name), stated_value.get(name), unknown_members, out);
            }
        }
        (Some(Value::Array(signed_value)), Some(Value::Array(stated_value))) => {
            for index in 0..signed_value.len().max(stated_value.len()) {
                // A missing element is not an empty one.
                match (signed_value.get(index), stated_value.get(index)) {
                    (Some(signed_value), Some(stated_value)) => {
                        compare(
                            &format!("{path}[{index}]"),
                            Some(signed_value),
                            Some(stated_value),
                            unknown_members,
                            out,
                        );
                    }
                    (signed_value, stated_value) => {
                        out.push(difference(&format!("{path}[{index}]"), signed_value, stated_value));
                    }
                }
            }
        }
        (Some(signed_value), Some(stated_value)) if same_scalar(signed_value, stated_value) => {}
        _ => out.push(difference(path, signed, stated)),
    }
}

fn difference(path: &str, signed: Option<&Value>, stated: Option<&Value>) -> Difference {
    let value_text = |value: Option<&Value>| {
        value.map_or_else(|| "absent".to_owned(), |value| crate::text::clean(&value.to_string()))
    };
    Difference { path: crate::text::clean(path), signed: value_text(signed), stated: value_text(stated) }
}

fn same_scalar(signed_value: &Value, stated_value: &Value) -> bool {
    match (signed_value, stated_value) {
        (Value::Number(number), Value::String(text)) | (Value::String(text), Value::Number(number)) => {
            number.to_string() == *text
        }
        _ => signed_value == stated_value,
    }
}

fn is_default(path: &str, stated: Option<&Value>) -> bool {
    let name = name_of(path);
    DEFAULTS
        .iter()
        .any(|(member, default)| *member == name && stated.and_then(Value::as_str) == Some(default))
}

/// Returns the last name in a path.
fn name_of(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}

fn is_empty(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null | Value::Bool(false)) => true,
        Some(Value::String(text)) => text.is_empty() || text == "0" || text.ends_with("_UNSPECIFIED"),
        Some(Value::Number(number)) => number.as_u64() == Some(0),
        Some(Value::Array(items)) => items.is_empty(),
        Some(Value::Object(members)) => members
            .iter()
            .all(|(name, member)| is_empty(Some(member)) && !EXPLICIT_FLAGS.contains(&name.as_str())),
        Some(Value::Bool(true)) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn defaults_equal_absence_and_other_values_differ() {
        let check = |signed: Value, stated: Value, expected: &[&str]| {
            let paths: Vec<String> = differences(&signed, &stated, &["extra".to_owned()])
                .into_iter()
                .map(|found| found.path)
                .collect();
            assert_eq!(paths, expected, "{signed} and {stated}");
        };
        check(json!({"a": 1}), json!({"a": 1}), &[]);
        check(
            json!({}),
            json!({"a": [], "b": "", "c": false, "d": 0, "e": {"f": ""}, "g": "CURVE_UNSPECIFIED"}),
            &[],
        );
        check(json!({"k": [{}]}), json!({"k": [{"curveType": "API_KEY_CURVE_P256"}]}), &[]);
        check(
            json!({"k": [{}]}),
            json!({"k": [{"curveType": "API_KEY_CURVE_ED25519"}]}),
            &["k[0].curveType"],
        );
        check(json!({"a": 7}), json!({"a": "7"}), &[]);
        check(json!({"a": "7"}), json!({"a": 7}), &[]);
        check(json!({"a": 1}), json!({"a": 2}), &["a"]);
        check(json!({"a": 1}), json!({}), &["a"]);
        check(json!({}), json!({"a": "x"}), &["a"]);
        check(json!({"a": ["x"]}), json!({"a": ["x", ""]}), &["a[1]"]);
        check(json!({"a": [{"b": "x"}]}), json!({"a": [{"b": "y"}]}), &["a[0].b"]);
        check(json!({"a": ["x", "y"]}), json!({"a": ["y", "x"]}), &["a[0]", "a[1]"]);
        check(json!({"a": "X"}), json!({"a": "x"}), &["a"]);
        check(json!({"a": true}), json!({"a": "true"}), &["a"]);
        check(json!({"enabled": false}), json!({"enabled": false}), &[]);
        check(json!({"enabled": false}), json!({}), &["enabled"]);
        check(json!({"s": [{}]}), json!({"s": [{"isActive": false}]}), &["s[0].isActive"]);
        check(json!({"extra": 1}), json!({}), &[]);
        check(json!({"extra": 1}), json!({"extra": 2}), &["extra"]);
    }
}
