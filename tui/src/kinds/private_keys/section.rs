//! Private keys with their addresses.

use quorate_common::console::OrganizationDetail;
use quorate_common::wire::PrivateKey;

use crate::kinds::section::{Item, Listed, Row, SectionData, cells};
use crate::text::{clean, date_time, quoted};

impl Listed for PrivateKey {
    fn all(organization: &OrganizationDetail) -> &[Self] {
        &organization.private_keys
    }

    fn item(&self, _: &SectionData<'_>) -> Item {
        let mut lines = vec![
            format!("key       {}  created {}", self.private_key_id, date_time(self.created_at.millis())),
            format!("public    {}", clean(&self.public_key)),
            format!("exported  {}   imported {}", self.exported, self.imported),
        ];
        lines.extend(
            self.addresses
                .iter()
                .map(|address| format!("address   {} {}", clean(&address.address), clean(&address.format))),
        );
        let exported = if self.exported { "exported [!]" } else { "never exported" };
        let curve = self.curve.trim_start_matches("CURVE_");
        let row = cells([(&self.private_key_name, 24), (curve, 10)], exported);
        Item::new(&self.private_key_name, row, lines)
    }

    fn line(&self, _: &OrganizationDetail) -> Row {
        let name = quoted(&self.private_key_name);
        ("key", format!("{} {name} {}", self.private_key_id, clean(&self.curve)))
    }
}
