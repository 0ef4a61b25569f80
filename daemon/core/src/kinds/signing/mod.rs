//! Signing.

use super::prelude::*;

mod sign_raw_payload;
mod sign_raw_payloads;
mod sign_transaction;

pub(super) const ENTRIES: &[Entry] = &[
    entry::<sign_raw_payload::v1::Intent>(),
    entry::<sign_raw_payload::Intent>(),
    entry::<sign_raw_payloads::Intent>(),
    entry::<sign_transaction::v1::Intent>(),
    entry::<sign_transaction::Intent>(),
];
