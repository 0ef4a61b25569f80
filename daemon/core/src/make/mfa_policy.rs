//! Validates new and changed MFA policies. A policy that its user could never meet is rejected, since it would lock the
//! user out.

use quorate_common::assignment;
use quorate_common::bounded::{Email, Phone};
use quorate_common::ids::MfaPolicyId;
use quorate_common::wire::{AuthenticationMethod, AuthenticationType, RequiredAuthenticationMethod};
use quorate_policy::{ExpressionKind, Program};

use super::policy::{self, Expression};
use crate::authentication::Authentication;
use crate::error::{Intent, Missing, RequestError};
use crate::model::{MfaPolicy, SessionProfile, User};
use crate::policy::Facts;
use crate::view::{View, check_limit, not_empty};

/// Checks that a condition parses.
///
/// # Errors
/// If it does not.
pub fn check_condition(condition: &Expression) -> Result<(), RequestError> {
    let parsed = Program::parse(ExpressionKind::Condition, condition.as_str());
    parsed.map(drop).map_err(|why| Intent::Detail(format!("invalid mfa policy condition: {why}")).into())
}

/// Checks that the condition of an MFA policy can replace an older one, within the limit of all expressions.
///
/// # Errors
/// If the expressions grow and exceed the limit.
pub fn expressions_fit(
    condition: &Expression,
    replaced: Option<&Expression>,
    view: &View<'_>,
) -> Result<(), RequestError> {
    let replaced = replaced.map_or(0, |old| old.as_str().len());
    policy::expressions_fit(condition.as_str().len(), replaced, view)
}

/// Checks that no other MFA policy of a user than `except` has this position.
///
/// # Errors
/// If one has it.
pub fn check_order(order: u32, user: &User, except: Option<MfaPolicyId>) -> Result<(), RequestError> {
    let has_it = |policy: &MfaPolicy| policy.order == order && Some(policy.id) != except;
    if user.mfa_policies.iter().any(has_it) {
        return Err(Intent::Text("mfa policy order must be unique").into());
    }
    Ok(())
}

/// Checks that the limit allows a user one more MFA policy.
///
/// # Errors
/// If it does not.
pub fn check_room(user: &User, view: &View<'_>) -> Result<(), RequestError> {
    let (count, limit) = (user.mfa_policies.len(), view.limits().mfa_policies);
    check_limit(count, 1, limit, "MFA policies per user", "mfa_policies")
}

/// Returns the MFA policy of a user with this id.
///
/// # Errors
/// If the user does not have it.
pub fn find(user: &User, id: MfaPolicyId) -> Result<&MfaPolicy, RequestError> {
    let found = user.mfa_policies.iter().find(|policy| policy.id == id);
    found.ok_or_else(|| Missing::Record("MFA policy", id.to_string()).into())
}

/// Returns the facts of a change of the MFA policies of a user, if the proposer is that user: the policies that the
/// change could weaken, which the proposer must meet.
pub fn guarded(user: &User, view: &View<'_>, is_weakened: impl Fn(&MfaPolicy) -> bool) -> Facts {
    let own = user.mfa_policies.iter().filter(|policy| user.id == view.proposer && is_weakened(policy));
    Facts { guarded_by: own.map(|policy| policy.id).collect(), ..Facts::default() }
}

/// Checks that a user can prove all steps with their present credentials, each step with another one.
///
/// # Errors
/// If a list is empty, a one-time code has an id, or the user cannot prove the steps.
pub fn check_steps(
    steps: &[RequiredAuthenticationMethod],
    user: &User,
    view: &View<'_>,
) -> Result<(), RequestError> {
    not_empty(steps, "requiredAuthenticationMethods")?;
    let credentials = credentials(user, view)?;
    let mut choices = Vec::with_capacity(steps.len());
    for (index, step) in steps.iter().enumerate() {
        not_empty(&step.any, "any")?;
        if step.any.iter().any(names_code) {
            let text = "invalid request body: the `id` of a one-time code must be absent";
            return Err(Intent::Text(text).into());
        }
        let proves = |by: &Authentication| step.any.iter().any(|method| by.proves(method));
        let choice: Vec<usize> =
            credentials.iter().enumerate().filter_map(|(at, by)| proves(by).then_some(at)).collect();
        if choice.is_empty() {
            return Err(Intent::Detail(format!(
                "the user has no credential for `requiredAuthenticationMethods[{index}]`{}",
                missing_contact(step, user)
            ))
            .into());
        }
        choices.push(choice);
    }
    if assignment::is_possible(&choices, credentials.len()) {
        return Ok(());
    }
    let text = "the user has too few credentials: each step of an mfa policy needs a different one";
    Err(Intent::Text(text).into())
}

/// Returns what a message adds if a step needs a code to a contact that the user does not have, or has not verified.
fn missing_contact(step: &RequiredAuthenticationMethod, user: &User) -> String {
    let names = |code: AuthenticationType| step.any.iter().any(|method| method.method_type == code);
    let (noun, contact, update) = if names(AuthenticationType::EmailOtp) {
        ("email address", user.email.as_ref().map(Email::as_str), "UPDATE_USER_EMAIL")
    } else if names(AuthenticationType::SmsOtp) {
        ("phone number", user.phone.as_ref().map(Phone::as_str), "UPDATE_USER_PHONE_NUMBER")
    } else {
        return String::new();
    };
    contact.map_or_else(
        || format!(": the user has no {noun}"),
        |contact| {
            format!(
                ": the {noun} {contact} is not verified; log in once with a code that was sent to it, or submit {update} \
                 with it and a verification token"
            )
        },
    )
}

/// Returns whether a method names a one-time code by an id. Codes have none that would be known in advance.
fn names_code(method: &AuthenticationMethod) -> bool {
    let is_code = matches!(method.method_type, AuthenticationType::EmailOtp | AuthenticationType::SmsOtp);
    is_code && method.id.is_some()
}

/// Returns what a user can prove: with present credentials, verified contacts, and sessions that the user could open.
fn credentials(user: &User, view: &View<'_>) -> Result<Vec<Authentication>, RequestError> {
    let keys = user.api_keys.iter().filter(|key| !key.is_session() && !key.is_expired(view.now));
    let mut all: Vec<Authentication> = keys.map(|key| Authentication::ApiKey(key.id)).collect();
    all.extend(user.passkeys().map(|(one, _)| Authentication::Passkey(one.id)));
    all.extend(user.oauth_providers.iter().map(|one| Authentication::Oauth(one.id)));
    all.extend((user.email_verified && user.email.is_some()).then_some(Authentication::EmailCode));
    all.extend((user.phone_verified && user.phone.is_some()).then_some(Authentication::SmsCode));
    all.push(Authentication::Session(None));
    let profiles = view.session_profiles()?;
    all.extend(profiles.iter().map(|profile: &SessionProfile| Authentication::Session(Some(profile.id))));
    Ok(all)
}
