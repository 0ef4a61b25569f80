//! Session profiles, which restrict sessions. A profile is never changed.

use quorate_common::bounded::Label;
use quorate_common::ids::SessionProfileId;
use quorate_common::wire::{self, Timestamp};
use serde::{Deserialize, Serialize};

use super::Millis;

/// A restriction of sessions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionProfile {
    /// Id.
    pub id: SessionProfileId,
    /// Name.
    pub name: Label,
    /// Condition that each activity of such a session must meet, in the policy language.
    pub scope: String,
    /// Maximum lifetime of such a session, in seconds.
    pub expiration_seconds: Option<u64>,
    /// Notes of the author.
    pub notes: Option<String>,
    /// Time of creation.
    pub created: Millis,
}

impl SessionProfile {
    /// Converts to the wire form.
    pub fn wire(&self) -> wire::SessionProfile {
        wire::SessionProfile {
            session_profile_id: self.id,
            session_profile_name: self.name.to_string(),
            scope: self.scope.clone(),
            expiration_seconds: self.expiration_seconds.map(|seconds| seconds.to_string()),
            notes: self.notes.clone(),
            created_at: Timestamp::from_millis(self.created),
            updated_at: Timestamp::from_millis(self.created),
        }
    }
}
