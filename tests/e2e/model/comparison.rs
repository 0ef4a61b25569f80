//! Compares everything that the daemon reports of an organization with the model.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use quorate_tests::caller::Caller;
use serde_json::{Value, json};

use super::activities::{Status, Vote};
use super::moves::CARD;
use super::times::Times;
use super::world::{Organization, Relatives, Tagged, World};
use super::{learning, views};

/// Queries for all resources of an organization, with the member of the answer.
const QUERIES: [(&str, &str); 15] = [
    ("get_organization", "organizationData"),
    ("get_organization_configs", "configs"),
    ("list_users", "users"),
    ("list_user_tags", "userTags"),
    ("list_private_key_tags", "privateKeyTags"),
    ("list_private_keys", "privateKeys"),
    ("list_wallets", "wallets"),
    ("list_wallet_accounts", "accounts"),
    ("list_policies", "policies"),
    ("get_api_keys", "apiKeys"),
    ("get_oauth_providers", "oauthProviders"),
    ("list_suborgs", "organizationIds"),
    ("list_webhook_endpoints", "webhookEndpoints"),
    ("get_session_profiles", "sessionProfiles"),
    ("list_smart_contract_interfaces", "smartContractInterfaces"),
];

/// Unchanged answers by query.
pub(super) type Answers = BTreeMap<&'static str, Value>;

/// Sends all queries for an organization. Two results are equal if nothing has happened in between.
pub(super) async fn query_everything(caller: &Caller) -> Answers {
    let mut answers = Answers::new();
    for (query, member) in QUERIES {
        answers.insert(query, caller.fetch(query, json!({})).await[member].clone());
    }
    answers.insert("get_ip_allowlist", allowlist(caller, json!({})).await);
    answers.insert("list_activities", Value::Array(caller.activities().await));
    answers
}

/// Queries an IP allowlist. Returns null if no list is set.
pub(super) async fn allowlist(caller: &Caller, members: Value) -> Value {
    let reply = caller.query("get_ip_allowlist", members).await;
    if reply.status == 200 {
        return reply.success()["allowlist"].clone();
    }
    reply.expect_error(404, 5, "*");
    Value::Null
}

/// Asserts that the answers match the model, after learning what only answers report. `voter` has id and
/// public key of the user who sent the queries, if that user is in this organization.
pub(super) fn compare(
    organization: &mut Organization,
    relatives: &Relatives,
    answers: &Answers,
    times: &mut Times,
    voter: Option<(&str, &str)>,
) {
    learning::learn(organization, answers);
    let all = organization_view(organization);
    let expected = [
        ("get_organization_configs", json!({ "features": all["features"], "quorum": all["rootQuorum"] })),
        ("list_users", all["users"].clone()),
        ("list_user_tags", views::tags(organization, |tag| tag.tagged == Tagged::Users)),
        ("list_private_key_tags", views::tags(organization, |tag| tag.tagged == Tagged::PrivateKeys)),
        ("list_private_keys", all["privateKeys"].clone()),
        ("list_wallets", all["wallets"].clone()),
        ("list_wallet_accounts", views::accounts(organization, None)),
        ("list_policies", all["policies"].clone()),
        (
            "get_api_keys",
            views::sorted(organization.users.iter().flat_map(|user| &user.api_keys).map(views::api_key)),
        ),
        (
            "get_oauth_providers",
            views::sorted(organization.users.iter().flat_map(|user| &user.providers).map(views::provider)),
        ),
        ("list_webhook_endpoints", views::webhook_endpoints(organization)),
        (
            "get_ip_allowlist",
            organization
                .allowlist
                .as_ref()
                .map_or(Value::Null, |list| views::allowlist(&organization.id, None, list)),
        ),
        ("get_session_profiles", views::session_profiles(&relatives.session_profiles)),
        ("list_smart_contract_interfaces", views::contract_interfaces(organization)),
        ("get_organization", all),
    ];
    for (query, expected) in expected {
        assert_same(query, &expected, &times.strip(&answers[query]));
    }
    // One page of at most ten.
    let reported = answers["list_suborgs"].as_array().expect("ids of sub-organizations");
    assert_eq!(reported.len(), relatives.children.len().min(10), "sub-organizations on the first page");
    let is_child = |id: &Value| relatives.children.iter().any(|child| id == child);
    assert!(reported.iter().all(is_child), "{reported:?} of {:?}", relatives.children);
    compare_activities(organization, &answers["list_activities"], times, voter);
}

/// Returns the expected answer to `get_organization`.
fn organization_view(organization: &Organization) -> Value {
    json!({
        "organizationId": organization.id,
        "name": organization.name,
        "users": views::users(organization),
        "policies": views::policies(organization),
        "privateKeys": views::private_keys(organization),
        "invitations": views::invitations(organization),
        "tags": views::tags(organization, |_| true),
        "rootQuorum": views::quorum(organization),
        "features": views::features(organization),
        "wallets": views::wallets(organization),
        "smartContractInterfaceReferences": views::contract_references(organization),
    })
}

/// Asserts that a text contains neither a card number nor its code, whatever the level of quoting.
pub(super) fn assert_no_card(text: &str) {
    let plain = text.replace('\\', "");
    assert!(!plain.contains(CARD), "a card number is stored");
    assert!(!plain.contains("\"cvv\":\"9"), "a card code is stored");
}

