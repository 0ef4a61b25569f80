//! Derives further accounts of a wallet.

use crate::kinds::prelude::*;
use crate::kinds::shared::new_key::account;

pub(super) const KIND: Kind = Kind::new("CREATE_WALLET_ACCOUNTS", "Add wallet accounts", describe);

fn describe(parameters: &Reader<'_>, context: &ReviewContext<'_>) -> Result<Description> {
    let id = parameters.text("walletId")?;
    let accounts = parameters.list("accounts")?;
    let named = accounts.iter().map(account).collect::<Result<Vec<_>, _>>()?;
    let wallet = context.wallet_named(id);
    let (number, named) = (count(accounts.len(), "more account"), listed(named));
    Ok(Description::new(
        format!("{} in {wallet}", count(accounts.len(), "account")),
        format!("Derive {number} in the wallet {wallet}: {named}."),
    ))
}
