//! Users, and the caller.

use super::prelude::*;

mod get_user;
mod list_users;
mod whoami;

pub(super) const ENTRIES: &[Entry] = &[
    entry::<get_user::GetUser>("get_user", "user"),
    entry::<list_users::ListUsers>("list_users", "users"),
    entry::<whoami::Whoami>("whoami", ""),
];
