//! Deletes an MFA policy of a user.

use super::requirement::{known, named, words};
use crate::kinds::prelude::*;

pub(super) const KIND: Kind = Kind::new("DELETE_MFA_POLICY", "Delete MFA policy", describe);

fn describe(parameters: &Reader<'_>, context: &ReviewContext<'_>) -> Result<Description> {
    let (id, policy) = (parameters.text("userId")?, parameters.text("mfaPolicyId")?);
    let (user, user_named) = (context.user(id), context.user_named(id));
    let known = known(user, policy);
    let named = named(known, policy);
    let mut description = Description::new(
        format!("of {}: {named}", context.user_name(id)),
        format!("Delete the MFA policy {named} of {user_named}."),
    );
    let policies = user.map_or(0, |user| user.mfa_policies.len());
    if let Some(known) = known {
        description.change_removed("MFA policies of the user", policies, 1);
        description.change("condition", clean(&known.condition), "-");
        let steps = words(&known.required_authentication_methods, context);
        let text = format!(
            "Removes a second factor: {user_named} no longer needs {steps} where the condition is true, as the daemon \
             states."
        );
        description.flag_high("mfa-removed", text);
    } else {
        let text = format!("Removes a second factor of {user_named}: what it protects is not known here.");
        description.flag_high("mfa-removed", text);
        description.flag_missing("unknown-mfa-policy", &format!("The MFA policy {named}"));
    }
    Ok(description)
}

#[cfg(test)]
mod tests {
    use quorate_common::ids::MfaPolicyId;
    use serde_json::json;

    use crate::testing::Fixture;

    #[test]
    fn describes_known_and_unknown_policies() {
        let rows = [(1, 0x88), (1, 0x99), (9, 0x88)].map(|(user, byte)| {
            let policy = MfaPolicyId::from_bytes([byte; 16]);
            ("DELETE_MFA_POLICY", json!({"userId": Fixture::user(user), "mfaPolicyId": policy}))
        });
        crate::kinds::tests::check("delete_mfa_policy", &rows);
    }
}
