//! Creates keys to which secrets can be encrypted for their import.

use super::scene::count;
use super::{Description, Kind, Reader, Scene, Undecodable, Version, secret};

pub(super) struct InitImportSecrets;

impl Kind for InitImportSecrets {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_INIT_IMPORT_SECRETS",
            intent: "initImportSecretsIntent",
            schema: "encryptionSuite numSecrets",
        }]
    }

    fn title(&self) -> &'static str {
        "Prepare import of secrets"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Description, Undecodable> {
        secret::check_encryption(parameters)?;
        let number = usize::try_from(parameters.number("numSecrets")?).unwrap_or(usize::MAX);
        let sentence = format!(
            "Create {} to which {} can encrypt {} within 24 hours. This imports nothing yet.",
            count(number, "key"),
            scene.proposer_named(),
            if number == 1 { "one secret" } else { "one secret each" }
        );
        Ok(Description::new(count(number, "secret"), sentence))
    }
}
