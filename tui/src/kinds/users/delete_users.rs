//! Deletes users with all their credentials.

use crate::kinds::prelude::*;

pub(super) const KIND: Kind = Kind::new("DELETE_USERS", "Delete users", describe);

fn describe(parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Description, Undecodable> {
    let ids = parameters.texts("userIds")?;
    let named = listed(ids.iter().map(|id| scene.user_named(id)));
    let brief = listed(ids.iter().map(|id| scene.user_short(id)));
    let sentence = format!(
        "Delete {} with all their credentials: {named}. They lose all access.",
        count(ids.len(), "user")
    );
    let mut description = Description::new(brief, sentence);
    description.change_removed("users", scene.organization.users.len(), ids.len());
    for id in &ids {
        if scene.is_root(id) {
            description.flag(
                Level::High,
                "root-user-removed",
                format!("Deletes a member of the root quorum: {}.", scene.user_named(id)),
            );
            description.danger("the NAME of the root user who is deleted", &scene.user_name(id));
        } else {
            description.flag_if_missing("unknown-user", scene.user(id).is_some(), &scene.user_named(id));
        }
    }
    description.flag(Level::Med, "access-removed", "People or programs lose access. This cannot be undone.");
    Ok(description)
}
