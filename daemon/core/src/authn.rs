//! Authentication: from the stamps of a request to its caller.

mod attested;
mod passkey;
mod session;

pub use passkey::registrant;

use std::net::IpAddr;
use std::sync::Arc;

use quorate_common::ids::{OrganizationId, UserId};
use quorate_common::json::{self, Document, JsonError, Member};
use quorate_common::stamp::{ApiKeyCurve, AttestedStamp, Stamp, StampKey};
use quorate_common::webauthn::Assertion;

use crate::error::{Authn, Denied, Intent, Missing, RequestError};
use crate::established::{self, Named};
use crate::model::last_use::Credential;
use crate::model::layout::{self, Lookup};
use crate::model::{Invitation, IpAllowlist, Millis, Organization, ip_allowlist};
use crate::view::{Caller, CredentialScope};
use crate::world::{Page, World};

/// Maximum number of registrations of one credential or identity in sub-organizations that are examined. One
/// sub-organization may have two: keys with the same text on different curves.
const CANDIDATES: usize = 64;

/// The headers that authenticate a request, and its source address. They contain bearer tokens, which must
/// not appear in logs.
#[derive(Clone, Default)]
pub struct Credentials {
    /// `X-Stamp`: signature of an API key.
    pub stamp: Header,
    /// `X-Stamp-WebAuthn`: signature of a passkey.
    pub webauthn: Header,
    /// `X-Stamp-Attested`: proof of a login.
    pub attested: Header,
    /// `X-Session`: a session token, for queries only.
    pub session: Header,
    /// Source address of the request, if known.
    pub source: Option<IpAddr>,
}

/// A header that may be sent at most once.
#[derive(Clone, Default)]
pub enum Header {
    /// Not sent.
    #[default]
    Absent,
    /// Sent once, with this value of visible ASCII.
    Once(String),
    /// Sent more than once, with equal or different values. All of them are ignored.
    Repeated,
}

impl Credentials {
    /// Returns the token of a read-only session, if that is what authenticates the request. `None` also if it has
    /// the wrong length.
    fn session_token(&self) -> Option<&str> {
        match &self.session {
            Header::Once(token) if token.len() == session::TOKEN_DIGITS && self.has_only_session() => {
                Some(token)
            }
            _ => None,
        }
    }

    /// Returns whether there is a session and no stamp.
    pub(crate) fn has_only_session(&self) -> bool {
        use Header::{Absent, Once, Repeated};
        let Self { stamp, webauthn, attested, session, .. } = self;
        matches!((stamp, webauthn, attested, session), (Absent, Absent, Absent, Once(_) | Repeated))
    }
}

/// A request whose stamp was verified.
pub struct Stamped {
    /// Caller, and the organization acted upon.
    pub authenticated: Authenticated,
    /// Body, completely parsed.
    pub document: Document,
}

/// Authenticates a request, and then parses its body. Before the stamp is verified, only the id of the
/// organization is read from the body. An unauthenticated body therefore costs no more memory than its bytes.
///
/// # Errors
/// The first error in this order: the header of the stamp, the syntax of the body and its `organizationId`,
/// the organization, the credential, the signature, the rest of the body.
pub fn stamped(
    world: &dyn World,
    credentials: &Credentials,
    body: &[u8],
    scope: CredentialScope,
    now: Millis,
) -> Result<Stamped, RequestError> {
    let stamp = AnyStamp::read(credentials)?;
    let organization = organization_of(body)?;
    let authenticated = authenticate(world, stamp, credentials.source, body, organization, scope, now)?;
    Ok(Stamped { authenticated, document: Document::read(body)? })
}

/// Authenticates a query by a stamp or by a read-only session.
///
/// # Errors
/// As [`stamped`].
pub fn for_query(
    world: &dyn World,
    credentials: &Credentials,
    body: &[u8],
    scope: CredentialScope,
    now: Millis,
) -> Result<Stamped, RequestError> {
    let Some(token) = credentials.session_token() else {
        return stamped(world, credentials, body, scope, now);
    };
    let named = world.organization(organization_of(body)?)?.ok_or(Missing::Organization)?;
    let caller = session::caller(&named, token, credentials.source, (now, world.installation().restored()))?;
    let authenticated = Authenticated { caller, home: Arc::clone(&named), target: named };
    Ok(Stamped { authenticated, document: Document::read(body)? })
}

