//! The JSON schemas of parameters, as the catalog states them. Finds members that are signed but not in the
//! schema.

use serde_json::{Map, Value};

use super::description::Field;
use crate::text::clean;

/// A member that clients add to any body. The daemon ignores it.
pub(crate) const APP_PROOFS: &str = "generateAppProofs";

/// Returns the paths in the value that the schema does not define, and members whose type differs from it.
pub(crate) fn unknown_members(value: &Value, schema: &Value) -> Vec<String> {
    let mut out = Vec::new();
    collect_unknown(value, schema, "", &mut out);
    out.retain(|path| path != APP_PROOFS);
    out
}

/// Returns every leaf of the value with its path. Empty lists and objects are leaves too.
pub(crate) fn leaves(value: &Value) -> Vec<Field> {
    let mut out = Vec::new();
    walk(value, String::new(), &mut out);
    out
}

fn collect_unknown(value: &Value, schema: &Value, path: &str, out: &mut Vec<String>) {
    let schema = present(schema);
    match (members(schema), schema.get("items"), value) {
        (Some(known), _, Value::Object(members)) => {
            for (name, inner) in members {
                let member_path = below(path, name);
                match known.get(name) {
                    Some(schema) => collect_unknown(inner, schema, &member_path, out),
                    None => out.push(member_path),
                }
            }
        }
        (None, Some(schema), Value::Array(items)) => {
            for (index, item) in items.iter().enumerate() {
                collect_unknown(item, schema, &format!("{path}[{index}]"), out);
            }
        }
        (None, None, value) if !value.is_object() && !value.is_array() => {}
        _ => out.push(path.to_owned()),
    }
}

/// Returns the parameters without the members that the schema does not define.
pub(crate) fn pruned(value: &Value, schema: &Value) -> Value {
    let schema = present(schema);
    match (members(schema), schema.get("items"), value) {
        (Some(known), _, Value::Object(members)) => {
            let kept = members.iter().filter_map(|(name, inner)| {
                known.get(name).map(|schema| (name.clone(), pruned(inner, schema)))
            });
            Value::Object(kept.collect())
        }
        (None, Some(schema), Value::Array(items)) => items.iter().map(|item| pruned(item, schema)).collect(),
        _ => value.clone(),
    }
}

/// Returns the schema of a value that is present: an optional one is a choice between a schema and `null`.
fn present(schema: &Value) -> &Value {
    let choices = schema.get("anyOf").and_then(Value::as_array);
    let present = choices
        .and_then(|choices| choices.iter().find(|choice| choice.get("type") != Some(&Value::from("null"))));
    present.unwrap_or(schema)
}

/// Returns the schemas of the members of an object.
fn members(schema: &Value) -> Option<&Map<String, Value>> {
    schema.get("properties").and_then(Value::as_object)
}

/// Returns the path of a member, whose name is untrusted.
fn below(path: &str, name: &str) -> String {
    if path.is_empty() { clean(name) } else { format!("{path}.{}", clean(name)) }
}

