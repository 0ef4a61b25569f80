//! Gives a user more API keys.

use super::create_users::{api_key, registered_keys};
use super::scene::{count, listed};
use super::{Kind, Level, Reader, Scene, Story, Undecodable, Version};

pub(super) struct CreateApiKeys;

impl Kind for CreateApiKeys {
    fn versions(&self) -> &'static [Version] {
        &[
            Version {
                activity_type: "ACTIVITY_TYPE_CREATE_API_KEYS",
                intent: "createApiKeysIntent",
                shape: "userId apiKeys[]:ApiKey1",
            },
            Version {
                activity_type: "ACTIVITY_TYPE_CREATE_API_KEYS_V2",
                intent: "createApiKeysIntentV2",
                shape: "userId apiKeys[]:ApiKey2",
            },
        ]
    }

    fn title(&self) -> &'static str {
        "Add API keys"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Story, Undecodable> {
        let id = parameters.text("userId")?;
        let keys = parameters.list("apiKeys")?;
        let named = keys.iter().map(api_key).collect::<Result<Vec<_>, _>>()?;
        let user = scene.user_named(id);
        let sentence = format!(
            "Give {user} {}: {}. Who holds a key can act as this user.",
            count(keys.len(), "more API key"),
            listed(named)
        );
        let mut story =
            Story::new(format!("{} for {}", count(keys.len(), "key"), scene.user_short(id)), sentence);
        let held = scene.user(id).map_or(0, |user| user.api_keys.len());
        story.change(
            "API keys of this user",
            held.to_string(),
            held.saturating_add(keys.len()).to_string(),
            "",
        );
        if scene.is_root(id) {
            story.flag(
                Level::High,
                "credential-for-root-user",
                format!("{user} is in the root quorum; the new key can vote as this user"),
            );
        }
        if scene.asker.is_some_and(|asker| !asker.to_string().eq_ignore_ascii_case(id)) {
            story.flag(
                Level::High,
                "credential-by-other",
                format!("{user} did not ask for this; whoever holds the new key becomes this user"),
            );
        }
        story.danger("the NAME of the user who gets the key", &scene.user_name(id));
        if scene.user(id).is_none() {
            story.flag(Level::Med, "unknown-user", format!("{user} is not in this organization now"));
        }
        registered_keys(parameters, scene, &mut story)?;
        Ok(story)
    }
}
