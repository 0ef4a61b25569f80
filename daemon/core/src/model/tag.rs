//! A tag: a name for a group of users or of private keys, which policies use.

use quorate_common::bounded::Label;
use quorate_common::ids::TagId;
use quorate_common::wire::{self, Timestamp};
use serde::{Deserialize, Serialize};

use super::Millis;
use super::layout::Entity;
use super::record::Record;
use super::shelf::shelved;

/// What a tag groups.
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
    /// What such a tag is called, for messages.
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
    /// What it groups.
    pub kind: TagKind,
    /// Created at.
    pub created: Millis,
    /// Last changed at.
    pub updated: Millis,
}

impl Record for Tag {
    const NOUN: &'static str = "tag";
}

shelved!(Tag, TagId, Entity::Tag, tags);

impl Tag {
    /// As queries show it.
    pub fn wire(&self) -> wire::Tag {
        let tag_type = match self.kind {
            TagKind::User => "TAG_TYPE_USER",
            TagKind::PrivateKey => "TAG_TYPE_PRIVATE_KEY",
        };
        wire::Tag {
            tag_id: self.id,
            tag_name: self.name.to_string(),
            tag_type: tag_type.to_owned(),
            created_at: Timestamp::of_millis(self.created),
            updated_at: Timestamp::of_millis(self.updated),
        }
    }
}
