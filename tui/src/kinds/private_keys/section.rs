//! Private keys with their addresses.

use quorate_common::console::OrganizationDetail;
use quorate_common::wire::PrivateKey;

use crate::kinds::section::{Item, Row, Section, SectionData, cells};
use crate::text::{clean, date_time, quoted};

pub(in crate::kinds) const SECTION: Section =
    Section { name: "Keys", count: |detail| detail.private_keys.len(), items: private_keys };

fn private_keys(data: &SectionData<'_>) -> Vec<Item> {
    let item = |key: &PrivateKey| {
        let mut lines = vec![
            format!("key       {}  created {}", key.private_key_id, date_time(key.created_at.millis())),
            format!("public    {}", clean(&key.public_key)),
            format!("exported  {}   imported {}", key.exported, key.imported),
        ];
        lines.extend(
            key.addresses
                .iter()
                .map(|address| format!("address   {} {}", clean(&address.address), clean(&address.format))),
        );
        let exported = if key.exported { "exported [!]" } else { "never exported" };
        let curve = key.curve.trim_start_matches("CURVE_");
        let row = cells([(&key.private_key_name, 24), (curve, 10)], exported);
        Item::new(&key.private_key_name, row, lines)
    };
    data.detail.private_keys.iter().map(item).collect()
}

/// Returns the lines of `quorate org get`.
pub(in crate::kinds) fn lines(organization: &OrganizationDetail) -> Vec<Row> {
    let line = |key: &PrivateKey| {
        let name = quoted(&key.private_key_name);
        ("key", format!("{} {name} {}", key.private_key_id, clean(&key.curve)))
    };
    organization.private_keys.iter().map(line).collect()
}
