//! Sessions: logins, which add an expiring key to a user, and sessions that can only query.

use super::Kind;

mod create_read_only_session;
mod create_read_write_session;
mod email_auth;
mod oauth;
mod oauth_login;
mod otp_login;
pub(super) mod session;
mod stamp_login;

pub(super) const KINDS: &[Kind] = &[
    create_read_only_session::KIND,
    create_read_write_session::KIND,
    email_auth::KIND,
    oauth::KIND,
    oauth_login::KIND,
    otp_login::KIND,
    stamp_login::KIND,
];
