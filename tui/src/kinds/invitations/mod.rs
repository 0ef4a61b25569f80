//! Invitations to become a user.

use super::Kind;

mod accept_invitation;
mod create_invitations;
mod delete_invitation;
mod section;

pub(super) const KINDS: &[Kind] =
    &[accept_invitation::KIND, create_invitations::KIND, delete_invitation::KIND];
