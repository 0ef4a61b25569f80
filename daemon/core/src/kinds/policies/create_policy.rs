//! Creates a policy. Its expressions are parsed and checked now, so that a stored policy always parses.

use quorate_common::bounded::Text;
use quorate_common::ids::PolicyId;
use quorate_policy::{ExpressionKind, Program};

use crate::kinds::prelude::*;
use crate::model::policy::{EXPRESSION_LIMIT, Effect, NOTES_LIMIT, Policy};

pub(in crate::kinds) struct CreatePolicy;

/// Creates a policy: whom it allows or denies what, and whose consent that needs.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    policy_name: Label,
    effect: Effect,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    condition: Option<Text<EXPRESSION_LIMIT>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    consensus: Option<Text<EXPRESSION_LIMIT>>,
    #[serde(default)]
    notes: Text<NOTES_LIMIT>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    policy_id: PolicyId,
}

impl Form for Intent {
    type Kind = CreatePolicy;
    type Outcome = Outcome;
    const TYPE: &'static str = "ACTIVITY_TYPE_CREATE_POLICY_V3";
    const NUMBER: u16 = 28;
    const RESULT: &'static str = "createPolicyResult";
}

impl Kind for CreatePolicy {
    const ACTS: Option<(Action, Resource)> = Some((Action::Create, Resource::Policy));
    const GATE: Gate = Gate::Policy;
    type Intent = Intent;
    type Plan = ();
    type Outcome = Outcome;

    fn rules(intent: &Intent, view: &View<'_>) -> Result<(Facts, ()), Refusal> {
        parses(ExpressionKind::Condition, intent.condition.as_ref(), "invalid policy condition")?;
        parses(ExpressionKind::Consensus, intent.consensus.as_ref(), "invalid policy consensus")?;
        let mut present = view.organization.policies();
        if present.any(|parsed| parsed.policy.name == intent.policy_name) {
            return Err(Wrong::Text("policy label must be unique").into());
        }
        room(view.organization.policies().count(), 1, view.world.limits().policies, "policies")?;
        Ok((Facts::default(), ()))
    }

    fn execute(intent: Intent, (): (), cx: &mut Cx<'_, '_>) -> Result<Outcome, Refusal> {
        let policy = Policy {
            id: PolicyId::random(cx.random()),
            name: intent.policy_name,
            effect: intent.effect,
            condition: intent.condition.filter(|text| !text.as_str().is_empty()),
            consensus: intent.consensus.filter(|text| !text.as_str().is_empty()),
            notes: intent.notes,
            created: cx.now(),
            updated: cx.now(),
        };
        let outcome = Outcome { policy_id: policy.id };
        cx.change(Change::AddPolicy(policy));
        Ok(outcome)
    }
}

fn parses(
    kind: ExpressionKind,
    text: Option<&Text<EXPRESSION_LIMIT>>,
    flaw: &'static str,
) -> Result<(), Refusal> {
    match text.map(Text::as_str) {
        None | Some("") => Ok(()),
        Some(text) => match Program::parse(kind, text) {
            Ok(_) => Ok(()),
            Err(why) => Err(Wrong::Detail(format!("{flaw}: {why}")).into()),
        },
    }
}
