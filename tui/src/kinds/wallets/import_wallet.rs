//! Imports a wallet.

use quorate_policy::Property;

use crate::kinds::prelude::*;
use crate::kinds::shared::key_import::{encrypted, flag_external_copy};
use crate::kinds::shared::new_key::account;
use crate::kinds::shared::read_by_policies::flag_name;

pub(super) const KIND: Kind = Kind {
    abridged: &[("encryptedBundle", encrypted)],
    ..Kind::new("IMPORT_WALLET", "Import wallet", describe)
};

fn describe(parameters: &Reader<'_>, context: &ReviewContext<'_>) -> Result<Description> {
    let name = parameters.text("walletName")?;
    let accounts = parameters.list("accounts")?;
    let named = accounts.iter().map(account).collect::<Result<Vec<_>, _>>()?;
    // Only the daemon can decrypt the bundle.
    parameters.text("encryptedBundle")?;
    let mut description = Description::new(
        quoted(name),
        format!(
            "Import the wallet {} from a mnemonic that {} encrypted to this service, with {}: {}.",
            quoted(name),
            context.user_named(parameters.text("userId")?),
            count(accounts.len(), "account"),
            listed(named)
        ),
    );
    flag_external_copy(&mut description);
    if context.organization.wallets.iter().any(|known| known.wallet_name == name) {
        description.flag_same_name("a wallet", name);
    }
    flag_name(Property::WalletName, &mut description, context);
    description.change_added("wallets", context.organization.wallets.len(), 1);
    Ok(description)
}
