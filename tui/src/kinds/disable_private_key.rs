//! Disables a private key.

use super::{Description, Kind, Level, Reader, Scene, Undecodable, Version};

pub(super) struct DisablePrivateKey;

impl Kind for DisablePrivateKey {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_DISABLE_PRIVATE_KEY",
            intent: "disablePrivateKeyIntent",
            schema: "privateKeyId",
        }]
    }

    fn title(&self) -> &'static str {
        "Disable private key"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Description, Undecodable> {
        let id = parameters.text("privateKeyId")?;
        let named = scene.private_key_named(id);
        let mut description = Description::new(
            named.clone(),
            format!("Disable the private key {named} for good: it stays listed but can no longer sign."),
        );
        description.flag(
            Level::High,
            "key-disabled",
            "Stops everything that needs a signature by this key. A disabled key cannot be enabled again.",
        );
        if scene.private_key(id).is_none() {
            description.flag(
                Level::Med,
                "unknown-key",
                format!("{named} does not exist in this organization now."),
            );
        }
        Ok(description)
    }
}
