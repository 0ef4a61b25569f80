//! Tags.

use super::Kind;

mod create_private_key_tag;
mod create_user_tag;
mod delete_private_key_tags;
mod delete_user_tags;
mod section;
mod tag;
mod update_private_key_tag;
mod update_user_tag;

pub(super) const KINDS: &[Kind] = &[
    create_private_key_tag::KIND,
    create_user_tag::KIND,
    delete_private_key_tags::KIND,
    delete_user_tags::KIND,
    update_private_key_tag::KIND,
    update_user_tag::KIND,
];
