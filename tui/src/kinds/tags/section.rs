//! Tags, and what they are on.

use quorate_common::console::OrganizationDetail;
use quorate_common::wire::Tag;

use crate::kinds::section::{Item, Listed, Row, SectionData};
use crate::text::{clean, pad, quoted};

impl Listed for Tag {
    fn all(organization: &OrganizationDetail) -> &[Self] {
        &organization.tags
    }

    fn item(&self, data: &SectionData<'_>) -> Item {
        let detail = data.detail;
        let kind = clean(self.tag_type.trim_start_matches("TAG_TYPE_"));
        let users: Vec<String> = detail
            .users
            .iter()
            .filter(|user| user.user_tags.contains(&self.tag_id))
            .map(|user| clean(&user.user_name))
            .collect();
        let keys: Vec<String> = detail
            .private_keys
            .iter()
            .filter(|key| key.private_key_tags.contains(&self.tag_id))
            .map(|key| clean(&key.private_key_name))
            .collect();
        let held: Vec<String> = users.into_iter().chain(keys).collect();
        let on = if held.is_empty() { "nothing".to_owned() } else { held.join(", ") };
        Item::new(
            &self.tag_name,
            format!("{} {} on {on}", pad(&clean(&self.tag_name), 24), pad(&kind, 12)),
            vec![format!("tag       {}", self.tag_id), format!("on        {on}")],
        )
    }

    fn line(&self, _: &OrganizationDetail) -> Row {
        ("tag", format!("{} {}", self.tag_id, quoted(&self.tag_name)))
    }
}
