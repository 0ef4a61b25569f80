//! Invitations to become a user.

use super::prelude::*;

mod accept_invitation;
mod create_invitations;
mod delete_invitation;

pub(super) const ENTRIES: &[Entry] = &[
    entry::<accept_invitation::V1>(),
    entry::<accept_invitation::V2>(),
    entry::<create_invitations::Intent>(),
    entry::<delete_invitation::Intent>(),
];
