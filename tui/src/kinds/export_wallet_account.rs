//! Exports the private key of a wallet account.

use super::key_export::KeyExport;
use super::{Description, Kind, Reader, Scene, Undecodable, Version};
use crate::text::clean;

pub(super) struct ExportWalletAccount;

impl Kind for ExportWalletAccount {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_EXPORT_WALLET_ACCOUNT",
            intent: "exportWalletAccountIntent",
            schema: "address targetPublicKey",
        }]
    }

    fn title(&self) -> &'static str {
        "Export wallet account"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Description, Undecodable> {
        let address = parameters.text("address")?;
        let key_export = KeyExport {
            what: "the secret key of the wallet account",
            named: clean(address),
            danger: ("the word EXPORT", "EXPORT"),
            // The daemon's description of an organization does not contain wallet accounts.
            known: true,
            target: parameters.text("targetPublicKey")?,
        };
        Ok(key_export.describe(scene))
    }
}
