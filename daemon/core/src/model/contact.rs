//! Contacts: people whom the organization knows. A contact is never changed.

use quorate_common::bounded::Label;
use quorate_common::ids::ContactId;
use quorate_common::wire::{self, Timestamp};
use serde::{Deserialize, Serialize};

use super::Millis;
use super::record::Record;

/// A person whom the organization knows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Contact {
    /// Id.
    pub id: ContactId,
    /// Name.
    pub name: Label,
    /// Time of creation.
    pub created: Millis,
}

impl Record for Contact {
    const NOUN: &'static str = "contact";
}

impl Contact {
    /// Converts to the wire form.
    pub fn wire(&self) -> wire::Contact {
        wire::Contact {
            contact_id: self.id,
            contact_name: self.name.to_string(),
            created_at: Timestamp::from_millis(self.created),
        }
    }
}
