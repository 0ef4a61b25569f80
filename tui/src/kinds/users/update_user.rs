//! Changes name, contacts or tags of a user.

use quorate_common::wire::User;
use quorate_policy::Property;

use super::change::{MAIL_ADDRESS, TELEPHONE_NUMBER, flag_user};
use crate::kinds::prelude::*;
use crate::kinds::shared::read_by_policies::{flag_name, flag_tags};

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
        if user.is_none_or(|user| user.user_name != name) {
            flag_name(Property::UserName, &mut description, context);
        }
    }
    for contact in [MAIL_ADDRESS, TELEPHONE_NUMBER] {
        parts.extend(contact.describe_part(parameters, user, &mut description, context)?);
    }
    let tags = parameters.texts("userTagIds")?;
    if !tags.is_empty() {
        let tag_names = listed(tags.iter().map(|tag| context.tag_named(tag)));
        parts.push(format!("All tags are replaced by {tag_names}."));
        let now =
            user.map(|user| listed(user.user_tags.iter().map(|tag| context.tag_named(&tag.to_string()))));
        description.change("tags", now.unwrap_or_else(|| "?".to_owned()), tag_names);
        flag_changed_tags(&tags, user, &mut description, context);
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

/// Flags that policies use the tags which the user gains or loses.
fn flag_changed_tags(
    tags: &[&str],
    user: Option<&User>,
    description: &mut Description,
    context: &ReviewContext<'_>,
) {
    let before: Vec<String> =
        user.map(|user| user.user_tags.iter().map(ToString::to_string).collect()).unwrap_or_default();
    let gained =
        tags.iter().copied().filter(|tag| !before.iter().any(|known| known.eq_ignore_ascii_case(tag)));
    let lost =
        before.iter().map(String::as_str).filter(|tag| !tags.iter().any(|new| new.eq_ignore_ascii_case(tag)));
    let changed: Vec<&str> = gained.chain(lost).collect();
    if !changed.is_empty() {
        flag_tags(Property::UserTags, &changed, description, context);
    }
}
