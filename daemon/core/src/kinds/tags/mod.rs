//! Tags.

use super::prelude::*;

mod create_private_key_tag;
mod create_user_tag;
mod delete_private_key_tags;
mod delete_user_tags;
mod update_private_key_tag;
mod update_user_tag;

pub(super) const ENTRIES: &[Entry] = &[
    entry::<create_private_key_tag::Intent>(),
    entry::<create_user_tag::Intent>(),
    entry::<delete_private_key_tags::Intent>(),
    entry::<delete_user_tags::Intent>(),
    entry::<update_private_key_tag::Intent>(),
    entry::<update_user_tag::Intent>(),
];
