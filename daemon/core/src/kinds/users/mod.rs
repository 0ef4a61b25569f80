//! Users.

use super::prelude::*;

mod create_api_only_users;
mod create_users;
mod delete_users;
mod update_user;
mod update_user_email;
mod update_user_name;
mod update_user_phone_number;

pub(super) const ENTRIES: &[Entry] = &[
    entry::<create_api_only_users::Intent>(),
    entry::<create_users::V1>(),
    entry::<create_users::V2>(),
    entry::<create_users::V3>(),
    entry::<create_users::V4>(),
    entry::<delete_users::Intent>(),
    entry::<update_user::Intent>(),
    entry::<update_user_email::Intent>(),
    entry::<update_user_name::Intent>(),
    entry::<update_user_phone_number::Intent>(),
];
