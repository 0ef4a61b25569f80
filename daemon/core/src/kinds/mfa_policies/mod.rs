//! MFA policies: which authentication methods the activities of a user require.

use super::prelude::*;

mod create_mfa_policy;
mod delete_mfa_policy;
mod update_mfa_policy;

pub(super) const ENTRIES: &[Entry] = &[
    entry::<create_mfa_policy::Intent>(),
    entry::<delete_mfa_policy::Intent>(),
    entry::<update_mfa_policy::Intent>(),
];
