//! Everything that the daemon tells of an organization against the model.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use quorate_tests::caller::Caller;
use serde_json::{Value, json};

use super::activities::Vote;
use super::moves::CARD;
use super::times::Times;
use super::world::{Kin, Organization, Tagged, World};
use super::{learning, views};

/// Queries about all of an organization, with the member of the answer.
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

/// Answers by query, as they came.
pub(super) type Answers = BTreeMap<&'static str, Value>;

/// Asks everything about an organization. Two such answers are equal if nothing has happened in between.
pub(super) async fn ask_everything(caller: &Caller) -> Answers {
    let mut answers = Answers::new();
    for (query, member) in QUERIES {
        answers.insert(query, caller.ask(query, json!({})).await[member].clone());
    }
    answers.insert("get_ip_allowlist", allowlist(caller, json!({})).await);
    answers.insert("list_activities", Value::Array(caller.activities().await));
    answers
}

/// From where requests are taken; nothing if nobody said.
pub(super) async fn allowlist(caller: &Caller, members: Value) -> Value {
    let reply = caller.query("get_ip_allowlist", members).await;
    if reply.status == 200 {
        return reply.success()["allowlist"].clone();
    }
    reply.refusal(404, 5, "*");
    Value::Null
}

/// Asserts that the answers are what the model says, after taking over what only answers tell. `voter` has
/// id and public key of the user who asked, if that is a user of this organization.
pub(super) fn compare(
    organization: &mut Organization,
    kin: &Kin,
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
        ("get_session_profiles", views::session_profiles(&kin.session_profiles)),
        ("list_smart_contract_interfaces", views::contract_interfaces(organization)),
        ("get_organization", all),
    ];
    for (query, expected) in expected {
        same(query, &expected, &times.taken_from(&answers[query]));
    }
    // One page, of ten if there are so many.
    let told = answers["list_suborgs"].as_array().expect("ids of sub-organizations");
    assert_eq!(told.len(), kin.children.len().min(10), "sub-organizations on the first page");
    let is_child = |id: &Value| kin.children.iter().any(|child| id == child);
    assert!(told.iter().all(is_child), "{told:?} of {:?}", kin.children);
    compare_activities(organization, &answers["list_activities"], times, voter);
}

/// The answer to `get_organization`.
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

/// Asserts that neither the number of a card nor its code is in a text, however often the text was put in quotes.
pub(super) fn holds_no_card(text: &str) {
    let plain = text.replace('\\', "");
    assert!(!plain.contains(CARD), "the number of a card is kept");
    assert!(!plain.contains("\"cvv\":\"9"), "the code of a card is kept");
}

fn compare_activities(
    organization: &Organization,
    told: &Value,
    times: &mut Times,
    voter: Option<(&str, &str)>,
) {
    holds_no_card(&told.to_string());
    let told = in_order_of_creation(organization, told);
    assert_eq!(told.len(), organization.activities.len(), "as many activities as requests were recorded");
    for (told, activity) in told.iter().zip(organization.activities.iter().rev()) {
        times.taken_from(
            &json!({ "id": told["id"], "createdAt": told["createdAt"], "updatedAt": told["updatedAt"] }),
        );
        let may_vote = voter.is_some_and(|(user, _)| organization.members.contains(user));
        let has_voted = voter.is_some_and(|(user, _)| organization.has_approved(activity, user));
        let mut expected = views::activity(activity, &organization.id, may_vote, has_voted);
        let is_this = |vote: &Vote| {
            vote.is_approval && voter.is_some_and(|(_, public_key)| vote.public_key == public_key)
        };
        if has_voted && !activity.votes.iter().any(is_this) {
            // Policies may ask by what credentials people approved, which those of the model do not: the model does not know
            // whether a vote with another one of theirs would be taken.
            expected["canApprove"] = told["canApprove"].clone();
        }
        same(activity.name, &expected, &activity_told(told));
    }
}

