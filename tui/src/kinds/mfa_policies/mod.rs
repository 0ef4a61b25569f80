//! MFA policies: which authentication methods the activities of a user require.

use super::Kind;

mod create_mfa_policy;
mod delete_mfa_policy;
mod provable;
mod requirement;
mod update_mfa_policy;

pub(super) use requirement::lines;
pub(crate) use requirement::step_words;

pub(super) const KINDS: &[Kind] =
    &[create_mfa_policy::KIND, delete_mfa_policy::KIND, update_mfa_policy::KIND];
