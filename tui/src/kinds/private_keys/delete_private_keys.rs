//! Deletes private keys.

use crate::kinds::prelude::*;
use crate::kinds::shared::key_deletion::KeyDeletion;

pub(super) const KIND: Kind = Kind::new("DELETE_PRIVATE_KEYS", "Delete private keys", describe);

fn describe(parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Description, Undecodable> {
    KeyDeletion {
        noun: "private key",
        with: "",
        present: scene.organization.private_keys.len(),
        named: &|id| scene.private_key_named(id),
        known: &|id| scene.private_key(id).map(|one| (one.private_key_name.as_str(), one.exported)),
    }
    .describe(parameters, "privateKeyIds")
}
