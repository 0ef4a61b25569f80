//! Schemas: the members that the parameters of a type may have, written as text. Names are separated by
//! blanks, `[]` marks a list, `:Name` an object with the schema of that name. Finds members that are signed
//! but not in the schema.

use serde_json::Value;

use super::Field;
use crate::text::clean;

/// Schemas of objects that occur in several types.
const SCHEMAS: [(&str, &str); 35] = [
    ("Selector1", "subject operator target"),
    ("Selector2", "subject operator targets[]"),
    ("Policy", "policyName effect condition consensus notes time"),
    ("ApiKey1", "apiKeyName publicKey expirationSeconds"),
    ("ApiKey2", "apiKeyName publicKey curveType expirationSeconds"),
    ("Authenticator1", "authenticatorName userId challenge attestation:Credential"),
    (
        "Credential",
        "id type rawId authenticatorAttachment response:Response clientExtensionResults:Extensions",
    ),
    ("Response", "clientDataJson attestationObject transports[] authenticatorAttachment"),
    ("Extensions", "appid appidExclude credProps:Properties"),
    ("Properties", "rk"),
    ("Authenticator2", "authenticatorName challenge attestation:Attestation"),
    ("Attestation", "credentialId clientDataJson attestationObject transports[]"),
    ("Provider1", "providerName oidcToken"),
    ("Provider2", "providerName oidcToken oidcClaims:Claims"),
    ("Claims", "iss sub aud"),
    ("Account", "curve pathFormat path addressFormat name"),
    ("Wallet", "walletName accounts[]:Account mnemonicLength"),
    ("PrivateKey", "privateKeyName curve privateKeyTags[] addressFormats[]"),
    ("Root1", "userName userEmail apiKeys[]:ApiKey1 authenticators[]:Authenticator2"),
    (
        "Root2",
        "userName userEmail apiKeys[]:ApiKey1 authenticators[]:Authenticator2 oauthProviders[]:Provider1",
    ),
    (
        "Root3",
        "userName userEmail apiKeys[]:ApiKey2 authenticators[]:Authenticator2 oauthProviders[]:Provider1",
    ),
    (
        "Root4",
        "userName userEmail userPhoneNumber apiKeys[]:ApiKey2 authenticators[]:Authenticator2 oauthProviders[]:Provider1",
    ),
    (
        "Root5",
        "userName userEmail userPhoneNumber apiKeys[]:ApiKey2 authenticators[]:Authenticator2 oauthProviders[]:Provider2",
    ),
    ("User1", "userName userEmail accessType apiKeys[]:ApiKey1 authenticators[]:Authenticator1 userTags[]"),
    ("User2", "userName userEmail apiKeys[]:ApiKey1 authenticators[]:Authenticator2 userTags[]"),
    (
        "User3",
        "userName userEmail userPhoneNumber apiKeys[]:ApiKey2 authenticators[]:Authenticator2 oauthProviders[]:Provider1 userTags[]",
    ),
    (
        "User4",
        "userName userEmail userPhoneNumber apiKeys[]:ApiKey2 authenticators[]:Authenticator2 oauthProviders[]:Provider2 userTags[]",
    ),
    ("ApiOnlyUser", "userName userEmail userTags[] apiKeys[]:ApiKey1"),
    ("Signature", "publicKey scheme message signature"),
    ("Invitation", "receiverUserName receiverUserEmail receiverUserTags[] accessType senderUserId"),
    ("Subscription", "eventType filtersJson isActive"),
    ("IpRule", "cidr label"),
    ("Pair", "key value"),
    ("ImportedSecret", "name secretPayload targetPublicKey encryptionSuite staticProperties[]:Pair"),
    ("ExportedSecret", "secretId targetPublicKey encryptionSuite requestContext[]:Pair"),
];

/// A member that clients add to any body. The daemon ignores it.
pub(crate) const APP_PROOFS: &str = "generateAppProofs";

/// Returns the paths in the value that the schema does not define, and members whose type differs from it.
pub(crate) fn unknown_members(value: &Value, schema: &str) -> Vec<String> {
    let mut out = Vec::new();
    object(value, schema, "", &mut out);
    out.retain(|path| path != APP_PROOFS);
    out
}