fn walk(value: &Value, path: String, out: &mut Vec<Field>) {
    match value {
        Value::Object(members) if !members.is_empty() => {
            for (name, inner) in members {
                walk(inner, below(&path, name), out);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for (index, item) in items.iter().enumerate() {
                walk(item, format!("{path}[{index}]"), out);
            }
        }
        Value::Object(_) if path.is_empty() => {}
        Value::String(text) => out.push(Field { name: path, value: clean(text) }),
        other => out.push(Field { name: path, value: other.to_string() }),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use serde_json::json;

    fn of_type(name: &str) -> &'static Value {
        let entry = crate::catalog::of_type(&format!("ACTIVITY_TYPE_{name}")).unwrap();
        &entry.parameters
    }

    /// Checks which paths are unknown, and what remains of the value without them.
    fn check(name: &str, value: &Value, expected: &[&str], remaining: &Value) {
        assert_eq!(unknown_members(value, of_type(name)), expected, "{value}");
        assert_eq!(&pruned(value, of_type(name)), remaining, "{value}");
    }

    #[test]
    fn finds_members_outside_of_the_schema() {
        let known = json!({"userId": "a", "apiKeys": [{"apiKeyName": "k", "expirationSeconds": null}]});
        check("CREATE_API_KEYS", &known, &[], &known);
        check(
            "CREATE_API_KEYS",
            &json!({"userId": "a", "x\u{202e}": 1}),
            &["x<U+202E>"],
            &json!({"userId": "a"}),
        );
        let in_list = json!({"apiKeys": [{}, {"apiKeyName": "k", "curveType": "c"}]});
        let remaining = json!({"apiKeys": [{}, {"apiKeyName": "k"}]});
        check("CREATE_API_KEYS", &in_list, &["apiKeys[1].curveType"], &remaining);
        check("CREATE_API_KEYS_V2", &in_list, &[], &in_list);
        let in_object = json!({"authenticator": {"attestation": {"response": {"x": 1, "transports": []}}}});
        let remaining = json!({"authenticator": {"attestation": {"response": {"transports": []}}}});
        check("ACCEPT_INVITATION", &in_object, &["authenticator.attestation.response.x"], &remaining);
        let in_optional = json!({"wallet": {"walletName": "w", "accounts": [{"x": {}}], "y": []}});
        let remaining = json!({"wallet": {"walletName": "w", "accounts": [{}]}});
        let expected = ["wallet.accounts[0].x", "wallet.y"];
        check("CREATE_SUB_ORGANIZATION_V4", &in_optional, &expected, &remaining);
        check(
            "SET_IP_ALLOWLIST",
            &json!({"onEvaluationError": null}),
            &[],
            &json!({"onEvaluationError": null}),
        );
    }

    #[test]
    fn finds_members_of_another_type_than_in_the_schema() {
        for (name, value, expected) in [
            ("CREATE_API_KEYS", json!([]), ""),
            ("CREATE_API_KEYS", json!({"userId": {"x": 1}}), "userId"),
            ("CREATE_API_KEYS", json!({"apiKeys": null}), "apiKeys"),
            ("CREATE_API_KEYS", json!({"apiKeys": ["k"]}), "apiKeys[0]"),
            ("DELETE_API_KEYS", json!({"apiKeyIds": "x"}), "apiKeyIds"),
            ("DELETE_API_KEYS", json!({"apiKeyIds": [[1]]}), "apiKeyIds[0]"),
            ("CREATE_SUB_ORGANIZATION_V4", json!({"wallet": null}), "wallet"),
            ("SET_IP_ALLOWLIST", json!({"onEvaluationError": {"x": 1}}), "onEvaluationError"),
        ] {
            check(name, &value, &[expected], &value);
        }
    }

    #[test]
    fn optional_objects_are_found_in_both_notations() {
        let object = json!({"type": "object", "properties": {"a": {"type": "string"}}});
        let choice = json!({"properties": {"o": {"anyOf": [{"type": "null"}, object]}}});
        assert_eq!(unknown_members(&json!({"o": {"a": "", "b": 1}}), &choice), ["o.b"]);
        assert_eq!(pruned(&json!({"o": {"a": "", "b": 1}}), &choice), json!({"o": {"a": ""}}));
    }

    #[test]
    fn ignores_what_clients_add_to_any_body() {
        let added = json!({"generateAppProofs": true});
        check("CREATE_API_KEYS", &added, &[], &json!({}));
    }

    #[test]
    fn catalog_has_no_other_schemas() {
        fn walk(schema: &Value, path: &str) {
            let is = |member: &str| schema.get(member).is_some();
            let other = ["$ref", "allOf", "additionalProperties", "patternProperties", "prefixItems"];
            assert!(!other.iter().any(|member| is(member)), "{path}");
            let present = present(schema);
            let scalar = present.get("properties").is_none() && present.get("items").is_none();
            let compound = ["object", "array"].map(Value::from);
            let types =
                present.get("type").map(|one| one.as_array().map_or(vec![one], |all| all.iter().collect()));
            assert!(!scalar || !types.unwrap_or_default().iter().any(|one| compound.contains(one)), "{path}");
            assert!(schema.get("anyOf").is_none_or(|all| all.as_array().unwrap().len() == 2), "{path}");
            members(present)
                .into_iter()
                .flatten()
                .for_each(|(name, one)| walk(one, &format!("{path}.{name}")));
            present.get("items").into_iter().for_each(|one| walk(one, &format!("{path}[]")));
        }
        crate::catalog::all().for_each(|entry| walk(&entry.parameters, &entry.activity_type));
    }

    #[test]
    fn lists_every_leaf() {
        let fields = leaves(&json!({"a": 1, "b": {"c": ["x", {"d": []}]}, "e\u{202e}": "f"}));
        let lines: Vec<String> =
            fields.iter().map(|field| format!("{}={}", field.name, field.value)).collect();
        assert_eq!(lines, ["a=1", "b.c[0]=x", "b.c[1].d=[]", "e<U+202E>=f"]);
    }
}
