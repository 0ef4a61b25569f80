//! Signing.

use super::Kind;

mod authorization;
mod key;
mod payload;
mod recipient;
mod sign_raw_payload;
mod sign_raw_payloads;
mod sign_transaction;
mod transaction;

pub(super) const KINDS: &[Kind] = &[sign_raw_payload::KIND, sign_raw_payloads::KIND, sign_transaction::KIND];
