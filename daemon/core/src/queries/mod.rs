//! The table of queries, which users of an organization and of its parent may make: one folder per noun, one
//! file per query. To add a query, add its file, and two lines to the `mod.rs` of its noun.

mod activities;
mod admission;
mod credentials;
mod invitations;
mod ip_allowlists;
mod messages;
mod mfa_policies;
mod oauth2;
mod organizations;
mod pagination;
mod policies;
mod prelude;
mod private_keys;
mod query;
mod secrets;
mod session_profiles;
mod smart_contract_interfaces;
mod tags;
mod users;
mod wallets;
mod webhook_endpoints;

pub use admission::{Admitted, admit};
pub use query::Entry;

const GROUPS: &[&[Entry]] = &[
    activities::ENTRIES,
    credentials::ENTRIES,
    invitations::ENTRIES,
    ip_allowlists::ENTRIES,
    messages::ENTRIES,
    mfa_policies::ENTRIES,
    oauth2::ENTRIES,
    organizations::ENTRIES,
    policies::ENTRIES,
    private_keys::ENTRIES,
    secrets::ENTRIES,
    session_profiles::ENTRIES,
    smart_contract_interfaces::ENTRIES,
    tags::ENTRIES,
    users::ENTRIES,
    wallets::ENTRIES,
    webhook_endpoints::ENTRIES,
];

/// Queries of the API that this service does not offer.
const UNOFFERED: &[&str] = &[
    "get_active_policies",
    "get_attestation_document",
    "get_boot_proof",
    "get_latest_boot_proof",
    "list_app_proofs",
];

/// Returns all rows, sorted by name.
pub fn all() -> Vec<&'static Entry> {
    let mut entries: Vec<_> = GROUPS.iter().copied().flatten().collect();
    entries.sort_by_key(|entry| entry.name);
    entries
}

/// Looks up a query by name: the last segment of its path.
pub fn find(name: &str) -> Option<&'static Entry> {
    GROUPS.iter().copied().flatten().find(|entry| entry.name == name)
}

/// Returns whether this is a query of the API that the service does not offer.
pub fn is_unoffered(name: &str) -> bool {
    UNOFFERED.contains(&name)
}
