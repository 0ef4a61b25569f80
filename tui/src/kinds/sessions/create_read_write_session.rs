//! Opens a session of a user, whose key is delivered encrypted to a target key.

use super::session::{flag_holder, lifetime, replaces};
use crate::kinds::prelude::*;
use crate::text::grouped;

pub(super) const KIND: Kind = Kind::new("CREATE_READ_WRITE_SESSION", "Open session", describe);

fn describe(parameters: &Reader<'_>, context: &ReviewContext<'_>) -> Result<Description> {
    let target = parameters.text("targetPublicKey")?;
    let id = user(parameters, context)?;
    let named = match &id {
        Some(id) => context.user_named(id),
        None => format!("the user with the email {}", quoted(parameters.text("email")?)),
    };
    let brief = id.as_ref().map_or_else(|| named.clone(), |id| context.user_short(id));
    let mut description = Description::new(
        brief,
        format!(
            "Open a session of {named} {}. Its key is encrypted to the target key that is shown in full below, \
             and may do what this user may do.",
            lifetime(parameters, None)?
        ),
    );
    description.fact("target key, in full", grouped(&clean(target)));
    if replaces(parameters)? {
        description.flag_low("ends-sessions", "Ends the other read-write sessions of this user.");
    }
    if let Some(id) = id {
        flag_holder(&mut description, &id, context);
        description.danger("the NAME of the user whose session it is", &context.user_name(&id));
    } else {
        let text = format!("The holder of the session can act as {named}, who is not known here.");
        description.flag_high("session-by-other", text);
    }
    description.flag_high("target-unknown",
        "An attacker may receive the session: the owner of the target key is unknown here. Compare the key with \
         the one that the receiver sees.",
    );
    Ok(description)
}

/// Returns the id of the user: the one named by id or email, or the proposer. The daemon rejects an email that
/// several users have.
fn user(parameters: &Reader<'_>, context: &ReviewContext<'_>) -> Result<Option<String>> {
    if let Some(email) = parameters.maybe_text("email")? {
        return Ok(context.only_user_with_email(email));
    }
    let named = parameters.maybe_text("userId")?.map(str::to_owned);
    Ok(named.or_else(|| context.proposer.map(|id| id.to_string())))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::testing::Fixture;

    #[test]
    fn describes_each_session() {
        let target = format!("04{}", "ab".repeat(64));
        let rows = [
            (
                "CREATE_READ_WRITE_SESSION",
                json!({"targetPublicKey": target, "email": "nobody@house.example"}),
            ),
            ("CREATE_READ_WRITE_SESSION_V2", json!({"targetPublicKey": target})),
            (
                "CREATE_READ_WRITE_SESSION_V2",
                json!({"targetPublicKey": target, "userId": Fixture::user(1),
                "expirationSeconds": "3600", "invalidateExisting": true}),
            ),
            (
                "CREATE_READ_WRITE_SESSION_V2",
                json!({"targetPublicKey": target,
                "userId": "99999999-9999-9999-9999-999999999999"}),
            ),
        ];
        crate::kinds::tests::check("create_read_write_session", &rows);
    }
}
