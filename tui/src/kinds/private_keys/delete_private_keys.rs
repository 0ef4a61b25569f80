//! Deletes private keys.

use crate::kinds::prelude::*;
use crate::kinds::shared::key_deletion::KeyDeletion;

pub(super) const KIND: Kind = Kind::new("DELETE_PRIVATE_KEYS", "Delete private keys", describe);

fn describe(parameters: &Reader<'_>, context: &ReviewContext<'_>) -> Result<Description> {
    KeyDeletion {
        noun: "private key",
        with: "",
        present: context.organization.private_keys.len(),
        named: &|id| context.private_key_named(id),
        known: &|id| context.private_key(id).map(|one| (one.private_key_name.as_str(), one.exported)),
    }
    .describe(parameters, "privateKeyIds")
}
