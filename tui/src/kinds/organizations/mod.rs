//! Organizations, their quorum and features.

use super::Kind;

mod create_organization;
mod create_sub_organization;
mod delete_organization;
mod delete_sub_organization;
mod deletion;
pub(super) mod quorum;
mod remove_organization_feature;
mod set_organization_feature;
pub(super) mod settings;
mod update_allowed_origins;
mod update_organization_name;
mod update_root_quorum;

pub(super) const KINDS: &[Kind] = &[
    create_organization::KIND,
    create_sub_organization::KIND,
    delete_organization::KIND,
    delete_sub_organization::KIND,
    remove_organization_feature::KIND,
    set_organization_feature::KIND,
    update_allowed_origins::KIND,
    update_organization_name::KIND,
    update_root_quorum::KIND,
];
