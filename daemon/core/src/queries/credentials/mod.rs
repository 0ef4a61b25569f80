//! API keys, authenticators and OAuth identities of users.

use super::prelude::*;

mod get_api_key;
mod get_api_keys;
mod get_authenticator;
mod get_authenticators;
mod get_oauth_providers;

pub(super) const ENTRIES: &[Entry] = &[
    entry::<get_api_key::GetApiKey>("get_api_key", "apiKey"),
    entry::<get_api_keys::GetApiKeys>("get_api_keys", "apiKeys"),
    entry::<get_authenticator::GetAuthenticator>("get_authenticator", "authenticator"),
    entry::<get_authenticators::GetAuthenticators>("get_authenticators", "authenticators"),
    entry::<get_oauth_providers::GetOauthProviders>("get_oauth_providers", "oauthProviders"),
];

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