/// Checks the headers of a query before its body is read.
///
/// # Errors
/// If the query cannot be authenticated, whatever its body contains.
pub fn admit_query(credentials: &Credentials) -> Result<(), RequestError> {
    if credentials.session_token().is_some() { Ok(()) } else { admit(credentials) }
}

/// Checks the headers of a request before its body is read.
///
/// # Errors
/// If the request cannot be authenticated, whatever its body contains.
pub fn admit(credentials: &Credentials) -> Result<(), RequestError> {
    AnyStamp::read(credentials).map(drop)
}

/// Reads `organizationId` from a body.
fn organization_of(body: &[u8]) -> Result<OrganizationId, RequestError> {
    const NAME: &str = "organizationId";
    match json::member(body, NAME)? {
        Member::Text(text) => text.parse().map_err(|_| Intent::OrganizationId.into()),
        Member::Other => Err(Intent::OrganizationId.into()),
        Member::Absent => Err(JsonError::Missing(NAME.to_owned()).into()),
    }
}

/// An authenticated caller and the organization acted upon.
pub struct Authenticated {
    /// Caller, as proven by the stamp.
    pub caller: Caller,
    /// Organization of the caller.
    pub home: Arc<Organization>,
    /// Organization acted upon.
    pub target: Arc<Organization>,
}

/// Finds the user whose credential stamped exactly these body bytes.
fn authenticate(
    world: &dyn World,
    stamp: AnyStamp,
    source: Option<IpAddr>,
    body: &[u8],
    organization: OrganizationId,
    scope: CredentialScope,
    now: Millis,
) -> Result<Authenticated, RequestError> {
    let named = world.organization(organization)?.ok_or(Missing::Organization)?;
    let proof = match stamp {
        AnyStamp::Registered(proof) => proof,
        AnyStamp::Attested(stamp) => {
            return attested::Request { world, source, scope, now }.authenticate(named, &stamp, body);
        }
    };
    if scope == CredentialScope::Invitations {
        return invited(named, proof, body, source);
    }
    let (home, target) = locate(world, named, &proof, scope, body, now)?;
    let caller = match proof {
        Proof::Key(stamp) => {
            let times = (now, world.installation().restored());
            by_key(&home, &target, stamp, body, source, times)?
        }
        Proof::Passkey(assertion) => passkey::caller(world, &home, &assertion, body, source)?,
    };
    Ok(Authenticated { caller, home, target })
}

/// Finds the user whose API key stamped exactly these body bytes.
fn by_key(
    home: &Organization,
    target: &Organization,
    stamp: Stamp,
    body: &[u8],
    source: Option<IpAddr>,
    (now, restored): (Millis, Millis),
) -> Result<Caller, RequestError> {
    let unknown = || unknown_key(target, &stamp);
    let curve = stamp.scheme.curve().ok_or_else(unknown)?;
    let member = home.holder(curve, &stamp.public_key).ok_or_else(unknown)?;
    let (key, parsed) = member.stamp_key(curve, &stamp.public_key).ok_or_else(unknown)?;
    if !parsed.verify(stamp.scheme, body, &stamp.signature) {
        return Err(Authn::Signature.into());
    }
    if key.is_expired(now) || key.ended_with(restored) {
        return Err(Authn::Expired.into());
    }
    if key.is_recovery() && !home.head.admits_recovery(member.user.id, key) {
        return Err(Authn::RecoveryOff.into());
    }
    check_source(home, key.ip_allowlist.as_ref(), source)?;
    // A user can open any number of sessions, so all of them count as one credential.
    let user = member.user.id;
    let credential = if key.is_session() { *user.as_bytes() } else { *key.id.as_bytes() };
    Ok(Caller {
        used: Some(Credential::ApiKey(key.id)),
        session_profile: key.session_profile,
        is_recovery: key.is_recovery(),
        ..Caller::new(home, user, credential, stamp)
    })
}

/// Checks the address of a client against the allowlists of the organization and of the key, if it has one.
fn check_source(
    organization: &Organization,
    of_key: Option<&IpAllowlist>,
    source: Option<IpAddr>,
) -> Result<(), RequestError> {
    let is_admitted = ip_allowlist::admits(organization.head.ip_allowlist.as_ref(), of_key, source);
    if is_admitted { Ok(()) } else { Err(Denied::Address.into()) }
}

