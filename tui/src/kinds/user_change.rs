//! What is told of a change of a user.

use super::scene::Scene;
use super::{Level, Story};
use crate::text::clean;

/// A contact that sign-in codes may go to.
pub(super) fn contact(story: &mut Story, label: &str, now: Option<&str>, after: Option<&str>) {
    let shown = |value: Option<&str>| value.map_or_else(|| "none".to_owned(), clean);
    story.change(label, shown(now), shown(after), "");
    if after.is_some() && after != now {
        story.flag(
            Level::Med,
            "contact-changed",
            "where sign-in by code is on, whoever reads messages there can become this user",
        );
    }
}

/// Remarks on the user who is changed.
pub(super) fn whom(story: &mut Story, id: &str, scene: &Scene<'_>) {
    if scene.user(id).is_none() {
        let text = format!("{} is not in this organization now", scene.user_named(id));
        story.flag(Level::Med, "unknown-user", text);
    } else if scene.is_root(id) {
        let text = format!("{} is in the root quorum", scene.user_named(id));
        story.flag(Level::Med, "root-user-changed", text);
    }
}
