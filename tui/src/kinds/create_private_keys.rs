//! Creates private keys that belong to no wallet.

use super::scene::{count, listed};
use super::{Description, Kind, Level, Reader, Scene, Undecodable, Version};
use crate::text::{clean, quoted};

pub(super) struct CreatePrivateKeys;

impl Kind for CreatePrivateKeys {
    fn versions(&self) -> &'static [Version] {
        &[
            Version {
                activity_type: "ACTIVITY_TYPE_CREATE_PRIVATE_KEYS",
                intent: "createPrivateKeysIntent",
                schema: "privateKeys[]:PrivateKey",
            },
            Version {
                activity_type: "ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2",
                intent: "createPrivateKeysIntentV2",
                schema: "privateKeys[]:PrivateKey",
            },
        ]
    }

    fn title(&self) -> &'static str {
        "Create private keys"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Description, Undecodable> {
        let keys = parameters.list("privateKeys")?;
        let named = keys.iter().map(private_key).collect::<Result<Vec<_>, _>>()?;
        let called =
            keys.iter().map(|key| key.text("privateKeyName").map(quoted)).collect::<Result<Vec<_>, _>>()?;
        let mut description = Description::new(
            listed(called),
            format!("Create {}: {}.", count(keys.len(), "private key"), listed(named)),
        );
        for key in &keys {
            let tags = key.texts("privateKeyTags")?;
            if !tags.is_empty() {
                let tag_names = listed(tags.iter().map(|tag| scene.tag_named(tag)));
                description.flag(
                    Level::Med,
                    "joins-tag",
                    format!("Policies for {tag_names} apply to the new key at once."),
                );
            }
        }
        let before = scene.organization.private_keys.len();
        description.change(
            "private keys",
            before.to_string(),
            before.saturating_add(keys.len()).to_string(),
            "",
        );
        Ok(description)
    }
}

/// Returns a private key to create as text.
pub(super) fn private_key(key: &Reader<'_>) -> Result<String, Undecodable> {
    let name = quoted(key.text("privateKeyName")?);
    let curve = clean(key.text("curve")?.trim_start_matches("CURVE_"));
    let formats = key.texts("addressFormats")?;
    let formats = listed(formats.iter().map(|format| clean(format.trim_start_matches("ADDRESS_FORMAT_"))));
    Ok(format!("{name} ({curve}, addresses: {formats})"))
}
