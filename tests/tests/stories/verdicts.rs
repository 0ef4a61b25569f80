//! What the console says would happen to a request is what the daemon does: ten thousand generated requests under
//! generated policies, judged in two processes.

use quorate_tests::caller::Caller;
use quorate_tests::choices::Choices;
use quorate_tests::daemon::{Daemon, Options};
use quorate_tests::http::Reply;
use quorate_tests::keys::Key;
use quorate_tests::operator::Operator;
use quorate_tests::requests::{self, CREATE_USERS, CREATE_WALLET, UPDATE_ROOT_QUORUM};
use serde_json::{Value, json};

/// Sets of policies.
const ROUNDS: usize = 25;
/// Requests under each.
const REQUESTS: usize = 400;
/// Policies of a set.
const POLICIES: usize = 12;

/// Somebody who asks.
struct Person {
    caller: Caller,
    id: String,
}

/// An organization with people, tags and keys.
struct House {
    people: Vec<Person>,
    tags: Vec<String>,
    wallets: Vec<String>,
    accounts: Vec<String>,
    addresses: Vec<String>,
    keys: Vec<String>,
}

async fn house(daemon: &Daemon) -> House {
    let root = daemon.root(0);
    let mut people = vec![Person { caller: root.clone(), id: daemon.root_id(0).to_owned() }];
    let mut tags = Vec::new();
    for tag in ["finance", "security"] {
        let made =
            root.result("ACTIVITY_TYPE_CREATE_USER_TAG", &json!({"userTagName": tag, "userIds": []})).await;
        tags.push(text(&made["userTagId"]));
    }
    for (number, name) in ["bot", "carol", "dave", "erin"].into_iter().enumerate() {
        let key = Key::named(name);
        let mut users = requests::user(name, &key);
        let worn: Vec<&String> =
            tags.iter().enumerate().filter(|(at, _)| number > *at).map(|(_, tag)| tag).collect();
        users["users"][0]["userTags"] = json!(worn);
        let made = root.result(CREATE_USERS, &users).await;
        people.push(Person { caller: root.with_key(&key), id: text(&made["userIds"][0]) });
    }
    let (mut wallets, mut accounts, mut addresses) = (Vec::new(), Vec::new(), Vec::new());
    for name in ["hot", "cold"] {
        let made = root.result(CREATE_WALLET, &requests::wallet(name)).await;
        wallets.push(text(&made["walletId"]));
        addresses.push(text(&made["addresses"][0]));
        let known = root.ask("list_wallet_accounts", json!({"walletId": made["walletId"]})).await;
        accounts.push(text(&known["accounts"][0]["walletAccountId"]));
    }
    let keys = json!({"privateKeys": [{"privateKeyName": "key", "curve": "CURVE_SECP256K1",
        "addressFormats": ["ADDRESS_FORMAT_ETHEREUM"], "privateKeyTags": []}]});
    let made = root.result("ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2", &keys).await;
    addresses.push(text(&made["privateKeys"][0]["addresses"][0]["address"]));
    let keys = vec![text(&made["privateKeys"][0]["privateKeyId"])];
    House { people, tags, wallets, accounts, addresses, keys }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("a text: {value}")).to_owned()
}

fn one<T: Clone>(choices: &mut Choices, all: &[T]) -> T {
    choices.pick(all).expect("there are some").clone()
}

/// The id of one of the people.
fn anybody(house: &House, choices: &mut Choices) -> String {
    house.people[choices.below(house.people.len())].id.clone()
}

