//! Creates single private keys.

use super::scene::{count, listed};
use super::{Kind, Level, Reader, Scene, Story, Undecodable, Version};
use crate::text::{clean, quoted};

pub(super) struct CreatePrivateKeys;

impl Kind for CreatePrivateKeys {
    fn versions(&self) -> &'static [Version] {
        &[
            Version {
                activity_type: "ACTIVITY_TYPE_CREATE_PRIVATE_KEYS",
                intent: "createPrivateKeysIntent",
                shape: "privateKeys[]:PrivateKey",
            },
            Version {
                activity_type: "ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2",
                intent: "createPrivateKeysIntentV2",
                shape: "privateKeys[]:PrivateKey",
            },
        ]
    }

    fn title(&self) -> &'static str {
        "Create private keys"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Story, Undecodable> {
        let keys = parameters.list("privateKeys")?;
        let named = keys.iter().map(private_key).collect::<Result<Vec<_>, _>>()?;
        let called =
            keys.iter().map(|key| key.text("privateKeyName").map(quoted)).collect::<Result<Vec<_>, _>>()?;
        let mut story = Story::new(
            listed(called),
            format!("Create {}: {}.", count(keys.len(), "private key"), listed(named)),
        );
        for key in &keys {
            let tags = key.texts("privateKeyTags")?;
            if !tags.is_empty() {
                let told = listed(tags.iter().map(|tag| scene.tag_named(tag)));
                story.flag(
                    Level::Med,
                    "joins-tag",
                    format!("policies for {told} apply to the new key at once"),
                );
            }
        }
        let before = scene.organization.private_keys.len();
        story.change("private keys", before.to_string(), before.saturating_add(keys.len()).to_string(), "");
        Ok(story)
    }
}

/// A private key to be made, in words.
pub(super) fn private_key(key: &Reader<'_>) -> Result<String, Undecodable> {
    let name = quoted(key.text("privateKeyName")?);
    let curve = clean(key.text("curve")?.trim_start_matches("CURVE_"));
    let formats = key.texts("addressFormats")?;
    let formats = listed(formats.iter().map(|format| clean(format.trim_start_matches("ADDRESS_FORMAT_"))));
    Ok(format!("{name} ({curve}, addresses: {formats})"))
}
