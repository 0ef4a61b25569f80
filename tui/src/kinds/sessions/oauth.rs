//! Opens a session for the user whom an ID token identifies, with a key that the daemon makes.

use super::session::describe_bundled;
use crate::kinds::prelude::*;

pub(super) const KIND: Kind = Kind {
    abridged: &[("oidcToken", |_| Some("(hidden)".to_owned()))],
    hidden: Some((&["ACTIVITY_TYPE_OAUTH"], "the daemon hides the ID token")),
    ..Kind::new("OAUTH", "Open session by ID token", describe)
};

fn describe(parameters: &Reader<'_>, _: &ReviewContext<'_>) -> Result<Description> {
    let brief = "user of an ID token".to_owned();
    let mut description = describe_bundled(parameters, brief, "the user whom an ID token identifies")?;
    let text = "The console does not know whose session it is: only the daemon reads the ID token.";
    description.flag_high("session-by-token", text);
    Ok(description)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    #[test]
    fn describes_the_session() {
        let row = json!({"oidcToken": "", "targetPublicKey": format!("04{}", "ab".repeat(64)), "invalidateExisting": true});
        crate::kinds::tests::check("oauth", &[("OAUTH", row)]);
    }
}
