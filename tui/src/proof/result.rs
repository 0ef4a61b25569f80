//! The result of an executed activity, as the daemon states it.

use serde_json::Value;

use crate::text::clean;

/// Maximum number of values of a result that are listed.
const VALUES: usize = 12;
/// Maximum length of a value that is listed, in characters.
const VALUE_LENGTH: usize = 200;

/// Returns the values of a result with their names. Long ones, such as encrypted keys, are only named.
pub(crate) fn result_values(result: &Value) -> Vec<String> {
    let mut values = Vec::new();
    collect("", result, &mut values);
    let more = values.len().saturating_sub(VALUES);
    let mut lines: Vec<String> = values
        .iter()
        .take(VALUES)
        .map(|(name, value)| format!("{} [s]: {}", clean(name), clean(value)))
        .collect();
    if more > 0 {
        lines.push(format!("{more} more values: quorate activity get ID --json"));
    }
    lines
}

/// Collects the values of an object with the names of their members; names of objects around them are left out.
fn collect(name: &str, value: &Value, into: &mut Vec<(String, String)>) {
    match value {
        Value::Object(members) => members.iter().for_each(|(name, value)| collect(name, value, into)),
        Value::Array(items) => items.iter().for_each(|value| collect(name, value, into)),
        Value::Null => {}
        Value::String(text) if text.chars().count() > VALUE_LENGTH => {
            let length = text.chars().count();
            into.push((name.to_owned(), format!("{length} characters: quorate activity get ID --json")));
        }
        Value::String(text) => into.push((name.to_owned(), text.clone())),
        Value::Bool(_) | Value::Number(_) => into.push((name.to_owned(), value.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_result_is_listed_by_its_values() {
        let result = json!({"signRawPayloadResult": {"r": "aa", "s": "bb", "v": "00"}});
        assert_eq!(result_values(&result), ["r [s]: aa", "s [s]: bb", "v [s]: 00"]);
        assert_eq!(result_values(&json!({})), Vec::<String>::new());
        let many: Vec<String> = (0..20).map(|number| format!("0x{number}")).collect();
        let lines = result_values(&json!({"createWalletResult": {"addresses": many, "walletId": "w"}}));
        assert_eq!(
            (lines.len(), lines.last().map(String::as_str)),
            (13, Some("9 more values: quorate activity get ID --json"))
        );
        let bundle = "é".repeat(201);
        let lines = result_values(&json!({"exportWalletResult": {"exportBundle": bundle}}));
        assert_eq!(lines, ["exportBundle [s]: 201 characters: quorate activity get ID --json"]);
        // What the daemon states cannot move the terminal's cells.
        let lines = result_values(&json!({"a": {"b\u{1b}[2J": "\u{202e}x"}}));
        assert_eq!(lines, ["b<U+001B>[2J [s]: <U+202E>x"]);
    }
}