/// A request that leaves everything as it is, or nearly so: none changes what a later one is judged by.
fn request(house: &House, choices: &mut Choices) -> (String, Value) {
    let hash = one(choices, &["HASH_FUNCTION_SHA256", "HASH_FUNCTION_KECCAK256"]);
    let user = anybody(house, choices);
    let (name, parameters) = match choices.below(9) {
        0 | 1 => (
            "SIGN_RAW_PAYLOAD_V2",
            json!({"signWith": one(choices, &house.addresses), "payload": "00ff",
            "encoding": "PAYLOAD_ENCODING_HEXADECIMAL", "hashFunction": hash}),
        ),
        2 => (
            "SIGN_RAW_PAYLOAD_V2",
            json!({"signWith": house.keys[0], "payload": "text",
            "encoding": "PAYLOAD_ENCODING_TEXT_UTF8", "hashFunction": hash}),
        ),
        3 => (
            "SIGN_RAW_PAYLOADS",
            json!({"signWith": one(choices, &house.addresses), "payloads": ["00", "01"],
            "encoding": "PAYLOAD_ENCODING_HEXADECIMAL", "hashFunction": hash}),
        ),
        4 => ("UPDATE_USER_PHONE_NUMBER", json!({"userId": user, "userPhoneNumber": ""})),
        5 => {
            let place = choices.below(2);
            let name = ["hot", "cold"][place];
            ("UPDATE_WALLET", json!({"walletId": house.wallets[place], "walletName": name}))
        }
        6 => {
            let id = one(choices, &house.accounts);
            ("UPDATE_WALLET_ACCOUNT_NAME", json!({"walletAccountId": id, "name": id}))
        }
        7 => ("UPDATE_ORGANIZATION_NAME", json!({"organizationName": "house"})),
        _ => {
            // One that ends soon makes room for the next by itself.
            let name = format!("key {}", choices.below(usize::MAX));
            let mut key = requests::api_key(&name, &Key::named(&name));
            key["expirationSeconds"] = json!("1");
            ("CREATE_API_KEYS_V2", requests::api_keys(&user, &[key]))
        }
    };
    (format!("ACTIVITY_TYPE_{name}"), parameters)
}

