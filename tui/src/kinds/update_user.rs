//! Changes name, contacts or tags of a user.

use super::scene::listed;
use super::{Kind, Level, Reader, Scene, Story, Undecodable, Version, user_change};
use crate::text::{clean, quoted};

pub(super) struct UpdateUser;

impl Kind for UpdateUser {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_UPDATE_USER",
            intent: "updateUserIntent",
            shape: "userId userName userEmail userTagIds[] userPhoneNumber",
        }]
    }

    fn title(&self) -> &'static str {
        "Change user"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Story, Undecodable> {
        let id = parameters.text("userId")?;
        let named = scene.user_named(id);
        let user = scene.user(id);
        let mut story = Story::new(scene.user_short(id), format!("Change the user {named}."));
        let mut parts = Vec::new();
        if let Some(name) = parameters.maybe_text("userName")? {
            parts.push(format!("The name becomes {}.", quoted(name)));
            story.change(
                "name",
                user.map_or_else(|| "?".to_owned(), |user| clean(&user.user_name)),
                clean(name),
                "",
            );
        }
        if let Some(email) = parameters.maybe_text("userEmail")? {
            parts.push(format!("The mail address becomes {}.", quoted(email)));
            user_change::contact(
                &mut story,
                "mail address",
                user.and_then(|user| user.user_email.as_deref()),
                Some(email),
            );
        }
        if let Some(phone) = parameters.maybe_text("userPhoneNumber")? {
            parts.push(format!("The telephone number becomes {}.", quoted(phone)));
            let now = user.and_then(|user| user.user_phone_number.as_deref());
            user_change::contact(&mut story, "telephone number", now, Some(phone));
        }
        let tags = parameters.texts("userTagIds")?;
        if !tags.is_empty() {
            let told = listed(tags.iter().map(|tag| scene.tag_named(tag)));
            parts.push(format!("From then on the tags are these and no others: {told}."));
            let now =
                user.map(|user| listed(user.user_tags.iter().map(|tag| scene.tag_named(&tag.to_string()))));
            story.change("tags", now.unwrap_or_else(|| "?".to_owned()), told, "");
            story.flag(
                Level::Med,
                "changes-tag",
                "policies that use the tags then reach this user differently",
            );
        }
        if parts.is_empty() {
            parts.push("Nothing changes.".to_owned());
        }
        story.sentence = format!("{} {}", story.sentence, parts.join(" "));
        user_change::whom(&mut story, id, scene);
        Ok(story)
    }
}
