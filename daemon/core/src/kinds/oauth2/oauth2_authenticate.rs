//! Exchanges an authorization code of an OAuth 2.0 provider, and issues an ID token for its user.
//!
//! The exchange needs the network, so it is requested with a permit and made before the activity is committed, see
//! `World::exchange`.

use quorate_common::bundle::TargetPublicKey;
use quorate_common::ids::Oauth2CredentialId;

use crate::bundles::ServiceKeys;
use crate::kinds::prelude::*;
use crate::make::oauth2::{self, Code};
use crate::model::Oauth2Credential;
use crate::params::secret_text::SecretText;

/// Exchanges an authorization code of X or Discord, and issues an ID token for the user whom it identifies.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    oauth2_credential_id: Oauth2CredentialId,
    auth_code: SecretText<2048>,
    redirect_uri: Text<2048>,
    /// Secret of PKCE (RFC 7636) whose digest the code was requested with.
    code_verifier: SecretText<256>,
    /// SHA-256 digest of the text of the public key that will sign in, in lowercase hex.
    nonce: Text<256>,
    /// Key to which the access token of the provider is encrypted, as the claim `encrypted_bearer_token`.
    bearer_token_target_public_key: Option<Text<130>>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    /// ID token. The answer to the request shows it once; it is empty from then on.
    oidc_token: String,
}

impl Version for Intent {
    type Kind = Self;
    const TYPE: &'static str = "ACTIVITY_TYPE_OAUTH2_AUTHENTICATE";
    const NUMBER: u16 = 101;
    const MASKS: bool = true;
}

impl Kind for Intent {
    const ACTS: Acts = Some((Action::Create, Resource::Auth));
    // The stored activity lacks the code. Codes expire within minutes, so waiting would be in vain.
    const WAITS: bool = false;
    type Plan = (Oauth2Credential, Option<TargetPublicKey>);
    type Outcome = Outcome;

    fn rules(&self, view: &View<'_>) -> Result<Self::Plan, RequestError> {
        if view.installation().token_issuer().is_none() {
            return Err(Wrong::Oauth2Off.into());
        }
        for (value, message) in [
            (self.auth_code.reveal(), "auth_code must be set"),
            (self.redirect_uri.as_str(), "redirect_uri must be set"),
            (self.code_verifier.reveal(), "code_verifier must be set"),
            (self.nonce.as_str(), "nonce must be set"),
        ] {
            if value.is_empty() {
                return Err(Wrong::Text(message).into());
            }
        }
        if !is_verifier(self.code_verifier.reveal()) {
            let text = "code_verifier must have 43 to 128 letters, digits and -._~ (RFC 7636, section 4.1)";
            return Err(Wrong::Text(text).into());
        }
        if !is_digest(self.nonce.as_str()) {
            let text =
                "nonce must be the SHA-256 digest of the public key, in 64 lowercase hexadecimal digits";
            return Err(Wrong::Text(text).into());
        }
        let own = ServiceKeys::of(view)?;
        let target = self.bearer_token_target_public_key.as_ref();
        let target = target.map(|key| own.export_target(key.as_str())).transpose()?;
        Ok((view.collection_item::<Oauth2Credential>(self.oauth2_credential_id)?.clone(), target))
    }

    fn execute(
        self,
        (credential, target): Self::Plan,
        context: &mut Execution<'_>,
    ) -> Result<Outcome, RequestError> {
        let code = Code {
            code: self.auth_code.reveal(),
            redirect_uri: self.redirect_uri.as_str(),
            code_verifier: self.code_verifier.reveal(),
        };
        let identity = oauth2::exchange(&code, &credential, context)?;
        let nonce = self.nonce.into_string();
        let token = oauth2::issue(&identity, credential.client_id, nonce, target.as_ref(), context)?;
        Ok(Outcome { oidc_token: token })
    }

    fn mask(outcome: &mut Outcome) -> bool {
        outcome.oidc_token.clear();
        true
    }
}

/// Returns whether a text is a code verifier (RFC 7636, section 4.1). A provider rejects every other text, and a code that
/// was sent with it is lost.
fn is_verifier(text: &str) -> bool {
    let is_unreserved = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    (43..=128).contains(&text.len()) && text.bytes().all(is_unreserved)
}

/// Returns whether a text is a digest as clients write it. An ID token with another nonce signs in nobody.
fn is_digest(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit() && !byte.is_ascii_uppercase())
}
