//! API keys, authenticators and OAuth identities of users.

use super::prelude::*;

mod get_api_key;
mod get_api_keys;
mod get_authenticator;
mod get_authenticators;
mod get_oauth_providers;

pub(super) const ENTRIES: &[Entry] = &[
    entry::<get_api_key::GetApiKey>(),
    entry::<get_api_keys::GetApiKeys>(),
    entry::<get_authenticator::GetAuthenticator>(),
    entry::<get_authenticators::GetAuthenticators>(),
    entry::<get_oauth_providers::GetOauthProviders>(),
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
