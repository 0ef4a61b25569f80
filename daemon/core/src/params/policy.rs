//! Policies as clients describe them.

use quorate_common::bounded::{AtMost, Label, Text};
use quorate_policy::selectors::{self, Operator, Selector};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crate::model::policy::{EXPRESSION_LIMIT, Effect, NOTES_LIMIT};
use crate::refusal::{Intent, Refusal};

/// A policy to be created.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PolicyParams {
    /// Name.
    pub policy_name: Label,
    /// What it does where it applies.
    pub effect: Effect,
    /// Which activities it is about; all when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<Text<EXPRESSION_LIMIT>>,
    /// Whose approvals it needs; nobody's but the asker's when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consensus: Option<Text<EXPRESSION_LIMIT>>,
    /// Notes.
    #[serde(default)]
    pub notes: Text<NOTES_LIMIT>,
    /// When it is active; always when absent or empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<Text<EXPRESSION_LIMIT>>,
}

/// Longest subject or target of a selector, in bytes.
const SELECTOR: usize = 1024;
/// Most selectors, and most targets of one.
const SELECTORS: usize = quorate_policy::selectors::SELECTOR_LIMIT;

/// A comparison of the older form, with one target.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct SelectorParams {
    subject: Text<SELECTOR>,
    #[schemars(schema_with = "operators")]
    operator: Operator,
    target: Text<SELECTOR>,
}

/// A comparison of the older form, with several targets.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct SelectorParamsV2 {
    subject: Text<SELECTOR>,
    #[schemars(schema_with = "operators")]
    operator: Operator,
    #[serde(default)]
    targets: AtMost<Text<SELECTOR>, SELECTORS>,
}

/// A policy of the older form: selectors of the one or the other kind.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SelectorPolicyParams<S> {
    policy_name: Label,
    selectors: AtMost<S, SELECTORS>,
    effect: Effect,
    #[serde(default)]
    notes: Text<NOTES_LIMIT>,
}

fn operators(_: &mut SchemaGenerator) -> Schema {
    let names = ["EQUAL", "NOT_EQUAL", "MORE_THAN", "MORE_THAN_OR_EQUAL", "LESS_THAN", "LESS_THAN_OR_EQUAL"];
    let more = ["CONTAINS", "IN", "NOT_IN", "CONTAINS_ONE", "CONTAINS_ALL"];
    let names: Vec<String> = names.iter().chain(&more).map(|name| format!("OPERATOR_{name}")).collect();
    json_schema!({"type": "string", "enum": names})
}

impl From<SelectorParams> for Selector {
    fn from(params: SelectorParams) -> Self {
        let text = |text: Text<SELECTOR>| text.as_str().to_owned();
        Self { subject: text(params.subject), operator: params.operator, targets: vec![text(params.target)] }
    }
}

impl From<SelectorParamsV2> for Selector {
    fn from(params: SelectorParamsV2) -> Self {
        let targets = params.targets.iter().map(|target| target.as_str().to_owned()).collect();
        Self { subject: params.subject.as_str().to_owned(), operator: params.operator, targets }
    }
}

impl<S: Into<Selector>> SelectorPolicyParams<S> {
    /// The same policy with expressions in place of the selectors.
    pub fn translated(self) -> Result<PolicyParams, Refusal> {
        let flaw = |why: &dyn std::fmt::Display| Intent::Detail(format!("invalid policy condition: {why}"));
        let selectors: Vec<Selector> = self.selectors.into_iter().map(Into::into).collect();
        let translation = selectors::translate(&selectors).map_err(|why| flaw(&why))?;
        let text = |text: Option<String>| text.map(Text::parse).transpose().map_err(|why| flaw(&why));
        Ok(PolicyParams {
            policy_name: self.policy_name,
            effect: self.effect,
            condition: text(translation.condition)?,
            consensus: text(translation.consensus)?,
            notes: self.notes,
            time: None,
        })
    }
}
