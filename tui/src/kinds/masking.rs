//! Masks the members that reviews do not show, such as codes, card numbers and bundles, in what is exported.

use quorate_common::json;
use serde_json::Value;

use super::of_type;

/// Replaces the values of sensitive members in the parameters of an activity, and returns their paths. Members that
/// reviews only shorten because they are long are not sensitive.
pub(crate) fn mask(activity_type: &str, parameters: &mut Value) -> Vec<String> {
    let Some((kind, _)) = of_type(activity_type).filter(|(kind, _)| !kind.is_abridged_for_length) else {
        return Vec::new();
    };
    let mut paths = Vec::new();
    for (member, _) in kind.abridged {
        let Some((list, inside)) = member.split_once("[].") else {
            if mask_member(parameters.get_mut(*member)) {
                paths.push((*member).to_owned());
            }
            continue;
        };
        let items = parameters.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten();
        for (index, item) in items.enumerate() {
            if mask_member(item.get_mut(inside)) {
                paths.push(format!("{list}[{index}].{inside}"));
            }
        }
    }
    paths
}

/// Returns the text of a signed request with its sensitive members masked, and the paths of these members; nothing if
/// the request has none.
pub(crate) fn masked_request(message: &str) -> Option<(String, Vec<String>)> {
    let mut body = json::parse(message.as_bytes()).ok()?;
    let activity_type = body.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
    let paths = mask(&activity_type, body.get_mut("parameters")?);
    let paths: Vec<String> = paths.into_iter().map(|path| format!("parameters.{path}")).collect();
    (!paths.is_empty()).then(|| (body.to_string(), paths))
}

/// Returns an intent as the daemon states it, with its sensitive members masked.
pub(crate) fn masked_intent(activity_type: &str, mut intent: Value) -> Value {
    for parameters in intent.as_object_mut().into_iter().flat_map(|members| members.values_mut()) {
        mask(activity_type, parameters);
    }
    intent
}

/// Replaces a value, unless it is absent or empty.
fn mask_member(member: Option<&mut Value>) -> bool {
    let Some(value) = member.filter(|value| !matches!(value.as_str(), Some(""))) else { return false };
    *value = Value::String("(masked)".to_owned());
    true
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn masks_what_reviews_hide() {
        let check = |activity_type: &str, mut parameters: Value, paths: &[&str]| {
            assert_eq!(mask(activity_type, &mut parameters), paths, "{activity_type}");
            let left = parameters.to_string();
            assert!(!left.contains("sensitive"), "{left}");
        };
        let bundle = json!({"encryptedBundle": "sensitive", "walletName": "spare"});
        check("ACTIVITY_TYPE_IMPORT_WALLET", bundle, &["encryptedBundle"]);
        let card = json!({"number": "sensitive", "cvv": "sensitive", "expiryMonth": "01"});
        check("ACTIVITY_TYPE_SET_PAYMENT_METHOD", card, &["number", "cvv"]);
        let secrets = json!({"secrets": [{"name": "a"}, {"secretPayload": "sensitive"}, {"secretPayload": {"x": "sensitive"}}]});
        let paths = ["secrets[1].secretPayload", "secrets[2].secretPayload"];
        check("ACTIVITY_TYPE_IMPORT_SECRETS", secrets, &paths);
        check("ACTIVITY_TYPE_OTP_AUTH", json!({"otpCode": "sensitive", "otpId": "x"}), &["otpCode"]);
        check("ACTIVITY_TYPE_OTP_AUTH", json!({"otpCode": ""}), &[]);
        check("ACTIVITY_TYPE_CREATE_WALLET", json!({"walletName": "spare"}), &[]);
        let mut interface = json!({"smartContractInterface": "long"});
        assert_eq!(mask("ACTIVITY_TYPE_CREATE_SMART_CONTRACT_INTERFACE", &mut interface), [""; 0]);
        assert_eq!(mask("ACTIVITY_TYPE_UNKNOWN", &mut interface), [""; 0]);
        assert_eq!(interface, json!({"smartContractInterface": "long"}));
    }
}
