//! Section `[policies]`: how policies are evaluated.

use quorate_core::policy::DenyErrors;

use super::section::Section;

/// Settings of policy evaluation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Policies {
    /// Effect of deny policies whose evaluation fails.
    pub deny_errors: DenyErrors,
}

pub(super) fn read(section: &mut Section<'_, '_>) -> Policies {
    let strict = section.flag("strict_deny_errors").unwrap_or_default();
    Policies { deny_errors: if strict { DenyErrors::Deny } else { DenyErrors::Skip } }
}
