//! Section `[organizations]`: who may make them.

use super::section::Section;

/// Who may make organizations, beside whoever runs the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Organizations {
    /// Whether anybody may found one over the API, with a passkey.
    pub founding: bool,
}

pub(super) fn read(section: &mut Section<'_, '_>) -> Organizations {
    Organizations { founding: section.flag("founding").unwrap_or_default() }
}