/// A list of activities, newest first. The ids of those of the same millisecond, by which they are listed, leave their
/// order open.
pub(super) fn in_order_of_creation(organization: &Organization, told: &Value) -> Vec<Value> {
    const MILLIS: usize = "01234567-89ab".len();
    let mut told = told.as_array().expect("a list of activities").clone();
    let millis = |activity: &Value| activity["id"].as_str().expect("an id")[..MILLIS].to_owned();
    if told.windows(2).any(|two| millis(&two[0]) == millis(&two[1])) {
        let activities = organization.activities.iter().enumerate();
        let places: BTreeMap<_, _> =
            activities.map(|(place, activity)| (activity.fingerprint(), place)).collect();
        let place =
            |activity: &Value| places.get(activity["fingerprint"].as_str().expect("a fingerprint")).copied();
        told.sort_by_key(|activity| Reverse((millis(activity), place(activity))));
    }
    told
}

/// Of an activity, what the model knows, too.
fn activity_told(told: &Value) -> Value {
    let mut seen = json!({ "failure": told["failure"]["code"], "votes": [] });
    let members =
        ["id", "organizationId", "type", "status", "fingerprint", "result", "canApprove", "canReject"];
    for member in members {
        seen[member] = told[member].clone();
    }
    let votes = told["votes"].as_array().expect("a list of votes").iter();
    let votes = votes.map(|vote| {
        json!({ "userId": vote["userId"], "publicKey": vote["publicKey"], "selection": vote["selection"] })
    });
    seen["votes"] = votes.collect();
    seen
}

/// Asserts that ids are those of one thing each, and addresses and public keys those of one key each.
pub(super) fn nothing_is_shared(world: &World) {
    let mut ids = BTreeSet::new();
    let mut public_keys = BTreeMap::new();
    for organization in world.organizations.iter().chain(&world.departed) {
        for id in organization.ids().into_iter().chain(organization.gone.iter().cloned()) {
            assert!(ids.insert(id.clone()), "two things of one id: {id}");
        }
        let accounts = organization.accounts.iter().map(|account| {
            let [wallet, curve, path, _] = account.place.key(&account.wallet);
            (account.public_key.clone(), [wallet, curve, path].join(" "))
        });
        let keys = organization.private_keys.iter().map(|key| (key.public_key.clone(), key.id.clone()));
        for (public_key, origin) in accounts.chain(keys) {
            // Nobody knows that of what was deleted with its organization before it was listed.
            let Some(public_key) = public_key else { continue };
            let before = public_keys.insert(public_key, origin.clone());
            assert!(before.is_none() || before == Some(origin), "two keys have one public key");
        }
    }
}

/// Asserts that two values are equal, and tells where they are not.
pub(super) fn same(what: &str, expected: &Value, told: &Value) {
    if let Some(difference) = difference("", expected, told) {
        panic!("{what}: {difference}\nexpected {expected:#}\ntold {told:#}");
    }
}

/// The first place (RFC 6901) where two values differ.
fn difference(place: &str, expected: &Value, told: &Value) -> Option<String> {
    match (expected, told) {
        (Value::Object(left), Value::Object(right)) => {
            let names: BTreeSet<&String> = left.keys().chain(right.keys()).collect();
            names.into_iter().find_map(|name| {
                let place = format!("{place}/{name}");
                match (left.get(name), right.get(name)) {
                    (Some(left), Some(right)) => difference(&place, left, right),
                    (left, right) => Some(format!("{place}: expected {left:?}, told {right:?}")),
                }
            })
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            let pairs = left.iter().zip(right).enumerate();
            let mut differences = pairs
                .filter_map(|(index, (left, right))| difference(&format!("{place}/{index}"), left, right));
            differences.next()
        }
        _ if expected == told => None,
        _ => Some(format!("{place}: expected {expected}, told {told}")),
    }
}
