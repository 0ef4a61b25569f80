//! Imports a private key.

use super::import_wallet::{ImportWallet, flag_external_copy};
use super::scene::listed;
use super::{Description, Kind, Level, Reader, Scene, Undecodable, Version};
use crate::text::{clean, quoted};

pub(super) struct ImportPrivateKey;

impl Kind for ImportPrivateKey {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_IMPORT_PRIVATE_KEY",
            intent: "importPrivateKeyIntent",
            schema: "userId privateKeyName encryptedBundle curve addressFormats[]",
        }]
    }

    fn title(&self) -> &'static str {
        "Import private key"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Description, Undecodable> {
        let name = parameters.text("privateKeyName")?;
        parameters.text("encryptedBundle")?;
        let curve = clean(parameters.text("curve")?.trim_start_matches("CURVE_"));
        let formats = parameters.texts("addressFormats")?;
        let formats = formats.iter().map(|format| clean(format.trim_start_matches("ADDRESS_FORMAT_")));
        let mut description = Description::new(
            quoted(name),
            format!(
                "Import the private key {} on {curve}, which {} encrypted to this service. Address formats: \
                 {}.",
                quoted(name),
                scene.user_named(parameters.text("userId")?),
                listed(formats)
            ),
        );
        flag_external_copy(&mut description);
        if scene.organization.private_keys.iter().any(|known| known.private_key_name == name) {
            let text = format!("Easy to confuse: a private key named {} already exists.", quoted(name));
            description.flag(Level::Med, "same-name", text);
        }
        let before = scene.organization.private_keys.len();
        description.change("private keys", before.to_string(), before.saturating_add(1).to_string(), "");
        Ok(description)
    }

    fn abridged(&self, member: &str, text: &str) -> Option<String> {
        ImportWallet.abridged(member, text)
    }
}
