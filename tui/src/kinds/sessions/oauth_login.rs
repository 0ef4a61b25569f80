//! Opens a session for the user whom an ID token identifies.

use super::session::describe_login;
use crate::kinds::prelude::*;

pub(super) const KIND: Kind = Kind {
    abridged: &[("oidcToken", |_| Some("(hidden)".to_owned()))],
    hidden: Some((&["ACTIVITY_TYPE_OAUTH_LOGIN"], "the daemon hides the ID token")),
    ..Kind::new("OAUTH_LOGIN", "Log in by ID token", describe)
};

fn describe(parameters: &Reader<'_>, context: &ReviewContext<'_>) -> Result<Description> {
    let mut description = describe_login(parameters, "the user whom an ID token identifies", context)?;
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
