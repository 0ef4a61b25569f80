//! Exports the mnemonic of a wallet.

use crate::kinds::prelude::*;
use crate::kinds::shared::key_export::KeyExport;

pub(super) const KIND: Kind = Kind::new("EXPORT_WALLET", "Export wallet", describe);

fn describe(parameters: &Reader<'_>, context: &ReviewContext<'_>) -> Result<Description> {
    let id = parameters.text("walletId")?;
    let wallet = context.wallet(id);
    let mut description = KeyExport {
        what: "the mnemonic, and with it every key, of the wallet",
        named: context.wallet_named(id),
        danger: ("the NAME of the wallet that is exported", wallet.map_or("EXPORT", |one| &one.wallet_name)),
        known: wallet.is_some(),
        target: parameters.text("targetPublicKey")?,
    }
    .describe(context);
    if let Some(language) = parameters.maybe_text("language")?
        && language != "MNEMONIC_LANGUAGE_ENGLISH"
    {
        let language = clean(language);
        let text =
            format!("Other software derives other keys from this mnemonic: its language is {language}.");
        description.flag_medium("other-language", text);
    }
    let exported = wallet.is_some_and(|wallet| wallet.exported);
    description.change("exported", if exported { "yes" } else { "no" }, "yes");
    Ok(description)
}
