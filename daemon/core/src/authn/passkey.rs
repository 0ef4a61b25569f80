//! Stamps by passkeys: their users, and the web origins that are accepted.

use std::net::IpAddr;

use quorate_common::stamp::{Scheme, Stamp};
use quorate_common::webauthn::{Assertion, AssertionError, NewCredential, PasskeyKey, VerifiedAssertion};

use super::{AnyStamp, Credentials, Proof, check_source};
use crate::error::{Authn, RequestError};
use crate::model::Organization;
use crate::model::last_use::Credential;
use crate::origins;
use crate::view::Caller;
use crate::world::World;

/// Parses the value of an `X-Stamp-Webauthn` header.
pub(super) fn read(header: &str) -> Result<Assertion, RequestError> {
    Assertion::read(header).map_err(|error| match error {
        AssertionError::Signature => Authn::Assertion.into(),
        unreadable => Authn::Unreadable(unreadable.to_string()).into(),
    })
}

/// Finds the user whose passkey stamped exactly these body bytes.
pub(super) fn caller(
    world: &dyn World,
    home: &Organization,
    assertion: &Assertion,
    body: &[u8],
    source: Option<IpAddr>,
) -> Result<Caller, RequestError> {
    let credential_id = assertion.credential_id().to_owned();
    let unknown = || Authn::UnknownCredential { organization: home.id(), credential_id };
    let (user, authenticator, passkey) = home.passkey(assertion.credential_id()).ok_or_else(unknown)?;
    let proven = verified(assertion, &passkey.public_key, &passkey.relying_party, body)?;
    if !origins::accepts(world, home, &proven.origin)? {
        return Err(Authn::Assertion.into());
    }
    check_source(home, None, source)?;
    let stamp = stamp(assertion, &passkey.public_key);
    Ok(Caller {
        used: Some(Credential::Passkey(authenticator.id)),
        signature_count: proven.signature_count,
        ..Caller::new(home, user.id, *authenticator.id.as_bytes(), stamp)
    })
}

/// Returns whether an assertion is valid for these bytes with a passkey of the organization.
pub(super) fn is_valid_for(organization: &Organization, assertion: &Assertion, body: &[u8]) -> bool {
    let found = organization.passkey(assertion.credential_id());
    found.is_some_and(|(_, _, passkey)| {
        verified(assertion, &passkey.public_key, &passkey.relying_party, body).is_ok()
    })
}

/// Verifies that the body is stamped with the passkey that it registers, and returns the stamp.
///
/// # Errors
/// If the stamp is missing, is not by this passkey, or cannot be verified.
pub fn registrant(
    credentials: &Credentials,
    passkey: &NewCredential,
    body: &[u8],
) -> Result<Stamp, RequestError> {
    let AnyStamp::Registered(Proof::Passkey(assertion)) = AnyStamp::read(credentials)? else {
        return Err(Authn::Registrant.into());
    };
    if assertion.credential_id() != passkey.credential_id {
        return Err(Authn::Registrant.into());
    }
    verified(&assertion, &passkey.public_key, &passkey.relying_party, body)?;
    Ok(stamp(&assertion, &passkey.public_key))
}

fn verified(
    assertion: &Assertion,
    public_key: &str,
    relying_party: &[u8; 32],
    body: &[u8],
) -> Result<VerifiedAssertion, RequestError> {
    let key = PasskeyKey::parse(public_key).map_err(|_| Authn::Assertion)?;
    let proven = key.verify(assertion, body).map_err(|_| Authn::Assertion)?;
    if proven.relying_party == *relying_party { Ok(proven) } else { Err(Authn::Assertion.into()) }
}

fn stamp(assertion: &Assertion, public_key: &str) -> Stamp {
    Stamp { public_key: public_key.to_owned(), scheme: Scheme::Webauthn, signature: assertion.text() }
}