/// A condition, or none.
fn condition(house: &House, choices: &mut Choices) -> Option<String> {
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
        3 => format!("wallet.id == '{}'", one(choices, &house.wallets)),
        4 => "!wallet.imported && wallet.label != 'cold'".to_owned(),
        5 => format!("wallet_account.address == '{}'", one(choices, &house.addresses)),
        6 => format!("private_key.id == '{}'", house.keys[0]),
        7 => "activity.params.hash_function == 'HASH_FUNCTION_SHA256'".to_owned(),
        8 => format!("activity.params.user_id == '{}'", anybody(house, choices)),
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

/// A consensus, or none.
fn consensus(house: &House, choices: &mut Choices) -> Option<String> {
    Some(match choices.below(8) {
        0 => return None,
        1 => "approvers.count() >= 2".to_owned(),
        2 => format!("approvers.any(u, u.id == '{}')", anybody(house, choices)),
        3 => format!("approvers.filter(u, u.tags.contains('{}')).count() >= 2", one(choices, &house.tags)),
        4 => format!(
            "approvers.any(u, u.tags.contains('{}')) && approvers.count() >= 2",
            one(choices, &house.tags)
        ),
        5 => "credentials.any(c, c.type == 'CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR')".to_owned(),
        6 => "approvers.all(u, u.alias != 'bot')".to_owned(),
        _ => "credentials[0].credential_id != ''".to_owned(),
    })
}

fn policies(house: &House, round: usize, choices: &mut Choices) -> Value {
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
            ("condition", condition(house, choices)),
            ("consensus", consensus(house, choices)),
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

/// What the daemon made of a request: its verdict, and what each policy said.
async fn ruled(person: &Person, reply: &Reply) -> (String, Vec<(String, String)>) {
    let said = |list: &Value| -> Vec<(String, String)> {
        let each = list.as_array().expect("what policies said").iter();
        each.map(|one| (text(&one["policyId"]), text(&one["outcome"]))).collect()
    };
    let answer = reply.json();
    if reply.status == 403 {
        let told = &answer["details"][0];
        let explicit = text(&told["message"]).starts_with("The following policies denied this action");
        let verdict = if explicit { "OUTCOME_DENY_EXPLICIT" } else { "OUTCOME_DENY_IMPLICIT" };
        return (verdict.to_owned(), said(&told["policyEvaluations"]));
    }
    assert_eq!(reply.status, 200, "{} {answer}", reply.asked);
    let activity = &answer["activity"];
    let evaluations =
        person.caller.ask("get_policy_evaluations", json!({"activityId": activity["id"]})).await;
    let said = said(&evaluations["policyEvaluations"][0]["policyEvaluations"]);
    if activity["status"] == "ACTIVITY_STATUS_CONSENSUS_NEEDED" {
        person.caller.reject(&activity["fingerprint"]).await.success();
        return ("OUTCOME_REQUIRES_CONSENSUS".to_owned(), said);
    }
    assert_eq!(activity["status"], "ACTIVITY_STATUS_COMPLETED", "{answer}");
    ("OUTCOME_ALLOW".to_owned(), said)
}

#[tokio::test]
async fn console_and_daemon_judge_alike() {
    let daemon = Daemon::start(Options::quorum(1, 2)).await;
    let mut house = house(&daemon).await;
    let operator = Operator::root(&daemon, 0);
    // From here on the quorum needs both, so that a root user alone is a user like others.
    let roots = json!({"threshold": 2, "userIds": [daemon.root_id(0), daemon.root_id(1)]});
    daemon.root(0).completed(UPDATE_ROOT_QUORUM, &roots).await;
    house.people.push(Person { caller: daemon.root(1), id: daemon.root_id(1).to_owned() });
    let mut choices = Choices::of_seed(4);
    let mut verdicts: std::collections::BTreeMap<String, usize> = std::collections::BTreeMap::new();
    for round in 0..ROUNDS {
        let made = policies(&house, round, &mut choices);
        let waits = daemon.root(0).waiting("ACTIVITY_TYPE_CREATE_POLICIES", &json!({"policies": made})).await;
        daemon.root(1).approved(&waits["fingerprint"]).await;
        let asked: Vec<(usize, String, Value)> = (0..REQUESTS)
            .map(|_| {
                let (activity_type, parameters) = request(&house, &mut choices);
                (choices.below(house.people.len()), activity_type, parameters)
            })
            .collect();
        let foretold = foretold(&operator, &house, &asked).await;
        for ((who, activity_type, parameters), foretold) in asked.iter().zip(&foretold) {
            let person = &house.people[*who];
            let reply = person.caller.submit(activity_type, parameters).await;
            let (verdict, said) = ruled(person, &reply).await;
            let foretold_said: Vec<(String, String)> = foretold["policies"]
                .as_array()
                .expect("policies")
                .iter()
                .map(|one| (text(&one["policyId"]), text(&one["outcome"])))
                .collect();
            let request = format!("round {round}, {activity_type} {parameters} by {}", person.id);
            assert_eq!(verdict, foretold["verdict"], "{request}: {foretold} {}", reply.json());
            assert_eq!(said, foretold_said, "{request}");
            *verdicts.entry(verdict).or_default() += 1;
        }
        clear(&daemon).await;
    }
    assert_eq!(verdicts.values().sum::<usize>(), ROUNDS * REQUESTS);
    // Each verdict is common enough to mean something.
    assert!(verdicts.len() == 4 && verdicts.values().all(|count| *count > 300), "{verdicts:?}");
}

/// What the console says would happen.
async fn foretold(operator: &Operator, house: &House, asked: &[(usize, String, Value)]) -> Vec<Value> {
    let line = |(who, activity_type, parameters): &(usize, String, Value)| {
        json!({"type": activity_type, "parameters": parameters, "requester": house.people[*who].id})
            .to_string()
    };
    let input: Vec<String> = asked.iter().map(line).collect();
    let mut arguments = operator.identity();
    arguments.extend(["--json", "policy", "simulate", "-"].map(str::to_owned));
    operator.run_plainly(&arguments, &input.join("\n")).await.with(0).lines()
}

/// Takes all policies away.
async fn clear(daemon: &Daemon) {
    let known = daemon.root(0).ask("list_policies", json!({})).await;
    let ids: Vec<Value> =
        known["policies"].as_array().expect("policies").iter().map(|one| one["policyId"].clone()).collect();
    let gone = json!({"policyIds": ids});
    let waits = daemon.root(0).submit("ACTIVITY_TYPE_DELETE_POLICIES", &gone).await;
    let waits = waits.activity();
    if waits["status"] == "ACTIVITY_STATUS_CONSENSUS_NEEDED" {
        daemon.root(1).approve(&waits["fingerprint"]).await.success();
    }
    assert_eq!(daemon.root(0).ask("list_policies", json!({})).await["policies"], json!([]));
}
