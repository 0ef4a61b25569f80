//! Makes keys that secrets can be imported to.

use super::scene::count;
use super::{Kind, Reader, Scene, Story, Undecodable, Version, secret};

pub(super) struct InitImportSecrets;

impl Kind for InitImportSecrets {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_INIT_IMPORT_SECRETS",
            intent: "initImportSecretsIntent",
            shape: "encryptionSuite numSecrets",
        }]
    }

    fn title(&self) -> &'static str {
        "Prepare import of secrets"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Story, Undecodable> {
        secret::encryption(parameters)?;
        let number = usize::try_from(parameters.number("numSecrets")?).unwrap_or(usize::MAX);
        let sentence = format!(
            "Make {} to which {} can encrypt one secret each, within 24 hours. Nothing is imported by this yet.",
            count(number, "key"),
            scene.asker_named()
        );
        Ok(Story::new(count(number, "secret"), sentence))
    }
}
