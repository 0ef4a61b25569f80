//! Wallets and their accounts.

use super::prelude::*;

mod create_wallet;
mod create_wallet_accounts;
mod delete_wallet_accounts;
mod delete_wallets;
mod export_wallet;
mod export_wallet_account;
mod import_wallet;
mod init_import_wallet;
mod update_wallet;
mod update_wallet_account_name;

pub(super) const ENTRIES: &[Entry] = &[
    entry::<create_wallet::Intent>(),
    entry::<create_wallet_accounts::Intent>(),
    entry::<delete_wallet_accounts::Intent>(),
    entry::<delete_wallets::Intent>(),
    entry::<export_wallet::Intent>(),
    entry::<export_wallet_account::Intent>(),
    entry::<import_wallet::Intent>(),
    entry::<init_import_wallet::Intent>(),
    entry::<update_wallet::Intent>(),
    entry::<update_wallet_account_name::Intent>(),
];
