//! The kinds that change how users sign in. No session with a profile may propose or approve them, whatever its scope is:
//! what they create would not be limited by the profile.
//!
//! Kinds that create users or organizations are not among them: they give no new access to an existing user, and a scope
//! may permit them.

use std::collections::HashMap;

use quorate_common::ids::ApiKeyId;
use quorate_policy::request::kind_of;
use serde_json::value::RawValue;

use crate::model::feature::FeatureName;

/// Which requests of a kind change how users sign in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Changes {
    /// All requests.
    All,
    /// Requests with at least one of these parameters.
    With(&'static [&'static str]),
    /// All requests, except for one that only deletes the key of the session itself.
    UnlessOwnKey,
    /// All requests, except for those about one of these features.
    UnlessFeature(&'static [FeatureName]),
}

/// Features that do not affect how users sign in.
const OTHER_FEATURES: &[FeatureName] =
    &[FeatureName::Webhook, FeatureName::SolanaRentPrefund, FeatureName::SwapConfig, FeatureName::EarnConfig];

/// The kinds that open sessions, add or delete credentials, change contacts, MFA policies or the settings of sign-in, or
/// recover users: the activity type without prefix and version, sorted.
pub const ACCESS: &[(&str, Changes)] = &[
    ("CREATE_API_KEYS", Changes::All),
    ("CREATE_AUTHENTICATORS", Changes::All),
    ("CREATE_MFA_POLICY", Changes::All),
    ("CREATE_OAUTH2_CREDENTIAL", Changes::All),
    ("CREATE_OAUTH_PROVIDERS", Changes::All),
    ("CREATE_READ_ONLY_SESSION", Changes::All),
    ("CREATE_READ_WRITE_SESSION", Changes::All),
    ("DELETE_API_KEYS", Changes::UnlessOwnKey),
    ("DELETE_AUTHENTICATORS", Changes::All),
    ("DELETE_MFA_POLICY", Changes::All),
    ("DELETE_OAUTH2_CREDENTIAL", Changes::All),
    ("DELETE_OAUTH_PROVIDERS", Changes::All),
    ("DISABLE_AUTH_PROXY", Changes::All),
    ("EMAIL_AUTH", Changes::All),
    ("ENABLE_AUTH_PROXY", Changes::All),
    ("INIT_OTP_AUTH", Changes::All),
    ("INIT_USER_EMAIL_RECOVERY", Changes::All),
    ("OAUTH", Changes::All),
    ("OAUTH2_AUTHENTICATE", Changes::All),
    ("OAUTH_LOGIN", Changes::All),
    ("OTP_AUTH", Changes::All),
    ("OTP_LOGIN", Changes::All),
    ("RECOVER_USER", Changes::All),
    ("REMOVE_IP_ALLOWLIST", Changes::All),
    ("REMOVE_ORGANIZATION_FEATURE", Changes::UnlessFeature(OTHER_FEATURES)),
    ("SET_IP_ALLOWLIST", Changes::All),
    ("SET_ORGANIZATION_FEATURE", Changes::UnlessFeature(OTHER_FEATURES)),
    ("STAMP_LOGIN", Changes::All),
    ("UPDATE_ALLOWED_ORIGINS", Changes::All),
    ("UPDATE_MFA_POLICY", Changes::All),
    ("UPDATE_OAUTH2_CREDENTIAL", Changes::All),
    ("UPDATE_USER", Changes::With(&["userEmail", "userPhoneNumber"])),
    ("UPDATE_USER_EMAIL", Changes::All),
    ("UPDATE_USER_PHONE_NUMBER", Changes::All),
];

/// Returns whether a request changes how users sign in. `intent` is its `intent` of the wire, and `own_key` the key of
/// the session that proposes or approves it.
pub(crate) fn is_changed_by(activity_type: &str, intent: &RawValue, own_key: Option<ApiKeyId>) -> bool {
    let kind = kind_of(activity_type);
    let Some((_, changes)) = ACCESS.iter().find(|(name, _)| *name == kind) else { return false };
    match changes {
        Changes::All => true,
        // What cannot be read is refused.
        Changes::With(members) => parameters(intent).is_none_or(|found| {
            members.iter().any(|member| found.get(*member).is_some_and(|value| value.get() != "null"))
        }),
        Changes::UnlessOwnKey => own_key.is_none_or(|own| {
            let found = parameters(intent).and_then(|found| found.get("apiKeyIds").copied());
            let keys: Option<Vec<ApiKeyId>> = found.and_then(|keys| serde_json::from_str(keys.get()).ok());
            keys.is_none_or(|keys| keys != [own])
        }),
        Changes::UnlessFeature(others) => {
            let found = parameters(intent).and_then(|found| found.get("name").copied());
            let name: Option<FeatureName> = found.and_then(|name| serde_json::from_str(name.get()).ok());
            name.is_none_or(|name| !others.contains(&name))
        }
    }
}

/// Returns the parameters of an intent: those of its only member.
fn parameters(intent: &RawValue) -> Option<HashMap<String, &RawValue>> {
    let mut members: HashMap<String, HashMap<String, &RawValue>> = serde_json::from_str(intent.get()).ok()?;
    let name = members.keys().next()?.clone();
    members.remove(&name)
}
