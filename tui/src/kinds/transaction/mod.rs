//! What a transaction does, told from its bytes: one file per chain.

use quorate_chain::transaction::Unsigned;

use super::{Scene, Story};

mod bitcoin;
mod ethereum;
mod fee;
mod recipient;
mod solana;
mod token;
mod tron;

/// What the transaction does if `signer`, whose name is already cleaned, signs it. `key` is an address or a public key of
/// the signer, if one is known.
pub(super) fn told(transaction: &Unsigned, signer: &str, key: &str, scene: &Scene<'_>) -> Story {
    match transaction {
        Unsigned::Bitcoin(transaction) => bitcoin::told(transaction, signer, key, scene),
        Unsigned::Ethereum(transaction) => ethereum::told(transaction, signer, key, scene),
        Unsigned::Solana(transaction) => solana::told(transaction, signer, key, scene),
        Unsigned::Tron(transaction) => tron::told(transaction, signer, key, scene),
    }
}
