//! One-time codes: they are sent to a contact, and sent back as proof that it was received there.

use super::Kind;

mod code;
mod init_otp;
mod init_otp_auth;
mod otp_auth;
mod verify_otp;

pub(super) const KINDS: &[Kind] = &[init_otp::KIND, init_otp_auth::KIND, otp_auth::KIND, verify_otp::KIND];
