//! Changes name, contacts or tags of a user.

use super::scene::listed;
use super::{Description, Kind, Level, Reader, Scene, Undecodable, Version, user_change};
use crate::text::{clean, quoted};

pub(super) struct UpdateUser;

impl Kind for UpdateUser {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_UPDATE_USER",
            intent: "updateUserIntent",
            schema: "userId userName userEmail userTagIds[] userPhoneNumber",
        }]
    }

    fn title(&self) -> &'static str {
        "Change user"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Description, Undecodable> {
        let id = parameters.text("userId")?;
        let named = scene.user_named(id);
        let user = scene.user(id);
        let mut description = Description::new(scene.user_short(id), format!("Change the user {named}."));
        let mut parts = Vec::new();
        if let Some(name) = parameters.maybe_text("userName")? {
            parts.push(format!("The name becomes {}.", quoted(name)));
            description.change(
                "name",
                user.map_or_else(|| "?".to_owned(), |user| clean(&user.user_name)),
                clean(name),
                "",
            );
        }
        if let Some(email) = parameters.maybe_text("userEmail")? {
            parts.push(format!("The mail address becomes {}.", quoted(email)));
            user_change::add_contact(
                &mut description,
                "mail address",
                user.and_then(|user| user.user_email.as_deref()),
                Some(email),
            );
        }
        if let Some(phone) = parameters.maybe_text("userPhoneNumber")? {
            parts.push(format!("The telephone number becomes {}.", quoted(phone)));
            let now = user.and_then(|user| user.user_phone_number.as_deref());
            user_change::add_contact(&mut description, "telephone number", now, Some(phone));
        }
        let tags = parameters.texts("userTagIds")?;
        if !tags.is_empty() {
            let tag_names = listed(tags.iter().map(|tag| scene.tag_named(tag)));
            parts.push(format!("All tags are replaced by {tag_names}."));
            let now =
                user.map(|user| listed(user.user_tags.iter().map(|tag| scene.tag_named(&tag.to_string()))));
            description.change("tags", now.unwrap_or_else(|| "?".to_owned()), tag_names, "");
            description.flag(
                Level::Med,
                "changes-tag",
                "Policies that use the tags then apply differently to this user.",
            );
        }
        if parts.is_empty() {
            parts.push("Nothing changes.".to_owned());
        }
        description.sentence = format!("{} {}", description.sentence, parts.join(" "));
        user_change::flag_user(&mut description, id, scene);
        Ok(description)
    }
}
