//! Invitations to become a user.

use super::prelude::*;

mod accept_invitation;
mod create_invitations;
mod delete_invitation;

pub(super) const ENTRIES: &[Entry] = &[
    entry::<accept_invitation::v1::Intent>(),
    entry::<accept_invitation::Intent>(),
    entry::<create_invitations::Intent>(),
    entry::<delete_invitation::Intent>(),
];
