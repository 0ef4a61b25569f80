//! Sends a one-time code to a contact.

use super::code::{details, sent};
use crate::kinds::prelude::*;
use crate::kinds::sessions::session::flag_holder;
use crate::kinds::shared::message::flag_message;

pub(super) const KIND: Kind = Kind::new("INIT_OTP", "Send one-time code", describe);

fn describe(parameters: &Reader<'_>, context: &ReviewContext<'_>) -> Result<Description> {
    let sent = sent(parameters)?;
    let mut description = Description::new(
        sent.clone(),
        format!(
            "Send a one-time code {sent}. {} Anyone who sends the code back gets a token that proves this contact. \
             The token opens a session of the user with this contact, here and in the sub-organizations.",
            details(parameters)?
        ),
    );
    // A contact that no user has is usual here: people sign up with it.
    if let Some(id) = context.only_user_with_contact(parameters.text("contact")?) {
        flag_holder(&mut description, &id, context);
    }
    flag_message(parameters, &mut description)?;
    Ok(description)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    #[test]
    fn describes_each_code() {
        let (mail, sms) = ("OTP_TYPE_EMAIL", "OTP_TYPE_SMS");
        let rows = [
            ("INIT_OTP", json!({"otpType": mail, "contact": "ann@house.example"})),
            (
                "INIT_OTP",
                json!({"otpType": mail, "contact": "ann@house.example", "expirationSeconds": "600",
                "sendFromEmailAddress": "codes@house.example",
                "emailCustomization": {"magicLinkTemplate": "https://house.example/in?code=%s"}}),
            ),
            ("INIT_OTP_V2", json!({"otpType": sms, "contact": "+491701234567", "appName": "House"})),
            (
                "INIT_OTP_V3",
                json!({"otpType": mail, "contact": "ann@house.example", "appName": "House", "otpLength": 6}),
            ),
        ];
        crate::kinds::tests::check("init_otp", &rows);
    }
}
