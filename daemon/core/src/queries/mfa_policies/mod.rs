//! MFA policies, and what they require for an activity.

use super::prelude::*;

mod get_mfa_policies;
mod get_mfa_policy;
mod get_mfa_status;

pub(super) const ENTRIES: &[Entry] = &[
    entry::<get_mfa_policies::GetMfaPolicies>("get_mfa_policies", "mfaPolicies"),
    entry::<get_mfa_policy::GetMfaPolicy>("get_mfa_policy", "mfaPolicy"),
    entry::<get_mfa_status::GetMfaStatus>("get_mfa_status", "mfaStatuses"),
];

/// Returns the user with this id.
fn user<'a>(context: &QueryContext<'a>, id: UserId) -> Result<&'a User, RequestError> {
    context.organization.user(id).ok_or(Missing::User(id, context.id()).into())
}
