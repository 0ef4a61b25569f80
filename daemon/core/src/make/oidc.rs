//! Sign-in with the ID tokens of OpenID Connect issuers, and their use as proof of an OAuth identity.

use std::collections::BTreeSet;

use quorate_common::ids::ProviderId;

use crate::error::{Intent, RequestError};
use crate::id_token::{IdToken, MALFORMED};
use crate::model::{OauthProvider, Organization, User};
use crate::params::NewOauthProvider;
use crate::view::View;

/// Maximum number of issuers whose tokens one request may contain, since their keys may have to be fetched.
const ISSUERS: usize = 4;
/// Why a token is rejected whose identity nobody has.
pub const NOBODY: &str =
    "no user of this organization, or more than one, has its issuer, audience and subject";

/// Returns the user whom a token identifies, and the identity, if it was requested for this public key.
///
/// # Errors
/// [`Intent::OidcToken`] if the token is invalid or identifies no user, or an error if the keys of its issuer cannot be
/// read.
pub fn sign_in(token: &str, public_key: &str, view: &View<'_>) -> Result<(User, ProviderId), RequestError> {
    let token = read_for_key(token, public_key)?;
    // Nobody makes the service contact an issuer that no user of the organization has registered.
    let user = holder(&token, view.organization).ok_or(Intent::OidcToken(NOBODY))?;
    verify(&token, view)?;
    let identity =
        user.oauth_providers.iter().find(|one| identifies(&token, one)).ok_or(Intent::OidcToken(NOBODY))?;
    // A login does not prove an identity that was only claimed: its claimant may be somebody else.
    Ok((user.clone(), identity.id))
}

/// Reads a token that was requested for this public key. It is not verified.
///
/// # Errors
/// [`Intent::OidcToken`] if it is malformed, or was requested for another key.
pub fn read_for_key<'t>(token: &'t str, public_key: &str) -> Result<IdToken<'t>, RequestError> {
    let token = IdToken::read(token).ok_or(Intent::OidcToken(MALFORMED))?;
    let reason =
        "its `nonce` is not the SHA-256 digest of the text of the public key, in lowercase hexadecimal";
    if token.is_for_key(public_key) { Ok(token) } else { Err(Intent::OidcToken(reason).into()) }
}

/// Returns the only user whom a token identifies. The token is not verified.
pub fn holder<'o>(token: &IdToken<'_>, organization: &'o Organization) -> Option<&'o User> {
    let is_holder = |user: &&User| user.oauth_providers.iter().any(|one| identifies(token, one));
    let mut holders = organization.users().filter(is_holder);
    holders.next().filter(|_| holders.next().is_none())
}

/// Returns whether a token is one of an identity.
pub fn identifies(token: &IdToken<'_>, identity: &OauthProvider) -> bool {
    let mut audiences = token.audiences().iter();
    audiences.any(|audience| identity.is(token.issuer(), audience, token.subject()))
}

/// Verifies the tokens among new OAuth identities.
///
/// # Errors
/// [`Intent::OidcToken`] if a token is invalid, or an error if there are too many issuers or their keys cannot be read.
pub fn verify_tokens<'a>(
    new: impl IntoIterator<Item = &'a NewOauthProvider>,
    view: &View<'_>,
) -> Result<(), RequestError> {
    let mut issuers = BTreeSet::new();
    for provider in new {
        let Some(token) = provider.token()? else { continue };
        issuers.insert(token.issuer().to_owned());
        if issuers.len() > ISSUERS {
            return Err(Intent::Text("invalid request body: tokens of more than 4 issuers").into());
        }
        verify(&token, view)?;
    }
    Ok(())
}

/// Checks that the issuer of a token signed it, and that it is valid now.
fn verify(token: &IdToken<'_>, view: &View<'_>) -> Result<(), RequestError> {
    let keys = view.issuer_keys(token.issuer(), token.key_id())?;
    Ok(token.check(&keys, view.now).map_err(Intent::OidcToken)?)
}
