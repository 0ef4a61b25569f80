//! Deletes API keys of a user.

use super::scene::{count, listed, stated};
use super::{Description, Kind, Level, Reader, Scene, Undecodable, Version};
use crate::text::clean;

pub(super) struct DeleteApiKeys;

impl Kind for DeleteApiKeys {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_DELETE_API_KEYS",
            intent: "deleteApiKeysIntent",
            schema: "userId apiKeyIds[]",
        }]
    }

    fn title(&self) -> &'static str {
        "Delete API keys"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Description, Undecodable> {
        let id = parameters.text("userId")?;
        let ids = parameters.texts("apiKeyIds")?;
        let user = scene.user(id);
        let key = |key_id: &&str| {
            let held = user.and_then(|user| {
                user.api_keys.iter().find(|key| key.api_key_id.to_string().eq_ignore_ascii_case(key_id))
            });
            match held {
                Some(key) => format!(
                    "{} ({}, public key {})",
                    stated(&key.api_key_name),
                    clean(key_id),
                    clean(&key.credential.public_key)
                ),
                None => format!("{} (not known here)", clean(key_id)),
            }
        };
        let sentence = format!(
            "Delete {} of {}: {}.",
            count(ids.len(), "API key"),
            scene.user_named(id),
            listed(ids.iter().map(key))
        );
        let mut description =
            Description::new(format!("{} of {}", count(ids.len(), "key"), scene.user_short(id)), sentence);
        let held = user.map_or(0, |user| user.api_keys.len());
        let left = held.saturating_sub(ids.len());
        description.change("API keys of this user", held.to_string(), left.to_string(), "");
        description.flag(
            Level::Med,
            "access-removed",
            "People and programs that use the deleted keys lose access.",
        );
        if user.is_some_and(|user| {
            left == 0 && user.authenticators.is_empty() && user.oauth_providers.is_empty()
        }) {
            description.flag(Level::Med, "last-credential", "Locks the user out: no credential is left.");
        }
        Ok(description)
    }
}
