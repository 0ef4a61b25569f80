//! Policy decisions on activities: by parameters and referenced records, by time, by errors, and within the
//! step limit.

use quorate_common::api_error::{ApiError, Code};
use quorate_common::console::{WaitingReason, WaitingRule};
use quorate_core::operator;
use quorate_core::policy::DenyErrors;
use serde_json::{Value, json};

use crate::changes::query_as_root;
use crate::fixture::{Fixture, NOW, Person};
use crate::samples::{AUTHORIZATION, UNSIGNED};

/// An hour in milliseconds.
const HOUR: u64 = 60 * 60 * 1000;

/// Adds a policy and returns its id.
fn add(fixture: &mut Fixture, name: &str, effect: &str, expressions: &Value) -> Value {
    let mut policy = json!({"policyName": name, "effect": format!("EFFECT_{effect}"), "notes": ""});
    policy.as_object_mut().expect("an object").extend(expressions.as_object().expect("an object").clone());
    let created = fixture.execute("ACTIVITY_TYPE_CREATE_POLICY_V3", &policy);
    created["result"]["createPolicyResult"]["policyId"].clone()
}

/// Returns a consensus that one person meets alone.
fn alone(person: &Person) -> String {
    format!("approvers.any(user, user.id == '{}')", person.user)
}

/// Submits a request as the ordinary user at this time.
fn submit_as_user(
    fixture: &mut Fixture,
    activity_type: &str,
    parameters: &Value,
    now: u64,
) -> Result<Value, ApiError> {
    let user = fixture.user.clone();
    fixture.submit(&user, fixture.id, activity_type, parameters, now)
}

/// Returns the outcome of a policy in a denial.
fn outcome(error: &ApiError, policy: &Value) -> Value {
    outcomes(error, policy).first().expect("the policy is listed").clone()
}

/// Returns the outcomes of a policy in a denial, in the order of the subjects.
fn outcomes(error: &ApiError, policy: &Value) -> Vec<Value> {
    let evaluations = error.details[0]["policyEvaluations"].as_array().expect("the policies are listed");
    evaluations.iter().filter(|one| one["policyId"] == *policy).map(|one| one["outcome"].clone()).collect()
}

fn wallet(name: &str) -> Value {
    json!({"walletName": name, "accounts": []})
}

#[test]
fn policies_apply_only_during_their_time() {
    let mut fixture = Fixture::new(1);
    // The time of the fixture is midnight in UTC, on a Thursday.
    let hours = "CronSpan('0 9 * * 1-5', '8h', 'Europe/Berlin')";
    let expressions = json!({"consensus": alone(&fixture.user), "time": hours});
    let id = add(&mut fixture, "in working hours", "ALLOW", &expressions);
    let create_wallet = |fixture: &mut Fixture, name: &str, now| {
        submit_as_user(fixture, "ACTIVITY_TYPE_CREATE_WALLET", &wallet(name), now)
    };
    let early = create_wallet(&mut fixture, "early", NOW).expect_err("the policy is not active yet");
    assert_eq!(outcome(&early, &id), "OUTCOME_TIME_INACTIVE");
    create_wallet(&mut fixture, "nine in Berlin", NOW + 8 * HOUR).expect("the policy is active");
    create_wallet(&mut fixture, "a second before five", NOW + 16 * HOUR - 1000)
        .expect("the policy is still active");
    create_wallet(&mut fixture, "five in Berlin", NOW + 16 * HOUR)
        .expect_err("the policy is no longer active");
    let shown =
        |fixture: &Fixture| query_as_root(fixture, "get_policy", &json!({"policyId": id}))["policy"].clone();
    assert_eq!(shown(&fixture)["time"], hours);
    // An update without `time` keeps it, and an empty one removes it.
    fixture.execute("ACTIVITY_TYPE_UPDATE_POLICY_V2", &json!({"policyId": id, "policyNotes": "noted"}));
    assert_eq!(shown(&fixture)["time"], hours);
    fixture.execute("ACTIVITY_TYPE_UPDATE_POLICY_V2", &json!({"policyId": id, "time": ""}));
    assert_eq!(shown(&fixture).get("time"), None);
    create_wallet(&mut fixture, "at midnight", NOW).expect("the policy has no time restriction");
}

