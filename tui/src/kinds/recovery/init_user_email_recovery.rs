//! Sends a recovery key to a user by mail.

use crate::kinds::prelude::*;
use crate::kinds::sessions::session::{flag_mailed_key, lifetime};
use crate::kinds::shared::message::flag_message;
use crate::text::grouped;

const UNKNOWN: &str = "No single user with this email is known here.";

pub(super) const KIND: Kind = Kind::new("INIT_USER_EMAIL_RECOVERY", "Start recovery by mail", describe);

fn describe(parameters: &Reader<'_>, context: &ReviewContext<'_>) -> Result<Description> {
    let email = parameters.text("email")?;
    let mut description = Description::new(
        quoted(email),
        format!(
            "Mail a recovery key to the user with the email {}, valid {}. It is encrypted to the target key that is \
             shown in full below. The key can register a new authenticator of this user, which may do all that the \
             user may do.",
            quoted(email),
            lifetime(parameters, None)?
        ),
    );
    description.fact("target key, in full", grouped(&clean(parameters.text("targetPublicKey")?)));
    match context.only_user_with_email(email) {
        Some(id) if context.is_root(&id) => {
            let text = format!("Recovers {}, who can vote in the root quorum.", context.user_named(&id));
            description.flag_high("recovers-root-user", text);
        }
        Some(id) => description.fact("recovers", context.user_named(&id)),
        None => description.flag_high("unknown-user", UNKNOWN),
    }
    flag_message(parameters, &mut description)?;
    flag_mailed_key(&mut description, "recovery key");
    Ok(description)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    #[test]
    fn describes_each_recovery() {
        let target = format!("04{}", "ab".repeat(64));
        let rows = [
            ("INIT_USER_EMAIL_RECOVERY", json!({"email": "nobody@house.example", "targetPublicKey": target})),
            (
                "INIT_USER_EMAIL_RECOVERY_V2",
                json!({"email": "nobody@house.example", "targetPublicKey": target,
                "expirationSeconds": "3600", "emailCustomization": {"appName": "House"}}),
            ),
        ];
        crate::kinds::tests::check("init_user_email_recovery", &rows);
    }
}
