//! Opens a session for a user, whose key is sent to them by mail.

use super::session::{flag_holder, flag_mailed_key, lifetime, replaces};
use crate::kinds::prelude::*;
use crate::kinds::shared::message::flag_message;
use crate::text::grouped;

pub(super) const KIND: Kind = Kind::new("EMAIL_AUTH", "Open session by mail", describe);

fn describe(parameters: &Reader<'_>, context: &ReviewContext<'_>) -> Result<Description> {
    let email = parameters.text("email")?;
    let holder = context.only_user_with_email(email);
    let mut description = Description::new(
        quoted(email),
        format!(
            "Open a session {} for the user with the email {}, and mail its key there. The key is encrypted to \
             the target key that is shown in full below, and may do what this user may do.",
            lifetime(parameters, None)?,
            quoted(email)
        ),
    );
    description.fact("target key, in full", grouped(&clean(parameters.text("targetPublicKey")?)));
    if replaces(parameters)? {
        description.flag_low("ends-sessions", "Ends the other such sessions of this user.");
    }
    if let Some(id) = holder {
        flag_holder(&mut description, &id, context);
    } else {
        let text = "No single user with this email is known here.";
        description.flag_high("unknown-user", text);
    }
    flag_message(parameters, &mut description)?;
    flag_mailed_key(&mut description, "session");
    Ok(description)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    #[test]
    fn describes_each_session() {
        let target = format!("04{}", "ab".repeat(64));
        let rows = [
            ("EMAIL_AUTH", json!({"email": "nobody@house.example", "targetPublicKey": target})),
            ("EMAIL_AUTH_V2", json!({"email": "nobody@house.example", "targetPublicKey": target})),
            (
                "EMAIL_AUTH_V3",
                json!({"email": "nobody@house.example", "targetPublicKey": target,
                "invalidateExisting": true, "emailCustomization": {"appName": "House"}}),
            ),
        ];
        crate::kinds::tests::check("email_auth", &rows);
    }
}
