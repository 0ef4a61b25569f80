//! Queries of wallets and their accounts. The number of accounts is not limited, so they are read by index
//! and page.

use quorate_chain::address::AddressFormat;
use quorate_chain::curve::Curve;
use quorate_common::ids::{WalletAccountId, WalletId};
use quorate_common::json::Document;
use serde::Deserialize;

use super::{Cursor, Pagination, QueryContext, one, read};
use crate::error::{Corrupt, Intent, Missing, RequestError};
use crate::model::layout::{self, Key};
use crate::model::record::Record;
use crate::model::{Wallet, WalletAccount};
use crate::records;
use crate::world::{Order, Page};

/// How many accounts are read at once when all are queried.
const CHUNK: usize = 256;
/// How many accounts are read at once after those of a deleted wallet.
const AFTER_A_GAP: usize = 16;

/// Answers with one wallet.
pub(super) fn get_wallet(context: &QueryContext<'_>, value: &Document) -> Result<Vec<u8>, RequestError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Query {
        wallet_id: WalletId,
    }
    let query: Query = read(value)?;
    one("wallet", &wallet(context, query.wallet_id)?.wire())
}

/// Answers with all wallets, oldest first.
pub(super) fn list_wallets(context: &QueryContext<'_>, _: &Document) -> Result<Vec<u8>, RequestError> {
    let mut wallets: Vec<_> = context.organization.wallets().collect();
    wallets.sort_by_key(|wallet| (wallet.created, wallet.id));
    one("wallets", &wallets.into_iter().map(Wallet::wire).collect::<Vec<_>>())
}

fn wallet<'a>(context: &'a QueryContext<'_>, id: WalletId) -> Result<&'a Wallet, RequestError> {
    context.organization.wallet(id).ok_or(RequestError::Missing(Missing::Other("wallet")))
}

/// Answers with one account of a wallet, by address or by path.
pub(super) fn get_wallet_account(
    context: &QueryContext<'_>,
    value: &Document,
) -> Result<Vec<u8>, RequestError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Query {
        wallet_id: WalletId,
        address: Option<String>,
        path: Option<String>,
    }
    let query: Query = read(value)?;
    let wallet = wallet(context, query.wallet_id)?;
    let account =
        match (query.address.filter(|text| !text.is_empty()), query.path.filter(|text| !text.is_empty())) {
            (Some(address), None) => by_address(context, wallet.id, &address)?,
            (None, Some(path)) => by_path(context, wallet.id, &path)?,
            _ => return Err(Intent::Text("invalid request body: expected either `address` or `path`").into()),
        };
    one("account", &account.wire(context.id(), None))
}

fn by_address(
    context: &QueryContext<'_>,
    wallet: WalletId,
    address: &str,
) -> Result<WalletAccount, RequestError> {
    let prefix = layout::signers(context.world.index(), context.id(), address);
    let records = context.world.records();
    for (_, key) in records.page(Page::first(&prefix, CHUNK))? {
        if key.first() == Some(&b'n') {
            let account = records::account_at(records, &key)?;
            if let Some(account) = account.filter(|one| one.wallet == wallet && one.address == address) {
                return Ok(account);
            }
        }
    }
    Err(Missing::WalletAccount(format!("address: {address}")).into())
}

/// Returns the oldest account with this path. A path is unique per wallet, curve and address format. One
/// read for each pair of curve and format therefore suffices, whatever the number of accounts.
fn by_path(context: &QueryContext<'_>, wallet: WalletId, path: &str) -> Result<WalletAccount, RequestError> {
    let records = context.world.records();
    let mut oldest: Option<WalletAccount> = None;
    for curve in Curve::ALL {
        for format in AddressFormat::ALL.iter().filter(|format| format.fits(*curve)) {
            let key = layout::account_path(context.world.index(), wallet, curve.name(), path, format.name());
            let Some(id) = records.read(&key)? else { continue };
            let id: [u8; 16] = id.try_into().map_err(|_| Corrupt::Record("account path"))?;
            let account = records::account(records, context.id(), WalletAccountId::from_bytes(id))?;
            let Some(account) = account else { continue };
            if oldest.as_ref().is_none_or(|oldest| account.ordinal < oldest.ordinal) {
                oldest = Some(account);
            }
        }
    }
    oldest.ok_or_else(|| Missing::WalletAccount("this path".to_owned()).into())
}

/// Answers with the accounts of one wallet, or of all wallets: all of them, or one page.
pub(super) fn list_wallet_accounts(
    context: &QueryContext<'_>,
    value: &Document,
) -> Result<Vec<u8>, RequestError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Query {
        wallet_id: Option<WalletId>,
        include_wallet_details: Option<bool>,
        pagination_options: Option<Pagination>,
    }
    let query: Query = read(value)?;
    if let Some(id) = query.wallet_id {
        wallet(context, id)?;
    }
    let prefix = layout::accounts(context.id(), query.wallet_id);
    let accounts = match &query.pagination_options {
        Some(pagination) => account_page(context, &prefix, pagination)?,
        None => all_accounts(context, &prefix)?,
    };
    let details = |account: &WalletAccount| {
        context.organization.wallet(account.wallet).filter(|_| query.include_wallet_details == Some(true))
    };
    let shown: Vec<_> = accounts.iter().map(|account| account.wire(context.id(), details(account))).collect();
    one("accounts", &shown)
}

fn all_accounts(context: &QueryContext<'_>, prefix: &[u8]) -> Result<Vec<WalletAccount>, RequestError> {
    live_accounts(context, Page::first(prefix, CHUNK), usize::MAX)
}

fn account_page(
    context: &QueryContext<'_>,
    prefix: &[u8],
    pagination: &Pagination,
) -> Result<Vec<WalletAccount>, RequestError> {
    let limit = pagination.limit()?;
    let cursor_key = |text: &str| -> Result<Key, RequestError> {
        let id: WalletAccountId = text.parse().map_err(|_| Intent::Cursor)?;
        let account_key = records::account_key(context.world.records(), context.id(), id)?;
        account_key.filter(|key| key.starts_with(prefix)).ok_or(RequestError::Intent(Intent::Cursor))
    };
    let (after, order) = match pagination.cursor()? {
        None => (None, Order::Ascending),
        Some(Cursor::After(text)) => (Some(cursor_key(text)?), Order::Ascending),
        Some(Cursor::Before(text)) => (Some(cursor_key(text)?), Order::Descending),
    };
    let mut accounts = live_accounts(context, Page { prefix, after: after.as_deref(), order, limit }, limit)?;
    if order == Order::Descending {
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
