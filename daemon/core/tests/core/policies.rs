//! What policies decide over activities: by their parameters and what they are about, by time, by their errors, and
//! how much work they may cause.

use quorate_common::console::{WaitingReason, WaitingRule};
use quorate_common::fault::{Code, Fault};
use quorate_core::operator;
use quorate_core::policy::DenyErrors;
use serde_json::{Value, json};

use crate::changes::asked;
use crate::house::{House, NOW, Person};
use crate::samples::{AUTHORIZATION, UNSIGNED};

/// An hour in milliseconds.
const HOUR: u64 = 60 * 60 * 1000;

/// Adds a policy; gives its id.
fn add(house: &mut House, name: &str, effect: &str, expressions: &Value) -> Value {
    let mut policy = json!({"policyName": name, "effect": format!("EFFECT_{effect}"), "notes": ""});
    policy.as_object_mut().expect("an object").extend(expressions.as_object().expect("an object").clone());
    let made = house.agreed("ACTIVITY_TYPE_CREATE_POLICY_V3", &policy);
    made["result"]["createPolicyResult"]["policyId"].clone()
}

/// A consensus that one person meets alone.
fn alone(person: &Person) -> String {
    format!("approvers.any(user, user.id == '{}')", person.user)
}

/// A request of the ordinary user at this time.
fn asks(house: &mut House, activity_type: &str, parameters: &Value, now: u64) -> Result<Value, Fault> {
    let user = house.user.clone();
    house.submit(&user, house.id, activity_type, parameters, now)
}

/// What a denial says of a policy.
fn outcome(fault: &Fault, policy: &Value) -> Value {
    outcomes(fault, policy).first().expect("this one is named, too").clone()
}

/// What a denial says of a policy, for one thing that is judged after the other.
fn outcomes(fault: &Fault, policy: &Value) -> Vec<Value> {
    let said = fault.details[0]["policyEvaluations"].as_array().expect("each policy is named");
    said.iter().filter(|one| one["policyId"] == *policy).map(|one| one["outcome"].clone()).collect()
}

fn wallet(name: &str) -> Value {
    json!({"walletName": name, "accounts": []})
}

#[test]
fn a_policy_is_active_in_its_time_only() {
    let mut house = House::found(1);
    // The house stands at midnight in UTC, on a Thursday.
    let hours = "CronSpan('0 9 * * 1-5', '8h', 'Europe/Berlin')";
    let expressions = json!({"consensus": alone(&house.user), "time": hours});
    let id = add(&mut house, "in working hours", "ALLOW", &expressions);
    let make =
        |house: &mut House, name: &str, now| asks(house, "ACTIVITY_TYPE_CREATE_WALLET", &wallet(name), now);
    let early = make(&mut house, "early", NOW).expect_err("nobody works at this time");
    assert_eq!(outcome(&early, &id), "OUTCOME_TIME_INACTIVE");
    make(&mut house, "nine in Berlin", NOW + 8 * HOUR).expect("work has begun");
    make(&mut house, "a second before five", NOW + 16 * HOUR - 1000).expect("still");
    make(&mut house, "five in Berlin", NOW + 16 * HOUR).expect_err("work is over");
    let shown = |house: &House| asked(house, "get_policy", &json!({"policyId": id}))["policy"].clone();
    assert_eq!(shown(&house)["time"], hours);
    // A change that names no time keeps it, and an empty one takes it away.
    house.agreed("ACTIVITY_TYPE_UPDATE_POLICY_V2", &json!({"policyId": id, "policyNotes": "noted"}));
    assert_eq!(shown(&house)["time"], hours);
    house.agreed("ACTIVITY_TYPE_UPDATE_POLICY_V2", &json!({"policyId": id, "time": ""}));
    assert_eq!(shown(&house).get("time"), None);
    make(&mut house, "at midnight", NOW).expect("there is no time any more");
}

