//! Creates a wallet and its first accounts.

use quorate_policy::Property;

use crate::kinds::prelude::*;
use crate::kinds::shared::new_key::wallet;
use crate::kinds::shared::read_by_policies::flag_name;

pub(super) const KIND: Kind = Kind::new("CREATE_WALLET", "Create wallet", describe);

fn describe(parameters: &Reader<'_>, context: &ReviewContext<'_>) -> Result<Description> {
    let name = parameters.text("walletName")?;
    let mut description = Description::new(quoted(name), format!("Create {}", wallet(parameters)?));
    if context.organization.wallets.iter().any(|known| known.wallet_name == name) {
        description.flag_same_name("a wallet", name);
    }
    flag_name(Property::WalletName, &mut description, context);
    description.change_added("wallets", context.organization.wallets.len(), 1);
    Ok(description)
}
