//! Executed transactions, for comparing a transfer with earlier ones.

use std::collections::BTreeMap;

use quorate_common::activity::Status;
use quorate_common::console::{ActivityRow, PAGE_LIMIT, Signer};
use quorate_common::ids::OrganizationId;

use super::client::Client;
use super::error::{LinkError, Result};

/// Maximum number of pages of executed transactions that are read.
const PAGES: usize = 3;
/// Types that sign transactions.
const TYPES: [&str; 2] = ["ACTIVITY_TYPE_SIGN_TRANSACTION", "ACTIVITY_TYPE_SIGN_TRANSACTION_V2"];

/// Executed transactions of an organization, and who holds some addresses.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct EarlierTransfers {
    /// The newest executed transactions, newest first.
    pub(crate) rows: Vec<ActivityRow>,
    /// Whether there are older ones.
    pub(crate) is_partial: bool,
    /// Holders of the addresses in this organization. Other addresses are left out.
    pub(crate) owners: BTreeMap<String, Signer>,
}

/// Reads the newest executed transactions and the holders of these addresses.
pub(crate) async fn earlier_transfers(
    client: &Client,
    id: OrganizationId,
    addresses: &[String],
) -> Result<EarlierTransfers> {
    let types = TYPES.map(str::to_owned);
    let (mut rows, mut after) = (Vec::new(), None);
    for _ in 0..PAGES {
        let page = client.activities(id, &[Status::Completed], &types, after, PAGE_LIMIT).await?;
        rows.extend(page.activities);
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    let mut owners = BTreeMap::new();
    for address in addresses {
        match client.signer(id, address).await {
            Ok(signer) => drop(owners.insert(address.clone(), signer)),
            Err(LinkError::Api(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(EarlierTransfers { rows, is_partial: after.is_some(), owners })
}
