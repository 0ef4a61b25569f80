//! Each HIGH flag has an example that sets it and one of the same operation that nearly does, except for flags that an
//! operation always has.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::*;

/// Flags that every activity of an operation has, whatever its parameters are.
const ALWAYS: [(&str, &[&str]); 13] = [
    ("accounts-removed", &["DELETE_WALLET_ACCOUNTS"]),
    ("acts-for-anyone", &["ENABLE_AUTH_PROXY"]),
    ("closes-sign-up", &["DISABLE_AUTH_PROXY"]),
    ("key-destroyed", &["DELETE_PRIVATE_KEYS", "DELETE_WALLETS"]),
    ("key-disabled", &["DISABLE_PRIVATE_KEY"]),
    ("key-exported", &["EXPORT_PRIVATE_KEY", "EXPORT_WALLET", "EXPORT_WALLET_ACCOUNT"]),
    ("mfa-removed", &["DELETE_MFA_POLICY"]),
    ("organization-deleted", &["DELETE_ORGANIZATION", "DELETE_SUB_ORGANIZATION"]),
    ("secret-exported", &["EXPORT_SECRETS"]),
    ("session-by-code", &["OTP_AUTH", "OTP_LOGIN"]),
    ("session-by-token", &["OAUTH", "OAUTH_LOGIN"]),
    ("sets-quorum", &["UPDATE_ROOT_QUORUM"]),
    ("token-by-code", &["OAUTH2_AUTHENTICATE"]),
];

/// Flags whose examples and near misses are tests of their own, because they depend on more than the organization and the
/// parameters.
const ELSEWHERE: [(&str, &str); 5] = [
    ("name-changed", "src/proof/tests.rs"),
    ("proposer-key-new", "src/proof/tests.rs"),
    ("quorum-not-known", "src/proof/tests.rs"),
    ("unknown-fields", "src/proof/tests.rs"),
    ("read-by-policies", "src/kinds/shared/read_by_policies.rs"),
];

/// Returns the HIGH flags of each example in the snapshots, by operation.
fn examples() -> BTreeMap<String, Vec<BTreeSet<String>>> {
    let mut found: BTreeMap<String, Vec<BTreeSet<String>>> = BTreeMap::new();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/kinds/snapshots");
    for file in std::fs::read_dir(folder).unwrap() {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        let mut operation = None;
        for line in text.lines() {
            if line.starts_with("ACTIVITY_TYPE_") {
                let name = kind_of(line).to_owned();
                found.entry(name.clone()).or_default().push(BTreeSet::new());
                operation = Some(name);
            }
            let flag = line.strip_prefix("flag HIGH ").and_then(|rest| rest.split(':').next());
            if let (Some(flag), Some(operation)) = (flag, &operation) {
                let example = found.get_mut(operation).and_then(|all| all.last_mut()).unwrap();
                example.insert(flag.to_owned());
            }
        }
    }
    found
}

/// Returns the names of the HIGH flags in the sources of the kinds and of the proof.
fn in_sources() -> BTreeSet<String> {
    fn of_folder(folder: &Path, found: &mut BTreeSet<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.ends_with("tests") {
                of_folder(&path, found);
            } else if path.extension().is_some_and(|ending| ending == "rs") && !path.ends_with("tests.rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                for call in ["flag_high(", "flag_with_word(", "Level::High,"] {
                    let names =
                        text.split(call).skip(1).filter_map(|rest| rest.trim_start().strip_prefix('"'));
                    found.extend(names.filter_map(|rest| Some(rest.split('"').next()?.to_owned())));
                }
            }
        }
    }
    let mut found = BTreeSet::new();
    for folder in ["src/kinds", "src/proof"] {
        of_folder(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &mut found);
    }
    found
}

/// An example that sets a flag, and one that nearly does: parameters of the same type.
struct Pair {
    flag: &'static str,
    activity_type: &'static str,
    sets: Value,
    nearly: Value,
    /// Changes the sample organization.
    prepare: fn(&mut OrganizationDetail),
}

