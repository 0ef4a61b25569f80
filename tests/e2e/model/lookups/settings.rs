//! Looks up the settings of an organization.

use quorate_tests::caller::Caller;
use quorate_tests::choices::Choices;
use serde_json::{Value, json};

use super::Single;
use crate::model::comparison::{self, assert_same};
use crate::model::times::Times;
use crate::model::views;
use crate::model::world::{Organization, Relatives};

/// Returns the queries for settings with an id.
pub(super) fn singles(organization: &Organization, relatives: &Relatives) -> [Single; 2] {
    let profiles = relatives.session_profiles.iter();
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

/// Checks the allowlists of all keys that have one, and of some that have none.
pub(in crate::model) async fn allowlists_of_keys(
    caller: &Caller,
    organization: &Organization,
    choices: &mut Choices,
) {
    for key in organization.users.iter().flat_map(|user| &user.api_keys) {
        if key.allowlist.is_none() && !choices.one_in(8) {
            continue;
        }
        let expected = key
            .allowlist
            .as_ref()
            .map_or(Value::Null, |list| views::allowlist(&organization.id, Some(&key.public_key), list));
        let reported = comparison::allowlist(caller, json!({ "publicKey": key.public_key })).await;
        assert_same("get_ip_allowlist of a key", &expected, &Times::default().strip(&reported));
    }
}
