//! The console's policy simulation predicts what the daemon does: ten thousand generated requests under
//! generated policies, evaluated in two processes.

use quorate_tests::caller::Caller;
use quorate_tests::choices::Choices;
use quorate_tests::daemon::{Daemon, Options};
use quorate_tests::http::Reply;
use quorate_tests::keys::Key;
use quorate_tests::operator::Operator;
use quorate_tests::requests::{self, CREATE_USERS, CREATE_WALLET, UPDATE_ROOT_QUORUM};
use serde_json::{Value, json};

/// Number of policy sets.
const ROUNDS: usize = 25;
/// Number of requests per policy set.
const REQUESTS: usize = 400;
/// Number of policies in a set.
const POLICIES: usize = 12;

/// A user who sends requests.
struct Person {
    caller: Caller,
    id: String,
}

/// An organization with users, tags and keys.
struct Fixture {
    people: Vec<Person>,
    tags: Vec<String>,
    wallets: Vec<String>,
    accounts: Vec<String>,
    addresses: Vec<String>,
    keys: Vec<String>,
}

async fn fixture(daemon: &Daemon) -> Fixture {
    let root = daemon.root(0);
    let mut people = vec![Person { caller: root.clone(), id: daemon.root_id(0).to_owned() }];
    let mut tags = Vec::new();
    for tag in ["finance", "security"] {
        let created =
            root.result("ACTIVITY_TYPE_CREATE_USER_TAG", &json!({"userTagName": tag, "userIds": []})).await;
        tags.push(text(&created["userTagId"]));
    }
    for (number, name) in ["bot", "carol", "dave", "erin"].into_iter().enumerate() {
        let key = Key::named(name);
        let mut users = requests::user(name, &key);
        let user_tags: Vec<&String> =
            tags.iter().enumerate().filter(|(index, _)| number > *index).map(|(_, tag)| tag).collect();
        users["users"][0]["userTags"] = json!(user_tags);
        let created = root.result(CREATE_USERS, &users).await;
        people.push(Person { caller: root.with_key(&key), id: text(&created["userIds"][0]) });
    }
    let (mut wallets, mut accounts, mut addresses) = (Vec::new(), Vec::new(), Vec::new());
    for name in ["hot", "cold"] {
        let created = root.result(CREATE_WALLET, &requests::wallet(name)).await;
        wallets.push(text(&created["walletId"]));
        addresses.push(text(&created["addresses"][0]));
        let known = root.fetch("list_wallet_accounts", json!({"walletId": created["walletId"]})).await;
        accounts.push(text(&known["accounts"][0]["walletAccountId"]));
    }
    let keys = json!({"privateKeys": [{"privateKeyName": "key", "curve": "CURVE_SECP256K1",
        "addressFormats": ["ADDRESS_FORMAT_ETHEREUM"], "privateKeyTags": []}]});
    let created = root.result("ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2", &keys).await;
    addresses.push(text(&created["privateKeys"][0]["addresses"][0]["address"]));
    let keys = vec![text(&created["privateKeys"][0]["privateKeyId"])];
    Fixture { people, tags, wallets, accounts, addresses, keys }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("a text: {value}")).to_owned()
}

fn one<T: Clone>(choices: &mut Choices, all: &[T]) -> T {
    choices.pick(all).expect("there are some").clone()
}

/// Returns the id of a random user.
fn random_user(fixture: &Fixture, choices: &mut Choices) -> String {
    fixture.people[choices.below(fixture.people.len())].id.clone()
}

/// Returns a random request that changes (almost) nothing: none affects the decision on a later one.
fn request(fixture: &Fixture, choices: &mut Choices) -> (String, Value) {
    let hash = one(choices, &["HASH_FUNCTION_SHA256", "HASH_FUNCTION_KECCAK256"]);
    let user = random_user(fixture, choices);
    let (name, parameters) = match choices.below(9) {
        0 | 1 => (
            "SIGN_RAW_PAYLOAD_V2",
            json!({"signWith": one(choices, &fixture.addresses), "payload": "00ff",
            "encoding": "PAYLOAD_ENCODING_HEXADECIMAL", "hashFunction": hash}),
        ),
        2 => (
            "SIGN_RAW_PAYLOAD_V2",
            json!({"signWith": fixture.keys[0], "payload": "text",
            "encoding": "PAYLOAD_ENCODING_TEXT_UTF8", "hashFunction": hash}),
        ),
        3 => (
            "SIGN_RAW_PAYLOADS",
            json!({"signWith": one(choices, &fixture.addresses), "payloads": ["00", "01"],
            "encoding": "PAYLOAD_ENCODING_HEXADECIMAL", "hashFunction": hash}),
        ),
        4 => ("UPDATE_USER_PHONE_NUMBER", json!({"userId": user, "userPhoneNumber": ""})),
        5 => {
            let index = choices.below(2);
            let name = ["hot", "cold"][index];
            ("UPDATE_WALLET", json!({"walletId": fixture.wallets[index], "walletName": name}))
        }
        6 => {
            let id = one(choices, &fixture.accounts);
            ("UPDATE_WALLET_ACCOUNT_NAME", json!({"walletAccountId": id, "name": id}))
        }
        7 => ("UPDATE_ORGANIZATION_NAME", json!({"organizationName": "renamed"})),
        _ => {
            // A key that expires soon is removed by itself.
            let name = format!("key {}", choices.below(usize::MAX));
            let mut key = requests::api_key(&name, &Key::named(&name));
            key["expirationSeconds"] = json!("1");
            ("CREATE_API_KEYS_V2", requests::api_keys(&user, &[key]))
        }
    };
    (format!("ACTIVITY_TYPE_{name}"), parameters)
}

