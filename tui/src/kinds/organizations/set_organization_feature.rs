//! Enables a feature of the organization, or changes its value.

use crate::kinds::prelude::*;
use crate::kinds::shared::endpoint;

pub(super) const KIND: Kind = Kind::new("SET_ORGANIZATION_FEATURE", "Set feature", describe);

/// Features that let people sign in or recover access without a registered key.
const SIGN_IN: [&str; 6] =
    ["ROOT_USER_EMAIL_RECOVERY", "EMAIL_AUTH", "EMAIL_RECOVERY", "SMS_AUTH", "OTP_EMAIL_AUTH", "AUTH_PROXY"];

fn describe(parameters: &Reader<'_>, context: &ReviewContext<'_>) -> Result<Description> {
    let whole = parameters.text("name")?;
    let name = whole.strip_prefix("FEATURE_NAME_").unwrap_or(whole);
    let feature = clean(name);
    let value = parameters.maybe_text("value")?;
    let with_value = value.map_or_else(String::new, |value| format!(" with the value {}", quoted(value)));
    let mut description = Description::new(
        format!("{}{}", clean(name), value.map_or_else(String::new, |value| format!(" = {}", clean(value)))),
        format!("Enable the feature {feature}{with_value}."),
    );
    description.change(&feature, current(context, whole), value.map_or_else(|| "on".to_owned(), clean));
    if SIGN_IN.contains(&name) {
        description.flag_high(
            "sign-in-enabled",
            format!("Lets people sign in or recover access without a registered key: enables {feature}."),
        );
        description.danger("the NAME of the feature, without FEATURE_NAME_", name);
    } else if name == "WEBHOOK" {
        description.flag_high("webhook-url", "Reports every activity to this address.");
        description.danger("the HOST of the address", value.and_then(endpoint::host).unwrap_or_default());
    } else if name == "WEBAUTHN_ORIGINS" {
        description.flag_medium("origins", "Changes the web sites on which passkeys work.");
    }
    Ok(description)
}

/// Returns the current value of the feature, as the daemon states it.
pub(super) fn current(context: &ReviewContext<'_>, name: &str) -> String {
    match context.organization.features.iter().find(|feature| feature.name == name) {
        Some(feature) => feature.value.as_deref().map_or_else(|| "on".to_owned(), clean),
        None => "off".to_owned(),
    }
}
