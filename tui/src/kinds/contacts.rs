//! Contacts: people whom the organization knows.

use quorate_common::console::OrganizationDetail;
use quorate_common::wire::Contact;

use super::prelude::*;
use super::section::{Item, Row, Section, Shown};
use crate::text::date_time;

pub(super) const KINDS: &[Kind] = &[Kind::new("CREATE_CONTACT", "Create contact", describe)];

pub(super) const SECTION: Section =
    Section { name: "Contacts", count: |detail| detail.contacts.len(), items: contacts };

fn describe(parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Description, Undecodable> {
    let name = parameters.text("contactName")?;
    let contacts = &scene.organization.contacts;
    let mut description = Description::new(quoted(name), format!("Add the contact {}.", quoted(name)));
    description.change_added("contacts", contacts.len(), 1);
    if contacts.iter().any(|one| one.contact_name == name) {
        description.flag_same_name("a contact", name);
    }
    Ok(description)
}

fn contacts(shown: &Shown<'_>) -> Vec<Item> {
    let item = |one: &Contact| {
        let lines =
            vec![format!("id        {} added {}", one.contact_id, date_time(one.created_at.millis()))];
        Item::new(&one.contact_name, clean(&one.contact_name), lines)
    };
    shown.detail.contacts.iter().map(item).collect()
}

/// Returns the lines of `quorate org get`.
pub(super) fn lines(organization: &OrganizationDetail) -> Vec<Row> {
    let line = |one: &Contact| ("contact", format!("{} {}", one.contact_id, quoted(&one.contact_name)));
    organization.contacts.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    #[test]
    fn describes_each_contact() {
        let rows = ["mira", "carol"].map(|name| ("CREATE_CONTACT", json!({"contactName": name})));
        crate::kinds::tests::check("create_contact", &rows);
    }
}
