//! Policies: what must hold of new and changed ones. Expressions are parsed and checked, so that a stored policy
//! always parses.

use quorate_common::bounded::{Label, Text};
use quorate_common::ids::PolicyId;
use quorate_policy::{ExpressionKind, Program};

use crate::cx::Cx;
use crate::model::Change;
use crate::model::policy::{EXPRESSION_LIMIT, Policy};
use crate::params::PolicyParams;
use crate::refusal::{Intent, Refusal, Unoffered};
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
    room(view.organization.policies().count(), policies.len(), view.world.limits().policies, "policies")
}

/// Adds a policy; gives its id.
pub fn add(params: PolicyParams, cx: &mut Cx<'_, '_>) -> PolicyId {
    let id = PolicyId::random(cx.random());
    cx.change(Change::PutPolicy(Policy {
        id,
        name: params.policy_name,
        effect: params.effect,
        condition: stated(params.condition),
        consensus: stated(params.consensus),
        notes: params.notes,
        created: cx.now(),
        updated: cx.now(),
    }));
    id
}

/// Both expressions parse, and no time is asked for.
pub fn check_expressions(
    condition: Option<&Expression>,
    consensus: Option<&Expression>,
    time: Option<&Expression>,
) -> Result<(), Refusal> {
    if time.is_some_and(|time| !time.as_str().is_empty()) {
        let text = "policies with a time are not offered by this service";
        return Err(Unoffered::Feature(text.to_owned()).into());
    }
    parses(ExpressionKind::Condition, condition, "invalid policy condition")?;
    parses(ExpressionKind::Consensus, consensus, "invalid policy consensus")
}

/// The scope of a session is a condition, and not an empty one.
pub fn check_scope(scope: &Expression) -> Result<(), Refusal> {
    if scope.as_str().trim().is_empty() {
        return Err(Intent::Empty("scope").into());
    }
    parses(ExpressionKind::Condition, Some(scope), "invalid session profile scope")
}

/// No policy bears this name.
pub fn name_is_free(name: &Label, view: &View<'_>) -> Result<(), Refusal> {
    let taken = view.organization.policies().any(|parsed| parsed.policy.name == *name);
    if taken { Err(NAME_TAKEN.into()) } else { Ok(()) }
}

/// An expression as it is stored: an empty one is none.
pub fn stated(expression: Option<Expression>) -> Option<Expression> {
    expression.filter(|text| !text.as_str().is_empty())
}

const NAME_TAKEN: Intent = Intent::Text("policy label must be unique");

fn parses(kind: ExpressionKind, text: Option<&Expression>, flaw: &'static str) -> Result<(), Refusal> {
    match text.map(Text::as_str) {
        None | Some("") => Ok(()),
        Some(text) => match Program::parse(kind, text) {
            Ok(_) => Ok(()),
            Err(why) => Err(Intent::Detail(format!("{flaw}: {why}")).into()),
        },
    }
}
