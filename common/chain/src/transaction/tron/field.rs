//! Fields that occur in several messages.

use super::TronError;
use crate::address::TRON;

/// An account without the version byte of Tron.
pub(super) type Account = [u8; 20];

/// Parses an account from its address.
pub(super) fn account(address: &[u8], name: &'static str) -> Result<Account, TronError> {
    let account = address.strip_prefix(&[TRON]).and_then(|account| account.try_into().ok());
    account.ok_or(TronError::Address(name))
}

/// Converts a number that must not be negative.
pub(super) fn number(number: i64, name: &'static str) -> Result<u64, TronError> {
    u64::try_from(number).map_err(|_| TronError::Negative(name))
}
