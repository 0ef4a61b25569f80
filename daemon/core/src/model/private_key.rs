//! A single private key. The scalar is a secret of its own.

use quorate_chain::curve::Curve;
use quorate_common::bounded::Label;
use quorate_common::ids::{PrivateKeyId, TagId};
use quorate_common::wire::{self, Timestamp};
use serde::{Deserialize, Serialize};

use super::Millis;
use super::layout::Entity;
use super::record::Record;
use super::shelf::shelved;

/// A private key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PrivateKey {
    /// Id.
    pub id: PrivateKeyId,
    /// Name.
    pub name: Label,
    /// Curve.
    pub curve: Curve,
    /// Public key, hex.
    pub public_key: String,
    /// Addresses in the order asked for.
    pub addresses: Vec<wire::Address>,
    /// Tags.
    pub tags: Vec<TagId>,
    /// Whether it ever left by export.
    pub exported: bool,
    /// Whether it came by import.
    pub imported: bool,
    /// Whether it was disabled: it neither signs nor leaves any more.
    #[serde(default)]
    pub disabled: bool,
    /// Created at.
    pub created: Millis,
    /// Last changed at.
    pub updated: Millis,
}

impl Record for PrivateKey {
    const NOUN: &'static str = "private key";
}

shelved!(PrivateKey, PrivateKeyId, Entity::PrivateKey, private_keys);

impl PrivateKey {
    /// As queries show it.
    pub fn wire(&self) -> wire::PrivateKey {
        wire::PrivateKey {
            private_key_id: self.id,
            public_key: self.public_key.clone(),
            private_key_name: self.name.to_string(),
            curve: self.curve.name().to_owned(),
            addresses: self.addresses.clone(),
            private_key_tags: self.tags.clone(),
            created_at: Timestamp::of_millis(self.created),
            updated_at: Timestamp::of_millis(self.updated),
            exported: self.exported,
            imported: self.imported,
        }
    }
}
