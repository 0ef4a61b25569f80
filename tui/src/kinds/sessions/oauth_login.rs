//! Opens a session for the user whom an ID token identifies.

use super::session::{Limits, replaces};
use crate::kinds::prelude::*;

pub(super) const KIND: Kind = Kind {
    abridged: &[("oidcToken", |_| Some("(hidden)".to_owned()))],
    hidden: Some((&["ACTIVITY_TYPE_OAUTH_LOGIN"], "the daemon hides the ID token")),
    ..Kind::new("OAUTH_LOGIN", "Log in by ID token", describe)
};

fn describe(parameters: &Reader<'_>, context: &ReviewContext<'_>) -> Result<Description> {
    let limits = Limits::read(parameters, context)?;
    let key = clean(parameters.text("publicKey")?);
    let mut description = Description::new(
        format!("key {key}"),
        format!(
            "Open a session {}, for the public key {key}, of the user whom an ID token identifies. {}",
            limits.lifetime, limits.sentence
        ),
    );
    if replaces(parameters)? {
        description.flag_low("ends-sessions", "Ends the other logins of this user.");
    }
    limits.flag(&mut description);
    let text = "The console does not know whose session it is: only the daemon reads the ID token.";
    description.flag_high("session-by-token", text);
    Ok(description)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    #[test]
    fn describes_the_login() {
        let row = json!({"oidcToken": "", "publicKey": "02".repeat(33), "invalidateExisting": true,
            "sessionProfileId": "99999999-9999-9999-9999-999999999999"});
        crate::kinds::tests::check("oauth_login", &[("OAUTH_LOGIN", row)]);
    }
}
