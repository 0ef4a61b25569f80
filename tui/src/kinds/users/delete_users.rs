//! Deletes users with all their credentials.

use crate::kinds::prelude::*;

pub(super) const KIND: Kind = Kind::new("DELETE_USERS", "Delete users", describe);

fn describe(parameters: &Reader<'_>, context: &ReviewContext<'_>) -> Result<Description> {
    let ids = parameters.texts("userIds")?;
    let named = listed(ids.iter().map(|id| context.user_named(id)));
    let brief = listed(ids.iter().map(|id| context.user_short(id)));
    let those = count(ids.len(), "user");
    let sentence = format!("Delete {those} with all their credentials: {named}. They lose all access.");
    let mut description = Description::new(brief, sentence);
    description.change_removed("users", context.organization.users.len(), ids.len());
    for id in &ids {
        if context.is_root(id) {
            description.flag_high(
                "root-user-removed",
                format!("Deletes a member of the root quorum: {}.", context.user_named(id)),
            );
            description.danger("the NAME of the root user who is deleted", &context.user_name(id));
        } else {
            description.flag_if_missing("unknown-user", context.user(id).is_some(), &context.user_named(id));
        }
    }
    description.flag_medium("access-removed", "People or programs lose access. This cannot be undone.");
    Ok(description)
}
