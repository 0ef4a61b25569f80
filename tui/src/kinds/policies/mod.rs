//! Policies.

use super::Kind;

mod create_policies;
mod create_policy;
mod delete_policies;
mod delete_policy;
mod rule;
mod section;
mod update_policy;

pub(super) const KINDS: &[Kind] = &[
    create_policies::KIND,
    create_policy::KIND,
    delete_policies::KIND,
    delete_policy::KIND,
    update_policy::KIND,
];
