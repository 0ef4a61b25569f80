//! Section `[organizations]`: who may create organizations.

use super::section::Section;

/// Who may create organizations, besides the operator with `quorated init`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Organizations {
    /// Whether any client may create one through the API, with a passkey.
    pub founding: bool,
}

pub(super) fn read(section: &mut Section<'_, '_>) -> Organizations {
    Organizations { founding: section.flag("founding").unwrap_or_default() }
}
