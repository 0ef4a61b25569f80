//! Who asks: from the stamps of a request to a user.

mod passkey;

pub use passkey::founder;

use std::net::IpAddr;
use std::sync::Arc;

use quorate_common::ids::{OrganizationId, UserId};
use quorate_common::json::{self, Document, Flaw, Member};
use quorate_common::stamp::{ApiKeyCurve, Stamp, StampKey};
use quorate_common::webauthn::Assertion;

use crate::model::layout::{self, Lookup};
use crate::model::{Invitation, Millis, Organization, ip_allowlist};
use crate::refusal::{Authn, Denied, Intent, Missing, Refusal};
use crate::view::Caller;
use crate::world::{Page, World};

/// How many registrations of one credential in sub-organizations are looked at. One child may hold two: keys of equal text on
/// different curves.
const CANDIDATES: usize = 4;

/// The headers of a request that can prove who sent it, and where it came from.
#[derive(Debug, Clone, Default)]
pub struct Credentials {
    /// Values of `X-Stamp`.
    pub stamps: Vec<String>,
    /// Values of `X-Stamp-Webauthn`.
    pub webauthn: Vec<String>,
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

/// A body whose stamp was verified.
pub struct Stamped {
    /// Who sent it, and what it acts upon.
    pub authenticated: Authenticated,
    /// The body, read as a whole.
    pub document: Document,
}

/// Authenticates a request and only then reads its whole body. Before the stamp is verified, nothing of the body is
/// kept but the id of the organization, so that an unauthenticated body costs no more than its bytes.
///
/// Errors come in this order: the stamp's header, the body's form and its `organizationId`, the organization, the
/// credential, the signature, the rest of the body.
pub fn stamped(
    world: &dyn World,
    credentials: &Credentials,
    body: &[u8],
    reach: Reach,
    now: Millis,
) -> Result<Stamped, Refusal> {
    let proof = Proof::read(credentials)?;
    let organization = organization_of(body)?;
    let authenticated = authenticate(world, proof, credentials.source, body, organization, reach, now)?;
    Ok(Stamped { authenticated, document: Document::read(body)? })
}

/// Refuses a request that cannot be authenticated, whatever its body says.
pub fn admit(credentials: &Credentials) -> Result<(), Refusal> {
    Proof::read(credentials).map(drop)
}

/// Returns `organizationId` of a body.
fn organization_of(body: &[u8]) -> Result<OrganizationId, Refusal> {
    const NAME: &str = "organizationId";
    match json::member(body, NAME)? {
        Member::Text(text) => text.parse().map_err(|_| Intent::OrganizationId.into()),
        Member::Other => Err(Intent::OrganizationId.into()),
        Member::Absent => Err(Flaw::Missing(NAME.to_owned()).into()),
    }
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
fn authenticate(
    world: &dyn World,
    proof: Proof,
    source: Option<IpAddr>,
    body: &[u8],
    organization: OrganizationId,
    reach: Reach,
    now: Millis,
) -> Result<Authenticated, Refusal> {
    let named = world.organization(organization)?.ok_or(Missing::Organization)?;
    if reach == Reach::Invitations {
        return invited(named, proof, body, source);
    }
    let (home, target) = locate(world, named, &proof, reach, body, now)?;
    let caller = match proof {
        Proof::Key(stamp) => by_key(&home, &target, stamp, body, source, now)?,
        Proof::Passkey(assertion) => passkey::caller(world, &home, &assertion, body, source)?,
    };
    Ok(Authenticated { caller, home, target })
}

/// The user whose API key stamped these exact body bytes.
fn by_key(
    home: &Organization,
    target: &Organization,
    stamp: Stamp,
    body: &[u8],
    source: Option<IpAddr>,
    now: Millis,
) -> Result<Caller, Refusal> {
    let unknown = || unknown_key(target, &stamp);
    let curve = stamp.scheme.curve().ok_or_else(unknown)?;
    let member = home.holder(curve, &stamp.public_key).ok_or_else(unknown)?;
    let (key, parsed) = member.stamp_key(curve, &stamp.public_key).ok_or_else(unknown)?;
    if !parsed.verify(stamp.scheme, body, &stamp.signature) {
        return Err(Authn::Signature.into());
    }
    if key.is_expired(now) {
        return Err(Authn::Expired.into());
    }
    let allowlist = home.head.ip_allowlist.as_ref();
    if !ip_allowlist::takes(allowlist, key.ip_allowlist.as_ref(), source) {
        return Err(Denied::Address.into());
    }
    let (user, credential) = (member.user.id, *key.id.as_bytes());
    Ok(Caller { organization: home.id(), user, credential, invitation: None, stamp })
}

/// Finds the invitation whose mailed key stamped these exact body bytes. Who accepts it is nobody yet.
fn invited(
    organization: Arc<Organization>,
    proof: Proof,
    body: &[u8],
    source: Option<IpAddr>,
) -> Result<Authenticated, Refusal> {
    let stamp = match proof {
        Proof::Key(stamp) => stamp,
        passkey @ Proof::Passkey(_) => return Err(passkey.unknown(&organization)),
    };
    let bears = |one: &&Invitation| {
        stamp.scheme.curve() == Some(ApiKeyCurve::P256) && one.public_key == stamp.public_key
    };
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
        credential: *id.as_bytes(),
        invitation: Some(id),
        stamp,
    };
    Ok(Authenticated { caller, home: Arc::clone(&organization), target: organization })
}

/// How a request proves who sent it, as read and not yet verified.
enum Proof {
    /// By an API key.
    Key(Stamp),
    /// By a passkey.
    Passkey(Assertion),
}

impl Proof {
    /// Exactly one stamp, and one that can be read.
    fn read(credentials: &Credentials) -> Result<Self, Refusal> {
        let Credentials { stamps, webauthn, attested, sessions, .. } = credentials;
        match (stamps.as_slice(), webauthn.as_slice(), attested) {
            ([], [], 0) if *sessions > 0 => Err(Authn::UnknownSession.into()),
            ([], [], 0) => Err(Authn::None.into()),
            ([header], [], 0) => {
                let stamp = Stamp::read(header).map_err(|flaw| Authn::Unreadable(flaw.to_string()))?;
                Ok(Self::Key(stamp))
            }
            ([], [header], 0) => Ok(Self::Passkey(passkey::read(header)?)),
            // Attested stamps are made by a sign-in, which is not offered.
            ([], [], 1) => Err(Authn::Unattested.into()),
            _ => Err(Authn::Several.into()),
        }
    }

