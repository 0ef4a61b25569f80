//! Destroys private keys.

use super::scene::{count, listed};
use super::{Kind, Level, Reader, Scene, Story, Undecodable, Version};
use crate::text::clean;

pub(super) struct DeletePrivateKeys;

impl Kind for DeletePrivateKeys {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_DELETE_PRIVATE_KEYS",
            intent: "deletePrivateKeysIntent",
            shape: "privateKeyIds[] deleteWithoutExport",
        }]
    }

    fn title(&self) -> &'static str {
        "Delete private keys"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Story, Undecodable> {
        let ids = parameters.texts("privateKeyIds")?;
        let named = listed(ids.iter().map(|id| scene.private_key_named(id)));
        let mut story = Story::new(
            count(ids.len(), "private key"),
            format!("Destroy {}: {named}. It cannot be undone.", count(ids.len(), "private key")),
        );
        let before = scene.organization.private_keys.len();
        story.change("private keys", before.to_string(), before.saturating_sub(ids.len()).to_string(), "");
        story.flag(
            Level::High,
            "key-destroyed",
            "what these keys hold or sign for is out of reach without a copy",
        );
        let without_copy =
            ids.iter().filter(|id| scene.private_key(id).is_none_or(|key| !key.exported)).count();
        if parameters.yes("deleteWithoutExport")? {
            story.flag(
                Level::Med,
                "without-export",
                "also what never left by export, of which there may be no copy",
            );
        }
        if without_copy > 0 {
            let text =
                format!("{} never left by export, so there may be no copy", count(without_copy, "key"));
            story.flag(Level::High, "no-copy", text);
        }
        let first = ids.first().and_then(|id| scene.private_key(id));
        if let Some(key) = first {
            story.danger("the NAME of the first key that is destroyed", &clean(&key.private_key_name));
        }
        for id in ids.iter().filter(|id| scene.private_key(id).is_none()) {
            let text = format!("{} is not in this organization now", scene.private_key_named(id));
            story.flag(Level::Med, "unknown-key", text);
        }
        Ok(story)
    }
}
