//! Registers an authenticator of a user who lost access.

use crate::kinds::prelude::*;

pub(super) const KIND: Kind = Kind::new("RECOVER_USER", "Recover user", describe);

fn describe(parameters: &Reader<'_>, context: &ReviewContext<'_>) -> Result<Description> {
    let id = parameters.text("userId")?;
    let new = parameters.object("authenticator")?.ok_or_else(|| parameters.unknown("authenticator"))?;
    let name = quoted(new.text("authenticatorName")?);
    let user = context.user_named(id);
    let mut description = Description::new(
        format!("{name} for {}", context.user_short(id)),
        format!("Register the authenticator {name} of {user}, and delete the recovery keys of this user."),
    );
    if context.is_root(id) {
        let text = format!("Adds a credential for a member of the root quorum: {user}.");
        description.flag_high("credential-for-root-user", text);
    }
    description.danger("the NAME of the user who gets the credential", &context.user_name(id));
    description.flag_if_missing("unknown-user", context.user(id).is_some(), &user);
    Ok(description)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::testing::Fixture;

    #[test]
    fn describes_the_authenticator() {
        let authenticator = json!({"authenticatorName": "new phone", "challenge": "AA",
            "attestation": {"credentialId": "AA", "clientDataJson": "AA", "attestationObject": "AA",
            "transports": ["AUTHENTICATOR_TRANSPORT_INTERNAL"]}});
        let row = json!({"userId": Fixture::user(1), "authenticator": authenticator});
        crate::kinds::tests::check("recover_user", &[("RECOVER_USER", row)]);
    }
}