#[test]
fn what_does_not_parse_is_refused_with_the_place_and_the_reason() {
    let mut house = House::found(1);
    let (root, policy) = (house.roots[0].clone(), house.policy.clone());
    let eof = "parse error: Unrecognized EOF found at 0";
    for (member, text, reason) in [
        ("condition", "", eof),
        ("consensus", "", eof),
        ("condition", "activity.nope == 'x'", "field does not exist: nope"),
        ("condition", "1 == 'a'", "type error: cannot apply `==` to int and string (line 1, column 3)"),
        ("condition", "activity.kind ==\n  'a", "parse error: string is not closed (line 2, column 3)"),
        ("consensus", "approvers.count()", "type error: expected bool, found int (line 1, column 11)"),
        ("time", "CronSpan('0 9 * * *', '8h', 'Mars')", "time zone is not known (line 1, column 29)"),
    ] {
        let message = format!("invalid policy {member}: Expression cannot be evaluated: {reason}");
        let create = json!({"policyName": "p", "effect": "EFFECT_ALLOW", "notes": "", member: text});
        let renamed = match member {
            "condition" => "policyCondition",
            "consensus" => "policyConsensus",
            other => other,
        };
        for (activity_type, parameters) in [
            ("ACTIVITY_TYPE_CREATE_POLICY_V3", create.clone()),
            ("ACTIVITY_TYPE_CREATE_POLICIES", json!({"policies": [create]})),
            ("ACTIVITY_TYPE_UPDATE_POLICY_V2", json!({"policyId": policy, renamed: text})),
        ] {
            let fault = house.submit(&root, house.id, activity_type, &parameters, NOW).expect_err("refused");
            assert_eq!((fault.code, fault.message), (Code::InvalidArgument, message.clone()));
        }
    }
}