/// Returns every leaf of the value with its path. Empty lists and objects are leaves too.
pub(crate) fn leaves(value: &Value) -> Vec<Field> {
    let mut out = Vec::new();
    walk(value, String::new(), &mut out);
    out
}

fn object(value: &Value, schema: &str, path: &str, out: &mut Vec<String>) {
    let Some(members) = value.as_object() else {
        out.push(path.to_owned());
        return;
    };
    for (name, inner) in members {
        let member_path = if path.is_empty() { clean(name) } else { format!("{path}.{}", clean(name)) };
        let Some((listed, inside)) = member(schema, name) else {
            out.push(member_path);
            continue;
        };
        match (listed, inner) {
            (true, Value::Array(items)) => {
                for (index, item) in items.iter().enumerate() {
                    element(item, inside, &format!("{member_path}[{index}]"), out);
                }
            }
            (true, _) => out.push(member_path),
            (false, inner) => element(inner, inside, &member_path, out),
        }
    }
}

fn element(value: &Value, inside: Option<&str>, member_path: &str, out: &mut Vec<String>) {
    match inside {
        Some(name) => {
            object(value, named(name).unwrap_or_default(), member_path, out);
        }
        None if value.is_object() || value.is_array() => out.push(member_path.to_owned()),
        None => {}
    }
}

/// Returns the parameters without the members that the schema does not define.
pub(crate) fn pruned(value: &Value, schema: &str) -> Value {
    let Value::Object(members) = value else { return value.clone() };
    let kept = members.iter().filter_map(|(name, inner)| {
        let (_, inside) = member(schema, name)?;
        let Some(inside) = inside else { return Some((name.clone(), inner.clone())) };
        let schema = named(inside).unwrap_or_default();
        let inner = match inner {
            Value::Array(items) => items.iter().map(|item| pruned(item, schema)).collect(),
            other => pruned(other, schema),
        };
        Some((name.clone(), inner))
    });
    Value::Object(kept.collect())
}

/// Returns the schema with this name.
pub(super) fn named(name: &str) -> Option<&'static str> {
    SCHEMAS.iter().find(|(known, _)| *known == name).map(|(_, schema)| *schema)
}

/// Returns whether a member is a list, and the name of its schema if it is an object.
fn member<'s>(schema: &'s str, wanted: &str) -> Option<(bool, Option<&'s str>)> {
    schema.split(' ').find_map(|part| {
        let (name, inside) = part.split_once(':').map_or((part, None), |(name, inside)| (name, Some(inside)));
        let bare = name.strip_suffix("[]");
        (bare.unwrap_or(name) == wanted).then_some((bare.is_some(), inside))
    })
}

fn walk(value: &Value, path: String, out: &mut Vec<Field>) {
    match value {
        Value::Object(members) if !members.is_empty() => {
            for (name, inner) in members {
                let member_path =
                    if path.is_empty() { clean(name) } else { format!("{path}.{}", clean(name)) };
                walk(inner, member_path, out);
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
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn finds_members_outside_of_the_schema() {
        let check = |value: Value, expected: &[&str]| {
            assert_eq!(unknown_members(&value, "userId apiKeys[]:ApiKey1 tags[]"), expected, "{value}");
        };
        check(json!({"userId": "a", "apiKeys": [{"apiKeyName": "k"}], "tags": ["x"]}), &[]);
        check(json!({"generateAppProofs": true}), &[]);
        check(json!({"userId": "a", "admin": true}), &["admin"]);
        check(json!({"apiKeys": [{"apiKeyName": "k", "curveType": "c"}]}), &["apiKeys[0].curveType"]);
        check(json!({"userId": {"x": 1}}), &["userId"]);
        check(json!({"tags": "x"}), &["tags"]);
        check(json!({"tags": [[1]]}), &["tags[0]"]);
    }

    #[test]
    fn lists_every_leaf() {
        let fields = leaves(&json!({"a": 1, "b": {"c": ["x", {"d": []}]}, "e\u{202e}": "f"}));
        let lines: Vec<String> =
            fields.iter().map(|field| format!("{}={}", field.name, field.value)).collect();
        assert_eq!(lines, ["a=1", "b.c[0]=x", "b.c[1].d=[]", "e<U+202E>=f"]);
    }
}
