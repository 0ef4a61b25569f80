//! Comparisons and flags that the kinds which change a user share.

use super::scene::Scene;
use super::{Description, Level};
use crate::text::clean;

/// Adds the comparison of a contact to which sign-in codes may be sent, and a flag if it changes.
pub(super) fn add_contact(
    description: &mut Description,
    label: &str,
    now: Option<&str>,
    after: Option<&str>,
) {
    let shown = |value: Option<&str>| value.map_or_else(|| "none".to_owned(), clean);
    description.change(label, shown(now), shown(after), "");
    if after.is_some() && after != now {
        description.flag(
            Level::Med,
            "contact-changed",
            "Anyone who reads messages there can act as this user if sign-in by code is enabled.",
        );
    }
}

/// Flags a user who is unknown or in the root quorum.
pub(super) fn flag_user(description: &mut Description, id: &str, scene: &Scene<'_>) {
    if scene.user(id).is_none() {
        let text = format!("{} does not exist in this organization now.", scene.user_named(id));
        description.flag(Level::Med, "unknown-user", text);
    } else if scene.is_root(id) {
        let text = format!("Changes a member of the root quorum: {}.", scene.user_named(id));
        description.flag(Level::Med, "root-user-changed", text);
    }
}
