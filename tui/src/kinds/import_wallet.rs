//! Brings a wallet in.

use super::create_wallet::account;
use super::scene::{count, listed};
use super::{Kind, Level, Reader, Scene, Story, Undecodable, Version};
use crate::text::quoted;

pub(super) struct ImportWallet;

impl Kind for ImportWallet {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_IMPORT_WALLET",
            intent: "importWalletIntent",
            shape: "userId walletName encryptedBundle accounts[]:Account",
        }]
    }

    fn title(&self) -> &'static str {
        "Import wallet"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Story, Undecodable> {
        let name = parameters.text("walletName")?;
        let accounts = parameters.list("accounts")?;
        let named = accounts.iter().map(account).collect::<Result<Vec<_>, _>>()?;
        // The bundle is for the daemon's eyes only.
        parameters.text("encryptedBundle")?;
        let mut story = Story::new(
            quoted(name),
            format!(
                "Bring a wallet {} in, from a mnemonic that {} encrypted to this service, with {}: {}.",
                quoted(name),
                scene.user_named(parameters.text("userId")?),
                count(accounts.len(), "account"),
                listed(named)
            ),
        );
        brought_in(&mut story);
        if scene.organization.wallets.iter().any(|known| known.wallet_name == name) {
            story.flag(Level::Med, "same-name", format!("there is a wallet named {} already", quoted(name)));
        }
        let before = scene.organization.wallets.len();
        story.change("wallets", before.to_string(), before.saturating_add(1).to_string(), "");
        Ok(story)
    }

    fn abridged(&self, member: &str, text: &str) -> Option<String> {
        (member == "encryptedBundle")
            .then(|| format!("{} characters, which only the daemon can open", text.len()))
    }
}

/// What is true of every key that comes from elsewhere.
pub(super) fn brought_in(story: &mut Story) {
    story.flag(
        Level::Med,
        "copy-elsewhere",
        "whoever made it may hold a copy, and sign without this service",
    );
}
