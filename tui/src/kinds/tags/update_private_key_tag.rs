//! Renames a tag, adds it to private keys and removes it from others.

use super::tag::PRIVATE_KEYS;
use crate::kinds::prelude::*;

pub(super) const KIND: Kind = Kind::new("UPDATE_PRIVATE_KEY_TAG", "Change private key tag", describe);

fn describe(parameters: &Reader<'_>, context: &ReviewContext<'_>) -> Result<Description> {
    let (add, remove) = (parameters.texts("addPrivateKeyIds")?, parameters.texts("removePrivateKeyIds")?);
    let tag = parameters.text("privateKeyTagId")?;
    let name = parameters.maybe_text("newPrivateKeyTagName")?;
    Ok(PRIVATE_KEYS.describe_update(tag, name, (&add, &remove), context))
}
