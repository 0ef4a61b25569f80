//! Deletes OAuth providers of a user.

use quorate_common::wire::User;

use super::credential::{UserCredentials, describe_deleted};
use crate::kinds::prelude::*;

pub(super) const KIND: Kind =
    Kind::new("DELETE_OAUTH_PROVIDERS", "Delete OAuth providers", |parameters, context| {
        describe_deleted(parameters, "providerIds", "OAuth provider", credentials, context)
    });

fn credentials(user: &User) -> UserCredentials<'_> {
    let names =
        user.oauth_providers.iter().map(|one| (one.provider_id.to_string(), one.provider_name.as_str()));
    let has_others = !user.api_keys.is_empty() || !user.authenticators.is_empty();
    UserCredentials { names: names.collect(), has_others }
}