#[test]
fn parse_errors_state_position_and_reason() {
    let mut fixture = Fixture::new(1);
    let (root, policy) = (fixture.roots[0].clone(), fixture.policy.clone());
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
            let error = fixture
                .submit(&root, fixture.id, activity_type, &parameters, NOW)
                .expect_err("the request is invalid");
            assert_eq!((error.code, error.message), (Code::InvalidArgument, message.clone()));
        }
    }
}

#[test]
fn conditions_can_use_parameters_and_referenced_records() {
    let mut fixture = Fixture::new(1);
    let (wallet, address) = fixture.wallet.clone();
    let (key, endpoint, spare) =
        (fixture.private_key.clone(), fixture.endpoint.clone(), fixture.spare.clone());
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
            json!({"walletAccountId": fixture.account, "name": "n"}),
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
            "publicKey": crate::fixture::public_key(77), "curveType": "API_KEY_CURVE_P256"}]}),
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
        let denied = submit_as_user(&mut fixture, &activity_type, &parameters, NOW);
        assert_eq!(
            denied.expect_err("no policy allows it yet").code,
            Code::PermissionDenied,
            "{activity_type}"
        );
        let kind = format!("activity.type == '{activity_type}' && {condition}");
        let expressions = json!({"condition": kind, "consensus": alone(&fixture.user)});
        let id = add(&mut fixture, "by facts", "ALLOW", &expressions);
        let answer = submit_as_user(&mut fixture, &activity_type, &parameters, NOW);
        let answer = answer.unwrap_or_else(|error| panic!("{activity_type} {condition}: {error:?}"));
        assert_eq!(answer["activity"]["status"], "ACTIVITY_STATUS_COMPLETED", "{activity_type}");
        fixture.execute("ACTIVITY_TYPE_DELETE_POLICY", &json!({"policyId": id}));
    }
}

/// Returns typed data that allows an address of 20 equal bytes to spend this value (EIP-2612).
fn permit(spender: &str, value: u64) -> String {
    let members = json!([{"name": "spender", "type": "address"}, {"name": "value", "type": "uint256"}]);
    let spender = format!("0x{}", spender.trim_start_matches("0x").repeat(20));
    json!({"types": {"Permit": members}, "primaryType": "Permit", "domain": {"name": "Coin", "chainId": "1"},
        "message": {"spender": spender, "value": value.to_string(), "note": "not signed"}})
    .to_string()
}

