//! Takes a private key out.

use super::taken_out::TakenOut;
use super::{Kind, Reader, Scene, Story, Undecodable, Version};

pub(super) struct ExportPrivateKey;

impl Kind for ExportPrivateKey {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_EXPORT_PRIVATE_KEY",
            intent: "exportPrivateKeyIntent",
            shape: "privateKeyId targetPublicKey",
        }]
    }

    fn title(&self) -> &'static str {
        "Export private key"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Story, Undecodable> {
        let id = parameters.text("privateKeyId")?;
        let key = scene.private_key(id);
        let mut story = TakenOut {
            what: "the private key",
            named: scene.private_key_named(id),
            danger: (
                "the NAME of the key that is exported",
                key.map_or("EXPORT", |one| &one.private_key_name),
            ),
            known: key.is_some(),
            target: parameters.text("targetPublicKey")?,
        }
        .told(scene);
        let exported = key.is_some_and(|key| key.exported);
        story.change("exported", if exported { "yes" } else { "no" }, "yes", "");
        Ok(story)
    }
}
