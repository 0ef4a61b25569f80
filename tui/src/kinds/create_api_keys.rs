//! Adds API keys to a user.

use super::create_users::{api_key, registered_keys};
use super::scene::{count, listed};
use super::{Description, Kind, Level, Reader, Scene, Undecodable, Version};

pub(super) struct CreateApiKeys;

impl Kind for CreateApiKeys {
    fn versions(&self) -> &'static [Version] {
        &[
            Version {
                activity_type: "ACTIVITY_TYPE_CREATE_API_KEYS",
                intent: "createApiKeysIntent",
                schema: "userId apiKeys[]:ApiKey1",
            },
            Version {
                activity_type: "ACTIVITY_TYPE_CREATE_API_KEYS_V2",
                intent: "createApiKeysIntentV2",
                schema: "userId apiKeys[]:ApiKey2",
            },
        ]
    }

    fn title(&self) -> &'static str {
        "Add API keys"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Description, Undecodable> {
        let id = parameters.text("userId")?;
        let keys = parameters.list("apiKeys")?;
        let named = keys.iter().map(api_key).collect::<Result<Vec<_>, _>>()?;
        let user = scene.user_named(id);
        let sentence = format!(
            "Add {} for {user}: {}. The holder of a key can act as this user.",
            count(keys.len(), "more API key"),
            listed(named)
        );
        let mut description =
            Description::new(format!("{} for {}", count(keys.len(), "key"), scene.user_short(id)), sentence);
        let held = scene.user(id).map_or(0, |user| user.api_keys.len());
        description.change(
            "API keys of this user",
            held.to_string(),
            held.saturating_add(keys.len()).to_string(),
            "",
        );
        if scene.is_root(id) {
            description.flag(
                Level::High,
                "credential-for-root-user",
                format!("The new key can vote in the root quorum as {user}."),
            );
        }
        if scene.proposer.is_some_and(|proposer| !proposer.to_string().eq_ignore_ascii_case(id)) {
            description.flag(
                Level::High,
                "credential-by-other",
                format!("The holder of the new key can act as {user}, who did not propose this."),
            );
        }
        description.danger("the NAME of the user who gets the key", &scene.user_name(id));
        if scene.user(id).is_none() {
            description.flag(
                Level::Med,
                "unknown-user",
                format!("{user} does not exist in this organization now."),
            );
        }
        registered_keys(parameters, scene, &mut description)?;
        Ok(description)
    }
}
