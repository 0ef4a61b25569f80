//! Recovery by mail: a key is sent to a user, and registers a new authenticator.

use super::prelude::*;

mod init_user_email_recovery;
mod recover_user;

pub(super) const ENTRIES: &[Entry] = &[
    entry::<init_user_email_recovery::V1>(),
    entry::<init_user_email_recovery::V2>(),
    entry::<recover_user::Intent>(),
];
