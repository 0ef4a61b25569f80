//! Deletes secrets.

use super::scene::{count, listed};
use super::{Description, Kind, Level, Reader, Scene, Undecodable, Version};
use crate::text::clean;

pub(super) struct DeleteSecrets;

impl Kind for DeleteSecrets {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_DELETE_SECRETS",
            intent: "deleteSecretsIntent",
            schema: "secretIds[]",
        }]
    }

    fn title(&self) -> &'static str {
        "Delete secrets"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Description, Undecodable> {
        let ids = parameters.texts("secretIds")?;
        let those = count(ids.len(), "secret");
        let named = listed(ids.iter().map(|id| scene.secret_named(id)));
        let mut description =
            Description::new(those.clone(), format!("Destroy {those}: {named}. This cannot be undone."));
        let present = scene.organization.secrets.len();
        description.change("secrets", present.to_string(), present.saturating_sub(ids.len()).to_string(), "");
        description.flag(
            Level::High,
            "no-copy",
            "The content is lost unless somebody has a copy, which this console cannot check.",
        );
        if let Some(name) = ids.first().and_then(|id| scene.secret(id)?.name.as_deref()) {
            description.danger("the NAME of the first secret that is destroyed", &clean(name));
        }
        for id in ids.iter().filter(|id| scene.secret(id).is_none()) {
            let text = format!("{} does not exist in this organization now.", scene.secret_named(id));
            description.flag(Level::Med, "unknown-secret", text);
        }
        Ok(description)
    }
}
