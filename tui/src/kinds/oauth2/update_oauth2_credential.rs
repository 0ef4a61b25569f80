//! Replaces provider, client id and client secret of a credential at an OAuth 2.0 provider.

use super::application::{credential, flag_application, hidden_secret, named, provider};
use crate::kinds::prelude::*;

pub(super) const KIND: Kind = Kind {
    abridged: &[("encryptedClientSecret", |text| Some(hidden_secret(text)))],
    ..Kind::new("UPDATE_OAUTH2_CREDENTIAL", "Replace OAuth 2.0 credential", describe)
};

fn describe(parameters: &Reader<'_>, context: &ReviewContext<'_>) -> Result<Description> {
    let id = parameters.text("oauth2CredentialId")?;
    let (provider, client_id) = (provider(parameters.text("provider")?), parameters.text("clientId")?);
    let (known, named) = (credential(id, context), named(id, context));
    let mut description = Description::new(
        format!("{} at {provider}", quoted(client_id)),
        format!(
            "Replace the OAuth 2.0 credential {named}: it is then that of the application {} at {provider}, with \
             another client secret.",
            quoted(client_id)
        ),
    );
    let before = known.map_or_else(|| "?".to_owned(), |one| one.provider.label().to_owned());
    description.change("provider", before, provider.clone());
    let before = known.map_or_else(|| "?".to_owned(), |one| clean(&one.client_id));
    description.change("client ID", before, clean(client_id));
    if known.is_some_and(|one| one.client_id != client_id || one.provider.label() != provider) {
        description.flag_high(
            "users-locked-out",
            "Users of the previous application can no longer sign in with it: their identities name its client ID.",
        );
    }
    flag_application(&provider, client_id, &mut description);
    description.flag_if_missing("unknown-credential", known.is_some(), &named);
    Ok(description)
}

#[cfg(test)]
mod tests {
    use quorate_common::ids::Oauth2CredentialId;
    use serde_json::json;

    #[test]
    fn describes_each_replacement() {
        let known = Oauth2CredentialId::from_bytes([0x8a; 16]);
        let unknown = Oauth2CredentialId::from_bytes([0x99; 16]);
        let rows = [(known, "new client"), (known, "acme-x-client"), (unknown, "new client")];
        let rows = rows.map(|(id, client)| {
            let row = json!({"oauth2CredentialId": id, "provider": "OAUTH2_PROVIDER_X", "clientId": client,
                "encryptedClientSecret": "ab".repeat(113)});
            ("UPDATE_OAUTH2_CREDENTIAL", row)
        });
        crate::kinds::tests::check("update_oauth2_credential", &rows);
    }
}
