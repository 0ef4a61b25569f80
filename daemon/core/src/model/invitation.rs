//! An invitation: somebody may become a user of an organization, once, with the secret that was mailed.

use quorate_common::bounded::{Email, Label};
use quorate_common::ids::{InvitationId, TagId, UserId};
use quorate_common::wire::{self, Timestamp};
use serde::{Deserialize, Serialize};

use super::Millis;
use super::layout::Entity;
use super::record::Record;
use super::shelf::shelved;
use crate::limits::INVITATION_LIFE_MILLIS;

/// What became of an invitation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum InvitationStatus {
    /// It waits.
    #[serde(rename = "INVITATION_STATUS_CREATED")]
    Created,
    /// It was accepted.
    #[serde(rename = "INVITATION_STATUS_ACCEPTED")]
    Accepted,
    /// It was taken back.
    #[serde(rename = "INVITATION_STATUS_REVOKED")]
    Revoked,
}

impl InvitationStatus {
    const fn name(self) -> &'static str {
        match self {
            Self::Created => "INVITATION_STATUS_CREATED",
            Self::Accepted => "INVITATION_STATUS_ACCEPTED",
            Self::Revoked => "INVITATION_STATUS_REVOKED",
        }
    }
}

/// An invitation. Whoever can stamp with its key may accept it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Invitation {
    /// Id.
    pub id: InvitationId,
    /// Name that the new user gets.
    pub name: Label,
    /// Where it was sent, and the mail address that the new user gets.
    pub email: Email,
    /// Tags that the new user gets.
    pub tags: Vec<TagId>,
    /// `ACCESS_TYPE_*`.
    pub access_type: String,
    /// Who invites.
    pub sender: UserId,
    /// The public half of the mailed secret: a compressed P-256 point, lowercase hex.
    pub public_key: String,
    /// What became of it.
    pub status: InvitationStatus,
    /// Created at.
    pub created: Millis,
    /// Last changed at.
    pub updated: Millis,
}

impl Record for Invitation {
    const NOUN: &'static str = "invitation";
}

shelved!(Invitation, InvitationId, Entity::Invitation, invitations);

impl Invitation {
    /// Whether it can be accepted at this instant.
    pub fn waits(&self, now: Millis) -> bool {
        let end = self.created.saturating_add(INVITATION_LIFE_MILLIS);
        self.status == InvitationStatus::Created && now < end
    }

    /// The same with another status.
    #[must_use]
    pub fn with_status(&self, status: InvitationStatus, now: Millis) -> Self {
        Self { status, updated: now, ..self.clone() }
    }

    /// As queries show it.
    pub fn wire(&self) -> wire::Invitation {
        wire::Invitation {
            invitation_id: self.id,
            receiver_user_name: self.name.to_string(),
            receiver_email: self.email.to_string(),
            receiver_user_tags: self.tags.clone(),
            access_type: self.access_type.clone(),
            status: self.status.name().to_owned(),
            created_at: Timestamp::of_millis(self.created),
            updated_at: Timestamp::of_millis(self.updated),
            sender_user_id: self.sender,
        }
    }
}
