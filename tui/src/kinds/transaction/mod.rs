//! Describes what a transaction does, from its bytes: one file per chain.

use quorate_chain::transaction::Unsigned;

use super::{Description, Scene};

mod bitcoin;
mod ethereum;
mod fee;
pub(super) mod recipient;
mod solana;
mod token;
mod tron;

/// The key that would sign.
pub(super) struct Key<'a> {
    /// An address, a public key or another name of the key.
    pub(super) text: &'a str,
    /// Whether only the daemon states that this is the public key of the signer.
    pub(super) is_stated: bool,
}

impl<'a> Key<'a> {
    /// Returns the key with this name, which may be the id of a private key.
    pub(super) fn of(name: &'a str, scene: &Scene<'a>) -> Self {
        let stated = scene.private_key(name).map(|key| key.public_key.as_str());
        Self { text: stated.unwrap_or(name), is_stated: stated.is_some() }
    }
}

/// Describes the effect of the transaction if it is signed with this key. The name `signer` must be cleaned.
pub(super) fn describe(
    transaction: &Unsigned,
    signer: &str,
    key: &Key<'_>,
    scene: &Scene<'_>,
) -> Description {
    match transaction {
        Unsigned::Bitcoin(transaction) => bitcoin::describe(transaction, signer, key, scene),
        Unsigned::Ethereum(transaction) => ethereum::describe(transaction, signer, key, scene),
        Unsigned::Solana(transaction) => solana::describe(transaction, signer, key, scene),
        Unsigned::Tron(transaction) => tron::describe(transaction, signer, key, scene),
    }
}
