//! Signing.

use super::prelude::{Kind, Reader, ReviewContext};
use super::transfer::Transfer;

mod authorization;
mod key;
mod payload;
mod recipient;
mod sign_raw_payload;
mod sign_raw_payloads;
mod sign_transaction;
mod transaction;

pub(super) const KINDS: &[Kind] = &[sign_raw_payload::KIND, sign_raw_payloads::KIND, sign_transaction::KIND];

/// Returns whether activities of this kind sign a transaction.
pub(super) fn signs_transaction(kind: &Kind) -> bool {
    kind.operation == sign_transaction::KIND.operation
}

/// Returns what the transaction in these parameters moves, if it can be decoded.
pub(super) fn transfer(parameters: &Reader<'_>, context: &ReviewContext<'_>) -> Option<Transfer> {
    sign_transaction::transfer(parameters, context)
}
