//! Imported secrets. The value is a separate record; neither record ever changes.

use quorate_common::bounded::{Decimal, Label};
use quorate_common::ids::SecretId;
use quorate_common::wire::{self, StaticProperty};
use serde::{Deserialize, Serialize};

use super::Millis;

/// An imported secret without its value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Secret {
    /// Id.
    pub id: SecretId,
    /// Name.
    pub name: Option<Label>,
    /// Properties that policies can query.
    pub static_properties: Vec<StaticProperty>,
    /// Time of creation.
    pub created: Millis,
}

impl Secret {
    /// Converts to the wire form.
    pub fn wire(&self) -> wire::Secret {
        wire::Secret {
            secret_id: self.id,
            name: self.name.as_ref().map(ToString::to_string),
            static_properties: self.static_properties.clone(),
            created_at_unix_ms: Decimal(self.created),
        }
    }
}
