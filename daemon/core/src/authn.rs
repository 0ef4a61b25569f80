//! Who asks: from the stamps of a request to a user.

use std::net::IpAddr;
use std::sync::Arc;

use quorate_common::ids::{ApiKeyId, OrganizationId, UserId};
use quorate_common::stamp::{ApiKeyCurve, Stamp, StampFlaw, StampKey};

use crate::model::layout::{self, Lookup};
use crate::model::{Invitation, Millis, Organization, ip_allowlist};
use crate::refusal::{Authn, Denied, Missing, Refusal};
use crate::view::Caller;
use crate::world::{Page, World};

/// Longest header value that is read, in bytes.
const STAMP_LIMIT: usize = 16 * 1024;

/// The headers of a request that can prove who sent it, and where it came from.
#[derive(Debug, Clone, Default)]
pub struct Credentials {
    /// Values of `X-Stamp`.
    pub stamps: Vec<String>,
    /// How many `X-Stamp-Webauthn` headers there are.
    pub webauthn: usize,
    /// How many `X-Stamp-Attested` headers there are.
    pub attested: usize,
    /// How many `X-Session` headers there are.
    pub sessions: usize,
    /// The address it came from, if that is known.
    pub source: Option<IpAddr>,
}

/// Whether the key may also be looked for in the children of the organization named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// In the organization and its parent.
    Usual,
    /// In the children, too: for operations that find out where a key belongs.
    Children,
    /// Among the invitations of the organization, and nowhere else.
    Invitations,
}

/// A proven caller and the organization acted upon.
pub struct Authenticated {
    /// Who asks.
    pub caller: Caller,
    /// The caller's organization.
    pub home: Arc<Organization>,
    /// The organization acted upon.
    pub target: Arc<Organization>,
}

/// Finds the user whose key stamped these exact body bytes.
pub fn authenticate(
    world: &dyn World,
    credentials: &Credentials,
    body: &[u8],
    organization: OrganizationId,
    reach: Reach,
    now: Millis,
) -> Result<Authenticated, Refusal> {
    let stamp = the_stamp(credentials)?;
    let named = world.organization(organization)?.ok_or(Missing::Organization)?;
    if reach == Reach::Invitations {
        return invited(named, stamp, body, credentials.source);
    }
    let (home, target) = locate(world, named, &stamp, reach)?;
    let curve = stamp.scheme.curve();
    let unknown = || unknown_key(&target, &stamp);
    let member = home.holder(curve, &stamp.public_key).ok_or_else(unknown)?;
    let (key, parsed) = member.stamp_key(curve, &stamp.public_key).ok_or_else(unknown)?;
    if !parsed.verify(stamp.scheme, body, &stamp.signature) {
        return Err(Authn::Signature.into());
    }
    if key.is_expired(now) {
        return Err(Authn::Expired.into());
    }
    let allowlist = home.head.ip_allowlist.as_ref();
    if !ip_allowlist::takes(allowlist, key.ip_allowlist.as_ref(), credentials.source) {
        return Err(Denied::Address.into());
    }
    let (user, api_key, organization) = (member.user.id, key.id, home.id());
    let caller = Caller { organization, user, api_key, invitation: None, stamp };
    Ok(Authenticated { caller, home, target })
}

/// Finds the invitation whose mailed key stamped these exact body bytes. Who accepts it is nobody yet.
fn invited(
    organization: Arc<Organization>,
    stamp: Stamp,
    body: &[u8],
    source: Option<IpAddr>,
) -> Result<Authenticated, Refusal> {
    let bears =
        |one: &&Invitation| stamp.scheme.curve() == ApiKeyCurve::P256 && one.public_key == stamp.public_key;
    let unknown = || unknown_key(&organization, &stamp);
    let id = organization.invitations.iter().find(bears).ok_or_else(unknown)?.id;
    let key = StampKey::parse(ApiKeyCurve::P256, &stamp.public_key).map_err(|_| unknown())?;
    if !key.verify(stamp.scheme, body, &stamp.signature) {
        return Err(Authn::Signature.into());
    }
    if !ip_allowlist::takes(organization.head.ip_allowlist.as_ref(), None, source) {
        return Err(Denied::Address.into());
    }
    let caller = Caller {
        organization: organization.id(),
        user: UserId::from_bytes([0; 16]),
        api_key: ApiKeyId::from_bytes(*id.as_bytes()),
        invitation: Some(id),
        stamp,
    };
    Ok(Authenticated { caller, home: Arc::clone(&organization), target: organization })
}

/// Exactly one stamp, and one that can be read.
fn the_stamp(credentials: &Credentials) -> Result<Stamp, Refusal> {
    let count = credentials.stamps.len() + credentials.webauthn + credentials.attested;
    let header = match (credentials.stamps.as_slice(), count) {
        ([], 0) if credentials.sessions > 0 => return Err(Authn::UnknownSession.into()),
        ([], 0) => return Err(Authn::None.into()),
        // Passkeys and attested stamps are registered nowhere yet.
        ([], 1) => return Err(Authn::UnknownCredential.into()),
        ([header], 1) => header,
        _ => return Err(Authn::Several.into()),
    };
    if header.len() > STAMP_LIMIT {
        return Err(Authn::Unreadable("malformed activity stamp").into());
    }
    Stamp::read(header).map_err(|flaw| {
        let text = match flaw {
            StampFlaw::Malformed => "malformed activity stamp",
            StampFlaw::Members => "could not extract api key stamp",
        };
        Authn::Unreadable(text).into()
    })
}

/// The caller's organization and the one acted upon: own, then parent, then (if allowed) children.
fn locate(
    world: &dyn World,
    named: Arc<Organization>,
    stamp: &Stamp,
    reach: Reach,
) -> Result<(Arc<Organization>, Arc<Organization>), Refusal> {
    let holds =
        |organization: &Organization| organization.holder(stamp.scheme.curve(), &stamp.public_key).is_some();
    if holds(&named) {
        return Ok((Arc::clone(&named), named));
    }
    if let Some(parent) = named.head.parent {
        return match world.organization(parent)? {
            Some(parent) if holds(&parent) => Ok((parent, named)),
            _ => Err(unknown_key(&named, stamp)),
        };
    }
    if reach == Reach::Children
        && let Some(child) = the_child(world, &named, stamp)?
    {
        return Ok((Arc::clone(&child), child));
    }
    Err(unknown_key(&named, stamp))
}

/// The one child that knows the key.
fn the_child(
    world: &dyn World,
    parent: &Organization,
    stamp: &Stamp,
) -> Result<Option<Arc<Organization>>, Refusal> {
    let prefix = layout::finds(world.index(), parent.id(), Lookup::PublicKey, &stamp.public_key);
    // One user has a key once, so two entries of one child are two keys of equal text on different curves.
    let keys = world.records().keys(Page::first(&prefix, 3))?;
    let mut children: Vec<OrganizationId> = keys.iter().filter_map(|key| layout::found_child(key)).collect();
    children.dedup();
    match children.as_slice() {
        [] => Ok(None),
        [child] => Ok(world
            .organization(*child)?
            .filter(|child| child.holder(stamp.scheme.curve(), &stamp.public_key).is_some())),
        _ => Err(Authn::SeveralChildren.into()),
    }
}

fn unknown_key(organization: &Organization, stamp: &Stamp) -> Refusal {
    Authn::UnknownKey {
        organization: organization.id(),
        public_key: stamp.public_key.chars().take(130).collect(),
        parent: organization.head.parent.is_some(),
    }
    .into()
}
