//! Users, and the caller.

use super::prelude::*;

mod get_user;
mod list_users;
mod whoami;

pub(super) const ENTRIES: &[Entry] =
    &[entry::<get_user::GetUser>(), entry::<list_users::ListUsers>(), entry::<whoami::Whoami>()];
