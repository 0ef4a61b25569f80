//! Wallets and their accounts.

use super::prelude::*;

mod create_wallet;
mod create_wallet_accounts;
mod update_wallet;

pub(super) const ENTRIES: &[Entry] = &[
    entry::<create_wallet::Intent>(),
    entry::<create_wallet_accounts::Intent>(),
    entry::<update_wallet::Intent>(),
];
