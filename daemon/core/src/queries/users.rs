//! Queries of users, their credentials and tags, and of the caller.

use quorate_common::ids::{ApiKeyId, AuthenticatorId, UserId};
use quorate_common::json::Document;
use serde::{Deserialize, Serialize};

use super::{QueryContext, one, read, tags};
use crate::error::{Corrupt, Missing, RequestError};
use crate::model::{ApiKey, Authenticator, OauthProvider, TagKind, User};

/// Answers with the caller and their organization.
pub(super) fn whoami(context: &QueryContext<'_>, _: &Document) -> Result<Vec<u8>, RequestError> {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Answer<'a> {
        organization_id: quorate_common::ids::OrganizationId,
        organization_name: &'a str,
        user_id: UserId,
        username: &'a str,
    }
    let (home, caller) = (context.caller.organization, context.caller.user);
    let parent;
    let organization = if home == context.id() {
        context.organization
    } else {
        parent = context.world.organization(home)?.ok_or(Missing::Organization)?;
        &parent
    };
    let user = organization.user(caller).ok_or(Missing::User(caller, home))?;
    let answer = Answer {
        organization_id: home,
        organization_name: organization.head.name.as_str(),
        user_id: caller,
        username: user.name.as_str(),
    };
    Ok(serde_json::to_vec(&answer).map_err(|_| Corrupt::Invariant("an answer does not serialize"))?)
}

/// Answers with one user.
pub(super) fn get_user(context: &QueryContext<'_>, value: &Document) -> Result<Vec<u8>, RequestError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Query {
        user_id: UserId,
    }
    let query: Query = read(value)?;
    let user = context.organization.user(query.user_id).ok_or(Missing::User(query.user_id, context.id()))?;
    one("user", &user.wire())
}

/// Answers with all users, oldest first.
pub(super) fn list_users(context: &QueryContext<'_>, _: &Document) -> Result<Vec<u8>, RequestError> {
    let mut users: Vec<_> = context.organization.users().collect();
    users.sort_by_key(|user| (user.created, user.id));
    one("users", &users.into_iter().map(User::wire).collect::<Vec<_>>())
}

/// Answers with one API key.
pub(super) fn get_api_key(context: &QueryContext<'_>, value: &Document) -> Result<Vec<u8>, RequestError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Query {
        api_key_id: ApiKeyId,
    }
    let query: Query = read(value)?;
    let keys = context.organization.users().flat_map(|user| &user.api_keys);
    let key = keys.into_iter().find(|key| key.id == query.api_key_id);
    one("apiKey", &key.ok_or(Missing::ApiKey(query.api_key_id))?.wire())
}

/// Answers with the API keys of one user, or of all users.
pub(super) fn get_api_keys(context: &QueryContext<'_>, value: &Document) -> Result<Vec<u8>, RequestError> {
    let users = users(context, read::<UserFilter>(value)?.user_id)?;
    let keys: Vec<_> = users.flat_map(|user| user.api_keys.iter().map(ApiKey::wire)).collect();
    one("apiKeys", &keys)
}

/// Answers with all tags of users.
pub(super) fn list_user_tags(context: &QueryContext<'_>, _: &Document) -> Result<Vec<u8>, RequestError> {
    tags(context, TagKind::User, "userTags")
}

/// Answers with one authenticator.
pub(super) fn get_authenticator(
    context: &QueryContext<'_>,
    value: &Document,
) -> Result<Vec<u8>, RequestError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Query {
        authenticator_id: AuthenticatorId,
    }
    let query: Query = read(value)?;
    let mut all = context.organization.users().flat_map(|user| &user.authenticators);
    let found = all.find(|one| one.id == query.authenticator_id);
    one("authenticator", &found.ok_or(Missing::Other("authenticator"))?.wire())
}

/// Answers with the authenticators of one user.
pub(super) fn get_authenticators(
    context: &QueryContext<'_>,
    value: &Document,
) -> Result<Vec<u8>, RequestError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Query {
        user_id: UserId,
    }
    let query: Query = read(value)?;
    let users = users(context, Some(query.user_id))?;
    let found: Vec<_> = users.flat_map(|user| user.authenticators.iter().map(Authenticator::wire)).collect();
    one("authenticators", &found)
}

/// Answers with the OAuth identities of one user, or of all users.
pub(super) fn get_oauth_providers(
    context: &QueryContext<'_>,
    value: &Document,
) -> Result<Vec<u8>, RequestError> {
    let users = users(context, read::<UserFilter>(value)?.user_id)?;
    let found: Vec<_> = users.flat_map(|user| user.oauth_providers.iter().map(OauthProvider::wire)).collect();
    one("oauthProviders", &found)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct UserFilter {
    user_id: Option<UserId>,
}

/// Returns the user with this id, or all users.
fn users<'a>(
    context: &QueryContext<'a>,
    id: Option<UserId>,
) -> Result<impl Iterator<Item = &'a User>, RequestError> {
    if let Some(id) = id {
        context.organization.user(id).ok_or(Missing::User(id, context.id()))?;
    }
    Ok(context.organization.users().filter(move |user| id.is_none_or(|id| id == user.id)))
}
