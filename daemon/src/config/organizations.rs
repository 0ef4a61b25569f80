//! Section `[organizations]`: who may create organizations, and which of these the operator trusts.

use quorate_common::ids::OrganizationId;

use super::section::Section;

/// Registrations of one client address per hour, unless configured.
const REGISTRATIONS: u32 = 5;

/// Who may create organizations, besides the operator with `quorated init`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Organizations {
    /// Whether any client may create one through the API, with a passkey.
    pub allow_registration: bool,
    /// How many one client address may create per hour.
    pub registrations_per_address: u32,
    /// Those created through the API whose messages are not limited.
    pub trusted: Vec<OrganizationId>,
}

impl Default for Organizations {
    fn default() -> Self {
        let registrations_per_address = REGISTRATIONS;
        Self { allow_registration: false, registrations_per_address, trusted: Vec::new() }
    }
}

/// The name of `allow_registration` in configuration files of earlier versions.
const EARLIER: &str = "founding";

pub(super) fn read(section: &mut Section<'_, '_>) -> Organizations {
    // Configuration files of earlier versions contain the second key.
    let current = section.flag("allow_registration");
    let earlier = section.has(EARLIER).then(|| section.flag(EARLIER)).flatten();
    if current.is_some() && earlier.is_some() {
        section.report(&format!("{EARLIER} is the earlier name of allow_registration; remove it"));
    }
    Organizations {
        allow_registration: current.or(earlier).unwrap_or_default(),
        registrations_per_address: section
            .number("registrations_per_address", 1..=1_000_000)
            .unwrap_or(REGISTRATIONS),
        trusted: section.parsed_list("trusted").unwrap_or_default(),
    }
}
