//! Validates and creates credentials of users: API keys, authenticators and OAuth identities.

use std::collections::BTreeSet;

use quorate_common::ids::{ApiKeyId, AuthenticatorId, ProviderId, UserId};
use quorate_common::stamp::StampKey;
use quorate_common::webauthn::{AttestationError, NewCredential};

use super::oidc;
use crate::error::{Conflict, Intent, Limit, Missing, RequestError};
use crate::model::user::{IdentityProof, KeySource};
use crate::model::{ApiKey, Authenticator, Millis, OauthProvider, Organization, Passkey, User};
use crate::params::credential::Identity;
use crate::params::{NewApiKey, NewAuthenticator, NewOauthProvider};
use crate::view::{View, check_limit, distinct, not_empty};

/// Checks that new API keys are points of their curves and not registered in the organization.
///
/// # Errors
/// If a key is not a point of its curve, occurs twice or is already registered.
pub fn check_api_keys(keys: &[NewApiKey], within: Option<&Organization>) -> Result<(), RequestError> {
    for (index, key) in keys.iter().enumerate() {
        StampKey::parse(key.curve, &key.public_key).map_err(|_| Intent::PublicKey)?;
        let rest = keys.iter().skip(index.saturating_add(1));
        if rest.clone().any(|other| other.curve == key.curve && other.public_key == key.public_key) {
            return Err(Intent::Duplicate("apiKeys").into());
        }
        if within.is_some_and(|organization| organization.holder(key.curve, &key.public_key).is_some()) {
            return Err(Conflict::PublicKey.into());
        }
    }
    Ok(())
}

/// Checks new authenticators of a user: their registration, their origin and the limit.
///
/// # Errors
/// If a registration is invalid, already known or from another origin, or the limit is exceeded.
pub fn check_authenticators(
    new: &[NewAuthenticator],
    user: &User,
    view: &View<'_>,
) -> Result<(), RequestError> {
    let credentials = unclaimed_authenticators(new, Some(view.organization))?;
    check_origins(&credentials, view)?;
    let limit = view.limits().authenticators;
    let fits = user.authenticators.len().saturating_add(new.len()) <= limit;
    if fits { Ok(()) } else { Err(Limit::Authenticators.into()) }
}

/// Checks that authenticators which name a user name this one.
///
/// # Errors
/// If one names another user.
pub fn check_authenticator_owner(
    user: UserId,
    authenticators: &[NewAuthenticator],
) -> Result<(), RequestError> {
    let is_owner = |one: &NewAuthenticator| one.user.is_none_or(|owner| owner == user);
    if authenticators.iter().all(is_owner) {
        return Ok(());
    }
    let text = "invalid request body: the `userId` of an authenticator must be that of the request";
    Err(Intent::Text(text).into())
}

/// Checks that new OAuth identities of a user belong to nobody in the organization, that their tokens are valid, and
/// that they stay within the limit.
///
/// # Errors
/// If an identity is incomplete, occurs twice or is already registered, a token is invalid, or the limit is exceeded.
pub fn check_oauth_providers(
    new: &[NewOauthProvider],
    user: &User,
    view: &View<'_>,
) -> Result<(), RequestError> {
    unclaimed_identities(new, Some(view.organization))?;
    oidc::verify_tokens(new, view)?;
    let count = user.oauth_providers.len();
    check_limit(
        count,
        new.len(),
        view.limits().oauth_providers,
        "OAuth providers per user",
        "oauth_providers",
    )
}

/// Checks that new authenticators are valid and differ, and that none is registered `within` an organization.
/// Returns their credentials.
///
/// # Errors
/// If a registration is invalid or already known.
pub(super) fn unclaimed_authenticators<'a>(
    new: impl IntoIterator<Item = &'a NewAuthenticator>,
    within: Option<&Organization>,
) -> Result<Vec<NewCredential>, RequestError> {
    let credentials = new.into_iter().map(NewAuthenticator::credential).collect::<Result<Vec<_>, _>>()?;
    let ids: Vec<&str> = credentials.iter().map(|credential| credential.credential_id.as_str()).collect();
    distinct(&ids, "authenticators")?;
    let mut present = within.into_iter().flat_map(Organization::users).flat_map(|user| &user.authenticators);
    let is_in_use = present.any(|present| ids.contains(&present.credential_id.as_str()));
    if is_in_use { Err(Conflict::CredentialId.into()) } else { Ok(credentials) }
}

/// Checks that passkeys were registered at web origins that the organization accepts.
///
/// # Errors
/// If an origin is not accepted, or the records of the parent cannot be read.
pub fn check_origins(credentials: &[NewCredential], view: &View<'_>) -> Result<(), RequestError> {
    for credential in credentials {
        if !view.accepts_origin(&credential.origin)? {
            return Err(Intent::Attestation(AttestationError::Invalid).into());
        }
    }
    Ok(())
}