#[test]
fn each_payload_is_evaluated_separately() {
    let mut fixture = Fixture::new(1);
    let (_, address) = fixture.wallet.clone();
    let small = "eth.eip_712.message['value'] < 100";
    let expressions = json!({"condition": small, "consensus": alone(&fixture.user)});
    let allow = add(&mut fixture, "small permits", "ALLOW", &expressions);
    let sign = |fixture: &mut Fixture, payloads: &[String]| {
        let parameters = json!({"signWith": address, "payloads": payloads, "encoding": "PAYLOAD_ENCODING_EIP712",
            "hashFunction": "HASH_FUNCTION_NO_OP"});
        submit_as_user(fixture, "ACTIVITY_TYPE_SIGN_RAW_PAYLOADS", &parameters, NOW)
    };
    let (small_permit, large_permit) = (permit("35", 99), permit("35", 100));
    let done = sign(&mut fixture, &[small_permit.clone(), small_permit.clone()]).expect("both are small");
    let signatures = &done["activity"]["result"]["signRawPayloadsResult"]["signatures"];
    assert_eq!(signatures.as_array().map(Vec::len), Some(2));
    let (allow_outcome, deny_outcome) = ("OUTCOME_ALLOW", "OUTCOME_DENY_IMPLICIT");
    for (payloads, expected) in [
        ([small_permit.clone(), large_permit.clone()], [allow_outcome, deny_outcome]),
        ([large_permit, small_permit.clone()], [deny_outcome, allow_outcome]),
    ] {
        let error = sign(&mut fixture, &payloads).expect_err("one payload is not allowed");
        assert_eq!(
            (error.code, outcomes(&error, &allow)),
            (Code::PermissionDenied, expected.map(Value::from).into())
        );
    }
    let deny = json!({"condition": "eth.eip_712.message['spender'] == '0x6666666666666666666666666666666666666666'"});
    let deny = add(&mut fixture, "not to this one", "DENY", &deny);
    let error =
        sign(&mut fixture, &[small_permit.clone(), permit("66", 1)]).expect_err("one payload is denied");
    assert_eq!(outcomes(&error, &deny).last(), Some(&json!("OUTCOME_DENY_EXPLICIT")));
    // Members outside of the types are not visible to policies, so the policy does not apply.
    let unsigned = json!({"condition": "eth.eip_712.message['note'] == 'not signed'"});
    add(&mut fixture, "by a note", "ALLOW", &unsigned);
    let error = sign(&mut fixture, &[permit("35", 100)]).expect_err("the request is denied");
    assert_eq!(error.code, Code::PermissionDenied);
}

#[test]
fn failing_denials_are_skipped_unless_configured_to_deny() {
    let mut fixture = Fixture::new(1);
    let allow = json!({"consensus": alone(&fixture.user)});
    add(&mut fixture, "everything", "ALLOW", &allow);
    let missing = json!({"condition": "wallet.label == 'cold' && wallet_account.path == 'm/0'"});
    let deny = add(&mut fixture, "nothing cold", "DENY", &missing);
    let (_, address) = fixture.wallet.clone();
    let sign = json!({"signWith": address, "payload": "00", "encoding": "PAYLOAD_ENCODING_HEXADECIMAL",
        "hashFunction": "HASH_FUNCTION_SHA256"});
    let signs =
        |fixture: &mut Fixture| submit_as_user(fixture, "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2", &sign, NOW);
    signs(&mut fixture).expect("the failing denial is skipped");
    fixture.memory.deny_errors = DenyErrors::Deny;
    let error = signs(&mut fixture).expect_err("the wallet and the account exist, so the policy denies");
    assert_eq!(outcome(&error, &deny), "OUTCOME_DENY_EXPLICIT");
    // The activity has no wallet, so the denial does not apply.
    submit_as_user(
        &mut fixture,
        "ACTIVITY_TYPE_CREATE_USER_TAG",
        &json!({"userTagName": "t", "userIds": []}),
        NOW,
    )
    .expect("the denial applies to wallets only");
}

#[test]
fn policies_beyond_the_step_limit_permit_nothing() {
    let mut fixture = Fixture::new(2);
    let thousand = vec!["1"; 1000].join(",");
    let expensive = format!("[{thousand}].all(x, [{thousand}].all(y, x == y))");
    let consensus = alone(&fixture.user);
    for number in 0..20 {
        let expressions = json!({"condition": expensive, "consensus": consensus});
        add(&mut fixture, &format!("expensive {number}"), "ALLOW", &expressions);
    }
    let all = add(&mut fixture, "everything", "ALLOW", &json!({"consensus": consensus}));
    let error = submit_as_user(&mut fixture, "ACTIVITY_TYPE_CREATE_WALLET", &wallet("w"), NOW)
        .expect_err("the request is denied");
    assert_eq!(error.code, Code::PermissionDenied);
    assert_eq!(outcome(&error, &all), "OUTCOME_ERROR");
    // The same holds for activities that need no policy, since a policy that was not evaluated could deny
    // them.
    let own = json!({"userId": fixture.user.user, "apiKeys": [{"apiKeyName": "k",
        "publicKey": crate::fixture::public_key(78), "curveType": "API_KEY_CURVE_P256"}]});
    submit_as_user(&mut fixture, "ACTIVITY_TYPE_CREATE_API_KEYS_V2", &own, NOW)
        .expect_err("the request is denied");
    // The root quorum is not bound by policies and can still act.
    fixture.execute("ACTIVITY_TYPE_CREATE_WALLET", &wallet("by the quorum"));
}

