//! Deletes wallets with their seeds and accounts.

use crate::kinds::prelude::*;
use crate::kinds::shared::key_deletion::KeyDeletion;

pub(super) const KIND: Kind = Kind::new("DELETE_WALLETS", "Delete wallets", describe);

fn describe(parameters: &Reader<'_>, context: &ReviewContext<'_>) -> Result<Description> {
    KeyDeletion {
        noun: "wallet",
        with: " with their seeds and all accounts",
        present: context.organization.wallets.len(),
        named: &|id| context.wallet_named(id),
        known: &|id| context.wallet(id).map(|one| (one.wallet_name.as_str(), one.exported)),
    }
    .describe(parameters, "walletIds")
}
