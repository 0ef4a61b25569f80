//! Finds ids of users that expressions name already. A person who could choose such an id would get the rights that the
//! expressions were written for.

use quorate_common::ids::UserId;

use crate::error::Corrupt;
use crate::view::View;

/// Returns whether an expression names a user id: of a policy or an MFA policy of the organization, or of a session profile
/// that its sessions can use.
///
/// # Errors
/// If the parent cannot be read.
pub fn is_named(user: UserId, view: &View<'_>) -> Result<bool, Corrupt> {
    // Literals have no escapes, so a literal with the id contains its text.
    let id = user.to_string();
    let names = |text: &str| text.to_ascii_lowercase().contains(&id);
    let policies = view.organization.policies().map(|parsed| &parsed.policy);
    let mut expressions = policies.flat_map(|one| [&one.condition, &one.consensus, &one.time]).flatten();
    let mut conditions = view.organization.users().flat_map(|user| &user.mfa_policies);
    Ok(expressions.any(|text| names(text.as_str()))
        || conditions.any(|policy| names(policy.condition.as_str()))
        || view.session_profiles()?.iter().any(|profile| names(&profile.scope)))
}
