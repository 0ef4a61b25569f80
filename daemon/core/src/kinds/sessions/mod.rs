//! Sessions: logins, which add an expiring key to a user, and sessions that can only query.

use super::prelude::*;

mod create_read_only_session;
mod create_read_write_session;
mod email_auth;
mod oauth;
mod oauth_login;
mod otp_login;
mod stamp_login;

pub(super) const ENTRIES: &[Entry] = &[
    entry::<create_read_only_session::Intent>(),
    entry::<create_read_write_session::V1>(),
    entry::<create_read_write_session::V2>(),
    entry::<email_auth::V1>(),
    entry::<email_auth::V2>(),
    entry::<email_auth::V3>(),
    entry::<oauth::Intent>(),
    entry::<oauth_login::Intent>(),
    entry::<otp_login::V1>(),
    entry::<otp_login::V2>(),
    entry::<stamp_login::Intent>(),
];