#[test]
fn conditions_ask_for_parameters_and_for_what_they_name() {
    let mut house = House::found(1);
    let (wallet, address) = house.wallet.clone();
    let (key, endpoint, spare) = (house.private_key.clone(), house.endpoint.clone(), house.spare.clone());
    let sign = json!({"signWith": address, "payload": "00", "encoding": "PAYLOAD_ENCODING_HEXADECIMAL",
        "hashFunction": "HASH_FUNCTION_SHA256"});
    let by_key = json!({"signWith": key, "payload": "00", "encoding": "PAYLOAD_ENCODING_HEXADECIMAL",
        "hashFunction": "HASH_FUNCTION_SHA256"});
    let several = json!({"signWith": address, "payloads": ["00"], "encoding": "PAYLOAD_ENCODING_HEXADECIMAL",
        "hashFunction": "HASH_FUNCTION_SHA256"});
    let signed = "activity.params.encoding == 'PAYLOAD_ENCODING_HEXADECIMAL' \
                  && activity.params.hash_function == 'HASH_FUNCTION_SHA256'";
    let account = json!({"curve": "CURVE_SECP256K1", "pathFormat": "PATH_FORMAT_BIP32", "path": "m/9",
        "addressFormat": "ADDRESS_FORMAT_ETHEREUM"});
    for (activity_type, parameters, condition) in [
        (
            "SIGN_RAW_PAYLOAD_V2",
            sign,
            format!("{signed} && wallet.id == '{wallet}' && wallet_account.address == '{address}'"),
        ),
        ("SIGN_RAW_PAYLOAD_V2", by_key, format!("{signed} && private_key.id == '{key}'")),
        (
            "SIGN_TRANSACTION_V2",
            json!({"signWith": address, "unsignedTransaction": UNSIGNED, "type": "TRANSACTION_TYPE_ETHEREUM"}),
            format!(
                "activity.params.type == 'TRANSACTION_TYPE_ETHEREUM' && wallet.id == '{wallet}' \
                 && eth.tx.to == '0x3535353535353535353535353535353535353535' && eth.tx.from == '{}' \
                 && eth.tx.value == 1000000000000000000 && eth.tx.chain_id == 1 && eth.tx.nonce == 9 \
                 && eth.tx.gas == 21000 && eth.tx.gas_price == 20000000000 && eth.tx.data == '0x' \
                 && eth.tx.type == 'LEGACY'",
                address.to_lowercase()
            ),
        ),
        (
            "SIGN_RAW_PAYLOAD_V2",
            json!({"signWith": address, "payload": permit("0x35", 7), "encoding": "PAYLOAD_ENCODING_EIP712",
                "hashFunction": "HASH_FUNCTION_NO_OP"}),
            format!(
                "activity.params.encoding == 'PAYLOAD_ENCODING_EIP712' && wallet.id == '{wallet}' \
                 && eth.eip_712.primary_type == 'Permit' && eth.eip_712.domain.name == 'Coin' \
                 && eth.eip_712.domain.chain_id == 1 && eth.eip_712.message['value'] < 8 \
                 && eth.eip_712.message['spender'] == '0x3535353535353535353535353535353535353535'"
            ),
        ),
        (
            "SIGN_RAW_PAYLOAD_V2",
            json!({"signWith": address, "payload": AUTHORIZATION, "hashFunction": "HASH_FUNCTION_NO_OP",
                "encoding": "PAYLOAD_ENCODING_EIP7702_AUTHORIZATION"}),
            "eth.eip_7702_authorization.address == '0x3535353535353535353535353535353535353535' \
             && eth.eip_7702_authorization.chain_id == '1' && eth.eip_7702_authorization.nonce == 0"
                .to_owned(),
        ),
        (
            "SIGN_RAW_PAYLOADS",
            several,
            format!("{signed} && wallet_account.wallet_id == '{wallet}' && !wallet.imported"),
        ),
        (
            "CREATE_WALLET_ACCOUNTS",
            json!({"walletId": wallet, "accounts": [account]}),
            format!("wallet.id == '{wallet}'"),
        ),
        (
            "UPDATE_WALLET",
            json!({"walletId": wallet, "walletName": "renamed"}),
            format!("activity.params.wallet_id == '{wallet}' && wallet.label != 'renamed'"),
        ),
        (
            "UPDATE_WALLET_ACCOUNT_NAME",
            json!({"walletAccountId": house.account, "name": "n"}),
            "wallet.label == 'renamed'".to_owned(),
        ),
        (
            "UPDATE_WEBHOOK_ENDPOINT",
            json!({"endpointId": endpoint, "name": "e"}),
            format!("activity.params.endpoint_id == '{endpoint}'"),
        ),
        (
            "DELETE_WEBHOOK_ENDPOINT",
            json!({"endpointId": endpoint}),
            format!("activity.params.endpoint_id == '{endpoint}'"),
        ),
        (
            "CREATE_API_KEYS_V2",
            json!({"userId": spare.user, "apiKeys": [{"apiKeyName": "k",
            "publicKey": crate::house::public_key(77), "curveType": "API_KEY_CURVE_P256"}]}),
            format!("activity.params.user_id == '{}'", spare.user),
        ),
        (
            "DELETE_API_KEYS",
            json!({"userId": spare.user, "apiKeyIds": [spare.keys[0]]}),
            format!(
                "activity.params.user_id == '{}' && activity.params.api_key_ids == ['{}']",
                spare.user, spare.keys[0]
            ),
        ),
        (
            "DELETE_USERS",
            json!({"userIds": [spare.user]}),
            format!("activity.params.user_ids.contains('{}')", spare.user),
        ),
        (
            "DELETE_WALLETS",
            json!({"walletIds": [wallet], "deleteWithoutExport": true}),
            format!("wallets.any(w, w.id == '{wallet}')"),
        ),
    ] {
        let activity_type = format!("ACTIVITY_TYPE_{activity_type}");
        let denied = asks(&mut house, &activity_type, &parameters, NOW);
        assert_eq!(denied.expect_err("no policy yet").code, Code::PermissionDenied, "{activity_type}");
        let kind = format!("activity.type == '{activity_type}' && {condition}");
        let expressions = json!({"condition": kind, "consensus": alone(&house.user)});
        let id = add(&mut house, "by facts", "ALLOW", &expressions);
        let answer = asks(&mut house, &activity_type, &parameters, NOW);
        let answer = answer.unwrap_or_else(|fault| panic!("{activity_type} {condition}: {fault:?}"));
        assert_eq!(answer["activity"]["status"], "ACTIVITY_STATUS_COMPLETED", "{activity_type}");
        house.agreed("ACTIVITY_TYPE_DELETE_POLICY", &json!({"policyId": id}));
    }
}

/// That so much is allowed to whom the byte stands for (EIP-2612).
fn permit(spender: &str, value: u64) -> String {
    let members = json!([{"name": "spender", "type": "address"}, {"name": "value", "type": "uint256"}]);
    let spender = format!("0x{}", spender.trim_start_matches("0x").repeat(20));
    json!({"types": {"Permit": members}, "primaryType": "Permit", "domain": {"name": "Coin", "chainId": "1"},
        "message": {"spender": spender, "value": value.to_string(), "note": "not signed"}})
    .to_string()
}

