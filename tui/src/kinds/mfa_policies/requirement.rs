//! The steps and the condition of an MFA policy, in words, and what they mean for its user.

use quorate_common::wire::{
    AuthenticationMethod, AuthenticationType, MfaPolicy, RequiredAuthenticationMethod, User,
};
use quorate_policy::lint::{Coverage, coverage};
use quorate_policy::request::kind_of;
use quorate_policy::{ExpressionKind, Program};

use super::provable::{can_prove, need_session};
use crate::kinds::prelude::*;
use crate::policies::types;

/// Id by which policies name the default session profile.
const DEFAULT_PROFILE: [u8; 16] = [0; 16];

/// Reads the signed steps.
pub(super) fn steps(parameters: &Reader<'_>) -> Result<Vec<RequiredAuthenticationMethod>> {
    let name = "requiredAuthenticationMethods";
    let value = parameters.value_of(name).cloned().unwrap_or_else(|| serde_json::json!([]));
    serde_json::from_value(value).map_err(|_| parameters.unknown(name))
}

/// Returns the steps in words, in their order.
pub(super) fn words(steps: &[RequiredAuthenticationMethod], context: &ReviewContext<'_>) -> String {
    let steps: Vec<String> = steps.iter().map(|step| step_words(step, context)).collect();
    if steps.is_empty() { "nothing".to_owned() } else { steps.join(", then ") }
}

/// Returns the methods of one step in words.
pub(crate) fn step_words(step: &RequiredAuthenticationMethod, context: &ReviewContext<'_>) -> String {
    let methods: Vec<String> = step.any.iter().map(|method| method_words(method, context)).collect();
    if methods.is_empty() { "nothing".to_owned() } else { methods.join(" or ") }
}

fn method_words(method: &AuthenticationMethod, context: &ReviewContext<'_>) -> String {
    let (any, the) = match method.method_type {
        AuthenticationType::EmailOtp => ("a code sent by mail", "the code"),
        AuthenticationType::SmsOtp => ("a code sent by SMS", "the code"),
        AuthenticationType::Passkey => ("a passkey", "the passkey"),
        AuthenticationType::ApiKey => ("an API key", "the API key"),
        AuthenticationType::Oauth => ("an OAuth login", "the OAuth login"),
        AuthenticationType::Session => ("a session", "a session with the profile"),
    };
    let Some(id) = method.id else { return any.to_owned() };
    if method.method_type == AuthenticationType::Session && *id.as_bytes() == DEFAULT_PROFILE {
        return "a session without a profile".to_owned();
    }
    let id = id.to_string();
    match context.organization.name_of(&id) {
        Some(name) => format!("{the} {} ({id})", stated(name)),
        None => format!("{the} {id}"),
    }
}

/// Flags what new steps mean for the user: whether somebody is locked out, and whether one credential is enough.
pub(super) fn flag_steps(
    steps: &[RequiredAuthenticationMethod],
    user: Option<&User>,
    named: &str,
    description: &mut Description,
    context: &ReviewContext<'_>,
) {
    let missing = steps.iter().find(|step| user.is_some_and(|user| !can_prove(step, user)));
    if let Some(step) = missing {
        let text = format!(
            "Locks {named} out of everything that the policy applies to, including its own deletion: as the daemon \
             states, the user has no credential for this step: {}.",
            step_words(step, context)
        );
        description.flag_high("locks-out", text);
    }
    if steps.len() == 1 {
        let text = format!("Adds no second factor: one credential of {named} is enough to meet the policy.");
        description.flag_medium("single-step", text);
    }
}

/// Flags a condition that cannot be evaluated here, or that leaves a way around the policy.
pub(super) fn flag_condition(condition: &str, description: &mut Description) {
    let program = Program::parse(ExpressionKind::Condition, condition);
    if let Err(error) = &program {
        let text = format!("This console cannot evaluate it: {}.", clean(&error.to_string()));
        description.flag_medium("unreadable-expression", text);
    }
    let covers = |program: &Program| types().iter().all(|one| coverage(program, one) == Coverage::All);
    if !program.as_ref().is_ok_and(covers) {
        let text = "May be evaded: it applies only where its condition is true. Unless another MFA policy covers them, \
                    one credential is enough to add further credentials, or to change the mail address.";
        description.flag_medium("limited-condition", text);
    }
}

/// Flags a policy that applies to logins and has a step that only a session proves: the user could not open one.
pub(super) fn flag_sessions(
    condition: &str,
    steps: &[RequiredAuthenticationMethod],
    user: Option<&User>,
    named: &str,
    description: &mut Description,
) {
    if !need_session(steps, user) || !may_apply(condition, "STAMP_LOGIN") {
        return;
    }
    let what =
        if may_apply(condition, "DELETE_MFA_POLICY") { "logins and DELETE_MFA_POLICY" } else { "logins" };
    let text = format!(
        "May lock {named} out: {what} would need a session as well. Then only others can open one for the user, such as \
         the authentication proxy."
    );
    description.flag_high("no-session", text);
}

/// Returns whether a condition may apply to activities of a kind.
fn may_apply(condition: &str, kind: &str) -> bool {
    let Ok(program) = Program::parse(ExpressionKind::Condition, condition) else { return true };
    let types = types();
    let mut of_kind = types.iter().filter(|one| kind_of(&one.name) == kind);
    of_kind.any(|one| coverage(&program, one) != Coverage::None)
}

/// Returns the policy of a user with this id, as the daemon states it.
pub(super) fn known<'a>(user: Option<&'a User>, id: &str) -> Option<&'a MfaPolicy> {
    let mut policies = user?.mfa_policies.iter();
    policies.find(|policy| policy.mfa_policy_id.to_string().eq_ignore_ascii_case(id))
}

/// Returns name and id of an MFA policy.
pub(super) fn named(known: Option<&MfaPolicy>, id: &str) -> String {
    match known {
        Some(policy) => format!("{} ({})", stated(&policy.mfa_policy_name), clean(id)),
        None => format!("{} (not known here)", clean(id)),
    }
}

/// Returns the lines that show the MFA policies of a user.
pub(in crate::kinds) fn lines(user: &User, context: &ReviewContext<'_>) -> Vec<String> {
    let line = |policy: &MfaPolicy| {
        format!(
            "MFA       {} {}  {} where {}, order {}",
            quoted(&policy.mfa_policy_name),
            policy.mfa_policy_id,
            words(&policy.required_authentication_methods, context),
            clean(&policy.condition),
            policy.order
        )
    };
    user.mfa_policies.iter().map(line).collect()
}
