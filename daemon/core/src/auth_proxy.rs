//! The authentication proxy of an organization: the key with which it stamps requests, and lookups that it needs.

use quorate_chain::curve::Curve;
use quorate_common::bounded::{Email, Phone};
use quorate_common::ids::OrganizationId;
use quorate_common::stamp::{ApiKeyCurve, Stamper};
use quorate_common::token::{OtpType, VerificationClaims};
use zeroize::Zeroizing;

use crate::error::{Conflict, Corrupt, RequestError};
use crate::established::{self, Named, Standing};
use crate::model::layout::{self, Lookup, SecretOf};
use crate::model::one_time_code::Contact;
use crate::model::{Change, Millis, OauthProvider, Organization, User};
use crate::records;
use crate::secret;
use crate::world::{Page, World};

/// Returns the API key of the user of the authentication proxy. Returns `None` if the proxy is not enabled.
///
/// # Errors
/// If the store cannot be read, or the record is missing or damaged.
pub fn stamper(world: &dyn World, organization: &Organization) -> Result<Option<Stamper>, Corrupt> {
    let Some(user) = organization.head.auth_proxy else { return Ok(None) };
    let damaged = || Corrupt::Record("key of the authentication proxy");
    let key = layout::secret(organization.id(), SecretOf::AuthProxy(user));
    let record = world.records().read(&key)?.map(Zeroizing::new).ok_or_else(damaged)?;
    let secret = secret::private_key(Curve::P256, &record)?.to_bytes();
    Stamper::new(ApiKeyCurve::P256, &secret).map(Some).map_err(|_| damaged())
}

/// Checks that changes of an organization leave the user of its authentication proxy as the proxy made it: anonymous
/// clients act in the name of that user, and the proxy needs its key.
///
/// # Errors
/// If the user would get or lose a credential or a contact, or join the root quorum.
pub fn check_changes(organization: &Organization, changes: &[Change]) -> Result<(), RequestError> {
    let Some(id) = organization.head.auth_proxy else { return Ok(()) };
    let Some(before) = organization.user(id) else { return Ok(()) };
    let is_kept = |after: &User| {
        after.api_keys == before.api_keys
            && after.authenticators == before.authenticators
            && after.oauth_providers == before.oauth_providers
            && (&after.email, &after.phone) == (&before.email, &before.phone)
    };
    let breaks = |change: &Change| match change {
        Change::PutUser(user) => user.id == id && !is_kept(user),
        Change::SetQuorum(quorum) => quorum.members.contains(&id),
        _ => false,
    };
    if changes.iter().any(breaks) { Err(Conflict::AuthProxy.into()) } else { Ok(()) }
}

/// Returns the contact that a verification token proves. Returns `None` unless this organization issued the token,
/// and it has not ended.
pub fn proven_contact(
    world: &dyn World,
    organization: OrganizationId,
    token: &str,
    now: Millis,
) -> Option<Contact> {
    let claims = VerificationClaims::read(token, &world.installation().quorum_key().public_key())
        .filter(|claims| claims.organization_id == organization && claims.exp.millis() > now)?;
    match claims.verification_type {
        OtpType::Email => Email::parse(claims.contact).ok().map(Contact::Email),
        OtpType::Sms => Phone::parse(claims.contact).ok().map(Contact::Phone),
    }
}

/// Returns sub-organizations in which one of these values is established, see [`Lookup::established`]. At most `limit` entries
/// of each value are read.
///
/// # Errors
/// If the store cannot be read.
pub fn established_in(
    world: &dyn World,
    parent: OrganizationId,
    (lookup, values): (Lookup, &[String]),
    limit: usize,
) -> Result<Vec<OrganizationId>, Corrupt> {
    let mut ids = Vec::new();
    let Some(lookup) = lookup.established() else { return Ok(ids) };
    for value in values {
        let prefix = layout::lookup_entries(world.index(), parent, lookup, value);
        let keys = world.records().keys(Page::first(&prefix, limit))?;
        ids.extend(keys.iter().filter_map(|key| layout::lookup_child(key)));
    }
    Ok(ids)
}

/// Returns those of the organizations that count for the holder of this public key, as [`established::that_count`] does.
/// The same text can be a key on several curves. The key of a wallet takes precedence: clients look wallets up.
///
/// # Errors
/// If the store cannot be read, or a record is damaged.
pub fn with_key(
    world: &dyn World,
    ids: &[OrganizationId],
    public_key: &str,
) -> Result<Vec<OrganizationId>, Corrupt> {
    let wallets = with_wallet_key(world, ids, public_key)?;
    if !wallets.is_empty() {
        return Ok(wallets);
    }
    established::that_count(world, ids, Named::Key(ApiKeyCurve::P256, public_key))
}

/// Returns those of the organizations in which this public key is established as the key of a wallet: on another curve
/// than P-256.
///
/// # Errors
/// If the store cannot be read, or a record is damaged.
pub fn with_wallet_key(
    world: &dyn World,
    ids: &[OrganizationId],
    public_key: &str,
) -> Result<Vec<OrganizationId>, Corrupt> {
    let mut found = Vec::new();
    for curve in [ApiKeyCurve::Secp256k1, ApiKeyCurve::Ed25519] {
        found.extend(established::that_count(world, ids, Named::Key(curve, public_key))?);
    }
    Ok(found)
}

/// Returns those of the organizations that count for a person with one of these identities, each an issuer, an audience
/// and a subject.
///
/// # Errors
/// If the store cannot be read, or a record is damaged.
pub fn with_identity(
    world: &dyn World,
    ids: &[OrganizationId],
    identities: &[[String; 3]],
) -> Result<Vec<OrganizationId>, Corrupt> {
    let is = |one: &OauthProvider| {
        identities.iter().any(|[issuer, audience, subject]| one.is(issuer, audience, subject))
    };
    let mut found = Vec::new();
    for id in ids {
        let Some(organization) = world.organization(*id)? else { continue };
        found.push((established::identity_standing(world, &organization, &is)?, *id));
    }
    let best = found.iter().map(|(standing, _)| *standing).max().unwrap_or(Standing::Absent);
    Ok(found
        .into_iter()
        .filter(|(standing, _)| *standing == best && best > Standing::Absent)
        .map(|(_, id)| id)
        .collect())
}

/// Returns whether a user of one of the organizations has a credential. A sign-up proves nothing, so it must not take
/// precedence over what others registered before.
///
/// # Errors
/// If the store cannot be read, or a record is damaged.
pub fn is_registered(world: &dyn World, ids: &[OrganizationId], named: Named<'_>) -> Result<bool, Corrupt> {
    for id in ids {
        let Some(organization) = world.organization(*id)? else { continue };
        if established::standing(world, &organization, named)? > Standing::Absent {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the organization that was created first.
///
/// # Errors
/// If the store cannot be read, or a record is damaged.
pub fn oldest(world: &dyn World, ids: &[OrganizationId]) -> Result<Option<OrganizationId>, Corrupt> {
    if let [only] = ids {
        return Ok(Some(*only));
    }
    let mut heads = Vec::with_capacity(ids.len());
    for id in ids {
        heads.extend(records::head(world.records(), *id)?.map(|head| (head.created, head.id)));
    }
    Ok(heads.into_iter().min().map(|(_, id)| id))
}
