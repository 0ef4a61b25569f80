//! Opens a session for the user who received a one-time code.

use crate::kinds::prelude::*;
use crate::kinds::sessions::session::describe_bundled;

pub(super) const KIND: Kind = Kind {
    abridged: &[("otpCode", |_| Some("(hidden)".to_owned()))],
    hidden: Some((&["ACTIVITY_TYPE_OTP_AUTH"], "the daemon hides the one-time code")),
    ..Kind::new("OTP_AUTH", "Open session by code", describe)
};

fn describe(parameters: &Reader<'_>, _: &ReviewContext<'_>) -> Result<Description> {
    let code = clean(parameters.text("otpId")?);
    let whose = format!("the user who received the one-time code {code}");
    let mut description = describe_bundled(parameters, format!("code {code}"), &whose)?;
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
