//! Renames a user.

use quorate_policy::Property;

use super::change;
use crate::kinds::prelude::*;
use crate::kinds::shared::read_by_policies::flag_name;

pub(super) const KIND: Kind = Kind::new("UPDATE_USER_NAME", "Rename user", describe);

fn describe(parameters: &Reader<'_>, context: &ReviewContext<'_>) -> Result<Description> {
    let (id, name) = (parameters.text("userId")?, parameters.text("userName")?);
    let mut description = Description::new(
        format!("{} becomes {}", context.user_short(id), quoted(name)),
        format!("Rename the user {} to {}.", context.user_named(id), quoted(name)),
    );
    let now = context.user(id).map_or_else(|| "?".to_owned(), |user| clean(&user.user_name));
    description.change("name", now, clean(name));
    if context.user(id).is_none_or(|user| user.user_name != name) {
        flag_name(Property::UserName, &mut description, context);
    }
    change::flag_user(&mut description, id, context);
    Ok(description)
}
