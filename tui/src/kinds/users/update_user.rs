//! Changes name, contacts or tags of a user.

use super::change::{MAIL_ADDRESS, TELEPHONE_NUMBER, flag_user};
use crate::kinds::prelude::*;

pub(super) const KIND: Kind = Kind::new("UPDATE_USER", "Change user", describe);

fn describe(parameters: &Reader<'_>, context: &ReviewContext<'_>) -> Result<Description> {
    let id = parameters.text("userId")?;
    let named = context.user_named(id);
    let user = context.user(id);
    let mut description = Description::new(context.user_short(id), format!("Change the user {named}."));
    let mut parts = Vec::new();
    if let Some(name) = parameters.maybe_text("userName")? {
        parts.push(format!("The name becomes {}.", quoted(name)));
        description.change(
            "name",
            user.map_or_else(|| "?".to_owned(), |user| clean(&user.user_name)),
            clean(name),
        );
    }
    for contact in [MAIL_ADDRESS, TELEPHONE_NUMBER] {
        parts.extend(contact.describe_part(parameters, user, &mut description)?);
    }
    let tags = parameters.texts("userTagIds")?;
    if !tags.is_empty() {
        let tag_names = listed(tags.iter().map(|tag| context.tag_named(tag)));
        parts.push(format!("All tags are replaced by {tag_names}."));
        let now =
            user.map(|user| listed(user.user_tags.iter().map(|tag| context.tag_named(&tag.to_string()))));
        description.change("tags", now.unwrap_or_else(|| "?".to_owned()), tag_names);
        description
            .flag_medium("changes-tag", "Policies that use the tags then apply differently to this user.");
    }
    if parts.is_empty() {
        parts.push("Nothing changes.".to_owned());
    }
    description.sentence = format!("{} {}", description.sentence, parts.join(" "));
    flag_user(&mut description, id, context);
    Ok(description)
}
