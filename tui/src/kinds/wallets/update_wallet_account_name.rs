//! Renames an account of a wallet.

use crate::kinds::prelude::*;

pub(super) const KIND: Kind = Kind::new("UPDATE_WALLET_ACCOUNT_NAME", "Rename wallet account", describe);

fn describe(parameters: &Reader<'_>, context: &ReviewContext<'_>) -> Result<Description, Undecodable> {
    let (id, name) = (clean(parameters.text("walletAccountId")?), parameters.text("name")?);
    Ok(Description::new(
        format!("{id} becomes {}", quoted(name)),
        format!(
            "Rename the wallet account {id} of {} to {}. Its key and address do not change.",
            quoted(&context.organization.head.organization_name),
            quoted(name)
        ),
    ))
}
