//! Renames a wallet.

use quorate_policy::Property;

use crate::kinds::prelude::*;
use crate::kinds::shared::read_by_policies::flag_name;

pub(super) const KIND: Kind = Kind::new("UPDATE_WALLET", "Rename wallet", describe);

fn describe(parameters: &Reader<'_>, context: &ReviewContext<'_>) -> Result<Description> {
    let id = parameters.text("walletId")?;
    let wallet = context.wallet_named(id);
    let Some(name) = parameters.maybe_text("walletName")? else {
        return Ok(Description::new(
            format!("nothing changes: {wallet}"),
            format!("Change nothing in the wallet {wallet}."),
        ));
    };
    let mut description = Description::new(
        format!("becomes {}: {wallet}", quoted(name)),
        format!("Rename the wallet {wallet} to {}. Its keys do not change.", quoted(name)),
    );
    let known = context.organization.wallets.iter().find(|wallet| wallet.wallet_id.to_string() == id);
    description.change(
        "name",
        known.map_or_else(|| "?".to_owned(), |wallet| clean(&wallet.wallet_name)),
        clean(name),
    );
    if known.is_none_or(|known| known.wallet_name != name) {
        flag_name(Property::WalletName, &mut description, context);
    }
    if context
        .organization
        .wallets
        .iter()
        .any(|other| other.wallet_name == name && other.wallet_id.to_string() != id)
    {
        description.flag_same_name("a wallet", name);
    }
    Ok(description)
}
