//! Opens a session for the user who received a one-time code.

use crate::kinds::prelude::*;
use crate::kinds::sessions::session::{lifetime, replaces};
use crate::text::grouped;

pub(super) const KIND: Kind = Kind {
    abridged: &[("otpCode", |_| Some("(hidden)".to_owned()))],
    hidden: Some((&["ACTIVITY_TYPE_OTP_AUTH"], "the daemon hides the one-time code")),
    ..Kind::new("OTP_AUTH", "Open session by code", describe)
};

fn describe(parameters: &Reader<'_>, _: &ReviewContext<'_>) -> Result<Description> {
    let code = clean(parameters.text("otpId")?);
    let mut description = Description::new(
        format!("code {code}"),
        format!(
            "Open a session {} for the user who received the one-time code {code}. Its key is encrypted to the \
             target key that is shown in full below, and may do what this user may do.",
            lifetime(parameters, None)?
        ),
    );
    description.fact("target key, in full", grouped(&clean(parameters.text("targetPublicKey")?)));
    if replaces(parameters)? {
        description.flag_low("ends-sessions", "Ends the other such sessions of this user.");
    }
    let text = "The console does not know whose session it is: only the daemon knows who received the code.";
    description.flag_high("session-by-code", text);
    Ok(description)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    #[test]
    fn describes_the_session() {
        let row = json!({"otpId": "84848484-8484-8484-8484-848484848484", "otpCode": "",
            "targetPublicKey": format!("04{}", "ab".repeat(64)), "invalidateExisting": true});
        crate::kinds::tests::check("otp_auth", &[("OTP_AUTH", row)]);
    }
}
