//! Validates and creates users and their credentials.

use std::collections::BTreeSet;

use quorate_common::ids::{ApiKeyId, AuthenticatorId, ProviderId, UserId};
use quorate_common::json;
use quorate_common::stamp::StampKey;
use quorate_common::webauthn::{AttestationError, NewCredential};

use super::quorum;
use crate::error::{Conflict, Intent, Limit, Missing, RequestError, Unimplemented};
use crate::execution::ExecutionContext;
use crate::limits::Limits;
use crate::model::{
    ApiKey, Authenticator, Change, Millis, OauthProvider, Organization, Passkey, TagKind, User,
};
use crate::params::{NewApiKey, NewAuthenticator, NewOauthProvider, NewUser};
use crate::view::{View, check_limit, distinct, not_empty};
use crate::world::Runtime;

/// Sign-in methods of an organization that need no credential.
#[derive(Debug, Clone, Copy, Default)]
pub struct SignIn {
    /// Sign-in by email.
    pub email: bool,
    /// Sign-in by SMS.
    pub sms: bool,
}

impl SignIn {
    /// Returns whether a new user can sign in by one of these methods.
    pub const fn admits(self, user: &NewUser) -> bool {
        (user.email.is_some() && self.email) || (user.phone.is_some() && self.sms)
    }
}

/// Checks new users: each can sign in, stays within the limits, and has no credential that is already
/// registered `within` an organization. Returns the credentials of their authenticators.
///
/// # Errors
/// If a user fails one of these checks, or a credential is malformed or occurs twice.
pub fn check(
    users: &[NewUser],
    within: Option<&Organization>,
    sign_in: SignIn,
    limits: &Limits,
) -> Result<Vec<NewCredential>, RequestError> {
    let mut keys = BTreeSet::new();
    for user in users {
        let has_credential =
            !(user.api_keys.is_empty() && user.authenticators.is_empty() && user.oauth_providers.is_empty());
        if !has_credential && !sign_in.admits(user) {
            return Err(Intent::NoCredential(user.name.to_string()).into());
        }
        for key in &user.api_keys {
            if !keys.insert((key.curve, key.public_key.as_str())) {
                return Err(Intent::Duplicate("apiKeys").into());
            }
        }
        check_api_keys(&user.api_keys, within)?;
        let long_lived = user.api_keys.iter().filter(|key| key.expiration_seconds.is_none()).count();
        let expiring = user.api_keys.len().saturating_sub(long_lived);
        if long_lived > limits.long_lived_api_keys || expiring > limits.expiring_api_keys {
            return Err(Limit::LongLivedApiKeys.into());
        }
        if user.authenticators.len() > limits.authenticators {
            return Err(Limit::Authenticators.into());
        }
        if user.oauth_providers.len() > limits.oauth_providers {
            return Err(Limit::Count(
                "OAuth providers per user",
                limits.oauth_providers,
                Some("oauth_providers"),
            )
            .into());
        }
    }
    unclaimed_identities(users.iter().flat_map(|user| &user.oauth_providers), within)?;
    unclaimed_authenticators(users.iter().flat_map(|user| &user.authenticators), within)
}

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

/// Checks that new OAuth identities of a user belong to nobody in the organization and stay within the limit.
///
/// # Errors
/// If an identity is incomplete, occurs twice or is already registered, or the limit is exceeded.
pub fn check_oauth_providers(
    new: &[NewOauthProvider],
    user: &User,
    view: &View<'_>,
) -> Result<(), RequestError> {
    unclaimed_identities(new, Some(view.organization))?;
    let count = user.oauth_providers.len();
    check_limit(
        count,
        new.len(),
        view.limits().oauth_providers,
        "OAuth providers per user",
        "oauth_providers",
    )
}

