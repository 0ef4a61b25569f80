//! Parameters of policies.

use quorate_common::bounded::{AtMost, Label, Text};
use quorate_common::ids::PolicyId;
use quorate_policy::selectors::{self, Operator, Selector};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crate::error::{Intent, RequestError};
use crate::limits::BATCH;
use crate::model::policy::{EXPRESSION_LIMIT, Effect, NOTES_LIMIT};

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PolicyResult {
    pub(crate) policy_id: PolicyId,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PoliciesResult {
    pub(crate) policy_ids: AtMost<PolicyId, BATCH>,
}

/// A policy to create.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PolicyParams {
    /// Name of the policy, unique in the organization.
    pub policy_name: Label,
    /// Effect of the policy on the activities to which it applies.
    pub effect: Effect,
    /// Condition on the activities to which the policy applies; all if absent.
    pub condition: Option<Text<EXPRESSION_LIMIT>>,
    /// Approvals that the policy needs; if absent, only that of the proposer.
    pub consensus: Option<Text<EXPRESSION_LIMIT>>,
    /// Notes for people; they have no effect.
    #[serde(default)]
    pub notes: Text<NOTES_LIMIT>,
    /// When the policy is active; always if absent or empty.
    pub time: Option<Text<EXPRESSION_LIMIT>>,
}

/// Longest subject or target of a selector, in bytes.
const SELECTOR: usize = 1024;
/// Most selectors, and most targets of one.
const SELECTORS: usize = quorate_policy::selectors::SELECTOR_LIMIT;

/// A comparison with one target (version 1).
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct SelectorParams {
    subject: Text<SELECTOR>,
    #[schemars(schema_with = "operators")]
    operator: Operator,
    target: Text<SELECTOR>,
}

/// A comparison with several targets (version 2).
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct SelectorParamsV2 {
    subject: Text<SELECTOR>,
    #[schemars(schema_with = "operators")]
    operator: Operator,
    #[serde(default)]
    targets: AtMost<Text<SELECTOR>, SELECTORS>,
}

/// A policy in terms of selectors, as in versions 1 and 2.
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
    let set_names = ["CONTAINS", "IN", "NOT_IN", "CONTAINS_ONE", "CONTAINS_ALL"];
    let names: Vec<String> = names.iter().chain(&set_names).map(|name| format!("OPERATOR_{name}")).collect();
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
    /// Translates the selectors into expressions.
    ///
    /// # Errors
    /// If a selector is invalid, or an expression would be too long.
    pub fn translated(self) -> Result<PolicyParams, RequestError> {
        let error = |why: &dyn std::fmt::Display| Intent::Detail(format!("invalid policy condition: {why}"));
        let selectors: Vec<Selector> = self.selectors.into_iter().map(Into::into).collect();
        let translation = selectors::translate(&selectors).map_err(|why| error(&why))?;
        let text = |text: Option<String>| text.map(Text::parse).transpose().map_err(|why| error(&why));
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
