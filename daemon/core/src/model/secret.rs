//! A secret that was brought in. Its value is a record of its own; nothing of either ever changes.

use quorate_common::bounded::{Decimal, Label};
use quorate_common::ids::SecretId;
use quorate_common::wire::{self, StaticProperty};
use serde::{Deserialize, Serialize};

use super::Millis;
use super::layout::Entity;
use super::record::Record;
use super::shelf::shelved;

/// A secret without its value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Secret {
    /// Id.
    pub id: SecretId,
    /// Name.
    pub name: Option<Label>,
    /// What policies may ask about it.
    pub static_properties: Vec<StaticProperty>,
    /// Created at.
    pub created: Millis,
}

impl Record for Secret {
    const NOUN: &'static str = "secret";
}

shelved!(Secret, SecretId, Entity::Secret, secrets);

impl Secret {
    /// As queries show it.
    pub fn wire(&self) -> wire::Secret {
        wire::Secret {
            secret_id: self.id,
            name: self.name.as_ref().map(ToString::to_string),
            static_properties: self.static_properties.clone(),
            created_at_unix_ms: Decimal(self.created),
        }
    }
}
