//! Deletes OAuth providers of a user.

use quorate_common::wire::User;

use super::credential::{Held, describe_deleted};
use crate::kinds::prelude::*;

pub(super) const KIND: Kind =
    Kind::new("DELETE_OAUTH_PROVIDERS", "Delete OAuth providers", |parameters, scene| {
        describe_deleted(parameters, "providerIds", "OAuth provider", held, scene)
    });

fn held(user: &User) -> Held<'_> {
    let names =
        user.oauth_providers.iter().map(|one| (one.provider_id.to_string(), one.provider_name.as_str()));
    let has_others = !user.api_keys.is_empty() || !user.authenticators.is_empty();
    Held { names: names.collect(), has_others }
}
