//! Describes what a transaction does, from its bytes: one file per chain.

use quorate_chain::transaction::Unsigned;

use super::key::Key;
use crate::kinds::prelude::*;

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