#[test]
fn each_of_several_payloads_is_judged_by_itself() {
    let mut house = House::found(1);
    let (_, address) = house.wallet.clone();
    let small = "eth.eip_712.message['value'] < 100";
    let expressions = json!({"condition": small, "consensus": alone(&house.user)});
    let allow = add(&mut house, "small permits", "ALLOW", &expressions);
    let asked = |house: &mut House, payloads: &[String]| {
        let parameters = json!({"signWith": address, "payloads": payloads, "encoding": "PAYLOAD_ENCODING_EIP712",
            "hashFunction": "HASH_FUNCTION_NO_OP"});
        asks(house, "ACTIVITY_TYPE_SIGN_RAW_PAYLOADS", &parameters, NOW)
    };
    let (little, much) = (permit("35", 99), permit("35", 100));
    let done = asked(&mut house, &[little.clone(), little.clone()]).expect("both are small");
    let signatures = &done["activity"]["result"]["signRawPayloadsResult"]["signatures"];
    assert_eq!(signatures.as_array().map(Vec::len), Some(2));
    let (yes, no) = ("OUTCOME_ALLOW", "OUTCOME_DENY_IMPLICIT");
    for (payloads, said) in [([little.clone(), much.clone()], [yes, no]), ([much, little.clone()], [no, yes])]
    {
        let fault = asked(&mut house, &payloads).expect_err("one is not");
        assert_eq!(
            (fault.code, outcomes(&fault, &allow)),
            (Code::PermissionDenied, said.map(Value::from).into())
        );
    }
    let deny = json!({"condition": "eth.eip_712.message['spender'] == '0x6666666666666666666666666666666666666666'"});
    let deny = add(&mut house, "not to this one", "DENY", &deny);
    let fault = asked(&mut house, &[little.clone(), permit("66", 1)]).expect_err("one is denied");
    assert_eq!(outcomes(&fault, &deny).last(), Some(&json!("OUTCOME_DENY_EXPLICIT")));
    // What no type names is nothing to ask about, so the policy does not apply.
    let unsigned = json!({"condition": "eth.eip_712.message['note'] == 'not signed'"});
    add(&mut house, "by a note", "ALLOW", &unsigned);
    let fault = asked(&mut house, &[permit("35", 100)]).expect_err("denied");
    assert_eq!(fault.code, Code::PermissionDenied);
}

#[test]
fn a_denial_that_fails_is_skipped_unless_the_operator_is_strict() {
    let mut house = House::found(1);
    let allow = json!({"consensus": alone(&house.user)});
    add(&mut house, "everything", "ALLOW", &allow);
    let missing = json!({"condition": "wallet.label == 'cold' && wallet_account.path == 'm/0'"});
    let deny = add(&mut house, "nothing cold", "DENY", &missing);
    let (_, address) = house.wallet.clone();
    let sign = json!({"signWith": address, "payload": "00", "encoding": "PAYLOAD_ENCODING_HEXADECIMAL",
        "hashFunction": "HASH_FUNCTION_SHA256"});
    let signs = |house: &mut House| asks(house, "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2", &sign, NOW);
    signs(&mut house).expect("the failing denial is skipped");
    house.memory.deny_errors = DenyErrors::Deny;
    let fault = signs(&mut house).expect_err("the wallet and the account are there, so it denies");
    assert_eq!(outcome(&fault, &deny), "OUTCOME_DENY_EXPLICIT");
    // There is no wallet at all, so the denial is about something else.
    asks(&mut house, "ACTIVITY_TYPE_CREATE_USER_TAG", &json!({"userTagName": "t", "userIds": []}), NOW)
        .expect("it is about wallets only");
}