fn unclaimed_authenticators<'a>(
    new: impl IntoIterator<Item = &'a NewAuthenticator>,
    within: Option<&Organization>,
) -> Result<Vec<NewCredential>, RequestError> {
    let credentials = new.into_iter().map(NewAuthenticator::credential).collect::<Result<Vec<_>, _>>()?;
    let ids: Vec<&str> = credentials.iter().map(|credential| credential.credential_id.as_str()).collect();
    distinct(&ids, "authenticators")?;
    let mut present = within.into_iter().flat_map(Organization::users).flat_map(|user| &user.authenticators);
    let taken = present.any(|present| ids.contains(&present.credential_id.as_str()));
    if taken { Err(Conflict::CredentialId.into()) } else { Ok(credentials) }
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

fn unclaimed_identities<'a>(
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
pub fn remove_credentials<T, Id: Ord>(
    credentials: &mut Vec<T>,
    ids: &[Id],
    list: &'static str,
    id: impl Fn(&T) -> &Id,
    missing: impl Fn(&Id) -> Missing,
) -> Result<(), RequestError> {
    not_empty(ids, list)?;
    distinct(ids, list)?;
    for wanted in ids {
        let index = credentials.iter().position(|one| id(one) == wanted);
        credentials.remove(index.ok_or_else(|| missing(wanted))?);
    }
    Ok(())
}

/// Checks that a user still has a credential, that a root user can still vote, and that the root quorum can
/// always be met.
///
/// # Errors
/// If one of these is no longer so.
pub fn check_remaining_access(user: &User, organization: &Organization) -> Result<(), RequestError> {
    if !user.has_credential() {
        return Err(Intent::NoCredential(user.id.to_string()).into());
    }
    let had_key = organization.user(user.id).is_some_and(User::has_key);
    if had_key && !user.has_key() && organization.is_root(user.id) {
        return Err(Intent::QuorumUsers.into());
    }
    quorum::survives(user, organization)
}

/// Checks new users of an organization: their credentials, their tags and the limit.
///
/// # Errors
/// If the list is empty, a user is invalid, a tag does not exist, or the limit is exceeded.
pub fn check_new(
    users: &[NewUser],
    list: &'static str,
    sign_in: SignIn,
    view: &View<'_>,
) -> Result<(), RequestError> {
    not_empty(users, list)?;
    let limits = view.limits();
    let credentials = check(users, Some(view.organization), sign_in, limits)?;
    check_origins(&credentials, view)?;
    for user in users {
        distinct(&user.tags, "userTags")?;
        view.tags_exist(&user.tags, TagKind::User)?;
    }
    check_limit(view.organization.users().count(), users.len(), limits.users, "users", "users")
}

/// Parses a contact. An empty text means none.
///
/// # Errors
/// If the text does not parse.
pub fn contact<T>(
    text: &str,
    parse: fn(String) -> Result<T, &'static str>,
    member: &str,
) -> Result<Option<T>, RequestError> {
    if text.is_empty() {
        return Ok(None);
    }
    Ok(Some(parse(text.to_owned()).map_err(|reason| json::member_error("parameters", member, reason))?))
}

/// Rejects a token that proves a contact, since this service issues none.
///
/// # Errors
/// If a token is given.
pub fn reject_verification_token(given: bool) -> Result<(), RequestError> {
    let text = "verification tokens are not offered by this service";
    if given { Err(Unimplemented::Feature(text.to_owned()).into()) } else { Ok(()) }
}

/// Adds users to the organization and returns their ids in the same order.
///
/// # Errors
/// If a credential is invalid.
pub fn add(users: Vec<NewUser>, context: &mut ExecutionContext<'_, '_>) -> Result<Vec<UserId>, RequestError> {
    let mut ids = Vec::with_capacity(users.len());
    for new in users {
        let user = user(new, context)?;
        ids.push(user.id);
        context.change(Change::PutUser(user));
    }
    Ok(ids)
}

/// Creates a user from its parameters.
///
/// # Errors
/// If a credential is invalid.
pub fn user(new: NewUser, context: &mut ExecutionContext<'_, '_>) -> Result<User, RequestError> {
    let now = context.now();
    let mut random = || context.random();
    user_of(new, now, &mut random)
}

/// Creates a user from its parameters, outside of an activity.
///
/// # Errors
/// If a credential is invalid.
pub fn first_user(new: NewUser, runtime: &mut Runtime<'_>) -> Result<User, RequestError> {
    let now = runtime.now;
    let mut random = || runtime.random();
    user_of(new, now, &mut random)
}

fn user_of(new: NewUser, now: Millis, random: &mut dyn FnMut() -> [u8; 16]) -> Result<User, RequestError> {
    let mut authenticators = Vec::with_capacity(new.authenticators.len());
    for one in new.authenticators {
        authenticators.push(authenticator(one, now, random)?);
    }
    let mut oauth_providers = Vec::with_capacity(new.oauth_providers.len());
    for provider in &new.oauth_providers {
        oauth_providers.push(oauth_provider(provider, now, random)?);
    }
    Ok(User {
        id: UserId::random(random()),
        name: new.name,
        email: new.email,
        phone: new.phone,
        email_verified: false,
        phone_verified: false,
        api_keys: new.api_keys.into_iter().map(|key| api_key(key, now, random)).collect(),
        authenticators,
        oauth_providers,
        tags: new.tags,
        created: now,
        updated: now,
    })
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
        created: now,
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

/// Creates an OAuth identity from its parameters.
///
/// # Errors
/// If its claims are missing or empty.
pub fn oauth_provider(
    new: &NewOauthProvider,
    now: Millis,
    random: &mut dyn FnMut() -> [u8; 16],
) -> Result<OauthProvider, RequestError> {
    let identity = new.identity()?;
    Ok(OauthProvider {
        id: ProviderId::random(random()),
        name: identity.name,
        issuer: identity.issuer,
        audience: identity.audience,
        subject: identity.subject,
        created: now,
    })
}
