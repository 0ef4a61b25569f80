//! Compares two bundles member by member. Two bundles are equal only if every member is.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::Bundle;
use crate::text::clean;

/// Members that identify an item of a list, the most specific first. Items without one are compared by position.
const KEYS: [&str; 17] = [
    "policyId",
    "walletId",
    "privateKeyId",
    "tagId",
    "apiKeyId",
    "authenticatorId",
    "invitationId",
    "endpointId",
    "sessionProfileId",
    "smartContractInterfaceId",
    "secretId",
    "oauth2CredentialId",
    "mfaPolicyId",
    "providerId",
    "publicKey",
    "userId",
    "id",
];

/// A member that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BundleDifference {
    /// Path of the member, cleaned.
    pub(crate) path: String,
    /// Value in the first bundle, cleaned; `absent` if it has none.
    pub(crate) first: String,
    pub(crate) second: String,
}

/// Returns the differences, those of signed members first, and the number of compared values. The time of the export and
/// the version of the exporting console are not compared.
pub(crate) fn bundle_differences(first: &Bundle, second: &Bundle) -> (Vec<BundleDifference>, usize) {
    let mut out = Vec::new();
    let mut compared = 0;
    let content = |bundle: &Bundle| {
        let mut content = serde_json::to_value(&bundle.content).unwrap_or_default();
        if let Some(exporter) = content.get_mut("exporter").and_then(Value::as_object_mut) {
            exporter.remove("exportedAtMillis");
            exporter.remove("version");
        }
        content
    };
    let (first, second) = (content(first), content(second));
    for section in ["signed", "stated", "exporter"] {
        compare(section, first.get(section), second.get(section), &mut out, &mut compared);
    }
    (out, compared)
}

fn compare(
    path: &str,
    first: Option<&Value>,
    second: Option<&Value>,
    out: &mut Vec<BundleDifference>,
    compared: &mut usize,
) {
    match (first, second) {
        (Some(Value::Object(one)), Some(Value::Object(other))) => {
            let added = other.keys().filter(|name| !one.contains_key(*name));
            for name in one.keys().chain(added) {
                compare(&format!("{path}.{name}"), one.get(name), other.get(name), out, compared);
            }
        }
        (Some(Value::Array(one)), Some(Value::Array(other))) => {
            compare_lists(path, one, other, out, compared);
        }
        (first, second) => {
            *compared = compared.saturating_add(1);
            if first != second {
                let text = |value: Option<&Value>| {
                    value.map_or_else(|| "absent".to_owned(), |value| clean(&value.to_string()))
                };
                out.push(BundleDifference { path: clean(path), first: text(first), second: text(second) });
            }
        }
    }
}

fn compare_lists(
    path: &str,
    first: &[Value],
    second: &[Value],
    out: &mut Vec<BundleDifference>,
    compared: &mut usize,
) {
    let (one, other) = match (keys(first), keys(second)) {
        (Some(one), Some(other)) => (one, other),
        _ => (positions(first), positions(second)),
    };
    let by_key =
        |keys: &[String], items| -> BTreeMap<String, &Value> { keys.iter().cloned().zip(items).collect() };
    let (firsts, seconds) = (by_key(&one, first), by_key(&other, second));
    let added = other.iter().filter(|key| !firsts.contains_key(*key));
    for key in one.iter().chain(added) {
        let (first, second) = (firsts.get(key).copied(), seconds.get(key).copied());
        compare(&format!("{path}[{key}]"), first, second, out, compared);
    }
    // Counts the list itself, so that an empty one is compared as well.
    *compared = compared.saturating_add(1);
    if firsts.keys().eq(seconds.keys()) && one != other {
        let text = |keys: &[String]| clean(&keys.join(", "));
        out.push(BundleDifference {
            path: format!("{} (order)", clean(path)),
            first: text(&one),
            second: text(&other),
        });
    }
}

/// Returns the value that identifies each item, if all have one and no two the same.
fn keys(items: &[Value]) -> Option<Vec<String>> {
    let key = |item: &Value| {
        let stated = item.pointer("/stated/id").and_then(Value::as_str);
        let own = KEYS.into_iter().find_map(|key| item.get(key)?.as_str());
        stated.or(own).map(str::to_owned)
    };
    let keys: Vec<String> = items.iter().map(key).collect::<Option<_>>()?;
    let distinct: BTreeSet<&String> = keys.iter().collect();
    (distinct.len() == keys.len()).then_some(keys)
}

fn positions(items: &[Value]) -> Vec<String> {
    (0..items.len()).map(|index| index.to_string()).collect()
}
