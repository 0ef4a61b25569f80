//! Section `[policies]`: how they are taken.

use quorate_core::policy::DenyErrors;

use super::section::Section;

/// How policies are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Policies {
    /// What becomes of denying policies that fail over a request.
    pub deny_errors: DenyErrors,
}

pub(super) fn read(section: &mut Section<'_, '_>) -> Policies {
    let strict = section.flag("strict_deny_errors").unwrap_or_default();
    Policies { deny_errors: if strict { DenyErrors::Deny } else { DenyErrors::Skip } }
}
