//! Deletes authenticators of a user.

use quorate_common::wire::User;

use super::credential::{UserCredentials, describe_deleted};
use crate::kinds::prelude::*;

pub(super) const KIND: Kind =
    Kind::new("DELETE_AUTHENTICATORS", "Delete authenticators", |parameters, context| {
        describe_deleted(parameters, "authenticatorIds", "authenticator", credentials, context)
    });

fn credentials(user: &User) -> UserCredentials<'_> {
    let names = user
        .authenticators
        .iter()
        .map(|one| (one.authenticator_id.to_string(), one.authenticator_name.as_str()));
    let has_others = !user.api_keys.is_empty() || !user.oauth_providers.is_empty();
    UserCredentials { names: names.collect(), has_others }
}