/// Checks that new OAuth identities are complete and differ, and that none is registered `within` an
/// organization.
///
/// # Errors
/// If an identity is incomplete or already known.
pub(super) fn unclaimed_identities<'a>(
    new: impl IntoIterator<Item = &'a NewOauthProvider>,
    within: Option<&Organization>,
) -> Result<(), RequestError> {
    let mut identities = Vec::new();
    for provider in new {
        let identity = provider.identity()?;
        identities.push((identity.issuer, identity.audience, identity.subject));
    }
    distinct(&identities, "oauthProviders")?;
    let mut present = within.into_iter().flat_map(Organization::users).flat_map(|user| &user.oauth_providers);
    let same = |present: &OauthProvider| {
        let known = (&present.issuer, &present.audience, &present.subject);
        identities.iter().any(|(issuer, audience, subject)| known == (issuer, audience, subject))
    };
    if present.any(same) { Err(Conflict::OauthProvider.into()) } else { Ok(()) }
}

/// Removes credentials of a user from a list of them.
///
/// # Errors
/// If `ids` is empty, or an id occurs twice or is not in the list.
pub fn remove_credentials<T, Id: Ord + Copy>(
    credentials: &mut Vec<T>,
    ids: &[Id],
    list: &'static str,
    id: impl Fn(&T) -> Id,
    missing: impl Fn(Id) -> Missing,
) -> Result<(), RequestError> {
    not_empty(ids, list)?;
    distinct(ids, list)?;
    for wanted in ids {
        let index = credentials.iter().position(|one| id(one) == *wanted);
        credentials.remove(index.ok_or_else(|| missing(*wanted))?);
    }
    Ok(())
}

/// Creates an API key from its parameters.
pub fn api_key(new: NewApiKey, now: Millis, random: &mut dyn FnMut() -> [u8; 16]) -> ApiKey {
    ApiKey {
        id: ApiKeyId::random(random()),
        name: new.name,
        curve: new.curve,
        public_key: new.public_key,
        expiration_seconds: new.expiration_seconds,
        ip_allowlist: None,
        source: KeySource::Registration,
        session_profile: None,
        created: now,
    }
}

/// Evicts keys until one more expiring key of this source fits: expired keys first, then the oldest session, then the
/// oldest registered key.
///
/// Anybody who knows the address of a user can have a key mailed to them. The keys of each such flow are therefore
/// counted for themselves: they evict each other, and never end another session.
pub fn make_room(keys: &mut Vec<ApiKey>, source: KeySource, limit: usize, now: Millis) {
    let counts = |key: &ApiKey| {
        let is_same = if source.is_mailed() { key.source == source } else { !key.source.is_mailed() };
        key.expiration_seconds.is_some() && is_same
    };
    let count = |keys: &[ApiKey]| keys.iter().filter(|key| counts(key)).count();
    if count(keys) < limit {
        return;
    }
    keys.retain(|key| !key.is_expired(now));
    while count(keys) >= limit {
        let oldest =
            |is_session: bool| keys.iter().position(|key| counts(key) && key.is_session() == is_session);
        let Some(oldest) = oldest(true).or_else(|| oldest(false)) else { return };
        keys.remove(oldest);
    }
}

/// Creates an authenticator from its parameters.
///
/// # Errors
/// If its registration is invalid.
pub fn authenticator(
    new: NewAuthenticator,
    now: Millis,
    random: &mut dyn FnMut() -> [u8; 16],
) -> Result<Authenticator, RequestError> {
    let credential = new.credential()?;
    Ok(Authenticator {
        id: AuthenticatorId::random(random()),
        name: new.name,
        credential_id: credential.credential_id,
        transports: new.transports,
        passkey: Some(Passkey {
            public_key: credential.public_key,
            relying_party: credential.relying_party,
            aaguid: credential.aaguid,
            attestation_type: credential.format,
            signature_count: credential.signature_count,
        }),
        created: now,
    })
}

/// Creates OAuth identities of a user from their parameters. Their tokens were verified before.
///
/// # Errors
/// If an identity is incomplete.
pub fn oauth_providers(
    new: &[NewOauthProvider],
    now: Millis,
    random: &mut dyn FnMut() -> [u8; 16],
) -> Result<Vec<OauthProvider>, RequestError> {
    let identities = new.iter().map(|one| Ok((one.has_token(), one.identity()?)));
    let identities: Vec<(bool, Identity)> = identities.collect::<Result<_, RequestError>>()?;
    // The subject of a token at another audience is the same person. Any other claim may be that of somebody else.
    let tokens = identities.iter().filter(|(has_token, _)| *has_token);
    let people: BTreeSet<(String, String)> =
        tokens.map(|(_, one)| (one.issuer.clone(), one.subject.clone())).collect();
    let create = |(has_token, identity): (bool, Identity)| {
        let is_same_person = people.contains(&(identity.issuer.clone(), identity.subject.clone()));
        OauthProvider {
            id: ProviderId::random(random()),
            name: identity.name,
            issuer: identity.issuer,
            audience: identity.audience,
            subject: identity.subject,
            proof: match (has_token, is_same_person) {
                (true, _) => IdentityProof::Token,
                (false, true) => IdentityProof::SamePerson,
                (false, false) => IdentityProof::Claim,
            },
            created: now,
        }
    };
    Ok(identities.into_iter().map(create).collect())
}
