//! Validates new and changed policies. Expressions are parsed and checked, so that a stored policy always
//! parses.

use quorate_common::bounded::{Label, Text};
use quorate_common::ids::PolicyId;
use quorate_policy::decide::{Effect, PolicyProgram};
use quorate_policy::{ExpressionKind, Program};

use crate::error::{Intent, Limit, RequestError};
use crate::execution::Execution;
use crate::model::Change;
use crate::model::policy::{EXPRESSION_LIMIT, Policy};
use crate::params::PolicyParams;
use crate::view::{View, check_limit, distinct};

/// An expression of a policy, or the scope of a session.
pub type Expression = Text<EXPRESSION_LIMIT>;

/// Checks new policies: their expressions, their names and the limits.
///
/// # Errors
/// If an expression does not parse, a name is already in use or given twice, or a limit is exceeded.
pub fn check_new(policies: &[PolicyParams], view: &View<'_>) -> Result<(), RequestError> {
    for policy in policies {
        check_expressions(policy.condition.as_ref(), policy.consensus.as_ref(), policy.time.as_ref())?;
        name_is_free(&policy.policy_name, view)?;
    }
    if distinct(policies.iter().map(|policy| policy.policy_name.as_str()), "policies").is_err() {
        return Err(NAME_IN_USE.into());
    }
    let expressions = policies.iter().flat_map(|policy| [&policy.condition, &policy.consensus, &policy.time]);
    expressions_fit(expressions.flatten().map(|text| text.as_str().len()).sum(), 0, view)?;
    check_limit(
        view.organization.policies().count(),
        policies.len(),
        view.limits().policies,
        "policies",
        "policies",
    )
}

/// Checks that expressions of `added` bytes can replace those of `replaced` bytes. An organization above the
/// limit may still shorten its expressions.
///
/// # Errors
/// If the expressions grow and all of them together exceed the limit.
pub fn expressions_fit(added: usize, replaced: usize, view: &View<'_>) -> Result<(), RequestError> {
    let limit = view.limits().policy_bytes;
    let after = view.organization.policy_bytes().saturating_sub(replaced).saturating_add(added);
    if after > limit && added > replaced {
        return Err(Limit::Bytes("policy expressions", limit, "policy_bytes").into());
    }
    Ok(())
}

/// Adds a policy and returns its id.
pub fn add(params: PolicyParams, context: &mut Execution<'_>) -> PolicyId {
    let id = PolicyId::random(context.random());
    context.change(Change::PutPolicy(Policy {
        id,
        name: params.policy_name,
        effect: params.effect,
        condition: params.condition,
        consensus: params.consensus,
        time: non_empty(params.time),
        notes: params.notes,
        created: context.now(),
        updated: context.now(),
    }));
    id
}

/// Checks that the expressions parse. An empty condition or consensus is invalid; an empty time means no
/// restriction.
///
/// # Errors
/// If an expression does not parse.
pub fn check_expressions(
    condition: Option<&Expression>,
    consensus: Option<&Expression>,
    time: Option<&Expression>,
) -> Result<(), RequestError> {
    let text = |expression: Option<&'_ Expression>| expression.map(|text| text.as_str().to_owned());
    let (condition, consensus, time) = (text(condition), text(consensus), text(time));
    // The effect does not matter here.
    let parsed =
        PolicyProgram::parse(Effect::Deny, condition.as_deref(), consensus.as_deref(), time.as_deref());
    parsed.map(drop).map_err(|error| Intent::Detail(error.to_string()).into())
}

/// Checks that the scope of a session profile is a condition and not empty.
///
/// # Errors
/// If it is empty or does not parse.
pub fn check_scope(scope: &Expression) -> Result<(), RequestError> {
    if scope.as_str().trim().is_empty() {
        return Err(Intent::Empty("scope").into());
    }
    let parsed = Program::parse(ExpressionKind::Condition, scope.as_str());
    parsed.map(drop).map_err(|why| Intent::Detail(format!("invalid session profile scope: {why}")).into())
}

/// Checks that no policy has this name.
///
/// # Errors
/// If one has.
pub fn name_is_free(name: &Label, view: &View<'_>) -> Result<(), RequestError> {
    let is_in_use = view.organization.policies().any(|parsed| parsed.policy.name == *name);
    if is_in_use { Err(NAME_IN_USE.into()) } else { Ok(()) }
}

/// Returns the time restriction to store: an empty text means none.
pub fn non_empty(time: Option<Expression>) -> Option<Expression> {
    time.filter(|text| !text.as_str().is_empty())
}

const NAME_IN_USE: Intent = Intent::Text("policy label must be unique");
