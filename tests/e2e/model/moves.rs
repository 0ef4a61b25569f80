//! The moves: each knows its request, the objections of the model to it, and its effect on the model. There
//! is one file per noun. The table here has the weight of each move.

mod accounts;
mod allowlists;
mod contract_interfaces;
mod credentials;
mod invitations;
mod mfa_policies;
mod organization;
mod payments;
mod people;
mod policies;
mod private_keys;
mod session_profiles;
mod sessions;
mod signing;
mod sub_organizations;
mod tags;
mod users;
mod wallets;
mod webhook_endpoints;

use serde_json::{Value, json};

use super::chooser::Chooser;
use super::objections::Objections;
use super::world::Organization;

/// An activity to propose.
pub(super) trait Move {
    /// Returns the activity type without its prefix.
    fn name(&self) -> &'static str;

    /// Returns the name of the result member.
    fn result_name(&self) -> &'static str;

    /// Returns the parameters.
    fn parameters(&self) -> Value;

    /// Returns the parameters as recorded.
    fn recorded_parameters(&self) -> Value {
        self.parameters()
    }

    /// Returns the objections of the model. Without any, the activity must succeed.
    fn objections(&self, organization: &Organization) -> Objections;

    /// Applies it to the model with the ids in the result, and asserts the other members of the result.
    fn apply(&self, organization: &mut Organization, result: &Value);

    /// Returns the result as recorded.
    fn recorded_result(&self, result: &Value) -> Value {
        result.clone()
    }

    /// Returns whether equal bytes of another user are the same activity.
    fn is_repeatable(&self) -> bool {
        true
    }

    /// Returns the MFA policies of the proposer that must be met, whatever their conditions are.
    fn guards(&self, _organization: &Organization, _proposer: &str) -> Vec<String> {
        Vec::new()
    }

    /// Returns the sub-organization that it creates.
    fn child(&self, _result: &Value) -> Option<Organization> {
        None
    }

    /// Returns whether it deletes the organization.
    fn ends_organization(&self) -> bool {
        false
    }

    /// Returns whether the stamping key alone decides, without votes.
    fn is_decided_by_key(&self) -> bool {
        false
    }

    /// Returns the users in whose name it is proposed. Other users may not propose it.
    fn senders(&self) -> Vec<&str> {
        Vec::new()
    }

    /// Returns the user whose credentials it changes, if it changes nothing else.
    fn owner(&self) -> Option<&str> {
        None
    }
}

pub(super) use invitations::accept;

/// Chooses a move for an organization.
pub(super) type Choose = fn(&mut Chooser<'_>) -> Box<dyn Move>;

/// Weight of each move.
const CHOICES: [(usize, Choose); 54] = [
    (4, tags::create),
    (5, tags::update),
    (2, tags::delete),
    (6, users::create),
    (4, users::update),
    (2, users::rename),
    (2, users::change_email),
    (2, users::change_phone_number),
    (3, users::delete),
    (5, credentials::create_api_keys),
    (3, credentials::create_authenticators),
    (3, credentials::create_providers),
    (3, credentials::delete_api_keys),
    (2, credentials::delete_authenticators),
    (2, credentials::delete_providers),
    (3, policies::create),
    (2, policies::create_by_selectors),
    (2, policies::create_several),
    (3, policies::update),
    (2, policies::delete),
    (2, policies::delete_several),
    (4, private_keys::create),
    (2, private_keys::disable),
    (2, private_keys::delete),
    (4, wallets::create),
    (2, wallets::rename),
    (2, wallets::delete),
    (5, accounts::create),
    (2, accounts::rename),
    (3, accounts::delete),
    (6, sub_organizations::create),
    (5, sub_organizations::delete),
    (3, organization::change),
    (2, organization::change_features),
    (3, organization::change_root_quorum),
    (6, signing::sign),
    (4, webhook_endpoints::create),
    (3, webhook_endpoints::update),
    (1, webhook_endpoints::delete),
    (3, session_profiles::create),
    (4, contract_interfaces::create),
    (2, contract_interfaces::delete),
    (6, allowlists::set),
    (3, allowlists::remove),
    (3, payments::set),
    (2, payments::delete),
    (1, payments::activate_tier),
    (3, signing::sign_several),
    (5, invitations::create),
    (2, invitations::delete),
    (8, mfa_policies::create),
    (4, mfa_policies::update),
    (4, mfa_policies::delete),
    (4, sessions::create_read_only),
];

/// First digits of all card numbers, which must not be stored.
pub(super) const CARD: &str = payments::CARD;

/// Creates a tag.
pub(super) const CREATE_TAG: Choose = tags::create;
/// Creates expiring API keys for the first member of the root quorum.
pub(super) const CREATE_ENDING_KEYS: Choose = credentials::create_ending_keys;

/// Chooses a move.
pub(super) fn choose(chooser: &mut Chooser<'_>) -> Box<dyn Move> {
    let mut number = chooser.choices.below(CHOICES.iter().map(|(weight, _)| weight).sum());
    for (weight, choose) in CHOICES {
        if number < weight {
            return choose(chooser);
        }
        number -= weight;
    }
    unreachable!("the number is below the sum")
}

/// Returns a text of a result.
fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("expected a text, not {value}")).to_owned()
}

/// Returns the texts of a result.
fn texts(value: &Value) -> Vec<String> {
    value.as_array().unwrap_or_else(|| panic!("expected a list, not {value}")).iter().map(text).collect()
}

/// Returns the new ids of a result, whose number must match the request.
fn new_ids(value: &Value, count: usize) -> Vec<String> {
    let ids = texts(value);
    assert_eq!(ids.len(), count, "expected {count} ids: {value}");
    ids
}

/// Adds a member if there is a value.
fn put(object: &mut Value, name: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        object[name] = value.into();
    }
}

/// Returns the parameters of a deletion.
fn deletion(member: &str, ids: &[String], without_export: Option<bool>) -> Value {
    let mut parameters = json!({ (member): ids });
    put(&mut parameters, "deleteWithoutExport", without_export);
    parameters
}
