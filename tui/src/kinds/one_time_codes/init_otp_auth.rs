//! Sends a one-time code to a user, which opens a session.

use super::code::{details, sent};
use crate::kinds::prelude::*;
use crate::kinds::sessions::session::flag_holder;
use crate::kinds::shared::message::flag_message;

pub(super) const KIND: Kind = Kind::new("INIT_OTP_AUTH", "Send one-time code to user", describe);

fn describe(parameters: &Reader<'_>, context: &ReviewContext<'_>) -> Result<Description> {
    let sent = sent(parameters)?;
    let mut description = Description::new(
        sent.clone(),
        format!(
            "Send a one-time code {sent}. {} Anyone who sends the code back can open a session of the user with \
             this contact.",
            details(parameters)?
        ),
    );
    match context.only_user_with_contact(parameters.text("contact")?) {
        Some(id) => flag_holder(&mut description, &id, context),
        None => description.flag_high("unknown-user", "No single user with this contact is known here."),
    }
    flag_message(parameters, &mut description)?;
    Ok(description)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    #[test]
    fn describes_each_code() {
        let contact = json!({"otpType": "OTP_TYPE_EMAIL", "contact": "ann@house.example"});
        let rows = [
            ("INIT_OTP_AUTH", contact.clone()),
            ("INIT_OTP_AUTH_V2", contact),
            (
                "INIT_OTP_AUTH_V3",
                json!({"otpType": "OTP_TYPE_SMS", "contact": "+491701234567", "appName": "House",
                "emailCustomization": {"magicLinkTemplate": "https://house.example/%s"}}),
            ),
        ];
        crate::kinds::tests::check("init_otp_auth", &rows);
    }
}
