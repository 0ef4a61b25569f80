//! Section `[organizations]`: who may create organizations.

use super::section::Section;

/// Who may create organizations, besides the operator with `quorated init`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Organizations {
    /// Whether any client may create one through the API, with a passkey.
    pub allow_registration: bool,
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
    Organizations { allow_registration: current.or(earlier).unwrap_or_default() }
}
