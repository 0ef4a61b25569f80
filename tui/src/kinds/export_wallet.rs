//! Exports the mnemonic of a wallet.

use super::key_export::KeyExport;
use super::{Description, Kind, Level, Reader, Scene, Undecodable, Version};
use crate::text::clean;

pub(super) struct ExportWallet;

impl Kind for ExportWallet {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_EXPORT_WALLET",
            intent: "exportWalletIntent",
            schema: "walletId targetPublicKey language",
        }]
    }

    fn title(&self) -> &'static str {
        "Export wallet"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Description, Undecodable> {
        let id = parameters.text("walletId")?;
        let wallet = scene.wallet(id);
        let mut description = KeyExport {
            what: "the mnemonic, and with it every key, of the wallet",
            named: scene.wallet_named(id),
            danger: (
                "the NAME of the wallet that is exported",
                wallet.map_or("EXPORT", |one| &one.wallet_name),
            ),
            known: wallet.is_some(),
            target: parameters.text("targetPublicKey")?,
        }
        .describe(scene);
        if let Some(language) = parameters.maybe_text("language")?
            && language != "MNEMONIC_LANGUAGE_ENGLISH"
        {
            let text = format!(
                "Other software derives other keys from this mnemonic: its language is {}.",
                clean(language)
            );
            description.flag(Level::Med, "other-language", text);
        }
        let exported = wallet.is_some_and(|wallet| wallet.exported);
        description.change("exported", if exported { "yes" } else { "no" }, "yes", "");
        Ok(description)
    }
}
