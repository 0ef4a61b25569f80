//! Stores the client id and the client secret of an application at an OAuth 2.0 provider.

use super::application::{flag_application, hidden_secret, provider};
use crate::kinds::prelude::*;

pub(super) const KIND: Kind = Kind {
    abridged: &[("encryptedClientSecret", |text| Some(hidden_secret(text)))],
    ..Kind::new("CREATE_OAUTH2_CREDENTIAL", "Create OAuth 2.0 credential", describe)
};

fn describe(parameters: &Reader<'_>, context: &ReviewContext<'_>) -> Result<Description> {
    let (provider, client_id) = (provider(parameters.text("provider")?), parameters.text("clientId")?);
    let mut description = Description::new(
        format!("{} at {provider}", quoted(client_id)),
        format!(
            "Let users of {provider} sign in through the application {}: the daemon exchanges their codes and issues \
             ID tokens for them.",
            quoted(client_id)
        ),
    );
    let known = &context.organization.oauth2_credentials;
    description.change_added("OAuth 2.0 credentials", known.len(), 1);
    flag_application(&provider, client_id, &mut description);
    if known.iter().any(|one| one.client_id == client_id) {
        description.flag_same_name("an OAuth 2.0 credential", client_id);
    }
    Ok(description)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    #[test]
    fn describes_each_application() {
        let rows = [("OAUTH2_PROVIDER_X", "new client"), ("OAUTH2_PROVIDER_DISCORD", "112233")];
        let rows = rows.map(|(provider, client)| {
            let secret = "ab".repeat(113);
            let row = json!({"provider": provider, "clientId": client, "encryptedClientSecret": secret});
            ("CREATE_OAUTH2_CREDENTIAL", row)
        });
        crate::kinds::tests::check("create_oauth2_credential", &rows);
    }
}
