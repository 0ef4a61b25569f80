//! Renames a tag, adds it to users and removes it from others.

use super::tag::USERS;
use crate::kinds::prelude::*;

pub(super) const KIND: Kind = Kind::new("UPDATE_USER_TAG", "Change user tag", describe);

fn describe(parameters: &Reader<'_>, context: &ReviewContext<'_>) -> Result<Description> {
    let (add, remove) = (parameters.texts("addUserIds")?, parameters.texts("removeUserIds")?);
    let tag = parameters.text("userTagId")?;
    let name = parameters.maybe_text("newUserTagName")?;
    Ok(USERS.describe_update(tag, name, (&add, &remove), context))
}
