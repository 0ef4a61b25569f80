//! Sessions: logins, which add an expiring key to a user, and sessions that can only query.

use super::prelude::*;

mod create_read_only_session;
mod create_read_write_session;
mod stamp_login;

pub(super) const ENTRIES: &[Entry] = &[
    entry::<create_read_only_session::Intent>(),
    entry::<create_read_write_session::V1>(),
    entry::<create_read_write_session::V2>(),
    entry::<stamp_login::Intent>(),
];
