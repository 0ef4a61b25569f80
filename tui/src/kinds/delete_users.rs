//! Deletes users with all their credentials.

use super::scene::{count, listed};
use super::{Description, Kind, Level, Reader, Scene, Undecodable, Version};

pub(super) struct DeleteUsers;

impl Kind for DeleteUsers {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_DELETE_USERS",
            intent: "deleteUsersIntent",
            schema: "userIds[]",
        }]
    }

    fn title(&self) -> &'static str {
        "Delete users"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Description, Undecodable> {
        let ids = parameters.texts("userIds")?;
        let named = listed(ids.iter().map(|id| scene.user_named(id)));
        let brief = listed(ids.iter().map(|id| scene.user_short(id)));
        let sentence = format!(
            "Delete {} with all their credentials: {named}. They lose all access.",
            count(ids.len(), "user")
        );
        let mut description = Description::new(brief, sentence);
        let before = scene.organization.users.len();
        description.change("users", before.to_string(), before.saturating_sub(ids.len()).to_string(), "");
        for id in &ids {
            if scene.is_root(id) {
                description.flag(
                    Level::High,
                    "root-user-removed",
                    format!("Deletes a member of the root quorum: {}.", scene.user_named(id)),
                );
                description.danger("the NAME of the root user who is deleted", &scene.user_name(id));
            } else if scene.user(id).is_none() {
                description.flag(
                    Level::Med,
                    "unknown-user",
                    format!("{} does not exist in this organization now.", scene.user_named(id)),
                );
            }
        }
        description.flag(
            Level::Med,
            "access-removed",
            "People or programs lose access. This cannot be undone.",
        );
        Ok(description)
    }
}
