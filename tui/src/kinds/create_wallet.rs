//! Creates a wallet and its first accounts.

use super::scene::{count, listed};
use super::{Description, Kind, Level, Reader, Scene, Undecodable, Version};
use crate::text::{clean, quoted};

pub(super) struct CreateWallet;

impl Kind for CreateWallet {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_CREATE_WALLET",
            intent: "createWalletIntent",
            schema: "walletName accounts[]:Account mnemonicLength",
        }]
    }

    fn title(&self) -> &'static str {
        "Create wallet"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Description, Undecodable> {
        let name = parameters.text("walletName")?;
        let mut description = Description::new(quoted(name), format!("Create {}", wallet(parameters)?));
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
}

/// Returns a wallet to create as the end of a sentence.
pub(super) fn wallet(parameters: &Reader<'_>) -> Result<String, Undecodable> {
    let accounts = parameters.list("accounts")?;
    let named = accounts.iter().map(account).collect::<Result<Vec<_>, _>>()?;
    let words = match parameters.number("mnemonicLength")? {
        0 => 12,
        words => words,
    };
    let name = quoted(parameters.text("walletName")?);
    Ok(format!(
        "a wallet {name} with a seed of {words} words and {}: {}.",
        count(accounts.len(), "account"),
        listed(named)
    ))
}

/// Returns an account to derive as text.
pub(super) fn account(account: &Reader<'_>) -> Result<String, Undecodable> {
    let path = clean(account.text("path")?);
    let curve = clean(account.text("curve")?.trim_start_matches("CURVE_"));
    let format = clean(account.text("addressFormat")?.trim_start_matches("ADDRESS_FORMAT_"));
    let name = account.maybe_text("name")?.map_or_else(String::new, |name| format!(" {}", quoted(name)));
    Ok(format!("{format}{name} at {path} ({curve})"))
}
