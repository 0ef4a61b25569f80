//! What sessions may be limited to. A profile never changes and never goes.

use quorate_common::bounded::Label;
use quorate_common::ids::SessionProfileId;
use quorate_common::wire::{self, Timestamp};
use serde::{Deserialize, Serialize};

use super::Millis;
use super::layout::Entity;
use super::record::Record;
use super::shelf::shelved;

/// A session profile.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionProfile {
    /// Id.
    pub id: SessionProfileId,
    /// Name.
    pub name: Label,
    /// Condition expression that each activity of such a session must fulfil.
    pub scope: String,
    /// Longest life of such a session, in seconds.
    pub expiration_seconds: Option<u64>,
    /// Notes.
    pub notes: Option<String>,
    /// Created at.
    pub created: Millis,
}

impl Record for SessionProfile {
    const NOUN: &'static str = "session profile";
}

shelved!(SessionProfile, SessionProfileId, Entity::SessionProfile, session_profiles);

impl SessionProfile {
    /// As queries show it.
    pub fn wire(&self) -> wire::SessionProfile {
        wire::SessionProfile {
            session_profile_id: self.id,
            session_profile_name: self.name.to_string(),
            scope: self.scope.clone(),
            expiration_seconds: self.expiration_seconds.map(|seconds| seconds.to_string()),
            notes: self.notes.clone(),
            created_at: Timestamp::of_millis(self.created),
            updated_at: Timestamp::of_millis(self.created),
        }
    }
}
