//! Policies.

use super::prelude::*;

mod create_policies;
mod create_policy;
mod delete_policies;
mod delete_policy;
mod update_policy;

pub(super) const ENTRIES: &[Entry] = &[
    entry::<create_policies::Intent>(),
    entry::<create_policy::v1::Intent>(),
    entry::<create_policy::v2::Intent>(),
    entry::<create_policy::Intent>(),
    entry::<delete_policies::Intent>(),
    entry::<delete_policy::Intent>(),
    entry::<update_policy::v1::Intent>(),
    entry::<update_policy::Intent>(),
];