/// Finds the invitation whose mailed key stamped exactly these body bytes. The caller is not a user yet.
fn invited(
    organization: Arc<Organization>,
    proof: Proof,
    body: &[u8],
    source: Option<IpAddr>,
) -> Result<Authenticated, RequestError> {
    let stamp = match proof {
        Proof::Key(stamp) => stamp,
        passkey @ Proof::Passkey(_) => return Err(passkey.unknown(&organization)),
    };
    let has_key = |one: &&Invitation| {
        stamp.scheme.curve() == Some(ApiKeyCurve::P256) && one.public_key == stamp.public_key
    };
    let unknown = || unknown_key(&organization, &stamp);
    let id = organization.records.invitations.iter().find(has_key).ok_or_else(unknown)?.id;
    let key = StampKey::parse(ApiKeyCurve::P256, &stamp.public_key).map_err(|_| unknown())?;
    if !key.verify(stamp.scheme, body, &stamp.signature) {
        return Err(Authn::Signature.into());
    }
    check_source(&organization, None, source)?;
    let nobody = UserId::from_bytes([0; 16]);
    let caller = Caller { invitation: Some(id), ..Caller::new(&organization, nobody, *id.as_bytes(), stamp) };
    Ok(Authenticated { caller, home: Arc::clone(&organization), target: organization })
}

/// The stamp of a request, parsed and not yet verified.
enum AnyStamp {
    /// Stamp by a registered key.
    Registered(Proof),
    /// Stamp by a key that a token attests.
    Attested(AttestedStamp),
}

/// A stamp by a registered key, parsed and not yet verified.
enum Proof {
    /// Stamp by an API key.
    Key(Stamp),
    /// Stamp by a passkey.
    Passkey(Assertion),
}

impl AnyStamp {
    /// Parses the only stamp of a request.
    fn read(credentials: &Credentials) -> Result<Self, RequestError> {
        use Header::{Absent, Once};
        match (&credentials.stamp, &credentials.webauthn, &credentials.attested) {
            (Absent, Absent, Absent) if credentials.has_only_session() => Err(Authn::UnknownSession.into()),
            (Absent, Absent, Absent) => Err(Authn::None.into()),
            (Once(header), Absent, Absent) => {
                let stamp = Stamp::read(header).map_err(|error| Authn::Unreadable(error.to_string()))?;
                Ok(Self::Registered(Proof::Key(stamp)))
            }
            (Absent, Once(header), Absent) => Ok(Self::Registered(Proof::Passkey(passkey::read(header)?))),
            (Absent, Absent, Once(header)) => Ok(Self::Attested(attested::read(header)?)),
            _ => Err(Authn::Several.into()),
        }
    }
}

impl Proof {
    fn is_of(&self, organization: &Organization) -> bool {
        match self {
            Self::Key(stamp) => {
                let curve = stamp.scheme.curve();
                curve.is_some_and(|curve| organization.holder(curve, &stamp.public_key).is_some())
            }
            Self::Passkey(assertion) => organization.passkey(assertion.credential_id()).is_some(),
        }
    }

    /// Returns whether the stamp is valid for these bytes, at this time, with a credential of the
    /// organization.
    fn is_valid_for(&self, organization: &Organization, body: &[u8], now: Millis) -> bool {
        match self {
            // The same public key verifies the same signature in every organization where it is registered.
            Self::Key(stamp) => stamp.scheme.curve().is_some_and(|curve| {
                let member = organization.holder(curve, &stamp.public_key);
                let key = member.and_then(|member| member.stamp_key(curve, &stamp.public_key));
                key.is_some_and(|(key, _)| !key.is_expired(now))
            }),
            Self::Passkey(assertion) => passkey::is_valid_for(organization, assertion, body),
        }
    }

