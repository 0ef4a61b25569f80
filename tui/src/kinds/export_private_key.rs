//! Exports a private key.

use super::key_export::KeyExport;
use super::{Description, Kind, Reader, Scene, Undecodable, Version};

pub(super) struct ExportPrivateKey;

impl Kind for ExportPrivateKey {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_EXPORT_PRIVATE_KEY",
            intent: "exportPrivateKeyIntent",
            schema: "privateKeyId targetPublicKey",
        }]
    }

    fn title(&self) -> &'static str {
        "Export private key"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Description, Undecodable> {
        let id = parameters.text("privateKeyId")?;
        let key = scene.private_key(id);
        let mut description = KeyExport {
            what: "the private key",
            named: scene.private_key_named(id),
            danger: (
                "the NAME of the key that is exported",
                key.map_or("EXPORT", |one| &one.private_key_name),
            ),
            known: key.is_some(),
            target: parameters.text("targetPublicKey")?,
        }
        .describe(scene);
        let exported = key.is_some_and(|key| key.exported);
        description.change("exported", if exported { "yes" } else { "no" }, "yes", "");
        Ok(description)
    }
}
