//! Invitations: each lets one person become a user of an organization, once, with a secret that is mailed.

use quorate_common::bounded::{Email, Label};
use quorate_common::ids::{InvitationId, TagId, UserId};
use quorate_common::wire::{self, Timestamp};
use quorate_common::wire_enum;
use serde::{Deserialize, Serialize};

use super::Millis;

pub use quorate_common::wire::INVITATION_LIFE_MILLIS;

wire_enum! {
    /// The status of an invitation.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    pub enum InvitationStatus {
        /// It was neither accepted nor revoked.
        Created = "INVITATION_STATUS_CREATED",
        /// It was accepted.
        Accepted = "INVITATION_STATUS_ACCEPTED",
        /// It was revoked.
        Revoked = "INVITATION_STATUS_REVOKED",
    }
}

/// An invitation. The holder of its key can accept it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Invitation {
    /// Id.
    pub id: InvitationId,
    /// Name of the new user.
    pub name: Label,
    /// Mail address of the new user, to which the invitation is sent.
    pub email: Email,
    /// Tags of the new user.
    pub tags: Vec<TagId>,
    /// `ACCESS_TYPE_*`.
    pub access_type: String,
    /// User who sent the invitation.
    pub sender: UserId,
    /// Public key of the mailed secret: a compressed P-256 point, lowercase hex.
    pub public_key: String,
    /// Current status.
    pub status: InvitationStatus,
    /// Time of creation.
    pub created: Millis,
    /// Time of the last change.
    pub updated: Millis,
}

impl Invitation {
    /// Returns whether the invitation can be accepted at this time.
    pub fn waits(&self, now: Millis) -> bool {
        let end = self.created.saturating_add(INVITATION_LIFE_MILLIS);
        self.status == InvitationStatus::Created && now < end
    }

    /// Returns why the invitation cannot be accepted at this time, if it cannot.
    pub fn ended(&self, now: Millis) -> Option<&'static str> {
        match self.status {
            InvitationStatus::Created if self.waits(now) => None,
            InvitationStatus::Created => Some("invitation has expired"),
            InvitationStatus::Accepted => Some("invitation has been accepted"),
            InvitationStatus::Revoked => Some("invitation has been revoked"),
        }
    }

    /// Returns the invitation with another status.
    #[must_use]
    pub fn with_status(&self, status: InvitationStatus, now: Millis) -> Self {
        Self { status, updated: now, ..self.clone() }
    }

    /// Converts to the wire form.
    pub fn wire(&self) -> wire::Invitation {
        wire::Invitation {
            invitation_id: self.id,
            receiver_user_name: self.name.to_string(),
            receiver_email: self.email.to_string(),
            receiver_user_tags: self.tags.clone(),
            access_type: self.access_type.clone(),
            status: self.status.name().to_owned(),
            created_at: Timestamp::from_millis(self.created),
            updated_at: Timestamp::from_millis(self.updated),
            sender_user_id: self.sender,
        }
    }
}
