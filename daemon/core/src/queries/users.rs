//! Users, their credentials and tags, and who the caller is.

use quorate_common::ids::{ApiKeyId, AuthenticatorId, UserId};
use quorate_common::json::Document;
use serde::{Deserialize, Serialize};

use super::{Asked, one, read, tags};
use crate::model::{ApiKey, Authenticator, OauthProvider, TagKind, User};
use crate::refusal::{Corrupt, Missing, Refusal};

/// The caller and their organization.
pub(super) fn whoami(asked: &Asked<'_>, _: &Document) -> Result<Vec<u8>, Refusal> {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Answer<'a> {
        organization_id: quorate_common::ids::OrganizationId,
        organization_name: &'a str,
        user_id: UserId,
        username: &'a str,
    }
    let (home, caller) = (asked.caller.organization, asked.caller.user);
    let parent;
    let organization = if home == asked.id() {
        asked.organization
    } else {
        parent = asked.world.organization(home)?.ok_or(Missing::Organization)?;
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

/// One user.
pub(super) fn get_user(asked: &Asked<'_>, value: &Document) -> Result<Vec<u8>, Refusal> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Query {
        user_id: UserId,
    }
    let query: Query = read(value)?;
    let user = asked.organization.user(query.user_id).ok_or(Missing::User(query.user_id, asked.id()))?;
    one("user", &user.wire())
}

/// All users.
pub(super) fn list_users(asked: &Asked<'_>, _: &Document) -> Result<Vec<u8>, Refusal> {
    let mut users: Vec<_> = asked.organization.users().collect();
    users.sort_by_key(|user| (user.created, user.id));
    one("users", &users.into_iter().map(User::wire).collect::<Vec<_>>())
}

/// One API key.
pub(super) fn get_api_key(asked: &Asked<'_>, value: &Document) -> Result<Vec<u8>, Refusal> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Query {
        api_key_id: ApiKeyId,
    }
    let query: Query = read(value)?;
    let keys = asked.organization.users().flat_map(|user| &user.api_keys);
    let key = keys.into_iter().find(|key| key.id == query.api_key_id);
    one("apiKey", &key.ok_or(Missing::ApiKey(query.api_key_id))?.wire())
}

/// The API keys of a user, or of all.
pub(super) fn get_api_keys(asked: &Asked<'_>, value: &Document) -> Result<Vec<u8>, Refusal> {
    let users = users(asked, read::<MaybeUser>(value)?.user_id)?;
    let keys: Vec<_> = users.flat_map(|user| user.api_keys.iter().map(ApiKey::wire)).collect();
    one("apiKeys", &keys)
}

/// Tags of users.
pub(super) fn list_user_tags(asked: &Asked<'_>, _: &Document) -> Result<Vec<u8>, Refusal> {
    tags(asked, TagKind::User, "userTags")
}

/// One authenticator.
pub(super) fn get_authenticator(asked: &Asked<'_>, value: &Document) -> Result<Vec<u8>, Refusal> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Query {
        authenticator_id: AuthenticatorId,
    }
    let query: Query = read(value)?;
    let mut all = asked.organization.users().flat_map(|user| &user.authenticators);
    let found = all.find(|one| one.id == query.authenticator_id);
    one("authenticator", &found.ok_or(Missing::Thing("authenticator"))?.wire())
}

/// The authenticators of a user.
pub(super) fn get_authenticators(asked: &Asked<'_>, value: &Document) -> Result<Vec<u8>, Refusal> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Query {
        user_id: UserId,
    }
    let query: Query = read(value)?;
    let users = users(asked, Some(query.user_id))?;
    let found: Vec<_> = users.flat_map(|user| user.authenticators.iter().map(Authenticator::wire)).collect();
    one("authenticators", &found)
}

/// The OAuth identities of a user, or of all.
pub(super) fn get_oauth_providers(asked: &Asked<'_>, value: &Document) -> Result<Vec<u8>, Refusal> {
    let users = users(asked, read::<MaybeUser>(value)?.user_id)?;
    let found: Vec<_> = users.flat_map(|user| user.oauth_providers.iter().map(OauthProvider::wire)).collect();
    one("oauthProviders", &found)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct MaybeUser {
    user_id: Option<UserId>,
}

/// The user of this id, or all.
fn users<'a>(asked: &Asked<'a>, id: Option<UserId>) -> Result<impl Iterator<Item = &'a User>, Refusal> {
    if let Some(id) = id {
        asked.organization.user(id).ok_or(Missing::User(id, asked.id()))?;
    }
    Ok(asked.organization.users().filter(move |user| id.is_none_or(|id| id == user.id)))
}
