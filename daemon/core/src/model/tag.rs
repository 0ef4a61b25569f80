//! Tags: names for groups of users or of private keys, which policies can query.

use quorate_common::bounded::Label;
use quorate_common::ids::TagId;
use quorate_common::wire::{self, Timestamp};
use serde::{Deserialize, Serialize};

use super::Millis;
use super::record::Record;

/// The kind of objects that a tag groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum TagKind {
    /// Users.
    #[serde(rename = "TAG_TYPE_USER")]
    User,
    /// Private keys.
    #[serde(rename = "TAG_TYPE_PRIVATE_KEY")]
    PrivateKey,
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

impl Record for Tag {
    const NOUN: &'static str = "tag";
}

impl Tag {
    /// Converts to the wire form.
    pub fn wire(&self) -> wire::Tag {
        let tag_type = match self.kind {
            TagKind::User => "TAG_TYPE_USER",
            TagKind::PrivateKey => "TAG_TYPE_PRIVATE_KEY",
        };
        wire::Tag {
            tag_id: self.id,
            tag_name: self.name.to_string(),
            tag_type: tag_type.to_owned(),
            created_at: Timestamp::from_millis(self.created),
            updated_at: Timestamp::from_millis(self.updated),
        }
    }
}
