//! Section `[organizations]`: who may create organizations.

use super::section::Section;

/// Who may create organizations, besides the operator with `quorated init`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Organizations {
    /// Whether any client may create one through the API, with a passkey.
    pub allow_registration: bool,
}

pub(super) fn read(section: &mut Section<'_, '_>) -> Organizations {
    // Configuration files of earlier versions contain the second key.
    let given = section.flag("allow_registration").or_else(|| section.flag("founding"));
    Organizations { allow_registration: given.unwrap_or_default() }
}
