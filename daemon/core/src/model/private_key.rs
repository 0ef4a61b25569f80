//! Single private keys. The secret scalar is a separate record.

use quorate_chain::curve::Curve;
use quorate_common::bounded::Label;
use quorate_common::ids::{PrivateKeyId, TagId};
use quorate_common::wire::{self, Timestamp};
use serde::{Deserialize, Serialize};

use super::Millis;

/// A private key without its secret scalar.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PrivateKey {
    /// Id.
    pub id: PrivateKeyId,
    /// Name.
    pub name: Label,
    /// Curve of the key.
    pub curve: Curve,
    /// Public key, hex.
    pub public_key: String,
    /// Addresses, in the requested order.
    pub addresses: Vec<wire::Address>,
    /// Tags.
    pub tags: Vec<TagId>,
    /// Whether the key was ever exported.
    pub exported: bool,
    /// Whether the key was imported.
    pub imported: bool,
    /// Whether the key is disabled: it can neither sign nor be exported.
    #[serde(default)]
    pub disabled: bool,
    /// Time of creation.
    pub created: Millis,
    /// Time of the last change.
    pub updated: Millis,
}

impl PrivateKey {
    /// Converts to the wire form.
    pub fn wire(&self) -> wire::PrivateKey {
        wire::PrivateKey {
            private_key_id: self.id,
            public_key: self.public_key.clone(),
            private_key_name: self.name.to_string(),
            curve: self.curve.name().to_owned(),
            addresses: self.addresses.clone(),
            private_key_tags: self.tags.clone(),
            created_at: Timestamp::from_millis(self.created),
            updated_at: Timestamp::from_millis(self.updated),
            exported: self.exported,
            imported: self.imported,
        }
    }
}
