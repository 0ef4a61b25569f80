//! Lists the accounts of one wallet, or of all wallets: all of them, or page by page.
//!
//! - `{}` is answered.
//! - `{"walletId": "$wallet", "includeWalletDetails": true, "paginationOptions": {"limit": "1"}}` is answered.
//! - `{"walletId": "$unknown"}` is refused with 404: no wallet found with the given ID

use super::{CHUNK, wallet};
use crate::model::layout::{self, Key};
use crate::model::record::Record;
use crate::queries::prelude::*;
use crate::records;
use crate::world::{Order, Page};

/// How many accounts are read at once after those of a deleted wallet.
const AFTER_A_GAP: usize = 16;

/// Returns the accounts of one wallet, or of all wallets.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ListWalletAccounts {
    wallet_id: Option<WalletId>,
    /// Whether each account contains its wallet.
    include_wallet_details: Option<bool>,
    /// If absent, all accounts are returned.
    pagination_options: Option<Pagination>,
}

impl Query for ListWalletAccounts {
    type Answer = Vec<wire::WalletAccount>;

    fn answer(self, context: &QueryContext<'_>) -> Result<Vec<wire::WalletAccount>, RequestError> {
        if let Some(id) = self.wallet_id {
            wallet(context, id)?;
        }
        let prefix = layout::accounts(context.id(), self.wallet_id);
        let accounts = match &self.pagination_options {
            Some(pagination) => account_page(context, &prefix, pagination)?,
            None => live_accounts(context, Page::first(&prefix, CHUNK), usize::MAX)?,
        };
        let details = |account: &WalletAccount| {
            let wallet = context.organization.wallet(account.wallet);
            wallet.filter(|_| self.include_wallet_details == Some(true))
        };
        Ok(accounts.iter().map(|account| account.wire(context.id(), details(account))).collect())
    }
}

fn account_page(
    context: &QueryContext<'_>,
    prefix: &[u8],
    pagination: &Pagination,
) -> Result<Vec<WalletAccount>, RequestError> {
    let limit = pagination.limit()?;
    let (after, is_before) = pagination.cursor(|text| {
        let id: WalletAccountId = text.parse().map_err(|_| Intent::Cursor)?;
        let account_key = records::account_key(context.world.records(), context.id(), id)?;
        Ok(account_key.filter(|key| key.starts_with(prefix)).ok_or(Intent::Cursor)?)
    })?;
    let order = if is_before { Order::Descending } else { Order::Ascending };
    let mut accounts = live_accounts(context, Page { prefix, after: after.as_deref(), order, limit }, limit)?;
    if is_before {
        accounts.reverse();
    }
    Ok(accounts)
}

/// Reads up to `limit` accounts, page by page, without those of deleted wallets, which are removed in the
/// background and must not shorten a page. All accounts of a deleted wallet are skipped at once.
fn live_accounts(
    context: &QueryContext<'_>,
    page: Page<'_>,
    limit: usize,
) -> Result<Vec<WalletAccount>, RequestError> {
    let mut accounts = Vec::new();
    let mut after: Option<Key> = page.after.map(<[u8]>::to_vec);
    let mut size = page.limit;
    loop {
        let rows = context.world.records().page(Page { after: after.as_deref(), limit: size, ..page })?;
        let is_last = rows.len() < size;
        size = CHUNK.max(size);
        after = None;
        for (key, bytes) in rows {
            let account = WalletAccount::decode(&bytes)?;
            after = if context.organization.wallet(account.wallet).is_some() {
                accounts.push(account);
                Some(key)
            } else {
                size = AFTER_A_GAP;
                Some(layout::beyond_accounts(context.id(), account.wallet, page.order))
            };
            if accounts.len() == limit {
                return Ok(accounts);
            }
        }
        if is_last {
            return Ok(accounts);
        }
    }
}
