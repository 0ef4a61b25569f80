//! Tags: names for groups of users or of private keys, which policies can query.

use quorate_common::bounded::Label;
use quorate_common::ids::TagId;
use quorate_common::wire::{self, Timestamp};
use quorate_common::wire_enum;
use serde::{Deserialize, Serialize};

use super::Millis;

wire_enum! {
    /// The kind of objects that a tag groups.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    pub enum TagKind {
        /// Users.
        User = "TAG_TYPE_USER",
        /// Private keys.
        PrivateKey = "TAG_TYPE_PRIVATE_KEY",
    }
}

impl TagKind {
    /// Returns the noun of such a tag, for messages.
    pub const fn noun(self) -> &'static str {
        match self {
            Self::User => "user tag",
            Self::PrivateKey => "private key tag",
        }
    }
}

/// A tag.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tag {
    /// Id.
    pub id: TagId,
    /// Name.
    pub name: Label,
    /// Kind of objects that the tag groups.
    pub kind: TagKind,
    /// Time of creation.
    pub created: Millis,
    /// Time of the last change.
    pub updated: Millis,
}

impl Tag {
    /// Converts to the wire form.
    pub fn wire(&self) -> wire::Tag {
        wire::Tag {
            tag_id: self.id,
            tag_name: self.name.to_string(),
            tag_type: self.kind.name().to_owned(),
            created_at: Timestamp::from_millis(self.created),
            updated_at: Timestamp::from_millis(self.updated),
        }
    }
}