fn compare_activities(
    organization: &Organization,
    reported: &Value,
    times: &mut Times,
    voter: Option<(&str, &str)>,
) {
    assert_no_card(&reported.to_string());
    let reported = in_order_of_creation(organization, reported);
    assert_eq!(reported.len(), organization.activities.len(), "as many activities as requests were recorded");
    for (reported, activity) in reported.iter().zip(organization.activities.iter().rev()) {
        times.strip(
            &json!({ "id": reported["id"], "createdAt": reported["createdAt"], "updatedAt": reported["updatedAt"] }),
        );
        let may_vote = voter.is_some_and(|(user, _)| organization.members.contains(user));
        let has_voted = voter.is_some_and(|(user, _)| organization.has_approved(activity, user));
        let mut expected = views::activity(activity, &organization.id, may_vote, has_voted);
        let is_vote_with_key = |vote: &Vote| {
            vote.is_approval && voter.is_some_and(|(_, public_key)| vote.public_key == public_key)
        };
        let user = voter.and_then(|(user, _)| organization.user(user));
        let has_mfa = user.is_some_and(|user| !user.mfa_policies.is_empty());
        if has_voted && (has_mfa || activity.status == Status::NeedsProof) {
            // Whether a proof is accepted depends on the credential, which the flags do not know.
            expected["canApprove"] = reported["canApprove"].clone();
        }
        if has_voted && !activity.votes.iter().any(is_vote_with_key) {
            // Policies may require certain credentials, which those of the model do not. The model does not
            // know whether a vote with another credential of this user would be accepted.
            expected["canApprove"] = reported["canApprove"].clone();
        }
        assert_same(activity.name, &expected, &known_members(reported));
    }
}

/// Sorts a list of activities, newest first. Ids of the same millisecond, by which the list is sorted, leave
/// their order open.
pub(super) fn in_order_of_creation(organization: &Organization, reported: &Value) -> Vec<Value> {
    const MILLIS: usize = "01234567-89ab".len();
    let mut reported = reported.as_array().expect("a list of activities").clone();
    let millis = |activity: &Value| activity["id"].as_str().expect("an id")[..MILLIS].to_owned();
    if reported.windows(2).any(|two| millis(&two[0]) == millis(&two[1])) {
        let activities = organization.activities.iter().enumerate();
        let positions: BTreeMap<_, _> =
            activities.map(|(position, activity)| (activity.fingerprint(), position)).collect();
        let position = |activity: &Value| {
            positions.get(activity["fingerprint"].as_str().expect("a fingerprint")).copied()
        };
        reported.sort_by_key(|activity| Reverse((millis(activity), position(activity))));
    }
    reported
}

/// Returns the members of an activity that the model knows.
fn known_members(reported: &Value) -> Value {
    let mut seen = json!({ "failure": reported["failure"]["code"], "votes": [] });
    let members =
        ["id", "organizationId", "type", "status", "fingerprint", "result", "canApprove", "canReject"];
    for member in members {
        seen[member] = reported[member].clone();
    }
    let votes = reported["votes"].as_array().expect("a list of votes").iter();
    let votes = votes.map(|vote| {
        json!({ "userId": vote["userId"], "publicKey": vote["publicKey"], "selection": vote["selection"] })
    });
    seen["votes"] = votes.collect();
    seen
}

/// Asserts that every id belongs to one resource, and every address and public key to one key.
pub(super) fn assert_unique_ids_and_keys(world: &World) {
    let mut ids = BTreeSet::new();
    let mut public_keys = BTreeMap::new();
    for organization in world.organizations.iter().chain(&world.deleted) {
        for id in organization.ids().into_iter().chain(organization.deleted_ids.iter().cloned()) {
            assert!(ids.insert(id.clone()), "two resources with one id: {id}");
        }
        let accounts = organization.accounts.iter().map(|account| {
            let [wallet, curve, path, _] = account.derivation.key(&account.wallet);
            (account.public_key.clone(), [wallet, curve, path].join(" "))
        });
        let keys = organization.private_keys.iter().map(|key| (key.public_key.clone(), key.id.clone()));
        for (public_key, origin) in accounts.chain(keys) {
            // The public key is unknown if its organization was deleted before the key was listed.
            let Some(public_key) = public_key else { continue };
            let before = public_keys.insert(public_key, origin.clone());
            assert!(before.is_none() || before == Some(origin), "two keys with one public key");
        }
    }
}

/// Asserts that two values are equal, and shows the first difference.
pub(super) fn assert_same(what: &str, expected: &Value, reported: &Value) {
    if let Some(difference) = difference("", expected, reported) {
        panic!("{what}: {difference}\nexpected {expected:#}\nreported {reported:#}");
    }
}

/// Returns the pointer (RFC 6901) to the first difference of two values, and the difference.
fn difference(pointer: &str, expected: &Value, reported: &Value) -> Option<String> {
    match (expected, reported) {
        (Value::Object(left), Value::Object(right)) => {
            let names: BTreeSet<&String> = left.keys().chain(right.keys()).collect();
            names.into_iter().find_map(|name| {
                let pointer = format!("{pointer}/{name}");
                match (left.get(name), right.get(name)) {
                    (Some(left), Some(right)) => difference(&pointer, left, right),
                    (left, right) => Some(format!("{pointer}: expected {left:?}, reported {right:?}")),
                }
            })
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            let pairs = left.iter().zip(right).enumerate();
            let mut differences = pairs
                .filter_map(|(index, (left, right))| difference(&format!("{pointer}/{index}"), left, right));
            differences.next()
        }
        _ if expected == reported => None,
        _ => Some(format!("{pointer}: expected {expected}, reported {reported}")),
    }
}
