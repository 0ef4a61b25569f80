//! Policies as users write them: a draft in TOML, or JSON as clients send it and as queries return it.

use serde::Deserialize;
use serde_json::Value;

/// The parts of a policy. What the text does not state is absent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PolicyText {
    pub(crate) name: Option<String>,
    /// `ALLOW` or `DENY`, or the name of the wire for it.
    pub(crate) effect: Option<String>,
    pub(crate) condition: Option<String>,
    pub(crate) consensus: Option<String>,
    pub(crate) time: Option<String>,
    pub(crate) notes: Option<String>,
}

/// A policy on the wire. An unknown member is an error: it may be a misspelled condition or consensus.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct WirePolicy {
    policy_name: Option<String>,
    effect: Option<String>,
    condition: Option<String>,
    consensus: Option<String>,
    time: Option<String>,
    notes: Option<String>,
    // Queries return these as well. A draft does not need them.
    #[serde(rename = "policyId")]
    _policy_id: Option<Value>,
    #[serde(rename = "createdAt")]
    _created_at: Option<Value>,
    #[serde(rename = "updatedAt")]
    _updated_at: Option<Value>,
}

impl PolicyText {
    /// Parses a policy. A text that begins with a brace is JSON, as no draft in TOML begins with one.
    ///
    /// # Errors
    ///
    /// Fails with the position if the text is neither, has an unknown member, or a member that is not a text.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        if !text.trim_start().starts_with('{') {
            return toml::from_str(text).map_err(|error: toml::de::Error| error.to_string());
        }
        let policy: WirePolicy = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let WirePolicy { policy_name: name, effect, condition, consensus, time, notes, .. } = policy;
        Ok(Self { name, effect, condition, consensus, time, notes })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn both_formats_have_the_same_meaning() {
        let toml = "name = 'a'\neffect = 'ALLOW'\ncondition = \"wallet.imported\"\nnotes = 'x'";
        let json =
            r#" {"policyName": "a", "effect": "EFFECT_ALLOW", "condition": "wallet.imported", "notes": "x"}"#;
        let read = PolicyText::read(toml).unwrap();
        assert_eq!(read.condition.as_deref(), Some("wallet.imported"));
        let effect = Some("EFFECT_ALLOW".to_owned());
        assert_eq!(PolicyText::read(json).unwrap(), PolicyText { effect, ..read });
        // As queries return it.
        let json =
            r#"{"policyId": "b", "policyName": "a", "createdAt": {"seconds": "1"}, "consensus": null}"#;
        let expected = PolicyText { name: Some("a".to_owned()), ..PolicyText::default() };
        assert_eq!(PolicyText::read(json).unwrap(), expected);
    }

    #[test]
    fn errors_name_the_member_and_the_position() {
        for (text, expected) in [
            (r#"{"policyName": "a", "consenus": "true"}"#, "unknown field `consenus`"),
            (r#"{"policyName": "a", "condition": ["x"]}"#, "expected a string at line 1"),
            ("{\"policyName\": \"a\",\n\"effect\": }", "at line 2"),
            (r#"{"condition": "true", "condition": "false"}"#, "duplicate field `condition`"),
            (r#"{"condition": "true"} x"#, "trailing characters"),
            ("conditon = 'true'", "conditon"),
        ] {
            let error = PolicyText::read(text).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }
}
