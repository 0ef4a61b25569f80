//! Wallets and their accounts.

use super::Kind;

mod create_wallet;
mod create_wallet_accounts;
mod delete_wallet_accounts;
mod delete_wallets;
mod export_wallet;
mod export_wallet_account;
mod import_wallet;
mod init_import_wallet;
mod section;
mod update_wallet;
mod update_wallet_account_name;

pub(super) const KINDS: &[Kind] = &[
    create_wallet::KIND,
    create_wallet_accounts::KIND,
    delete_wallet_accounts::KIND,
    delete_wallets::KIND,
    export_wallet::KIND,
    export_wallet_account::KIND,
    import_wallet::KIND,
    init_import_wallet::KIND,
    update_wallet::KIND,
    update_wallet_account_name::KIND,
];
