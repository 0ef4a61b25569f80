//! What a transaction does, told from its bytes: one file per chain.

use quorate_chain::transaction::Unsigned;

use super::{Scene, Story};

mod bitcoin;
mod ethereum;
mod fee;
pub(super) mod recipient;
mod solana;
mod token;
mod tron;

/// What signs.
pub(super) struct Key<'a> {
    /// An address or a public key, or some other name.
    pub(super) text: &'a str,
    /// Whether only the daemon says that it is the one of the signer.
    pub(super) is_stated: bool,
}

impl<'a> Key<'a> {
    /// The key of this name, which may be the id of a private key.
    pub(super) fn of(name: &'a str, scene: &Scene<'a>) -> Self {
        let stated = scene.private_key(name).map(|key| key.public_key.as_str());
        Self { text: stated.unwrap_or(name), is_stated: stated.is_some() }
    }
}

/// What the transaction does if `signer`, whose name is already cleaned, signs it with this key.
pub(super) fn told(transaction: &Unsigned, signer: &str, key: &Key<'_>, scene: &Scene<'_>) -> Story {
    match transaction {
        Unsigned::Bitcoin(transaction) => bitcoin::told(transaction, signer, key, scene),
        Unsigned::Ethereum(transaction) => ethereum::told(transaction, signer, key, scene),
        Unsigned::Solana(transaction) => solana::told(transaction, signer, key, scene),
        Unsigned::Tron(transaction) => tron::told(transaction, signer, key, scene),
    }
}
