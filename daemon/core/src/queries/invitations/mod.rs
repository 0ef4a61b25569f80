//! Invitations.

use super::prelude::*;

mod get_invitation_status;

pub(super) const ENTRIES: &[Entry] =
    &[entry::<get_invitation_status::GetInvitationStatus>("get_invitation_status", "status")];
