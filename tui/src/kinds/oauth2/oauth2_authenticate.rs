//! Exchanges an authorization code of an OAuth 2.0 provider, and issues an ID token for its user.

use super::application::{credential, named};
use crate::kinds::prelude::*;
use crate::text::grouped;

pub(super) const KIND: Kind = Kind {
    abridged: &[
        ("authCode", |_| Some("(hidden)".to_owned())),
        ("codeVerifier", |_| Some("(hidden)".to_owned())),
    ],
    hidden: Some((
        &["ACTIVITY_TYPE_OAUTH2_AUTHENTICATE"],
        "the daemon hides the authorization code and its verifier",
    )),
    ..Kind::new("OAUTH2_AUTHENTICATE", "Issue ID token by OAuth 2.0", describe)
};

fn describe(parameters: &Reader<'_>, context: &ReviewContext<'_>) -> Result<Description> {
    let id = parameters.text("oauth2CredentialId")?;
    let (known, named) = (credential(id, context), named(id, context));
    let provider = known.map_or("the provider", |one| one.provider.label());
    let mut description = Description::new(
        format!("user of {provider}"),
        format!(
            "Exchange an authorization code with the OAuth 2.0 credential {named}, and issue an ID token for the user \
             of {provider} whom it identifies. The token signs in with the key whose digest is the nonce."
        ),
    );
    description.fact("nonce", grouped(&clean(parameters.text("nonce")?)));
    description.fact("redirect URI", clean(parameters.text("redirectUri")?));
    description.flag_high(
        "token-by-code",
        "The holder of the key of the nonce can sign in as that user. The console does not know which user it is.",
    );
    if let Some(target) = parameters.maybe_text("bearerTokenTargetPublicKey")? {
        description.fact("target key, in full", grouped(&clean(target)));
        description.flag_medium(
            "access-token",
            format!(
                "The holder of the target key can also act for the user at {provider}, with the access token."
            ),
        );
    }
    description.flag_if_missing("unknown-credential", known.is_some(), &named);
    Ok(description)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use quorate_common::ids::Oauth2CredentialId;
    use serde_json::json;

    #[test]
    fn describes_the_token() {
        let row = |byte: u8, target: Option<String>| {
            let id = Oauth2CredentialId::from_bytes([byte; 16]);
            json!({"oauth2CredentialId": id, "authCode": "", "codeVerifier": "", "nonce": "cd".repeat(32),
                "redirectUri": "https://app.example/callback", "bearerTokenTargetPublicKey": target})
        };
        let known = row(0x8a, Some(format!("04{}", "ab".repeat(64))));
        let mut unknown = row(0x99, None);
        unknown.as_object_mut().unwrap().remove("bearerTokenTargetPublicKey");
        let rows = [("OAUTH2_AUTHENTICATE", known), ("OAUTH2_AUTHENTICATE", unknown)];
        crate::kinds::tests::check("oauth2_authenticate", &rows);
    }
}