/// Returns a random condition, or none.
fn condition(fixture: &Fixture, choices: &mut Choices) -> Option<String> {
    let term = |choices: &mut Choices| match choices.below(12) {
        0 => "activity.action == 'SIGN'".to_owned(),
        1 => format!(
            "activity.kind == '{}'",
            one(choices, &["SIGN_RAW_PAYLOAD", "UPDATE_WALLET", "SIGN_RAW_PAYLOADS"])
        ),
        2 => format!(
            "activity.resource in ['{}', 'WALLET']",
            one(choices, &["PRIVATE_KEY", "USER", "CREDENTIAL"])
        ),
        3 => format!("wallet.id == '{}'", one(choices, &fixture.wallets)),
        4 => "!wallet.imported && wallet.label != 'cold'".to_owned(),
        5 => format!("wallet_account.address == '{}'", one(choices, &fixture.addresses)),
        6 => format!("private_key.id == '{}'", fixture.keys[0]),
        7 => "activity.params.hash_function == 'HASH_FUNCTION_SHA256'".to_owned(),
        8 => format!("activity.params.user_id == '{}'", random_user(fixture, choices)),
        9 => "activity.params.wallet_id != ''".to_owned(),
        10 => "eth.tx.value > 5".to_owned(),
        _ => "activity.type != 'ACTIVITY_TYPE_SIGN_RAW_PAYLOADS'".to_owned(),
    };
    match choices.below(8) {
        0 => None,
        1..=4 => Some(term(choices)),
        5 | 6 => Some(format!("{} && {}", term(choices), term(choices))),
        _ => Some(format!("{} || !({})", term(choices), term(choices))),
    }
}

/// Returns a random consensus, or none.
fn consensus(fixture: &Fixture, choices: &mut Choices) -> Option<String> {
    Some(match choices.below(8) {
        0 => return None,
        1 => "approvers.count() >= 2".to_owned(),
        2 => format!("approvers.any(u, u.id == '{}')", random_user(fixture, choices)),
        3 => format!("approvers.filter(u, u.tags.contains('{}')).count() >= 2", one(choices, &fixture.tags)),
        4 => format!(
            "approvers.any(u, u.tags.contains('{}')) && approvers.count() >= 2",
            one(choices, &fixture.tags)
        ),
        5 => "credentials.any(c, c.type == 'CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR')".to_owned(),
        6 => "approvers.all(u, u.alias != 'bot')".to_owned(),
        _ => "credentials[0].credential_id != ''".to_owned(),
    })
}

fn policies(fixture: &Fixture, round: usize, choices: &mut Choices) -> Value {
    let policy = |number: usize, choices: &mut Choices| {
        let effect = if choices.one_in(5) { "EFFECT_DENY" } else { "EFFECT_ALLOW" };
        let mut policy = json!({"policyName": format!("{round} {number}"), "effect": effect, "notes": ""});
        let always = ["time.now > Timestamp('2020-01-01T00:00:00Z')", "CronSpan('0 0 * * 0', '7d', 'UTC')"];
        let never =
            ["time.now < Timestamp('2020-01-01T00:00:00Z')", "!CronSpan('0 0 * * 0', '7d', 'Asia/Tokyo')"];
        let time = match choices.below(6) {
            0 => Some(one(choices, &always).to_owned()),
            1 => Some(one(choices, &never).to_owned()),
            _ => None,
        };
        for (member, text) in [
            ("condition", condition(fixture, choices)),
            ("consensus", consensus(fixture, choices)),
            ("time", time),
        ] {
            if let Some(text) = text {
                policy[member] = json!(text);
            }
        }
        policy
    };
    (0..POLICIES).map(|number| policy(number, choices)).collect()
}

