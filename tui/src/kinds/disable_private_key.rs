//! Stops a private key from signing.

use super::{Kind, Level, Reader, Scene, Story, Undecodable, Version};

pub(super) struct DisablePrivateKey;

impl Kind for DisablePrivateKey {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_DISABLE_PRIVATE_KEY",
            intent: "disablePrivateKeyIntent",
            shape: "privateKeyId",
        }]
    }

    fn title(&self) -> &'static str {
        "Disable private key"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Story, Undecodable> {
        let id = parameters.text("privateKeyId")?;
        let named = scene.private_key_named(id);
        let mut story = Story::new(
            named.clone(),
            format!("Disable the private key {named}: it stays listed and signs no more, for good."),
        );
        story.flag(
            Level::High,
            "key-disabled",
            "what needs a signature of this key stops; nothing enables it again",
        );
        if scene.private_key(id).is_none() {
            story.flag(Level::Med, "unknown-key", format!("{named} is not in this organization now"));
        }
        Ok(story)
    }
}
