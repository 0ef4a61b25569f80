//! Accepts a one-time code, and returns a token that proves its receipt.

use crate::kinds::prelude::*;
use crate::text::duration;

pub(super) const KIND: Kind = Kind {
    abridged: &[
        ("otpCode", |_| Some("(hidden)".to_owned())),
        ("encryptedOtpBundle", |_| Some("(hidden)".to_owned())),
    ],
    hidden: Some((
        &["ACTIVITY_TYPE_VERIFY_OTP", "ACTIVITY_TYPE_VERIFY_OTP_V2"],
        "the daemon hides the one-time code",
    )),
    ..Kind::new("VERIFY_OTP", "Verify one-time code", describe)
};

/// Lifetime of a token unless its request states one, in seconds.
const LIFETIME_SECONDS: u64 = 3600;

fn describe(parameters: &Reader<'_>, _: &ReviewContext<'_>) -> Result<Description> {
    let code = clean(parameters.text("otpId")?);
    let stated = parameters.has("expirationSeconds");
    let seconds = if stated { parameters.number("expirationSeconds")? } else { LIFETIME_SECONDS };
    Ok(Description::new(
        format!("code {code}"),
        format!(
            "Verify the one-time code {code}, and return a token that proves the contact for {}. The token opens a \
             session of the user with this contact.",
            duration(seconds.saturating_mul(1000))
        ),
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    #[test]
    fn describes_each_version() {
        let id = "84848484-8484-8484-8484-848484848484";
        let rows = [
            ("VERIFY_OTP", json!({"otpId": id, "otpCode": ""})),
            ("VERIFY_OTP_V2", json!({"otpId": id, "encryptedOtpBundle": "", "expirationSeconds": "86400"})),
        ];
        crate::kinds::tests::check("verify_otp", &rows);
    }
}