#[test]
fn policies_that_ask_for_too_much_work_permit_nothing() {
    let mut house = House::found(2);
    let thousand = vec!["1"; 1000].join(",");
    let endless = format!("[{thousand}].all(x, [{thousand}].all(y, x == y))");
    let consensus = alone(&house.user);
    for number in 0..20 {
        let expressions = json!({"condition": endless, "consensus": consensus});
        add(&mut house, &format!("endless {number}"), "ALLOW", &expressions);
    }
    let all = add(&mut house, "everything", "ALLOW", &json!({"consensus": consensus}));
    let fault = asks(&mut house, "ACTIVITY_TYPE_CREATE_WALLET", &wallet("w"), NOW).expect_err("denied");
    assert_eq!(fault.code, Code::PermissionDenied);
    assert_eq!(outcome(&fault, &all), "OUTCOME_ERROR");
    // Nor what needs no policy, since one that was not asked could deny it.
    let own = json!({"userId": house.user.user, "apiKeys": [{"apiKeyName": "k",
        "publicKey": crate::house::public_key(78), "curveType": "API_KEY_CURVE_P256"}]});
    asks(&mut house, "ACTIVITY_TYPE_CREATE_API_KEYS_V2", &own, NOW).expect_err("denied");
    // The root quorum is not bound by policies, and so can put an end to it.
    house.agreed("ACTIVITY_TYPE_CREATE_WALLET", &wallet("by the quorum"));
}

#[test]
fn the_console_hears_why_an_activity_waits() {
    let mut house = House::found(2);
    let [first, second] = house.roots.clone();
    let signing = "activity.kind == 'CREATE_WALLET'";
    let two = json!({"condition": signing, "consensus": "approvers.count() >= 2"});
    let policy = add(&mut house, "two of anybody", "ALLOW", &two);
    let waits = |house: &mut House, person: &Person, activity_type: &str, parameters: &Value| {
        let answer = house.submit(person, house.id, activity_type, parameters, NOW).expect("it waits");
        answer["activity"]["id"].as_str().expect("an id").to_owned()
    };
    let user = house.user.clone();
    let held = house.wallet.0.clone();
    let by_policy = waits(&mut house, &user, "ACTIVITY_TYPE_CREATE_WALLET", &wallet("p"));
    let by_quorum = waits(
        &mut house,
        &first,
        "ACTIVITY_TYPE_UPDATE_WALLET",
        &json!({"walletId": held, "walletName": "q"}),
    );
    let only = waits(
        &mut house,
        &first,
        "ACTIVITY_TYPE_UPDATE_ROOT_QUORUM",
        &json!({"threshold": 2, "userIds": [first.user, second.user]}),
    );
    let why = |house: &House, id: &str| {
        let record = operator::review(&house.memory, house.id, id, NOW).expect("it is there");
        record.row.waiting.expect("it waits")
    };
    let waiting = why(&house, &by_policy);
    assert_eq!((waiting.rule, waiting.reason), (WaitingRule::Policy, WaitingReason::PolicyConsensus));
    let said: Vec<_> =
        waiting.policy_evaluations.iter().map(|said| json!([said.policy_id, said.outcome])).collect();
    assert!(said.contains(&json!([policy, "OUTCOME_REQUIRES_CONSENSUS"])), "{said:?}");
    assert!(waiting.open_to.contains(&house.spare.user), "anybody counts: {:?}", waiting.open_to);
    let waiting = why(&house, &by_quorum);
    assert_eq!((waiting.rule, waiting.reason), (WaitingRule::RootQuorum, WaitingReason::NoPolicyAllows));
    assert_eq!(waiting.open_to, [second.user]);
    let waiting = why(&house, &only);
    assert_eq!((waiting.rule, waiting.reason), (WaitingRule::RootQuorum, WaitingReason::RootQuorumOnly));
    assert_eq!(waiting.policy_evaluations, []);
    add(&mut house, "no wallets", "DENY", &json!({"condition": signing}));
    let waiting = why(&house, &by_policy);
    assert_eq!((waiting.rule, waiting.reason), (WaitingRule::RootQuorum, WaitingReason::PolicyDenies));
    // Whoever cannot override the denial cannot end the request either.
    assert_eq!(waiting.open_to, house.roots.clone().map(|root| root.user));
    let spare = house.spare.clone();
    let record = operator::review(&house.memory, house.id, &by_policy, NOW).expect("it is there");
    let reject = json!({"fingerprint": record.row.activity.fingerprint});
    let fault = house.submit(&spare, house.id, "ACTIVITY_TYPE_REJECT_ACTIVITY", &reject, NOW);
    assert_eq!(fault.expect_err("it is not theirs to decide").code, Code::PermissionDenied);
}
