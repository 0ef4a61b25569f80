//! Credentials of users.

use super::prelude::*;

mod create_api_keys;
mod delete_api_keys;

pub(super) const ENTRIES: &[Entry] = &[
    entry::<create_api_keys::v1::Intent>(),
    entry::<create_api_keys::Intent>(),
    entry::<delete_api_keys::Intent>(),
];
