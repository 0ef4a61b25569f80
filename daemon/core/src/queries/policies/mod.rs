//! Policies.

use super::prelude::*;

mod get_policy;
mod list_policies;

pub(super) const ENTRIES: &[Entry] =
    &[entry::<get_policy::GetPolicy>(), entry::<list_policies::ListPolicies>()];
