//! Imports secrets.

use super::scene::{count, listed};
use super::{Description, Kind, Level, Reader, Scene, Undecodable, Version, secret};
use crate::text::quoted;

pub(super) struct ImportSecrets;

impl Kind for ImportSecrets {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_IMPORT_SECRETS",
            intent: "importSecretsIntent",
            schema: "secrets[]:ImportedSecret",
        }]
    }

    fn title(&self) -> &'static str {
        "Import secrets"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Description, Undecodable> {
        let secrets = parameters.list("secrets")?;
        let named = secrets.iter().map(secret_text).collect::<Result<Vec<_>, _>>()?;
        let those = count(secrets.len(), "secret");
        let mut description = Description::new(
            those.clone(),
            format!(
                "Import {those}, which {} encrypted to this service: {}. Names and properties cannot be \
                 changed later.",
                scene.proposer_named(),
                listed(named)
            ),
        );
        description.flag(
            Level::Med,
            "copy-elsewhere",
            "The person who encrypted a secret knows it and may keep a copy.",
        );
        for secret in &secrets {
            let Some(name) = secret.maybe_text("name")? else { continue };
            if scene.organization.secrets.iter().any(|known| known.name.as_deref() == Some(name)) {
                let text = format!("Easy to confuse: a secret named {} already exists.", quoted(name));
                description.flag(Level::Med, "same-name", text);
            }
        }
        let before = scene.organization.secrets.len();
        description.change(
            "secrets",
            before.to_string(),
            before.saturating_add(secrets.len()).to_string(),
            "",
        );
        Ok(description)
    }

    fn abridged(&self, member: &str, text: &str) -> Option<String> {
        (member == "secrets[].secretPayload")
            .then(|| format!("{}, which only the daemon can decrypt", count(text.len(), "character")))
    }
}

/// Returns name and properties of a secret to import.
fn secret_text(one: &Reader<'_>) -> Result<String, Undecodable> {
    secret::check_encryption(one)?;
    // Only the daemon can decrypt the payload.
    one.text("secretPayload")?;
    one.text("targetPublicKey")?;
    let name = one.maybe_text("name")?.map_or_else(|| "an unnamed secret".to_owned(), quoted);
    Ok(match secret::pairs(one, "staticProperties")? {
        Some(properties) => format!("{name} ({properties})"),
        None => format!("{name} (no properties)"),
    })
}
