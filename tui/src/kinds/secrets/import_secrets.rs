//! Imports secrets.

use super::secret;
use crate::kinds::prelude::*;
use crate::kinds::shared::key_import::encrypted;

pub(super) const KIND: Kind = Kind {
    abridged: &[("secrets[].secretPayload", encrypted)],
    ..Kind::new("IMPORT_SECRETS", "Import secrets", describe)
};

fn describe(parameters: &Reader<'_>, context: &ReviewContext<'_>) -> Result<Description> {
    let secrets = parameters.list("secrets")?;
    let named = secrets.iter().map(secret_text).collect::<Result<Vec<_>, _>>()?;
    let those = count(secrets.len(), "secret");
    let mut description = Description::new(
        those.clone(),
        format!(
            "Import {those}, which {} encrypted to this service: {}. Names and properties cannot be \
             changed later.",
            context.proposer_named(),
            listed(named)
        ),
    );
    description
        .flag_medium("copy-elsewhere", "The person who encrypted a secret knows it and may keep a copy.");
    for secret in &secrets {
        let Some(name) = secret.maybe_text("name")? else { continue };
        if context.organization.secrets.iter().any(|known| known.name.as_deref() == Some(name)) {
            description.flag_same_name("a secret", name);
        }
    }
    description.change_added("secrets", context.organization.secrets.len(), secrets.len());
    Ok(description)
}

/// Returns name and properties of a secret to import.
fn secret_text(one: &Reader<'_>) -> Result<String> {
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