    fn is_of(&self, organization: &Organization) -> bool {
        match self {
            Self::Key(stamp) => {
                let curve = stamp.scheme.curve();
                curve.is_some_and(|curve| organization.holder(curve, &stamp.public_key).is_some())
            }
            Self::Passkey(assertion) => organization.passkey(assertion.credential_id()).is_some(),
        }
    }

    /// Whether a user of the organization could have stamped these bytes so, at this time.
    fn holds(&self, organization: &Organization, body: &[u8], now: Millis) -> bool {
        match self {
            // The same public key verifies the same signature wherever it is registered.
            Self::Key(stamp) => stamp.scheme.curve().is_some_and(|curve| {
                let member = organization.holder(curve, &stamp.public_key);
                let key = member.and_then(|member| member.stamp_key(curve, &stamp.public_key));
                key.is_some_and(|(key, _)| !key.is_expired(now))
            }),
            Self::Passkey(assertion) => passkey::holds(organization, assertion, body),
        }
    }

    /// By what children are found whose user has this credential.
    fn lookup(&self) -> (Lookup, &str) {
        match self {
            Self::Key(stamp) => (Lookup::PublicKey, &stamp.public_key),
            Self::Passkey(assertion) => (Lookup::CredentialId, assertion.credential_id()),
        }
    }

    /// Nobody there has this credential.
    fn unknown(&self, organization: &Organization) -> Refusal {
        match self {
            Self::Key(stamp) => unknown_key(organization, stamp),
            Self::Passkey(assertion) => {
                let credential_id = assertion.credential_id().chars().take(256).collect();
                Authn::UnknownCredential { organization: organization.id(), credential_id }.into()
            }
        }
    }
}

/// The caller's organization and the one acted upon: own, then parent, then (if allowed) children.
fn locate(
    world: &dyn World,
    named: Arc<Organization>,
    proof: &Proof,
    reach: Reach,
    body: &[u8],
    now: Millis,
) -> Result<(Arc<Organization>, Arc<Organization>), Refusal> {
    if proof.is_of(&named) {
        return Ok((Arc::clone(&named), named));
    }
    if let Some(parent) = named.head.parent {
        return match world.organization(parent)? {
            Some(parent) if proof.is_of(&parent) => Ok((parent, named)),
            _ => Err(proof.unknown(&named)),
        };
    }
    if reach == Reach::Children
        && let Some(child) = the_child(world, &named, proof, body, now)?
    {
        return Ok((Arc::clone(&child), child));
    }
    Err(proof.unknown(&named))
}

/// The one child that knows the credential. Anyone can register a public key or a credential id that is not theirs, so
/// where several children know it, those count for which the stamp holds.
fn the_child(
    world: &dyn World,
    parent: &Organization,
    proof: &Proof,
    body: &[u8],
    now: Millis,
) -> Result<Option<Arc<Organization>>, Refusal> {
    let (lookup, value) = proof.lookup();
    let prefix = layout::finds(world.index(), parent.id(), lookup, value);
    let keys = world.records().keys(Page::first(&prefix, CANDIDATES.saturating_add(1)))?;
    let is_cut = keys.len() > CANDIDATES;
    let mut ids: Vec<OrganizationId> = keys.iter().filter_map(|key| layout::found_child(key)).collect();
    ids.dedup();
    let mut children = Vec::with_capacity(ids.len());
    for id in ids {
        children.extend(world.organization(id)?.filter(|child| proof.is_of(child)));
    }
    if children.len() > 1 {
        children.retain(|child| proof.holds(child, body, now));
        if is_cut || children.len() != 1 {
            return Err(Authn::SeveralChildren(lookup).into());
        }
    }
    Ok(children.pop())
}

fn unknown_key(organization: &Organization, stamp: &Stamp) -> Refusal {
    Authn::UnknownKey {
        organization: organization.id(),
        public_key: stamp.public_key.chars().take(130).collect(),
        parent: organization.head.parent.is_some(),
    }
    .into()
}