    /// Returns the name of the credential; none if its scheme has no curve.
    fn named(&self) -> Option<Named<'_>> {
        match self {
            Self::Key(stamp) => stamp.scheme.curve().map(|curve| Named::Key(curve, &stamp.public_key)),
            Self::Passkey(assertion) => Some(Named::Passkey(assertion.credential_id())),
        }
    }

    /// Returns the lookup that finds sub-organizations with this credential, and its value.
    fn lookup(&self) -> (Lookup, &str) {
        match self {
            Self::Key(stamp) => (Lookup::PublicKey, &stamp.public_key),
            Self::Passkey(assertion) => (Lookup::CredentialId, assertion.credential_id()),
        }
    }

    /// Returns the error for an organization without this credential.
    fn unknown(&self, organization: &Organization) -> RequestError {
        match self {
            Self::Key(stamp) => unknown_key(organization, stamp),
            Self::Passkey(assertion) => {
                let credential_id = assertion.credential_id().chars().take(256).collect();
                Authn::UnknownCredential { organization: organization.id(), credential_id }.into()
            }
        }
    }
}

/// Finds the organization of the caller and the organization acted upon. Searches the named organization,
/// then its parent, then, if `scope` allows it, its sub-organizations.
fn locate(
    world: &dyn World,
    named: Arc<Organization>,
    proof: &Proof,
    scope: CredentialScope,
    body: &[u8],
    now: Millis,
) -> Result<(Arc<Organization>, Arc<Organization>), RequestError> {
    if proof.is_of(&named) {
        return Ok((Arc::clone(&named), named));
    }
    if let Some(parent) = named.head.parent {
        return match world.organization(parent)? {
            Some(parent) if proof.is_of(&parent) => Ok((parent, named)),
            _ => Err(proof.unknown(&named)),
        };
    }
    if scope == CredentialScope::SubOrganizations
        && let Some(child) = child_with_credential(world, &named, proof, body, now)?
    {
        return Ok((Arc::clone(&child), child));
    }
    Err(proof.unknown(&named))
}

/// Finds the only sub-organization that has the credential, first among those in which it is established: there are as many
/// other entries as people register credentials of others.
fn child_with_credential(
    world: &dyn World,
    parent: &Organization,
    proof: &Proof,
    body: &[u8],
    now: Millis,
) -> Result<Option<Arc<Organization>>, RequestError> {
    let (lookup, _) = proof.lookup();
    for lookup in lookup.established().into_iter().chain([lookup]) {
        if let Some(child) = child_found_by(lookup, world, parent, proof, body, now)? {
            return Ok(Some(child));
        }
    }
    Ok(None)
}

/// Finds the only sub-organization with the credential in an index. Anyone can register a public key or credential id
/// of somebody else, so only the sub-organizations count for which the stamp is valid, and of these, those in which it is
/// established take precedence.
fn child_found_by(
    lookup: Lookup,
    world: &dyn World,
    parent: &Organization,
    proof: &Proof,
    body: &[u8],
    now: Millis,
) -> Result<Option<Arc<Organization>>, RequestError> {
    let (of_all, value) = proof.lookup();
    let Some(named) = proof.named() else { return Ok(None) };
    let prefix = layout::lookup_entries(world.index(), parent.id(), lookup, value);
    let keys = world.records().keys(Page::first(&prefix, CANDIDATES.saturating_add(1)))?;
    let is_truncated = keys.len() > CANDIDATES;
    let mut ids: Vec<OrganizationId> = keys.iter().filter_map(|key| layout::lookup_child(key)).collect();
    ids.dedup();
    // An organization in which the stamp is not valid must not take precedence over one in which it is.
    let mut valid = Vec::with_capacity(ids.len());
    for id in &ids {
        if world.organization(*id)?.is_some_and(|child| proof.is_valid_for(&child, body, now)) {
            valid.push(*id);
        }
    }
    // The last index has all of them, so its error names what is wrong with the stamp.
    let considered = if valid.is_empty() && lookup == of_all { &ids } else { &valid };
    let mut children = Vec::new();
    for id in established::that_count(world, considered, named)? {
        children.extend(world.organization(id)?);
    }
    let is_ambiguous = children.len() > 1;
    if is_ambiguous || is_truncated && children.is_empty() {
        let noun = if matches!(proof, Proof::Passkey(_)) { "credential ID" } else { "public key" };
        return Err(Authn::SeveralChildren(noun).into());
    }
    Ok(children.pop())
}

fn unknown_key(organization: &Organization, stamp: &Stamp) -> RequestError {
    Authn::UnknownKey {
        organization: organization.id(),
        public_key: stamp.public_key.chars().take(130).collect(),
        parent: organization.head.parent.is_some(),
    }
    .into()
}
