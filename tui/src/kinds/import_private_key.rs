//! Brings a private key in.

use super::import_wallet::{ImportWallet, brought_in};
use super::scene::listed;
use super::{Kind, Level, Reader, Scene, Story, Undecodable, Version};
use crate::text::{clean, quoted};

pub(super) struct ImportPrivateKey;

impl Kind for ImportPrivateKey {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_IMPORT_PRIVATE_KEY",
            intent: "importPrivateKeyIntent",
            shape: "userId privateKeyName encryptedBundle curve addressFormats[]",
        }]
    }

    fn title(&self) -> &'static str {
        "Import private key"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Story, Undecodable> {
        let name = parameters.text("privateKeyName")?;
        parameters.text("encryptedBundle")?;
        let curve = clean(parameters.text("curve")?.trim_start_matches("CURVE_"));
        let formats = parameters.texts("addressFormats")?;
        let formats = formats.iter().map(|format| clean(format.trim_start_matches("ADDRESS_FORMAT_")));
        let mut story = Story::new(
            quoted(name),
            format!(
                "Bring a private key {} on {curve} in, which {} encrypted to this service. Address formats: {}.",
                quoted(name),
                scene.user_named(parameters.text("userId")?),
                listed(formats)
            ),
        );
        brought_in(&mut story);
        if scene.organization.private_keys.iter().any(|known| known.private_key_name == name) {
            let text = format!("there is a private key named {} already", quoted(name));
            story.flag(Level::Med, "same-name", text);
        }
        let before = scene.organization.private_keys.len();
        story.change("private keys", before.to_string(), before.saturating_add(1).to_string(), "");
        Ok(story)
    }

    fn abridged(&self, member: &str, text: &str) -> Option<String> {
        ImportWallet.abridged(member, text)
    }
}
