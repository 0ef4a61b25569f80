//! What a transaction does, told from its bytes: one file per chain.

use quorate_chain::transaction::Unsigned;

use super::Story;

mod ethereum;

/// What the transaction does if `signer`, whose name is already cleaned, signs it.
pub(super) fn told(transaction: &Unsigned, signer: &str) -> Story {
    match transaction {
        Unsigned::Ethereum(transaction) => ethereum::told(transaction, signer),
    }
}
