//! Disables a private key.

use crate::kinds::prelude::*;

pub(super) const KIND: Kind = Kind::new("DISABLE_PRIVATE_KEY", "Disable private key", describe);

fn describe(parameters: &Reader<'_>, context: &ReviewContext<'_>) -> Result<Description> {
    let id = parameters.text("privateKeyId")?;
    let named = context.private_key_named(id);
    let mut description = Description::new(
        named.clone(),
        format!("Disable the private key {named} for good: it stays listed but can no longer sign."),
    );
    description.flag_high(
        "key-disabled",
        "Stops everything that needs a signature by this key. A disabled key cannot be enabled again.",
    );
    description.flag_if_missing("unknown-key", context.private_key(id).is_some(), &named);
    Ok(description)
}
