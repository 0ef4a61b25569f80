//! Organizations, their quorum and features.

use super::prelude::*;

mod create_organization;
mod create_sub_organization;
mod delete_organization;
mod delete_sub_organization;
mod remove_organization_feature;
mod set_organization_feature;
mod update_allowed_origins;
mod update_organization_name;
mod update_root_quorum;

pub(super) const ENTRIES: &[Entry] = &[
    entry::<create_organization::V1>(),
    entry::<create_organization::V2>(),
    entry::<create_sub_organization::V1>(),
    entry::<create_sub_organization::V2>(),
    entry::<create_sub_organization::V3>(),
    entry::<create_sub_organization::V4>(),
    entry::<create_sub_organization::V5>(),
    entry::<create_sub_organization::V6>(),
    entry::<create_sub_organization::V7>(),
    entry::<create_sub_organization::V8>(),
    entry::<delete_organization::Intent>(),
    entry::<delete_sub_organization::Intent>(),
    entry::<remove_organization_feature::Intent>(),
    entry::<set_organization_feature::Intent>(),
    entry::<update_allowed_origins::Intent>(),
    entry::<update_organization_name::Intent>(),
    entry::<update_root_quorum::Intent>(),
];
