//! Policies: what must hold of new and changed ones. Expressions are parsed and checked, so that a stored policy
//! always parses.

use quorate_common::bounded::{Label, Text};
use quorate_common::ids::PolicyId;
use quorate_policy::decide::{Effect, PolicyProgram};
use quorate_policy::{ExpressionKind, Program};

use crate::cx::Cx;
use crate::model::Change;
use crate::model::policy::{EXPRESSION_LIMIT, Policy};
use crate::params::PolicyParams;
use crate::refusal::{Intent, Limit, Refusal};
use crate::view::{View, distinct, room};

/// An expression of a policy, or the scope of a session.
pub type Expression = Text<EXPRESSION_LIMIT>;

/// New policies parse, bear free and different names, and there is room for them.
pub fn check_new(policies: &[PolicyParams], view: &View<'_>) -> Result<(), Refusal> {
    for policy in policies {
        check_expressions(policy.condition.as_ref(), policy.consensus.as_ref(), policy.time.as_ref())?;
        name_is_free(&policy.policy_name, view)?;
    }
    if distinct(policies.iter().map(|policy| policy.policy_name.as_str()), "policies").is_err() {
        return Err(NAME_TAKEN.into());
    }
    let expressions = policies.iter().flat_map(|policy| [&policy.condition, &policy.consensus, &policy.time]);
    expressions_fit(expressions.flatten().map(|text| text.as_str().len()).sum(), 0, view)?;
    room(view.organization.policies().count(), policies.len(), view.limits().policies, "policies", "policies")
}

/// There is room for expressions of so many bytes in the place of others. Whoever has more than fits may still make
/// them shorter.
pub fn expressions_fit(added: usize, replaced: usize, view: &View<'_>) -> Result<(), Refusal> {
    let limit = view.limits().policy_bytes;
    let after = view.organization.policy_bytes().saturating_sub(replaced).saturating_add(added);
    if after > limit && added > replaced {
        return Err(Limit::Bytes("policy expressions", limit, "policy_bytes").into());
    }
    Ok(())
}

/// Adds a policy; gives its id.
pub fn add(params: PolicyParams, cx: &mut Cx<'_, '_>) -> PolicyId {
    let id = PolicyId::random(cx.random());
    cx.change(Change::PutPolicy(Policy {
        id,
        name: params.policy_name,
        effect: params.effect,
        condition: params.condition,
        consensus: params.consensus,
        time: stated(params.time),
        notes: params.notes,
        created: cx.now(),
        updated: cx.now(),
    }));
    id
}

/// The expressions parse. An empty condition or consensus does not, for it would say nothing; an empty time is none.
pub fn check_expressions(
    condition: Option<&Expression>,
    consensus: Option<&Expression>,
    time: Option<&Expression>,
) -> Result<(), Refusal> {
    let text = |expression: Option<&'_ Expression>| expression.map(|text| text.as_str().to_owned());
    let (condition, consensus, time) = (text(condition), text(consensus), text(time));
    // The effect plays no part in it.
    let read =
        PolicyProgram::parse(Effect::Deny, condition.as_deref(), consensus.as_deref(), time.as_deref());
    read.map(drop).map_err(|flaw| Intent::Detail(flaw.to_string()).into())
}

/// The scope of a session is a condition, and not an empty one.
pub fn check_scope(scope: &Expression) -> Result<(), Refusal> {
    if scope.as_str().trim().is_empty() {
        return Err(Intent::Empty("scope").into());
    }
    let read = Program::parse(ExpressionKind::Condition, scope.as_str());
    read.map(drop).map_err(|why| Intent::Detail(format!("invalid session profile scope: {why}")).into())
}

/// No policy bears this name.
pub fn name_is_free(name: &Label, view: &View<'_>) -> Result<(), Refusal> {
    let taken = view.organization.policies().any(|parsed| parsed.policy.name == *name);
    if taken { Err(NAME_TAKEN.into()) } else { Ok(()) }
}

/// A time as it is stored: an empty one is none.
pub fn stated(time: Option<Expression>) -> Option<Expression> {
    time.filter(|text| !text.as_str().is_empty())
}

const NAME_TAKEN: Intent = Intent::Text("policy label must be unique");
