//! One-time codes: they are sent to a contact, and sent back as proof that it was received there.

use super::prelude::*;

mod init_otp;
mod init_otp_auth;
mod otp_auth;
mod verify_otp;

pub(super) const ENTRIES: &[Entry] = &[
    entry::<init_otp::V1>(),
    entry::<init_otp::V2>(),
    entry::<init_otp::V3>(),
    entry::<init_otp_auth::V1>(),
    entry::<init_otp_auth::V2>(),
    entry::<init_otp_auth::V3>(),
    entry::<otp_auth::Intent>(),
    entry::<verify_otp::V1>(),
    entry::<verify_otp::V2>(),
];
