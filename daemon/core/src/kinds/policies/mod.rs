//! Policies.

use super::prelude::*;

mod create_policies;
mod create_policy;
mod delete_policies;
mod delete_policy;
mod update_policy;

pub(super) const ENTRIES: &[Entry] = &[
    entry::<create_policies::Intent>(),
    entry::<create_policy::V1>(),
    entry::<create_policy::V2>(),
    entry::<create_policy::V3>(),
    entry::<delete_policies::Intent>(),
    entry::<delete_policy::Intent>(),
    entry::<update_policy::V1>(),
    entry::<update_policy::V2>(),
];
