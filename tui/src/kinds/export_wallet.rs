//! Takes the mnemonic of a wallet out.

use super::taken_out::TakenOut;
use super::{Kind, Level, Reader, Scene, Story, Undecodable, Version};
use crate::text::clean;

pub(super) struct ExportWallet;

impl Kind for ExportWallet {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_EXPORT_WALLET",
            intent: "exportWalletIntent",
            shape: "walletId targetPublicKey language",
        }]
    }

    fn title(&self) -> &'static str {
        "Export wallet"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Story, Undecodable> {
        let id = parameters.text("walletId")?;
        let wallet = scene.wallet(id);
        let mut story = TakenOut {
            what: "the mnemonic, and with it every key, of the wallet",
            named: scene.wallet_named(id),
            danger: (
                "the NAME of the wallet that is exported",
                wallet.map_or("EXPORT", |one| &one.wallet_name),
            ),
            known: wallet.is_some(),
            target: parameters.text("targetPublicKey")?,
        }
        .told(scene);
        if let Some(language) = parameters.maybe_text("language")?
            && language != "MNEMONIC_LANGUAGE_ENGLISH"
        {
            let text = format!("{}: other software makes other keys of that sentence", clean(language));
            story.flag(Level::Med, "other-language", text);
        }
        let exported = wallet.is_some_and(|wallet| wallet.exported);
        story.change("exported", if exported { "yes" } else { "no" }, "yes", "");
        Ok(story)
    }
}
