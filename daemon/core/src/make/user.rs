//! Validates and creates users.

use std::collections::BTreeSet;

use quorate_common::bounded::Email;
use quorate_common::ids::UserId;
use quorate_common::json;
use quorate_common::webauthn::NewCredential;

use super::credential::{
    api_key, authenticator, check_api_keys, check_origins, oauth_providers, unclaimed_authenticators,
    unclaimed_identities,
};
pub use super::sign_in::SignIn;
use super::{oidc, quorum};
use crate::error::{Intent, Limit, Missing, RequestError};
use crate::execution::Execution;
use crate::limits::Limits;
use crate::model::{Change, Millis, Organization, TagKind, User};
use crate::params::NewUser;
use crate::view::{View, check_limit, distinct, not_empty};
use crate::world::Runtime;

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
        check_email(user.email.as_ref(), "userEmail")?;
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
        let (count, limit) = (user.oauth_providers.len(), limits.oauth_providers);
        check_limit(0, count, limit, "OAuth providers per user", "oauth_providers")?;
    }
    unclaimed_identities(users.iter().flat_map(|user| &user.oauth_providers), within)?;
    unclaimed_authenticators(users.iter().flat_map(|user| &user.authenticators), within)
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
    oidc::verify_tokens(users.iter().flat_map(|user| &user.oauth_providers), view)?;
    for user in users {
        distinct(&user.tags, "userTags")?;
        view.tags_exist(&user.tags, TagKind::User)?;
    }
    check_limit(view.organization.users().count(), users.len(), limits.users, "users", "users")
}

/// Checks that an address, if there is one, may become a new contact.
///
/// # Errors
/// If it may not.
pub fn check_email(email: Option<&Email>, member: &str) -> Result<(), RequestError> {
    if email.is_none_or(Email::may_be_new) {
        return Ok(());
    }
    Err(json::member_error("parameters", member, Email::EXPECTED).into())
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

/// Adds users to the organization and returns their ids in the same order.
///
/// # Errors
/// If a credential is invalid.
pub fn add(users: Vec<NewUser>, context: &mut Execution<'_>) -> Result<Vec<UserId>, RequestError> {
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
pub fn user(new: NewUser, context: &mut Execution<'_>) -> Result<User, RequestError> {
    let now = context.now();
    let mut random = || context.random();
    user_of(new, now, &mut random)
}

/// Returns the only user with an email address.
///
/// # Errors
/// [`Missing::Contact`] if no user has it, or an error if several users have it.
pub fn with_email<'o>(email: &Email, organization: &'o Organization) -> Result<&'o User, RequestError> {
    let mut holders = organization.users().filter(|user| user.email.as_ref() == Some(email));
    match (holders.next(), holders.next()) {
        (Some(user), None) => Ok(user),
        (Some(_), Some(_)) => {
            Err(Intent::Text("several users have this email; name the user by its id").into())
        }
        (None, _) => Err(Missing::Contact("email").into()),
    }
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
    let authenticators = new.authenticators.into_iter().map(|one| authenticator(one, now, random));
    let authenticators = authenticators.collect::<Result<_, _>>()?;
    let oauth_providers = oauth_providers(&new.oauth_providers, now, random)?;
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
        read_only_sessions: Vec::new(),
        mfa_policies: Vec::new(),
        tags: new.tags,
        created: now,
        updated: now,
    })
}