/// Returns the daemon's decision on a request, and the outcome of each policy.
async fn decision_of(person: &Person, reply: &Reply) -> (String, Vec<(String, String)>) {
    let by_policy = |list: &Value| -> Vec<(String, String)> {
        let each = list.as_array().expect("the policy outcomes").iter();
        each.map(|one| (text(&one["policyId"]), text(&one["outcome"]))).collect()
    };
    let answer = reply.json();
    if reply.status == 403 {
        let detail = &answer["details"][0];
        let explicit = text(&detail["message"]).starts_with("The following policies denied this action");
        let verdict = if explicit { "OUTCOME_DENY_EXPLICIT" } else { "OUTCOME_DENY_IMPLICIT" };
        return (verdict.to_owned(), by_policy(&detail["policyEvaluations"]));
    }
    assert_eq!(reply.status, 200, "{} {answer}", reply.request_line);
    let activity = &answer["activity"];
    let evaluations =
        person.caller.fetch("get_policy_evaluations", json!({"activityId": activity["id"]})).await;
    let outcomes = by_policy(&evaluations["policyEvaluations"][0]["policyEvaluations"]);
    if activity["status"] == "ACTIVITY_STATUS_CONSENSUS_NEEDED" {
        person.caller.reject(&activity["fingerprint"]).await.success();
        return ("OUTCOME_REQUIRES_CONSENSUS".to_owned(), outcomes);
    }
    assert_eq!(activity["status"], "ACTIVITY_STATUS_COMPLETED", "{answer}");
    ("OUTCOME_ALLOW".to_owned(), outcomes)
}

#[tokio::test]
async fn simulations_match_the_daemon() {
    let daemon = Daemon::start(Options::quorum(1, 2)).await;
    let mut fixture = fixture(&daemon).await;
    let operator = Operator::root(&daemon, 0);
    // From here on the root quorum needs both, so that policies also decide on requests of a root user.
    let roots = json!({"threshold": 2, "userIds": [daemon.root_id(0), daemon.root_id(1)]});
    daemon.root(0).completed(UPDATE_ROOT_QUORUM, &roots).await;
    fixture.people.push(Person { caller: daemon.root(1), id: daemon.root_id(1).to_owned() });
    let mut choices = Choices::of_seed(4);
    let mut verdicts: std::collections::BTreeMap<String, usize> = std::collections::BTreeMap::new();
    for round in 0..ROUNDS {
        let created = policies(&fixture, round, &mut choices);
        let waits =
            daemon.root(0).waiting("ACTIVITY_TYPE_CREATE_POLICIES", &json!({"policies": created})).await;
        daemon.root(1).approved(&waits["fingerprint"]).await;
        let requests: Vec<(usize, String, Value)> = (0..REQUESTS)
            .map(|_| {
                let (activity_type, parameters) = request(&fixture, &mut choices);
                (choices.below(fixture.people.len()), activity_type, parameters)
            })
            .collect();
        let predicted = predicted(&operator, &fixture, &requests).await;
        for ((who, activity_type, parameters), predicted) in requests.iter().zip(&predicted) {
            let person = &fixture.people[*who];
            let reply = person.caller.submit(activity_type, parameters).await;
            let (verdict, outcomes) = decision_of(person, &reply).await;
            let predicted_outcomes: Vec<(String, String)> = predicted["policies"]
                .as_array()
                .expect("policies")
                .iter()
                .map(|one| (text(&one["policyId"]), text(&one["outcome"])))
                .collect();
            let request = format!("round {round}, {activity_type} {parameters} by {}", person.id);
            assert_eq!(verdict, predicted["verdict"], "{request}: {predicted} {}", reply.json());
            assert_eq!(outcomes, predicted_outcomes, "{request}");
            *verdicts.entry(verdict).or_default() += 1;
        }
        clear(&daemon).await;
    }
    assert_eq!(verdicts.values().sum::<usize>(), ROUNDS * REQUESTS);
    // Each verdict is frequent enough to be meaningful.
    assert!(verdicts.len() == 4 && verdicts.values().all(|count| *count > 300), "{verdicts:?}");
}

/// Simulates the requests in the console, and returns the predictions.
async fn predicted(
    operator: &Operator,
    fixture: &Fixture,
    requests: &[(usize, String, Value)],
) -> Vec<Value> {
    let line = |(who, activity_type, parameters): &(usize, String, Value)| {
        json!({"type": activity_type, "parameters": parameters, "proposer": fixture.people[*who].id})
            .to_string()
    };
    let input: Vec<String> = requests.iter().map(line).collect();
    let mut arguments = operator.identity();
    arguments.extend(["--json", "policy", "simulate", "-"].map(str::to_owned));
    operator.run_raw(&arguments, &input.join("\n")).await.with(0).lines()
}

/// Deletes all policies.
async fn clear(daemon: &Daemon) {
    let known = daemon.root(0).fetch("list_policies", json!({})).await;
    let ids: Vec<Value> =
        known["policies"].as_array().expect("policies").iter().map(|one| one["policyId"].clone()).collect();
    let deletion = json!({"policyIds": ids});
    let waits = daemon.root(0).submit("ACTIVITY_TYPE_DELETE_POLICIES", &deletion).await;
    let waits = waits.activity();
    if waits["status"] == "ACTIVITY_STATUS_CONSENSUS_NEEDED" {
        daemon.root(1).approve(&waits["fingerprint"]).await.success();
    }
    assert_eq!(daemon.root(0).fetch("list_policies", json!({})).await["policies"], json!([]));
}
