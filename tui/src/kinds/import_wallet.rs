//! Imports a wallet.

use super::create_wallet::account;
use super::scene::{count, listed};
use super::{Description, Kind, Level, Reader, Scene, Undecodable, Version};
use crate::text::quoted;

pub(super) struct ImportWallet;

impl Kind for ImportWallet {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_IMPORT_WALLET",
            intent: "importWalletIntent",
            schema: "userId walletName encryptedBundle accounts[]:Account",
        }]
    }

    fn title(&self) -> &'static str {
        "Import wallet"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Description, Undecodable> {
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
                scene.user_named(parameters.text("userId")?),
                count(accounts.len(), "account"),
                listed(named)
            ),
        );
        flag_external_copy(&mut description);
        if scene.organization.wallets.iter().any(|known| known.wallet_name == name) {
            description.flag(
                Level::Med,
                "same-name",
                format!("Easy to confuse: a wallet named {} already exists.", quoted(name)),
            );
        }
        let before = scene.organization.wallets.len();
        description.change("wallets", before.to_string(), before.saturating_add(1).to_string(), "");
        Ok(description)
    }

    fn abridged(&self, member: &str, text: &str) -> Option<String> {
        (member == "encryptedBundle")
            .then(|| format!("{}, which only the daemon can decrypt", count(text.len(), "character")))
    }
}

/// Flags that a copy of an imported key may exist elsewhere.
pub(super) fn flag_external_copy(description: &mut Description) {
    description.flag(
        Level::Med,
        "copy-elsewhere",
        "The person who created the key may keep a copy and sign without this service.",
    );
}
