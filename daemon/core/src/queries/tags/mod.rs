//! Tags of users and of private keys.

use super::prelude::*;

mod list_private_key_tags;
mod list_user_tags;

pub(super) const ENTRIES: &[Entry] = &[
    entry::<list_private_key_tags::ListPrivateKeyTags>("list_private_key_tags", "privateKeyTags"),
    entry::<list_user_tags::ListUserTags>("list_user_tags", "userTags"),
];

/// Returns all tags of a kind, oldest first.
fn tags(context: &QueryContext<'_>, kind: TagKind) -> Vec<wire::Tag> {
    let tags = context.organization.tags().filter(|tag| tag.kind == kind);
    oldest_first(tags, |tag| (tag.created, tag.id), Tag::wire)
}
