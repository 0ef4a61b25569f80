//! Updates a policy.

use crate::kinds::prelude::*;
use crate::make::policy;
use crate::model::policy::{EXPRESSION_LIMIT, Effect, NOTES_LIMIT, Policy};
use crate::params::policy::PolicyResult;

/// Updates a policy.
///
/// Absent members keep their values.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_field_names, reason = "the wire's names")]
pub(in crate::kinds) struct V1 {
    policy_id: PolicyId,
    policy_name: Option<Label>,
    policy_effect: Option<Effect>,
    policy_condition: Option<Text<EXPRESSION_LIMIT>>,
    policy_consensus: Option<Text<EXPRESSION_LIMIT>>,
    policy_notes: Option<Text<NOTES_LIMIT>>,
}

/// Updates a policy.
///
/// Absent members keep their values; an empty `time` removes the time restriction.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct V2 {
    policy_id: PolicyId,
    policy_name: Option<Label>,
    policy_effect: Option<Effect>,
    policy_condition: Option<Text<EXPRESSION_LIMIT>>,
    policy_consensus: Option<Text<EXPRESSION_LIMIT>>,
    policy_notes: Option<Text<NOTES_LIMIT>>,
    /// When the policy is active. An empty text means always.
    time: Option<Text<EXPRESSION_LIMIT>>,
}

impl Version for V1 {
    type Kind = V2;
    const TYPE: &'static str = "ACTIVITY_TYPE_UPDATE_POLICY";
    const NUMBER: u16 = 42;
}

impl Version for V2 {
    type Kind = Self;
    const TYPE: &'static str = "ACTIVITY_TYPE_UPDATE_POLICY_V2";
    const NUMBER: u16 = 81;
}

impl Kind for V2 {
    const ACTS: Acts = Some((Action::Update, Resource::Policy));
    type Plan = Policy;
    type Outcome = PolicyResult;

    fn rules(&self, view: &View<'_>) -> Result<Policy, RequestError> {
        policy::check_expressions(
            self.policy_condition.as_ref(),
            self.policy_consensus.as_ref(),
            self.time.as_ref(),
        )?;
        let policy = view.policy(self.policy_id)?.clone();
        if let Some(name) = self.policy_name.as_ref().filter(|name| **name != policy.name) {
            policy::name_is_free(name, view)?;
        }
        let expressions = [
            self.policy_condition.as_ref().or(policy.condition.as_ref()),
            self.policy_consensus.as_ref().or(policy.consensus.as_ref()),
            self.time.as_ref().or(policy.time.as_ref()),
        ];
        let bytes = expressions.into_iter().flatten().map(|text| text.as_str().len()).sum();
        policy::expressions_fit(bytes, policy.expression_bytes(), view)?;
        Ok(policy)
    }

    fn execute(self, old: Policy, context: &mut Execution<'_>) -> Result<PolicyResult, RequestError> {
        context.change(Change::PutPolicy(Policy {
            name: self.policy_name.unwrap_or(old.name),
            effect: self.policy_effect.unwrap_or(old.effect),
            condition: self.policy_condition.or(old.condition),
            consensus: self.policy_consensus.or(old.consensus),
            time: policy::non_empty(self.time.or(old.time)),
            notes: self.policy_notes.unwrap_or(old.notes),
            updated: context.now(),
            ..old
        }));
        Ok(PolicyResult { policy_id: self.policy_id })
    }
}

impl From<V1> for V2 {
    fn from(intent: V1) -> Self {
        let V1 { policy_id, policy_name, policy_effect, policy_condition, policy_consensus, policy_notes } =
            intent;
        let time = None;
        Self { policy_id, policy_name, policy_effect, policy_condition, policy_consensus, policy_notes, time }
    }
}
