//! Brings secrets in.

use super::scene::{count, listed};
use super::{Kind, Level, Reader, Scene, Story, Undecodable, Version, secret};
use crate::text::quoted;

pub(super) struct ImportSecrets;

impl Kind for ImportSecrets {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_IMPORT_SECRETS",
            intent: "importSecretsIntent",
            shape: "secrets[]:ImportedSecret",
        }]
    }

    fn title(&self) -> &'static str {
        "Import secrets"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Story, Undecodable> {
        let secrets = parameters.list("secrets")?;
        let told = secrets.iter().map(told).collect::<Result<Vec<_>, _>>()?;
        let those = count(secrets.len(), "secret");
        let mut story = Story::new(
            those.clone(),
            format!(
                "Bring {those} in, which {} encrypted to this service: {}. Names and properties stay as they are.",
                scene.asker_named(),
                listed(told)
            ),
        );
        story.flag(Level::Med, "copy-elsewhere", "whoever encrypted it knows it, and may hold a copy");
        for secret in &secrets {
            let Some(name) = secret.maybe_text("name")? else { continue };
            if scene.organization.secrets.iter().any(|known| known.name.as_deref() == Some(name)) {
                let text = format!("there is a secret named {} already", quoted(name));
                story.flag(Level::Med, "same-name", text);
            }
        }
        let before = scene.organization.secrets.len();
        story.change("secrets", before.to_string(), before.saturating_add(secrets.len()).to_string(), "");
        Ok(story)
    }

    fn abridged(&self, member: &str, text: &str) -> Option<String> {
        (member == "secrets[].secretPayload")
            .then(|| format!("{} characters, which only the daemon can open", text.len()))
    }
}

/// A secret to be brought in, in words.
fn told(one: &Reader<'_>) -> Result<String, Undecodable> {
    secret::encryption(one)?;
    // What it holds is for the daemon's eyes only.
    one.text("secretPayload")?;
    one.text("targetPublicKey")?;
    let name = one.maybe_text("name")?.map_or_else(|| "one without a name".to_owned(), quoted);
    Ok(match secret::pairs(one, "staticProperties")? {
        Some(properties) => format!("{name} ({properties})"),
        None => format!("{name} (no properties)"),
    })
}
