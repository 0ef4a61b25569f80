//! Describes what a transaction does, from its bytes: one file per chain.

use quorate_chain::transaction::Unsigned;

use super::key::Key;
use crate::kinds::prelude::*;
use crate::kinds::transfer::Transfer;

mod bitcoin;
mod ethereum;
mod fee;
mod solana;
mod token;
mod tron;

/// Describes the effect of the transaction if it is signed with this key.
pub(super) fn describe(transaction: &Unsigned, key: &Key<'_>, context: &ReviewContext<'_>) -> Description {
    match transaction {
        Unsigned::Bitcoin(transaction) => bitcoin::describe(transaction, key, context),
        Unsigned::Ethereum(transaction) => ethereum::describe(transaction, key, context),
        Unsigned::Solana(transaction) => solana::describe(transaction, key, context),
        Unsigned::Tron(transaction) => tron::describe(transaction, key, context),
    }
}

/// Returns what the transaction moves. Returns `None` if it moves nothing that can be stated as an amount.
pub(super) fn transfer(
    transaction: &Unsigned,
    key: &Key<'_>,
    context: &ReviewContext<'_>,
) -> Option<Transfer> {
    match transaction {
        Unsigned::Bitcoin(transaction) => Some(bitcoin::transfer(transaction, key, context)),
        Unsigned::Ethereum(transaction) => Some(ethereum::transfer(transaction, key, context)),
        Unsigned::Solana(transaction) => solana::transfer(transaction, key, context),
        Unsigned::Tron(transaction) => tron::transfer(transaction, key, context),
    }
}
