//! Wallets and their accounts. The number of accounts is not limited, so they are read by index and page.

use super::prelude::*;

mod get_wallet;
mod get_wallet_account;
mod list_wallet_accounts;
mod list_wallets;

pub(super) const ENTRIES: &[Entry] = &[
    entry::<get_wallet::GetWallet>("get_wallet", "wallet"),
    entry::<get_wallet_account::GetWalletAccount>("get_wallet_account", "account"),
    entry::<list_wallet_accounts::ListWalletAccounts>("list_wallet_accounts", "accounts"),
    entry::<list_wallets::ListWallets>("list_wallets", "wallets"),
];

/// Maximum number of accounts that are read at once.
const CHUNK: usize = 256;

/// Returns the wallet with this id.
fn wallet<'a>(context: &QueryContext<'a>, id: WalletId) -> Result<&'a Wallet, RequestError> {
    context.organization.wallet(id).ok_or(Missing::Other("wallet").into())
}
