//! Destroys secrets.

use super::scene::{count, listed};
use super::{Kind, Level, Reader, Scene, Story, Undecodable, Version};
use crate::text::clean;

pub(super) struct DeleteSecrets;

impl Kind for DeleteSecrets {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_DELETE_SECRETS",
            intent: "deleteSecretsIntent",
            shape: "secretIds[]",
        }]
    }

    fn title(&self) -> &'static str {
        "Delete secrets"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Story, Undecodable> {
        let ids = parameters.texts("secretIds")?;
        let those = count(ids.len(), "secret");
        let named = listed(ids.iter().map(|id| scene.secret_named(id)));
        let mut story = Story::new(those.clone(), format!("Destroy {those}: {named}. It cannot be undone."));
        let present = scene.organization.secrets.len();
        story.change("secrets", present.to_string(), present.saturating_sub(ids.len()).to_string(), "");
        story.flag(Level::High, "no-copy", "nothing here tells whether anybody has a copy of what they hold");
        if let Some(name) = ids.first().and_then(|id| scene.secret(id)?.name.as_deref()) {
            story.danger("the NAME of the first secret that is destroyed", &clean(name));
        }
        for id in ids.iter().filter(|id| scene.secret(id).is_none()) {
            let text = format!("{} is not in this organization now", scene.secret_named(id));
            story.flag(Level::Med, "unknown-secret", text);
        }
        Ok(story)
    }
}
