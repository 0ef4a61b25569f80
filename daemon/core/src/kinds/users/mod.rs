//! Users.

use super::prelude::*;

mod create_api_only_users;
mod create_users;
mod delete_users;

pub(super) const ENTRIES: &[Entry] = &[
    entry::<create_api_only_users::Intent>(),
    entry::<create_users::v1::Intent>(),
    entry::<create_users::v2::Intent>(),
    entry::<create_users::v3::Intent>(),
    entry::<create_users::Intent>(),
    entry::<delete_users::Intent>(),
];
