//! Tags, and what they are on.

use quorate_common::console::OrganizationDetail;
use quorate_common::wire::Tag;

use crate::kinds::section::{Item, Row, Section, SectionData};
use crate::text::{clean, pad, quoted};

pub(in crate::kinds) const SECTION: Section =
    Section { name: "Tags", count: |detail| detail.tags.len(), items: tags };

fn tags(data: &SectionData<'_>) -> Vec<Item> {
    let detail = data.detail;
    let item = |tag: &Tag| {
        let kind = clean(tag.tag_type.trim_start_matches("TAG_TYPE_"));
        let users: Vec<String> = detail
            .users
            .iter()
            .filter(|user| user.user_tags.contains(&tag.tag_id))
            .map(|user| clean(&user.user_name))
            .collect();
        let keys: Vec<String> = detail
            .private_keys
            .iter()
            .filter(|key| key.private_key_tags.contains(&tag.tag_id))
            .map(|key| clean(&key.private_key_name))
            .collect();
        let held: Vec<String> = users.into_iter().chain(keys).collect();
        let on = if held.is_empty() { "nothing".to_owned() } else { held.join(", ") };
        Item::new(
            &tag.tag_name,
            format!("{} {} on {on}", pad(&clean(&tag.tag_name), 24), pad(&kind, 12)),
            vec![format!("tag       {}", tag.tag_id), format!("on        {on}")],
        )
    };
    detail.tags.iter().map(item).collect()
}

/// Returns the lines of `quorate org get`.
pub(in crate::kinds) fn lines(organization: &OrganizationDetail) -> Vec<Row> {
    let line = |tag: &Tag| ("tag", format!("{} {}", tag.tag_id, quoted(&tag.tag_name)));
    organization.tags.iter().map(line).collect()
}
