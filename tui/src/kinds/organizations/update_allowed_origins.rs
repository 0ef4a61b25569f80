//! Sets the web origins from which passkeys are accepted.

use crate::kinds::prelude::*;

pub(super) const KIND: Kind = Kind::new("UPDATE_ALLOWED_ORIGINS", "Change allowed origins", describe);

fn describe(parameters: &Reader<'_>, context: &ReviewContext<'_>) -> Result<Description> {
    let origins = parameters.texts("allowedOrigins")?;
    let listed_origins = listed(origins.iter().map(|origin| quoted(origin)));
    let mut features = context.organization.features.iter();
    let now = features.find(|feature| feature.name == "FEATURE_NAME_WEBAUTHN_ORIGINS");
    let now = now.and_then(|feature| feature.value.as_deref());
    let now = now.map_or_else(|| "any".to_owned(), clean);
    let mut description = if origins.is_empty() {
        let mut description = Description::new("any origin", "Accept passkeys from any web origin.");
        description.change("origins", now, "any");
        description.flag_high("any-origin", "Any web site can then ask people to sign with their passkey.");
        description
    } else {
        let sentence = format!("Accept passkeys only from these web origins: {listed_origins}.");
        let mut description = Description::new(listed_origins.clone(), sentence);
        description.change("origins", now, listed_origins);
        description.flag_medium("origins-changed", "Passkeys stop working on web sites that are not listed.");
        description
    };
    if origins.iter().any(|origin| origin.starts_with("http://")) {
        description.flag_medium(
            "origin-without-tls",
            "An attacker on the network can impersonate a web origin without TLS.",
        );
    }
    Ok(description)
}
