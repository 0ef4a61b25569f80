//! Credentials of OAuth 2.0 providers, and the ID tokens that are issued for their users.

use quorate_common::bundle::{Sealed, TargetPublicKey};
use quorate_common::token::{IdClaims, UnsignedToken};
use quorate_common::wire::Oauth2Provider;
use zeroize::Zeroizing;

use crate::error::{Corrupt, Intent, RequestError};
use crate::execution::Execution;
use crate::limits::ID_TOKEN_SECONDS;
use crate::model::{Millis, Oauth2Credential};
use crate::oauth2::{Exchange, Oauth2User};
use crate::view::View;

/// Maximum length of a client secret, in bytes.
const CLIENT_SECRET_BYTES: usize = 1024;
/// How long a code stays claimed: longer than its request can be sent again, and than any provider accepts it.
const CLAIM_MILLIS: Millis = 24 * 60 * 60 * 1000;

/// Checks the client id and the client secret of a credential.
///
/// # Errors
/// If the client id is not one of the provider, or the client secret cannot be decrypted.
pub fn check(
    provider: Oauth2Provider,
    client_id: &str,
    encrypted_client_secret: &str,
    view: &View<'_>,
) -> Result<(), RequestError> {
    if client_id.is_empty() {
        return Err(Intent::Text("client_id must be set").into());
    }
    // ID tokens state the client id and no provider. A client id therefore belongs to one provider only.
    let is_number = client_id.bytes().all(|byte| byte.is_ascii_digit());
    match (provider, is_number) {
        (Oauth2Provider::X, true) => {
            Err(Intent::Text("invalid client ID: X has none without letters").into())
        }
        (Oauth2Provider::Discord, false) => {
            Err(Intent::Text("invalid client ID: those of Discord are numbers").into())
        }
        _ => client_secret(encrypted_client_secret, view).map(drop),
    }
}

/// Decrypts a client secret.
fn client_secret(envelope: &str, view: &View<'_>) -> Result<Zeroizing<String>, RequestError> {
    let open = || {
        let plain = view.installation().quorum_key().open(&const_hex::decode(envelope).ok()?)?;
        let text = std::str::from_utf8(&plain).ok()?;
        (1..=CLIENT_SECRET_BYTES).contains(&text.len()).then(|| Zeroizing::new(text.to_owned()))
    };
    let invalid =
        "invalid encrypted client secret: encrypt it to the first half of `quorumPublicKeys` of this service";
    Ok(open().ok_or(Intent::Text(invalid))?)
}

/// An authorization code, and what belongs to it.
pub struct Code<'a> {
    /// Code.
    pub code: &'a str,
    /// URL to which the provider sent the code.
    pub redirect_uri: &'a str,
    /// Secret whose digest the code was requested with.
    pub code_verifier: &'a str,
}

/// Exchanges a code, which is possible once.
///
/// # Errors
/// If the code cannot be exchanged.
pub fn exchange(
    code: &Code<'_>,
    credential: &Oauth2Credential,
    context: &Execution<'_>,
) -> Result<std::sync::Arc<Oauth2User>, RequestError> {
    let view = context.view();
    view.exchange(Exchange {
        provider: credential.provider,
        client_id: credential.client_id.clone(),
        client_secret: client_secret(&credential.encrypted_client_secret, &view)?,
        code: Zeroizing::new(code.code.to_owned()),
        redirect_uri: code.redirect_uri.to_owned(),
        code_verifier: Zeroizing::new(code.code_verifier.to_owned()),
        claim: view.code_claim(code.code),
        claim_ends: context.now().saturating_add(CLAIM_MILLIS),
    })
}

/// Issues an ID token for a user. The access token of the provider is part of it, if there is a key to encrypt it to.
///
/// # Errors
/// If the service issues no tokens, or the token cannot be signed.
pub fn issue(
    identity: &Oauth2User,
    client_id: String,
    nonce: String,
    target: Option<&TargetPublicKey>,
    context: &mut Execution<'_>,
) -> Result<String, RequestError> {
    let issuer = context.view().installation().token_issuer().ok_or(Intent::Oauth2Off)?;
    let rejected = |_| Corrupt::Invariant("a valid target public key is rejected");
    let bearer = identity.bearer_token.as_bytes();
    let encrypted = target.map(|target| Sealed::new(target, bearer, context.entropy()));
    let iat = context.now() / 1000;
    let claims = IdClaims {
        iss: issuer.url().to_owned(),
        sub: identity.subject.clone(),
        aud: client_id,
        iat,
        exp: iat.saturating_add(ID_TOKEN_SECONDS),
        nonce,
        encrypted_bearer_token: encrypted.transpose().map_err(rejected)?.map(|sealed| sealed.to_base58()),
    };
    let error = || Corrupt::Invariant("an ID token cannot be made");
    let token = UnsignedToken::identity(issuer.key_id(), &claims).map_err(|_| error())?;
    let signature = issuer.sign(token.statement())?;
    Ok(token.signed(&signature).ok_or_else(error)?)
}
