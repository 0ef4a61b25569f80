//! Credentials of users.

use super::Kind;

mod create_api_keys;
mod create_authenticators;
mod create_oauth_providers;
mod credential;
mod delete_api_keys;
mod delete_authenticators;
mod delete_oauth_providers;
mod loss;

pub(super) const KINDS: &[Kind] = &[
    create_api_keys::KIND,
    create_authenticators::KIND,
    create_oauth_providers::KIND,
    delete_api_keys::KIND,
    delete_authenticators::KIND,
    delete_oauth_providers::KIND,
];
