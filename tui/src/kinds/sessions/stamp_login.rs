//! Opens a session for the proposer.

use super::session::{Limits, flag_holder};
use crate::kinds::prelude::*;

pub(super) const KIND: Kind = Kind::new("STAMP_LOGIN", "Log in", describe);

fn describe(parameters: &Reader<'_>, context: &ReviewContext<'_>) -> Result<Description> {
    let proposer = context.proposer.map(|id| id.to_string()).unwrap_or_default();
    let user = context.proposer_named();
    let limits = Limits::read(parameters, context)?;
    let mut description = Description::new(
        context.user_short(&proposer),
        format!(
            "Open a session of {user} {}, for the public key {}. {}",
            limits.lifetime,
            clean(parameters.text("publicKey")?),
            limits.sentence
        ),
    );
    limits.flag(parameters, &mut description)?;
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
