//! Section `[organizations]`: who may create organizations.

use super::section::Section;

/// Who may create organizations, besides the operator with `quorated init`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Organizations {
    /// Whether any client may create one through the API, with a passkey.
    pub allow_registration: bool,
}

pub(super) fn read(section: &mut Section<'_, '_>) -> Organizations {
    Organizations { allow_registration: section.flag("allow_registration").unwrap_or_default() }
}
