//! Opens a session for the user whose contact a verification token proves.

use super::session::describe_login;
use crate::kinds::prelude::*;
use crate::kinds::shared::verification_token::{TOKEN, TOKEN_HIDDEN};

pub(super) const KIND: Kind = Kind {
    abridged: &[TOKEN],
    hidden: Some((&["ACTIVITY_TYPE_OTP_LOGIN", "ACTIVITY_TYPE_OTP_LOGIN_V2"], TOKEN_HIDDEN)),
    ..Kind::new("OTP_LOGIN", "Log in by code", describe)
};

fn describe(parameters: &Reader<'_>, context: &ReviewContext<'_>) -> Result<Description> {
    let mut description =
        describe_login(parameters, "the user whose contact a verification token proves", context)?;
    let text =
        "The console does not know whose session it is: only the daemon reads the contact in the token.";
    description.flag_high("session-by-code", text);
    Ok(description)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    #[test]
    fn describes_each_login() {
        let key = "02".repeat(33);
        let signature = json!({"publicKey": key, "scheme": "CLIENT_SIGNATURE_SCHEME_API_P256",
            "message": "{}", "signature": "00"});
        let rows = [
            ("OTP_LOGIN", json!({"verificationToken": "", "publicKey": key, "invalidateExisting": true})),
            (
                "OTP_LOGIN_V2",
                json!({"verificationToken": "", "publicKey": key, "clientSignature": signature,
                "sessionProfileId": "99999999-9999-9999-9999-999999999999"}),
            ),
        ];
        crate::kinds::tests::check("otp_login", &rows);
    }
}
