//! Deletes a session profile.

use crate::kinds::prelude::*;

pub(super) const KIND: Kind = Kind::new("DELETE_SESSION_PROFILE", "Delete session profile", describe);

fn describe(parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Description, Undecodable> {
    let id = parameters.text("sessionProfileId")?;
    let profiles = &scene.organization.session_profiles;
    let known = profiles.iter().find(|one| one.session_profile_id.to_string() == id);
    let named = known.map_or_else(|| clean(id), |one| quoted(&one.session_profile_name));
    Ok(Description::new(
        named.clone(),
        format!("Delete the session profile {named}. Sessions that use it end."),
    ))
}

#[cfg(test)]
mod tests {
    use quorate_common::ids::SessionProfileId;
    use serde_json::json;

    #[test]
    fn describes_each_profile() {
        let rows = [0x84, 0x99].map(|byte| SessionProfileId::from_bytes([byte; 16]));
        let rows = rows.map(|id| ("DELETE_SESSION_PROFILE", json!({"sessionProfileId": id})));
        crate::kinds::tests::check("delete_session_profile", &rows);
    }
}
