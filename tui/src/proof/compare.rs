//! Compares the daemon's rendering of an intent with the signed bytes, member by member.

use serde_json::Value;

/// A member that the two tell differently.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Difference {
    /// Path of the member.
    pub(super) path: String,
    /// As signed.
    pub(super) signed: String,
    /// As the daemon says.
    pub(super) stated: String,
}

/// The differences. Absence equals an empty text, list or object, zero, an unspecified name and, but for a few
/// members, `false`, since the daemon writes defaults out; a number equals its decimal text. Members in `leftover` are
/// excused when the daemon leaves them out, because the service ignores them.
pub(super) fn differences(signed: &Value, stated: &Value, leftover: &[String]) -> Vec<Difference> {
    let mut out = Vec::new();
    compare("", Some(signed), Some(stated), leftover, &mut out);
    out
}

/// Members whose absence means a certain name, which the daemon writes out.
const DEFAULTS: [(&str, &str); 1] = [("curveType", "API_KEY_CURVE_P256")];

/// Members of which `false` is not the same as absence.
const OPEN: [&str; 2] = ["enabled", "isActive"];

/// Leaves under a value: how many fields were compared.
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
    leftover: &[String],
    out: &mut Vec<Difference>,
) {
    let differs = signed.is_some() != stated.is_some() && OPEN.contains(&name_of(path));
    if !differs && is_empty(signed) && (is_empty(stated) || is_default(path, stated)) {
        return;
    }
    if stated.is_none() && leftover.iter().any(|known| known == path) {
        return;
    }
    match (signed, stated) {
        (Some(Value::Object(ours)), Some(Value::Object(theirs))) => {
            let added = theirs.keys().filter(|name| !ours.contains_key(*name));
            for name in ours.keys().chain(added) {
                let place = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                compare(&place, ours.get(name), theirs.get(name), leftover, out);
            }
        }
        (Some(Value::Array(ours)), Some(Value::Array(theirs))) => {
            for index in 0..ours.len().max(theirs.len()) {
                // A missing element is not an empty one.
                match (ours.get(index), theirs.get(index)) {
                    (Some(ours), Some(theirs)) => {
                        compare(&format!("{path}[{index}]"), Some(ours), Some(theirs), leftover, out);
                    }
                    (ours, theirs) => out.push(difference(&format!("{path}[{index}]"), ours, theirs)),
                }
            }
        }
        (Some(ours), Some(theirs)) if same_scalar(ours, theirs) => {}
        _ => out.push(difference(path, signed, stated)),
    }
}

fn difference(path: &str, signed: Option<&Value>, stated: Option<&Value>) -> Difference {
    let told = |value: Option<&Value>| {
        value.map_or_else(|| "absent".to_owned(), |value| crate::text::clean(&value.to_string()))
    };
    Difference { path: crate::text::clean(path), signed: told(signed), stated: told(stated) }
}

fn same_scalar(ours: &Value, theirs: &Value) -> bool {
    match (ours, theirs) {
        (Value::Number(number), Value::String(text)) | (Value::String(text), Value::Number(number)) => {
            number.to_string() == *text
        }
        _ => ours == theirs,
    }
}

fn is_default(path: &str, stated: Option<&Value>) -> bool {
    let name = name_of(path);
    DEFAULTS
        .iter()
        .any(|(member, default)| *member == name && stated.and_then(Value::as_str) == Some(default))
}

/// The last name of a path.
fn name_of(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}

fn is_empty(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null | Value::Bool(false)) => true,
        Some(Value::String(text)) => text.is_empty() || text == "0" || text.ends_with("_UNSPECIFIED"),
        Some(Value::Number(number)) => number.as_u64() == Some(0),
        Some(Value::Array(items)) => items.is_empty(),
        Some(Value::Object(members)) => {
            members.iter().all(|(name, member)| is_empty(Some(member)) && !OPEN.contains(&name.as_str()))
        }
        Some(Value::Bool(true)) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn defaults_are_no_difference_and_all_else_is() {
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
