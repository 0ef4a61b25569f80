//! Looks up what is set of an organization.

use super::Single;
use crate::model::views;
use crate::model::world::{Kin, Organization};

/// What is found by its id.
pub(super) fn singles(organization: &Organization, kin: &Kin) -> [Single; 2] {
    let profiles = kin.session_profiles.iter();
    let interfaces = organization.contract_interfaces.iter();
    let interface = |one| views::contract_interface(&organization.id, one);
    [
        (
            "get_session_profile",
            "sessionProfileId",
            "sessionProfile",
            profiles.map(|profile| (profile.id.clone(), views::session_profile(profile))).collect(),
        ),
        (
            "get_smart_contract_interface",
            "smartContractInterfaceId",
            "smartContractInterface",
            interfaces.map(|one| (one.id.clone(), interface(one))).collect(),
        ),
    ]
}
