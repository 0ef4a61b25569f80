//! Exports a private key.

use crate::kinds::prelude::*;
use crate::kinds::shared::key_export::KeyExport;

pub(super) const KIND: Kind = Kind::new("EXPORT_PRIVATE_KEY", "Export private key", describe);

fn describe(parameters: &Reader<'_>, context: &ReviewContext<'_>) -> Result<Description> {
    let id = parameters.text("privateKeyId")?;
    let key = context.private_key(id);
    let mut description = KeyExport {
        what: "the private key",
        named: context.private_key_named(id),
        danger: ("the NAME of the key that is exported", key.map_or("EXPORT", |one| &one.private_key_name)),
        known: key.is_some(),
        target: parameters.text("targetPublicKey")?,
    }
    .describe(context);
    let exported = key.is_some_and(|key| key.exported);
    description.change("exported", if exported { "yes" } else { "no" }, "yes");
    Ok(description)
}
