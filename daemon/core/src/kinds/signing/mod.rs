//! Signing.

use super::prelude::*;

mod sign_raw_payload;
mod sign_raw_payloads;
mod sign_transaction;

pub(super) const ENTRIES: &[Entry] = &[
    entry::<sign_raw_payload::V1>(),
    entry::<sign_raw_payload::V2>(),
    entry::<sign_raw_payloads::Intent>(),
    entry::<sign_transaction::V1>(),
    entry::<sign_transaction::V2>(),
];
