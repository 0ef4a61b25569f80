//! Contacts: people whom the organization knows.

use quorate_common::ids::ContactId;

use super::prelude::*;
use crate::model::Contact;

pub(super) const ENTRIES: &[Entry] = &[entry::<Intent>()];

/// Creates a contact: a person whom the organization knows.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    contact_name: Label,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    contact_id: ContactId,
}

impl Version for Intent {
    type Kind = Self;
    const TYPE: &'static str = "ACTIVITY_TYPE_CREATE_CONTACT";
    const NUMBER: u16 = 60_000;
}

impl Kind for Intent {
    const ACTS: Acts = Some((Action::Create, Resource::Contact));
    type Plan = ();
    type Outcome = Outcome;

    fn rules(&self, view: &View<'_>) -> Result<(), RequestError> {
        let present = view.organization.records.contacts.len();
        check_limit(present, 1, view.limits().records.contacts, "contacts", "contacts")
    }

    fn execute(self, (): (), context: &mut Execution<'_>) -> Result<Outcome, RequestError> {
        let id = ContactId::random(context.random());
        context.change(Change::put(Contact { id, name: self.contact_name, created: context.now() }));
        Ok(Outcome { contact_id: id })
    }
}
