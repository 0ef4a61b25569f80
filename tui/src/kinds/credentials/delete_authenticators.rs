//! Deletes authenticators of a user.

use quorate_common::wire::User;

use super::credential::{Held, describe_deleted};
use crate::kinds::prelude::*;

pub(super) const KIND: Kind =
    Kind::new("DELETE_AUTHENTICATORS", "Delete authenticators", |parameters, scene| {
        describe_deleted(parameters, "authenticatorIds", "authenticator", held, scene)
    });

fn held(user: &User) -> Held<'_> {
    let names = user
        .authenticators
        .iter()
        .map(|one| (one.authenticator_id.to_string(), one.authenticator_name.as_str()));
    let has_others = !user.api_keys.is_empty() || !user.oauth_providers.is_empty();
    Held { names: names.collect(), has_others }
}