#[test]
fn console_receives_the_reason_why_an_activity_waits() {
    let mut fixture = Fixture::new(2);
    let [first, second] = fixture.roots.clone();
    let signing = "activity.kind == 'CREATE_WALLET'";
    let two = json!({"condition": signing, "consensus": "approvers.count() >= 2"});
    let policy = add(&mut fixture, "two of anybody", "ALLOW", &two);
    let waits = |fixture: &mut Fixture, person: &Person, activity_type: &str, parameters: &Value| {
        let answer =
            fixture.submit(person, fixture.id, activity_type, parameters, NOW).expect("the activity waits");
        answer["activity"]["id"].as_str().expect("an id").to_owned()
    };
    let user = fixture.user.clone();
    let wallet_id = fixture.wallet.0.clone();
    let by_policy = waits(&mut fixture, &user, "ACTIVITY_TYPE_CREATE_WALLET", &wallet("p"));
    let by_quorum = waits(
        &mut fixture,
        &first,
        "ACTIVITY_TYPE_UPDATE_WALLET",
        &json!({"walletId": wallet_id, "walletName": "q"}),
    );
    let only = waits(
        &mut fixture,
        &first,
        "ACTIVITY_TYPE_UPDATE_ROOT_QUORUM",
        &json!({"threshold": 2, "userIds": [first.user, second.user]}),
    );
    let why = |fixture: &Fixture, id: &str| {
        let record = operator::review(&fixture.memory, fixture.id, id, None, NOW).expect("the record exists");
        record.row.waiting.expect("the activity waits")
    };
    let waiting = why(&fixture, &by_policy);
    assert_eq!((waiting.rule, waiting.reason), (WaitingRule::Policy, WaitingReason::PolicyConsensus));
    let outcomes: Vec<_> = waiting
        .policy_evaluations
        .iter()
        .map(|evaluation| json!([evaluation.policy_id, evaluation.outcome]))
        .collect();
    assert!(outcomes.contains(&json!([policy, "OUTCOME_REQUIRES_CONSENSUS"])), "{outcomes:?}");
    assert!(waiting.open_to.contains(&fixture.spare.user), "every user counts: {:?}", waiting.open_to);
    let waiting = why(&fixture, &by_quorum);
    assert_eq!((waiting.rule, waiting.reason), (WaitingRule::RootQuorum, WaitingReason::NoPolicyAllows));
    assert_eq!(waiting.open_to, [second.user]);
    let waiting = why(&fixture, &only);
    assert_eq!((waiting.rule, waiting.reason), (WaitingRule::RootQuorum, WaitingReason::RootQuorumOnly));
    assert_eq!(waiting.policy_evaluations, []);
    add(&mut fixture, "no wallets", "DENY", &json!({"condition": signing}));
    let waiting = why(&fixture, &by_policy);
    assert_eq!((waiting.rule, waiting.reason), (WaitingRule::RootQuorum, WaitingReason::PolicyDenies));
    // Users who cannot override the denial cannot reject the request either.
    assert_eq!(waiting.open_to, fixture.roots.clone().map(|root| root.user));
    let spare = fixture.spare.clone();
    let record =
        operator::review(&fixture.memory, fixture.id, &by_policy, None, NOW).expect("the record exists");
    let reject = json!({"fingerprint": record.row.activity.fingerprint});
    let error = fixture.submit(&spare, fixture.id, "ACTIVITY_TYPE_REJECT_ACTIVITY", &reject, NOW);
    assert_eq!(error.expect_err("the user has no part in this decision").code, Code::PermissionDenied);
}
