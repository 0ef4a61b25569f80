//! Wallets and their accounts. Accounts are unbounded in number and reached by index and page.

use quorate_chain::address::AddressFormat;
use quorate_chain::curve::Curve;
use quorate_common::ids::{WalletAccountId, WalletId};
use quorate_common::json::Document;
use serde::Deserialize;

use super::{Asked, Cursor, Pagination, one, read};
use crate::model::layout::{self, Key};
use crate::model::record::Record;
use crate::model::{Wallet, WalletAccount};
use crate::records;
use crate::refusal::{Corrupt, Intent, Missing, Refusal};
use crate::world::{Order, Page};

/// How many accounts are read at once where all are asked for.
const CHUNK: usize = 256;
/// How many are read behind those of a wallet that was deleted.
const AFTER_A_GAP: usize = 16;

/// One wallet.
pub(super) fn get_wallet(asked: &Asked<'_>, value: &Document) -> Result<Vec<u8>, Refusal> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Query {
        wallet_id: WalletId,
    }
    let query: Query = read(value)?;
    one("wallet", &wallet(asked, query.wallet_id)?.wire())
}

/// All wallets.
pub(super) fn list_wallets(asked: &Asked<'_>, _: &Document) -> Result<Vec<u8>, Refusal> {
    let mut wallets: Vec<_> = asked.organization.wallets().collect();
    wallets.sort_by_key(|wallet| (wallet.created, wallet.id));
    one("wallets", &wallets.into_iter().map(Wallet::wire).collect::<Vec<_>>())
}

fn wallet<'a>(asked: &'a Asked<'_>, id: WalletId) -> Result<&'a Wallet, Refusal> {
    asked.organization.wallet(id).ok_or(Refusal::Missing(Missing::Thing("wallet")))
}

/// One account of a wallet, by address or by path.
pub(super) fn get_wallet_account(asked: &Asked<'_>, value: &Document) -> Result<Vec<u8>, Refusal> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Query {
        wallet_id: WalletId,
        address: Option<String>,
        path: Option<String>,
    }
    let query: Query = read(value)?;
    let wallet = wallet(asked, query.wallet_id)?;
    let account =
        match (query.address.filter(|text| !text.is_empty()), query.path.filter(|text| !text.is_empty())) {
            (Some(address), None) => by_address(asked, wallet.id, &address)?,
            (None, Some(path)) => by_path(asked, wallet.id, &path)?,
            _ => return Err(Intent::Text("invalid request body: expected either `address` or `path`").into()),
        };
    one("account", &account.wire(asked.id(), None))
}

fn by_address(asked: &Asked<'_>, wallet: WalletId, address: &str) -> Result<WalletAccount, Refusal> {
    let prefix = layout::signers(asked.world.index(), asked.id(), address);
    let records = asked.world.records();
    for (_, place) in records.page(Page::first(&prefix, CHUNK))? {
        if place.first() == Some(&b'n') {
            let account = records::account_at(records, &place)?;
            if let Some(account) = account.filter(|one| one.wallet == wallet && one.address == address) {
                return Ok(account);
            }
        }
    }
    Err(Missing::WalletAccount(format!("address: {address}")).into())
}

/// The oldest account with this path. A wallet has a path once for each curve and address format, so a look at
/// each pair finds it, however many accounts there are.
fn by_path(asked: &Asked<'_>, wallet: WalletId, path: &str) -> Result<WalletAccount, Refusal> {
    let records = asked.world.records();
    let mut oldest: Option<WalletAccount> = None;
    for curve in Curve::ALL {
        for format in AddressFormat::ALL.iter().filter(|format| format.fits(*curve)) {
            let key = layout::account_path(asked.world.index(), wallet, curve.name(), path, format.name());
            let Some(id) = records.read(&key)? else { continue };
            let id: [u8; 16] = id.try_into().map_err(|_| Corrupt::Record("account path"))?;
            let account = records::account(records, asked.id(), WalletAccountId::from_bytes(id))?;
            let Some(account) = account else { continue };
            if oldest.as_ref().is_none_or(|oldest| account.ordinal < oldest.ordinal) {
                oldest = Some(account);
            }
        }
    }
    oldest.ok_or_else(|| Missing::WalletAccount("this path".to_owned()).into())
}

/// Accounts of a wallet, or of all wallets: all of them, or a page.
pub(super) fn list_wallet_accounts(asked: &Asked<'_>, value: &Document) -> Result<Vec<u8>, Refusal> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Query {
        wallet_id: Option<WalletId>,
        include_wallet_details: Option<bool>,
        pagination_options: Option<Pagination>,
    }
    let query: Query = read(value)?;
    if let Some(id) = query.wallet_id {
        wallet(asked, id)?;
    }
    let prefix = layout::accounts(asked.id(), query.wallet_id);
    let accounts = match &query.pagination_options {
        Some(pagination) => a_page(asked, &prefix, pagination)?,
        None => all(asked, &prefix)?,
    };
    let details = |account: &WalletAccount| {
        asked.organization.wallet(account.wallet).filter(|_| query.include_wallet_details == Some(true))
    };
    let shown: Vec<_> = accounts.iter().map(|account| account.wire(asked.id(), details(account))).collect();
    one("accounts", &shown)
}

fn all(asked: &Asked<'_>, prefix: &[u8]) -> Result<Vec<WalletAccount>, Refusal> {
    stretch(asked, Page::first(prefix, CHUNK), usize::MAX)
}

fn a_page(asked: &Asked<'_>, prefix: &[u8], pagination: &Pagination) -> Result<Vec<WalletAccount>, Refusal> {
    let limit = pagination.limit()?;
    let place = |text: &str| -> Result<Key, Refusal> {
        let id: WalletAccountId = text.parse().map_err(|_| Intent::Cursor)?;
        let place = records::account_place(asked.world.records(), asked.id(), id)?;
        place.filter(|place| place.starts_with(prefix)).ok_or(Refusal::Intent(Intent::Cursor))
    };
    let (after, order) = match pagination.cursor()? {
        None => (None, Order::Ascending),
        Some(Cursor::After(text)) => (Some(place(text)?), Order::Ascending),
        Some(Cursor::Before(text)) => (Some(place(text)?), Order::Descending),
    };
    let mut accounts = stretch(asked, Page { prefix, after: after.as_deref(), order, limit }, limit)?;
    if order == Order::Descending {
        accounts.reverse();
    }
    Ok(accounts)
}

/// Up to `limit` accounts, read page by page, without those of wallets that were deleted: they are removed in the
/// background, and must not make a page short. However many such a wallet has, they are passed over at once.
fn stretch(asked: &Asked<'_>, page: Page<'_>, limit: usize) -> Result<Vec<WalletAccount>, Refusal> {
    let mut accounts = Vec::new();
    let mut after: Option<Key> = page.after.map(<[u8]>::to_vec);
    let mut size = page.limit;
    loop {
        let rows = asked.world.records().page(Page { after: after.as_deref(), limit: size, ..page })?;
        let is_last = rows.len() < size;
        size = CHUNK.max(size);
        after = None;
        for (key, bytes) in rows {
            let account = WalletAccount::decode(&bytes)?;
            after = if asked.organization.wallet(account.wallet).is_some() {
                accounts.push(account);
                Some(key)
            } else {
                size = AFTER_A_GAP;
                Some(layout::beyond_accounts(asked.id(), account.wallet, page.order))
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