fn pair(flag: &'static str, activity_type: &'static str, sets: Value, nearly: Value) -> Pair {
    Pair { flag, activity_type, sets, nearly, prepare: |_| {} }
}

/// Gives the first user, a member of the root quorum, and another user mail addresses.
fn with_mail(organization: &mut OrganizationDetail) {
    let mut other = organization.users[0].clone();
    other.user_id = quorate_common::ids::UserId::from_bytes([0x77; 16]);
    other.user_email = Some("lee@house.example".to_owned());
    organization.users[0].user_email = Some("mira@house.example".to_owned());
    organization.users.push(other);
}

fn pairs() -> Vec<Pair> {
    let (unknown, holder) = (format!("04{}", "ab".repeat(64)), Fixture::stamper(1).public_key().to_owned());
    let [allow, deny] = [0x61, 0x62].map(|byte| PolicyId::from_bytes([byte; 16]));
    let member = Fixture::user(1);
    let unknown_user = quorate_common::ids::UserId::from_bytes([0x99; 16]);
    let export = |target: &str| json!({"privateKeyId": unknown_user, "targetPublicKey": target});
    let recovery = |mail: &str| json!({"email": mail, "targetPublicKey": unknown});
    let quorum = |threshold: u32| json!({"threshold": threshold, "userIds": [Fixture::user(0), member]});
    let data = |primary: &str| {
        let types = json!({primary: [{"name": "to", "type": "address"}], "EIP712Domain": []});
        let message = json!({"to": "0x9858EfFD232B4033E47d90003D41EC34EcaEda94"});
        let payload = json!({"types": types, "primaryType": primary, "domain": {}, "message": message});
        json!({"signWith": "0x9858EfFD232B4033E47d90003D41EC34EcaEda94", "payload": payload.to_string(),
            "encoding": "PAYLOAD_ENCODING_EIP712", "hashFunction": "HASH_FUNCTION_NO_OP"})
    };
    let policy = |condition: &str| {
        json!({"policyName": "new", "effect": "EFFECT_ALLOW", "consensus": "approvers.count() > 1",
            "condition": condition, "notes": ""})
    };
    let code = |mail: &str| json!({"otpType": "OTP_TYPE_EMAIL", "contact": mail});
    let mut all = vec![
        pair("deny-removed", "DELETE_POLICY", json!({"policyId": deny}), json!({"policyId": allow})),
        pair(
            "root-user-removed",
            "DELETE_USERS",
            json!({"userIds": [member]}),
            json!({"userIds": [unknown_user]}),
        ),
        pair("target-unknown", "EXPORT_PRIVATE_KEY", export(&unknown), export(&holder)),
        pair("target-stamps", "EXPORT_PRIVATE_KEY", export(&holder), export(&unknown)),
        pair("token-transfer", "SIGN_RAW_PAYLOAD_V2", data("TransferWithAuthorization"), data("Mail")),
        pair(
            "allow-access-as-others",
            "CREATE_POLICY_V3",
            policy("activity.resource == 'CREDENTIAL'"),
            policy("activity.resource == 'WALLET'"),
        ),
    ];
    let prepared = |prepare, one: Pair| Pair { prepare, ..one };
    all.push(prepared(
        with_mail,
        pair("unknown-user", "INIT_OTP_AUTH", code("nobody@house.example"), code("lee@house.example")),
    ));
    all.push(prepared(
        with_mail,
        pair(
            "recovers-root-user",
            "INIT_USER_EMAIL_RECOVERY",
            recovery("mira@house.example"),
            recovery("lee@house.example"),
        ),
    ));
    all.push(prepared(
        |organization| organization.head.root_quorum.threshold = 1,
        pair("one-alone", "UPDATE_ROOT_QUORUM", quorum(1), quorum(2)),
    ));
    let hours = |hour: u8| format!("CronSpan('0 {hour} * * 1-5', '8h', 'UTC')");
    let time = |time: &str| json!({"policyId": allow, "time": time});
    all.push(prepared(
        |organization| organization.policies[0].time = Some("CronSpan('0 9 * * 1-5', '8h', 'UTC')".into()),
        pair("time-removed", "UPDATE_POLICY_V2", time(""), time(&hours(10))),
    ));
    let [first, second] = [0x31, 0x32].map(|byte| quorate_common::ids::ApiKeyId::from_bytes([byte; 16]));
    let keys = |keys: &[quorate_common::ids::ApiKeyId]| json!({"userId": member, "apiKeyIds": keys});
    all.push(prepared(
        with_keys,
        pair("last-key-of-root-user", "DELETE_API_KEYS", keys(&[first, second]), keys(&[second])),
    ));
    all
}

