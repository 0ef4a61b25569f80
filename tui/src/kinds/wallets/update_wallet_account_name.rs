//! Renames an account of a wallet.

use crate::kinds::prelude::*;

pub(super) const KIND: Kind = Kind::new("UPDATE_WALLET_ACCOUNT_NAME", "Rename wallet account", describe);

fn describe(parameters: &Reader<'_>, context: &ReviewContext<'_>) -> Result<Description> {
    let (id, name) = (clean(parameters.text("walletAccountId")?), parameters.text("name")?);
    let (organization, name) = (quoted(&context.organization.head.organization_name), quoted(name));
    Ok(Description::new(
        format!("becomes {name}: {id}"),
        format!(
            "Rename the wallet account {id} of {organization} to {name}. Its key and address do not change."
        ),
    ))
}
