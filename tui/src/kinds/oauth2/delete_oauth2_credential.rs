//! Deletes a credential at an OAuth 2.0 provider.

use super::application::{credential, named};
use crate::kinds::prelude::*;

pub(super) const KIND: Kind = Kind::new("DELETE_OAUTH2_CREDENTIAL", "Delete OAuth 2.0 credential", describe);

fn describe(parameters: &Reader<'_>, context: &ReviewContext<'_>) -> Result<Description> {
    let id = parameters.text("oauth2CredentialId")?;
    let (known, named) = (credential(id, context), named(id, context));
    let mut description = Description::new(
        known.map_or_else(|| clean(id), |one| quoted(&one.client_id)),
        format!("Delete the OAuth 2.0 credential {named}. Sessions that were opened with it continue."),
    );
    description.change_removed("OAuth 2.0 credentials", context.organization.oauth2_credentials.len(), 1);
    description.flag_medium(
        "users-locked-out",
        "Users of this application can no longer sign in with it, and those without another credential lose access.",
    );
    description.flag_if_missing("unknown-credential", known.is_some(), &named);
    Ok(description)
}

#[cfg(test)]
mod tests {
    use quorate_common::ids::Oauth2CredentialId;
    use serde_json::json;

    #[test]
    fn describes_each_credential() {
        let rows = [0x8a, 0x99].map(|byte| Oauth2CredentialId::from_bytes([byte; 16]));
        let rows = rows.map(|id| ("DELETE_OAUTH2_CREDENTIAL", json!({"oauth2CredentialId": id})));
        crate::kinds::tests::check("delete_oauth2_credential", &rows);
    }
}