/// Gives a member of the root quorum two API keys, and a passkey without a public key, which cannot vote.
fn with_keys(organization: &mut OrganizationDetail) {
    Fixture::add_copied_passkey(organization);
    let user = &mut organization.users[1];
    let key = user.api_keys[0].clone();
    let with_id = |byte| {
        let mut key = key.clone();
        key.api_key_id = quorate_common::ids::ApiKeyId::from_bytes([byte; 16]);
        key
    };
    user.api_keys = [0x31, 0x32].map(with_id).into();
    user.authenticators.iter_mut().for_each(|passkey| passkey.credential.public_key.clear());
}

#[test]
fn each_high_flag_has_an_example_and_a_near_miss() {
    let examples = examples();
    let mut shown: BTreeSet<String> = ELSEWHERE.map(|(flag, _)| flag.to_owned()).into();
    for (flag, path) in ELSEWHERE {
        let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
        assert!(text.contains(flag), "{path} does not name {flag}");
    }
    for (flag, operations) in ALWAYS {
        let is_always = |one: &&BTreeSet<String>| one.contains(flag);
        for operation in operations {
            assert!(
                examples[*operation].iter().all(|one| is_always(&one)),
                "{flag} is not always set: {operation}"
            );
        }
        let others = examples.iter().filter(|(name, _)| !operations.contains(&name.as_str()));
        assert!(!others.flat_map(|(_, all)| all).any(|one| is_always(&one)), "{flag} has other operations");
        shown.insert(flag.to_owned());
    }
    for all in examples.values() {
        let set: BTreeSet<&String> = all.iter().flatten().collect();
        let nearly = set.into_iter().filter(|flag| all.iter().any(|one| !one.contains(*flag)));
        shown.extend(nearly.cloned());
    }
    for Pair { flag, activity_type, sets, nearly, prepare } in pairs() {
        let mut organization = sample_organization();
        prepare(&mut organization);
        let context = ReviewContext {
            proposer: Some(Fixture::user(0)),
            book: &Book::EMPTY,
            ..ReviewContext::of(&organization)
        };
        let has = |parameters: &Value| {
            let decoded = decode(&format!("ACTIVITY_TYPE_{activity_type}"), parameters, &context);
            assert!(decoded.unknown_members.is_empty(), "{flag}: {:?}", decoded.unknown_members);
            let flags = &decoded.description.flags;
            assert!(!flags.iter().any(|one| one.name == "unknown-effect"), "{flag}: {flags:?}");
            flags.iter().any(|one| one.name == flag && one.level == Level::High)
        };
        assert!(has(&sets), "{flag} is not set by its example");
        assert!(!has(&nearly), "{flag} is set by its near miss");
        shown.insert(flag.to_owned());
    }
    let sources = in_sources();
    assert!(sources.len() > 60, "{sources:?}");
    let missing: Vec<&String> = sources.difference(&shown).collect();
    assert!(missing.is_empty(), "flags without an example or a near miss: {missing:?}");
}
