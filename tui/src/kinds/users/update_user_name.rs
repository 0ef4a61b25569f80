//! Renames a user.

use super::change;
use crate::kinds::prelude::*;

pub(super) const KIND: Kind = Kind::new("UPDATE_USER_NAME", "Rename user", describe);

fn describe(parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Description, Undecodable> {
    let (id, name) = (parameters.text("userId")?, parameters.text("userName")?);
    let mut description = Description::new(
        format!("{} becomes {}", scene.user_short(id), quoted(name)),
        format!("Rename the user {} to {}.", scene.user_named(id), quoted(name)),
    );
    let now = scene.user(id).map_or_else(|| "?".to_owned(), |user| clean(&user.user_name));
    description.change("name", now, clean(name));
    change::flag_user(&mut description, id, scene);
    Ok(description)
}
