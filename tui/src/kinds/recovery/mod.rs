//! Recovery by mail: a key is sent to a user, and registers a new authenticator.

use super::Kind;

mod init_user_email_recovery;
mod recover_user;

pub(super) const KINDS: &[Kind] = &[init_user_email_recovery::KIND, recover_user::KIND];
