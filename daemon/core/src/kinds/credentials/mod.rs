//! Credentials of users.

use super::prelude::*;

mod create_api_keys;
mod create_authenticators;
mod create_oauth_providers;
mod delete_api_keys;
mod delete_authenticators;
mod delete_oauth_providers;

pub(super) const ENTRIES: &[Entry] = &[
    entry::<create_api_keys::V1>(),
    entry::<create_api_keys::V2>(),
    entry::<create_authenticators::V1>(),
    entry::<create_authenticators::V2>(),
    entry::<create_oauth_providers::V1>(),
    entry::<create_oauth_providers::V2>(),
    entry::<delete_api_keys::Intent>(),
    entry::<delete_authenticators::Intent>(),
    entry::<delete_oauth_providers::Intent>(),
];
