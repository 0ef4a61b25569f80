//! Exports the private key of a wallet account.

use crate::kinds::prelude::*;
use crate::kinds::shared::key_export::KeyExport;

pub(super) const KIND: Kind = Kind::new("EXPORT_WALLET_ACCOUNT", "Export wallet account", describe);

fn describe(parameters: &Reader<'_>, context: &ReviewContext<'_>) -> Result<Description> {
    let address = parameters.text("address")?;
    let key_export = KeyExport {
        what: "the secret key of the wallet account",
        named: clean(address),
        danger: ("the word EXPORT", "EXPORT"),
        // The daemon's description of an organization does not contain wallet accounts.
        known: true,
        target: parameters.text("targetPublicKey")?,
    };
    Ok(key_export.describe(context))
}
