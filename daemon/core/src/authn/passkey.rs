//! Stamps by passkeys: whose they are, and from where they are taken.

use std::net::IpAddr;

use quorate_common::stamp::{Scheme, Stamp};
use quorate_common::webauthn::{Assertion, AssertionFlaw, NewCredential, PasskeyKey, Proven};

use super::{Credentials, Proof};
use crate::model::{Organization, ip_allowlist};
use crate::origins;
use crate::refusal::{Authn, Denied, Refusal};
use crate::view::Caller;
use crate::world::World;

/// Reads the header.
pub(super) fn read(header: &str) -> Result<Assertion, Refusal> {
    Assertion::read(header).map_err(|flaw| match flaw {
        AssertionFlaw::Signature => Authn::Assertion.into(),
        unreadable => Authn::Unreadable(unreadable.to_string()).into(),
    })
}

/// The user whose passkey stamped these exact body bytes.
pub(super) fn caller(
    world: &dyn World,
    home: &Organization,
    assertion: &Assertion,
    body: &[u8],
    source: Option<IpAddr>,
) -> Result<Caller, Refusal> {
    let credential_id = assertion.credential_id().to_owned();
    let unknown = || Authn::UnknownCredential { organization: home.id(), credential_id };
    let (user, authenticator, passkey) = home.passkey(assertion.credential_id()).ok_or_else(unknown)?;
    let proven = verified(assertion, &passkey.public_key, &passkey.relying_party, body)?;
    if !origins::takes(world, home, &proven.origin)? {
        return Err(Authn::Assertion.into());
    }
    if !ip_allowlist::takes(home.head.ip_allowlist.as_ref(), None, source) {
        return Err(Denied::Address.into());
    }
    let stamp = stamp(assertion, &passkey.public_key);
    let credential = *authenticator.id.as_bytes();
    Ok(Caller { organization: home.id(), user: user.id, credential, invitation: None, stamp })
}

/// Whether a user of the organization could have stamped these bytes with their passkey.
pub(super) fn holds(organization: &Organization, assertion: &Assertion, body: &[u8]) -> bool {
    let found = organization.passkey(assertion.credential_id());
    found.is_some_and(|(_, _, passkey)| {
        verified(assertion, &passkey.public_key, &passkey.relying_party, body).is_ok()
    })
}

/// Whoever founds an organization: the holder of the passkey that the body registers, who stamped it, too.
pub fn founder(credentials: &Credentials, passkey: &NewCredential, body: &[u8]) -> Result<Stamp, Refusal> {
    let Proof::Passkey(assertion) = Proof::read(credentials)? else { return Err(Authn::Founder.into()) };
    if assertion.credential_id() != passkey.credential_id {
        return Err(Authn::Founder.into());
    }
    verified(&assertion, &passkey.public_key, &passkey.relying_party, body)?;
    Ok(stamp(&assertion, &passkey.public_key))
}

fn verified(
    assertion: &Assertion,
    public_key: &str,
    relying_party: &[u8; 32],
    body: &[u8],
) -> Result<Proven, Refusal> {
    let key = PasskeyKey::parse(public_key).map_err(|_| Authn::Assertion)?;
    let proven = key.verify(assertion, body).map_err(|_| Authn::Assertion)?;
    if proven.relying_party == *relying_party { Ok(proven) } else { Err(Authn::Assertion.into()) }
}

fn stamp(assertion: &Assertion, public_key: &str) -> Stamp {
    Stamp { public_key: public_key.to_owned(), scheme: Scheme::Webauthn, signature: assertion.text() }
}
