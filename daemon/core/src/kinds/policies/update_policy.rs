//! Updates a policy.

use quorate_common::bounded::Text;
use quorate_common::ids::PolicyId;

use crate::kinds::prelude::*;
use crate::make::policy;
use crate::model::policy::{EXPRESSION_LIMIT, Effect, NOTES_LIMIT, Policy};

pub(in crate::kinds) struct UpdatePolicy;

/// Updates a policy.
///
/// Absent members keep their values; an empty `time` removes the time restriction.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    policy_id: PolicyId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    policy_name: Option<Label>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    policy_effect: Option<Effect>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    policy_condition: Option<Text<EXPRESSION_LIMIT>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    policy_consensus: Option<Text<EXPRESSION_LIMIT>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    policy_notes: Option<Text<NOTES_LIMIT>>,
    /// When the policy is active. An empty text means always.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    time: Option<Text<EXPRESSION_LIMIT>>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    policy_id: PolicyId,
}

impl Version for Intent {
    type Kind = UpdatePolicy;
    type Outcome = Outcome;
    const TYPE: &'static str = "ACTIVITY_TYPE_UPDATE_POLICY_V2";
    const NUMBER: u16 = 81;
    const RESULT: &'static str = "updatePolicyResultV2";
}

impl Kind for UpdatePolicy {
    const ACTS: Option<(Action, Resource)> = Some((Action::Update, Resource::Policy));
    const GATE: Gate = Gate::Policy;
    type Intent = Intent;
    type Plan = Policy;
    type Outcome = Outcome;

    fn rules(intent: &Intent, view: &View<'_>) -> Result<(Facts, Policy), RequestError> {
        policy::check_expressions(
            intent.policy_condition.as_ref(),
            intent.policy_consensus.as_ref(),
            intent.time.as_ref(),
        )?;
        let policy = view.policy(intent.policy_id)?.clone();
        if let Some(name) = intent.policy_name.as_ref().filter(|name| **name != policy.name) {
            policy::name_is_free(name, view)?;
        }
        let expressions = [
            intent.policy_condition.as_ref().or(policy.condition.as_ref()),
            intent.policy_consensus.as_ref().or(policy.consensus.as_ref()),
            intent.time.as_ref().or(policy.time.as_ref()),
        ];
        let bytes = expressions.into_iter().flatten().map(|text| text.as_str().len()).sum();
        policy::expressions_fit(bytes, policy.expression_bytes(), view)?;
        Ok((Facts::default(), policy))
    }

    fn execute(
        intent: Intent,
        old: Policy,
        context: &mut ExecutionContext<'_, '_>,
    ) -> Result<Outcome, RequestError> {
        context.change(Change::PutPolicy(Policy {
            name: intent.policy_name.unwrap_or(old.name),
            effect: intent.policy_effect.unwrap_or(old.effect),
            condition: intent.policy_condition.or(old.condition),
            consensus: intent.policy_consensus.or(old.consensus),
            time: policy::non_empty(intent.time.or(old.time)),
            notes: intent.policy_notes.unwrap_or(old.notes),
            updated: context.now(),
            ..old
        }));
        Ok(Outcome { policy_id: intent.policy_id })
    }
}

/// Version 1: without `time`, and with another name for the result.
pub(in crate::kinds) mod v1 {
    use super::{
        Deserialize, EXPRESSION_LIMIT, Effect, JsonSchema, Label, NOTES_LIMIT, Outcome, PolicyId, Serialize,
        Text, UpdatePolicy, Version,
    };

    /// Updates a policy.
    ///
    /// Absent members keep their values.
    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "camelCase")]
    #[expect(clippy::struct_field_names, reason = "the wire's names")]
    pub(in crate::kinds) struct Intent {
        policy_id: PolicyId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        policy_name: Option<Label>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        policy_effect: Option<Effect>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        policy_condition: Option<Text<EXPRESSION_LIMIT>>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        policy_consensus: Option<Text<EXPRESSION_LIMIT>>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        policy_notes: Option<Text<NOTES_LIMIT>>,
    }

    impl Version for Intent {
        type Kind = UpdatePolicy;
        type Outcome = Outcome;
        const TYPE: &'static str = "ACTIVITY_TYPE_UPDATE_POLICY";
        const NUMBER: u16 = 42;
        const RESULT: &'static str = "updatePolicyResult";
    }

    impl From<Intent> for super::Intent {
        fn from(intent: Intent) -> Self {
            Self {
                policy_id: intent.policy_id,
                policy_name: intent.policy_name,
                policy_effect: intent.policy_effect,
                policy_condition: intent.policy_condition,
                policy_consensus: intent.policy_consensus,
                policy_notes: intent.policy_notes,
                time: None,
            }
        }
    }
}
