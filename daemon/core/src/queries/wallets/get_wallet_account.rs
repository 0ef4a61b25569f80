//! Returns one account of a wallet, by address or by path.
//!
//! - `{"walletId": "$wallet", "address": "$address"}` is answered.
//! - `{"walletId": "$wallet", "path": "m/44'/60'/0'/0/0"}` is answered.
//! - `{"walletId": "$wallet"}` is refused with 400: invalid request body: expected either `address` or `path`
//! - `{"walletId": "$wallet", "path": "m/0"}` is refused with 404: Could not find wallet account with this path

use quorate_chain::address::AddressFormat;
use quorate_chain::curve::Curve;
use quorate_chain::derive::MAX_PATH_BYTES;

use super::{CHUNK, wallet};
use crate::error::Corrupt;
use crate::model::layout;
use crate::queries::prelude::*;
use crate::records;
use crate::world::Page;

/// Maximum length of an address. A longer text finds no account.
const ADDRESS_LIMIT: usize = 256;

/// Returns one account of a wallet, by address or by path.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct GetWalletAccount {
    wallet_id: WalletId,
    /// Address of the account; absent or empty if the path is given.
    #[schemars(length(max = ADDRESS_LIMIT))]
    address: Option<String>,
    /// Derivation path of the account; absent or empty if the address is given.
    #[schemars(length(max = MAX_PATH_BYTES))]
    path: Option<String>,
}

impl Query for GetWalletAccount {
    const COST: Cost = Cost::Small;
    type Answer = wire::WalletAccount;

    fn answer(self, context: &QueryContext<'_>) -> Result<wire::WalletAccount, RequestError> {
        let wallet = wallet(context, self.wallet_id)?.id;
        let [address, path] = [self.address, self.path].map(|text| text.filter(|text| !text.is_empty()));
        let account = match (address, path) {
            (Some(address), None) => by_address(context, wallet, &address)?,
            (None, Some(path)) => by_path(context, wallet, &path)?,
            _ => {
                let text = "invalid request body: expected either `address` or `path`";
                return Err(Intent::Text(text).into());
            }
        };
        Ok(account.wire(context.id(), None))
    }
}

fn by_address(
    context: &QueryContext<'_>,
    wallet: WalletId,
    address: &str,
) -> Result<WalletAccount, RequestError> {
    let prefix = layout::signers(context.world.index(), context.id(), address);
    let records = context.world.records();
    for (_, key) in records.page(Page::first(&prefix, CHUNK))? {
        if layout::is_account(&key) {
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
