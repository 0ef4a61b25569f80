//! Opens a session for the proposer.

use super::session::{flag_holder, lifetime, replaces};
use crate::kinds::prelude::*;

pub(super) const KIND: Kind = Kind::new("STAMP_LOGIN", "Log in", describe);

fn describe(parameters: &Reader<'_>, context: &ReviewContext<'_>) -> Result<Description, Undecodable> {
    let proposer = context.proposer.map(|id| id.to_string()).unwrap_or_default();
    let user = context.proposer_named();
    let profiles = &context.organization.session_profiles;
    let named = parameters.maybe_text("sessionProfileId")?;
    let known = named.and_then(|id| profiles.iter().find(|one| one.session_profile_id.to_string() == id));
    let lifetime = lifetime(parameters, known)?;
    let limits = match (named, known) {
        (None, _) => "It may do what this user may do.".to_owned(),
        (Some(_), Some(profile)) => format!(
            "It is limited by the session profile {}: it may only propose activities where {} [s] is true.",
            stated(&profile.session_profile_name),
            quoted(&profile.scope)
        ),
        (Some(id), None) => format!("It is limited by the session profile {} (not known here).", clean(id)),
    };
    let mut description = Description::new(
        context.user_short(&proposer),
        format!(
            "Open a session of {user} {lifetime}, for the public key {}. {limits}",
            clean(parameters.text("publicKey")?)
        ),
    );
    if replaces(parameters)? {
        description.flag(Level::Low, "ends-sessions", "Ends the other logins of this user.");
    }
    if named.is_some() && known.is_none() {
        let text = "The limits and the lifetime of the session are unknown: its profile is not known here.";
        description.flag(Level::High, "unknown-profile", text);
    }
    flag_holder(&mut description, &proposer, context);
    Ok(description)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    #[test]
    fn describes_each_login() {
        let key = "02".repeat(33);
        let rows = [
            json!({"publicKey": key}),
            json!({"publicKey": key, "expirationSeconds": "3600", "invalidateExisting": true,
                "sessionProfileId": "84848484-8484-8484-8484-848484848484"}),
            json!({"publicKey": key, "sessionProfileId": "99999999-9999-9999-9999-999999999999"}),
        ];
        crate::kinds::tests::check("stamp_login", &rows.map(|row| ("STAMP_LOGIN", row)));
    }
}
