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
    entry::<create_organization::v1::Intent>(),
    entry::<create_organization::Intent>(),
    entry::<create_sub_organization::v1::Intent>(),
    entry::<create_sub_organization::v2::Intent>(),
    entry::<create_sub_organization::v3::Intent>(),
    entry::<create_sub_organization::v4::Intent>(),
    entry::<create_sub_organization::v5::Intent>(),
    entry::<create_sub_organization::v6::Intent>(),
    entry::<create_sub_organization::v7::Intent>(),
    entry::<create_sub_organization::v8::Intent>(),
    entry::<delete_organization::Intent>(),
    entry::<delete_sub_organization::Intent>(),
    entry::<remove_organization_feature::Intent>(),
    entry::<set_organization_feature::Intent>(),
    entry::<update_allowed_origins::Intent>(),
    entry::<update_organization_name::Intent>(),
    entry::<update_root_quorum::Intent>(),
];
