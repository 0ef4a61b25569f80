//! Policies.

use super::prelude::*;

mod get_policy;
mod list_policies;

pub(super) const ENTRIES: &[Entry] = &[
    entry::<get_policy::GetPolicy>("get_policy", "policy"),
    entry::<list_policies::ListPolicies>("list_policies", "policies"),
];
