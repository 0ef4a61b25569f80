//! Tests of each kind in each version: its sentence at 120 and 80 columns, its flags and its fields.
//! Reviewers read the texts in `snapshots/`.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use std::fmt::Write as _;

use quorate_common::console::OrganizationDetail;
use quorate_common::ids::PolicyId;
use quorate_common::wire::{Policy, Timestamp};
use serde_json::{Value, json};

use super::*;
use crate::book::Book;
use crate::testing::Fixture;
use crate::text::wrap;

mod bitcoin;
mod bundles;
mod contracts;
mod ethereum;
mod law;
mod near_misses;
mod payloads;
mod recipients;
mod settings;
mod solana;
mod tron;

/// Returns the organization that the activities change.
fn sample_organization() -> OrganizationDetail {
    let mut organization = Fixture::new(3, 2).with_all_records();
    organization.policies =
        [("payouts", "EFFECT_ALLOW", 0x61), ("no export", "EFFECT_DENY", 0x62)].map(policy).into();
    organization
}

/// Returns the text that approvers would read.
fn described(
    activity_type: &str,
    parameters: &Value,
    organization: &OrganizationDetail,
    book: &Book,
) -> String {
    let context = ReviewContext { proposer: Some(Fixture::user(0)), book, ..ReviewContext::of(organization) };
    let decoded = decode(activity_type, parameters, &context);
    let mut out = format!("{activity_type}\n{} | {}\n", decoded.title, decoded.description.brief);
    for columns in [120, 80] {
        let _ = writeln!(out, "-- {columns} columns");
        for line in wrap(&decoded.description.sentence, columns) {
            assert!(crate::text::width(&line) <= columns);
            let _ = writeln!(out, "{line}");
        }
    }
    if let Some(transfer) = &decoded.description.transfer {
        let _ = writeln!(out, "-- moves\n{}", transfer.headline());
        transfer.lines().iter().for_each(|(label, text)| writeln!(out, "  {label:<7} {text}").unwrap());
    }
    for change in &decoded.description.changes {
        let _ = writeln!(out, "change {}: {} -> {} {}", change.label, change.now, change.after, change.note);
    }
    for flag in &decoded.description.flags {
        let _ = writeln!(out, "flag {} {}: {}", flag.level.word(), flag.name, flag.text);
    }
    if let Some(danger) = &decoded.description.danger {
        let _ = writeln!(out, "type {}: {}", danger.prompt, danger.answer);
    }
    for field in decoded.fields.iter().chain(&decoded.description.facts) {
        let _ = writeln!(out, "field {} = {}", field.name, field.value);
    }
    assert!(decoded.unknown_members.is_empty(), "{:?}", decoded.unknown_members);
    out
}

/// Creates a policy of the organization.
fn policy((name, effect, byte): (&str, &str, u8)) -> Policy {
    Policy {
        policy_id: PolicyId::from_bytes([byte; 16]),
        policy_name: name.to_owned(),
        effect: effect.to_owned(),
        created_at: Timestamp::from_millis(0),
        updated_at: Timestamp::from_millis(0),
        notes: String::new(),
        consensus: "approvers.count() >= 2".to_owned(),
        condition: "activity.action == 'SIGN'".to_owned(),
        time: None,
    }
}

/// Returns the description of an activity of this type.
pub(in crate::kinds) fn description(version: &str, parameters: &Value) -> Description {
    let organization = sample_organization();
    let context = ReviewContext { proposer: Some(Fixture::user(0)), ..ReviewContext::of(&organization) };
    decode(&format!("ACTIVITY_TYPE_{version}"), parameters, &context).description
}

pub(in crate::kinds) fn check(name: &str, rows: &[(&str, Value)]) {
    check_in(&sample_organization(), name, rows);
}

fn check_in(organization: &OrganizationDetail, name: &str, rows: &[(&str, Value)]) {
    check_with(organization, &Book::EMPTY, name, rows);
}

fn check_with(organization: &OrganizationDetail, book: &Book, name: &str, rows: &[(&str, Value)]) {
    let whole: Vec<String> = rows
        .iter()
        .map(|(version, parameters)| {
            described(&format!("ACTIVITY_TYPE_{version}"), parameters, organization, book)
        })
        .collect();
    snapshot(name, &whole);
    for (version, _) in rows {
        assert!(of_type(&format!("ACTIVITY_TYPE_{version}")).is_some());
    }
}

fn snapshot(name: &str, whole: &[String]) {
    insta::with_settings!({prepend_module_to_snapshot => false, omit_expression => true}, {
        insta::assert_snapshot!(name, whole.join("\n"));
    });
}

fn key(curve: bool) -> Value {
    let mut key = json!({"apiKeyName": "ci", "publicKey": "02".repeat(33), "expirationSeconds": "86400"});
    if curve {
        key["curveType"] = json!("API_KEY_CURVE_P256");
    }
    key
}

fn passkey() -> Value {
    json!({"authenticatorName": "yubi-5c", "challenge": "c", "attestation": {"credentialId": "i", "clientDataJson": "d", "attestationObject": "o", "transports": ["AUTHENTICATOR_TRANSPORT_USB"]}})
}

fn account() -> Value {
    json!({"curve": "CURVE_SECP256K1", "pathFormat": "PATH_FORMAT_BIP32", "path": "m/44'/60'/0'/0/0", "addressFormat": "ADDRESS_FORMAT_ETHEREUM"})
}

fn private_key() -> Value {
    json!({"privateKeyName": "k1", "curve": "CURVE_ED25519", "privateKeyTags": [], "addressFormats": ["ADDRESS_FORMAT_SOLANA"]})
}

const TAG: &str = "7f7f7f7f-7f7f-7f7f-7f7f-7f7f7f7f7f7f";

#[test]
fn create_users() {
    let provider = json!({"providerName": "google", "oidcToken": "t"});
    check(
        "create_users",
        &[
            (
                "CREATE_USERS",
                json!({"users": [{"userName": "lee", "accessType": "ACCESS_TYPE_ALL", "apiKeys": [key(false)], "authenticators": [], "userTags": []}]}),
            ),
            (
                "CREATE_USERS_V2",
                json!({"users": [{"userName": "lee", "userEmail": "lee@acme.example", "apiKeys": [], "authenticators": [passkey()], "userTags": [TAG]}]}),
            ),
            (
                "CREATE_USERS_V3",
                json!({"users": [{"userName": "mira", "userPhoneNumber": "+4915112345678", "apiKeys": [key(true)], "authenticators": [], "oauthProviders": [provider], "userTags": []}]}),
            ),
            (
                "CREATE_USERS_V4",
                json!({"users": [{"userName": "a", "apiKeys": [], "authenticators": [], "oauthProviders": [{"providerName": "own", "oidcClaims": {"iss": "i", "sub": "s", "aud": "a"}}], "userTags": []}, {"userName": "b"}]}),
            ),
        ],
    );
}

#[test]
fn create_api_only_users() {
    check(
        "create_api_only_users",
        &[(
            "CREATE_API_ONLY_USERS",
            json!({"apiOnlyUsers": [{"userName": "bot", "userTags": [TAG], "apiKeys": [key(false)]}]}),
        )],
    );
}

#[test]
fn delete_users() {
    check(
        "delete_users",
        &[("DELETE_USERS", json!({"userIds": [Fixture::user(2), "00000000-0000-4000-8000-000000000009"]}))],
    );
}

#[test]
fn create_api_keys() {
    check(
        "create_api_keys",
        &[
            ("CREATE_API_KEYS", json!({"userId": Fixture::user(1), "apiKeys": [key(false)]})),
            ("CREATE_API_KEYS_V2", json!({"userId": Fixture::user(0), "apiKeys": [key(true)]})),
            (
                "CREATE_API_KEYS_V2",
                json!({"userId": "00000000-0000-4000-8000-000000000009", "apiKeys": [key(true)]}),
            ),
        ],
    );
}

#[test]
fn delete_api_keys() {
    let [known, only] =
        [1, 2].map(|user: usize| Fixture::new(3, 2).organization().users[user].api_keys[0].api_key_id);
    let [session, other] = ["41414141-4141-4141-4141-414141414141", "42424242-4242-4242-4242-424242424242"];
    check(
        "delete_api_keys",
        &[
            ("DELETE_API_KEYS", json!({"userId": Fixture::user(1), "apiKeyIds": [known]})),
            ("DELETE_API_KEYS", json!({"userId": Fixture::user(1), "apiKeyIds": [session]})),
            ("DELETE_API_KEYS", json!({"userId": Fixture::user(1), "apiKeyIds": [known, session]})),
            ("DELETE_API_KEYS", json!({"userId": Fixture::user(1), "apiKeyIds": [known, session, other]})),
            ("DELETE_API_KEYS", json!({"userId": Fixture::user(2), "apiKeyIds": [only]})),
        ],
    );
}

#[test]
fn wallets_and_keys() {
    check(
        "create_wallet",
        &[
            (
                "CREATE_WALLET",
                json!({"walletName": "treasury-hot", "accounts": [account()], "mnemonicLength": 24}),
            ),
            ("CREATE_WALLET", json!({"walletName": "new", "accounts": []})),
        ],
    );
    let wallet = "51515151-5151-5151-5151-515151515151";
    check(
        "update_wallet",
        &[
            ("UPDATE_WALLET", json!({"walletId": wallet, "walletName": "treasury-cold"})),
            ("UPDATE_WALLET", json!({"walletId": wallet, "walletName": "treasury-hot\u{202e}"})),
            (
                "UPDATE_WALLET",
                json!({"walletId": "00000000-0000-4000-8000-000000000000", "walletName": "treasury-hot"}),
            ),
            ("UPDATE_WALLET", json!({"walletId": wallet})),
        ],
    );
    let mut named = account();
    named["name"] = json!("payouts");
    check(
        "create_wallet_accounts",
        &[(
            "CREATE_WALLET_ACCOUNTS",
            json!({"walletId": "51515151-5151-5151-5151-515151515151", "accounts": [account(), named], "persist": true}),
        )],
    );
    let mut tagged = private_key();
    tagged["privateKeyTags"] = json!([TAG]);
    check(
        "create_private_keys",
        &[
            ("CREATE_PRIVATE_KEYS", json!({"privateKeys": [private_key()]})),
            ("CREATE_PRIVATE_KEYS_V2", json!({"privateKeys": [tagged]})),
        ],
    );
}

#[test]
fn sign_transaction() {
    let by = |unsigned: &str, chain: &str| json!({"signWith": "0xfd29c1148A76b673eEFCcfb82dcA00Bc7AAF471E", "unsignedTransaction": unsigned, "type": format!("TRANSACTION_TYPE_{chain}")});
    let sample = "ec098504a817c800825208943535353535353535353535353535353535353535880de0b6b3a764000080018080";
    let fees = "02f00180843b9aca008506fc23ac00825208943535353535353535353535353535353535353535880de0b6b3a764000080c0";
    // A call of `approve` without limit, and the creation of a contract, both without a chain id.
    let approve = "f869098504a817c80082ea6094353535353535353535353535353535353535353580b844095ea7b30000000000000000000000001111111111111111111111111111111111111111ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff018080";
    let creates = "ce800182cf08808086600160005500";
    // A transfer of tokens, and a call of something else.
    let tokens = "02f86d0107843b9aca008506fc23ac0082fde894353535353535353535353535353535353535353580b844a9059cbb0000000000000000000000001111111111111111111111111111111111111111000000000000000000000000000000000000000000000000000000000016e360c0";
    let call = "02ec0108843b9aca008506fc23ac0082fde8943535353535353535353535353535353535353535808412345678c0";
    let mut first = by(sample, "ETHEREUM");
    first.as_object_mut().unwrap().remove("signWith");
    first["privateKeyId"] = json!("77777777-7777-7777-7777-777777777777");
    check(
        "sign_transaction",
        &[
            ("SIGN_TRANSACTION", first),
            ("SIGN_TRANSACTION_V2", by(fees, "ETHEREUM")),
            ("SIGN_TRANSACTION_V2", by(approve, "ETHEREUM")),
            ("SIGN_TRANSACTION_V2", by(tokens, "ETHEREUM")),
            ("SIGN_TRANSACTION_V2", by(call, "ETHEREUM")),
            ("SIGN_TRANSACTION_V2", by(creates, "ETHEREUM")),
            ("SIGN_TRANSACTION_V2", by("00", "ETHEREUM")),
            ("SIGN_TRANSACTION_V2", by(sample, "TEMPO")),
        ],
    );
}

#[test]
fn update_root_quorum() {
    let [mira, jo, ana] = [0, 1, 2].map(|index| Fixture::user(index).to_string());
    check(
        "update_root_quorum",
        &[
            ("UPDATE_ROOT_QUORUM", json!({"threshold": 1, "userIds": [mira, jo, ana]})),
            (
                "UPDATE_ROOT_QUORUM",
                json!({"threshold": 2, "userIds": [mira, jo, "00000000-0000-4000-8000-000000000009"]}),
            ),
            ("UPDATE_ROOT_QUORUM", json!({"threshold": 3, "userIds": [ana, jo, mira]})),
        ],
    );
}

#[test]
fn create_sub_organization() {
    let user =
        |curve: bool| json!({"userName": "root", "apiKeys": [key(curve)], "authenticators": [passkey()]});
    let base = |curve: bool| json!({"subOrganizationName": "customer 1", "rootUsers": [user(curve)], "rootQuorumThreshold": 1});
    let with = |curve: bool, more: &[(&str, Value)]| {
        let mut value = base(curve);
        for (name, inner) in more {
            value[*name] = inner.clone();
        }
        value
    };
    let wallet = json!({"walletName": "first", "accounts": [account()]});
    let off = |name: &'static str| (name, json!(true));
    check(
        "create_sub_organization",
        &[
            ("CREATE_SUB_ORGANIZATION", json!({"name": "customer 1", "rootAuthenticator": passkey()})),
            ("CREATE_SUB_ORGANIZATION_V2", base(false)),
            ("CREATE_SUB_ORGANIZATION_V3", with(false, &[("privateKeys", json!([private_key()]))])),
            (
                "CREATE_SUB_ORGANIZATION_V4",
                with(false, &[("wallet", wallet.clone()), off("disableEmailRecovery")]),
            ),
            ("CREATE_SUB_ORGANIZATION_V5", with(false, &[off("disableEmailAuth")])),
            ("CREATE_SUB_ORGANIZATION_V6", with(true, &[("rootUsers", json!([user(true), user(true)]))])),
            (
                "CREATE_SUB_ORGANIZATION_V7",
                with(
                    true,
                    &[
                        ("wallet", wallet),
                        off("disableEmailRecovery"),
                        off("disableEmailAuth"),
                        off("disableSmsAuth"),
                        off("disableOtpEmailAuth"),
                    ],
                ),
            ),
            ("CREATE_SUB_ORGANIZATION_V8", base(true)),
            ("CREATE_SUB_ORGANIZATION_V8", with(true, &[("verificationToken", json!(""))])),
        ],
    );
}

#[test]
fn features() {
    check(
        "set_organization_feature",
        &[
            ("SET_ORGANIZATION_FEATURE", json!({"name": "FEATURE_NAME_EMAIL_AUTH"})),
            (
                "SET_ORGANIZATION_FEATURE",
                json!({"name": "FEATURE_NAME_WEBHOOK", "value": "https://hooks.acme.example/quorate?x=1"}),
            ),
            (
                "SET_ORGANIZATION_FEATURE",
                json!({"name": "FEATURE_NAME_WEBAUTHN_ORIGINS", "value": "https://acme.example"}),
            ),
            ("SET_ORGANIZATION_FEATURE", json!({"name": "FEATURE_NAME_SWAP_CONFIG", "value": ""})),
        ],
    );
    check(
        "remove_organization_feature",
        &[
            ("REMOVE_ORGANIZATION_FEATURE", json!({"name": "FEATURE_NAME_WEBHOOK"})),
            ("REMOVE_ORGANIZATION_FEATURE", json!({"name": "FEATURE_NAME_SMS_AUTH"})),
        ],
    );
}

#[test]
fn create_policy() {
    let selectors = |selector: Value| json!({"policyName": "p", "effect": "EFFECT_ALLOW", "selectors": [selector], "notes": ""});
    let policy = |effect: &str, condition: &str, consensus: &str| json!({"policyName": "p", "effect": effect, "condition": condition, "consensus": consensus, "notes": ""});
    check(
        "create_policy",
        &[
            (
                "CREATE_POLICY_V3",
                policy("EFFECT_ALLOW", "activity.action == 'SIGN'", "approvers.count() >= 2"),
            ),
            ("CREATE_POLICY_V3", policy("EFFECT_ALLOW", "", "approvers.count() >= 2")),
            ("CREATE_POLICY_V3", policy("EFFECT_ALLOW", "activity.action == 'SIGN'", " ")),
            ("CREATE_POLICY_V3", policy("EFFECT_ALLOW", "nonsense ==", "approvers.count() >= 2")),
            ("CREATE_POLICY_V3", policy("EFFECT_DENY", "", "")),
            (
                "CREATE_POLICY_V3",
                json!({"policyName": "p", "effect": "EFFECT_DENY", "notes": "",
                    "time": "!CronSpan('0 9 * * 1-5', '8h', 'UTC')"}),
            ),
            ("CREATE_POLICY_V3", policy("EFFECT_OTHER", "", "")),
            (
                "CREATE_POLICY",
                selectors(
                    json!({"subject": "activity.kind", "operator": "OPERATOR_EQUAL", "target": "CREATE_WALLET"}),
                ),
            ),
            (
                "CREATE_POLICY_V2",
                selectors(json!({"subject": "user.id", "operator": "OPERATOR_IN", "targets": ["a", "b"]})),
            ),
            (
                "CREATE_POLICY_V2",
                selectors(json!({"subject": "user.id", "operator": "OPERATOR_OTHER", "targets": ["a"]})),
            ),
            (
                "CREATE_POLICY_V2",
                selectors(json!({"subject": "nope", "operator": "OPERATOR_IN", "targets": ["a"]})),
            ),
        ],
    );
}

#[test]
fn members_outside_of_the_schema_are_not_described() {
    let sample_organization = Fixture::new(3, 2);
    let organization = sample_organization.organization();
    let context = ReviewContext::of(&organization);
    let equal =
        |target: &str| json!({"subject": "activity.kind", "operator": "OPERATOR_EQUAL", "target": target});
    let newest = json!({"policyName": "p", "effect": "EFFECT_ALLOW", "notes": "", "selectors": [equal("CREATE_USER_TAG")]});
    let decoded = decode("ACTIVITY_TYPE_CREATE_POLICY_V3", &newest, &context);
    assert!(
        decoded.description.sentence.contains("ALLOW ANY activity, by ANYBODY alone"),
        "{}",
        decoded.description.sentence
    );
    assert_eq!(decoded.unknown_members, ["selectors"]);
    let mut both = equal("CREATE_USER_TAG");
    both["targets"] = json!(["EXPORT_WALLET"]);
    let older = json!({"policyName": "p", "effect": "EFFECT_ALLOW", "notes": "", "selectors": [both]});
    let decoded = decode("ACTIVITY_TYPE_CREATE_POLICY_V2", &older, &context);
    assert!(
        decoded.description.sentence.contains("activity.kind == 'EXPORT_WALLET'"),
        "{}",
        decoded.description.sentence
    );
    assert_eq!(decoded.unknown_members, ["selectors[0].target"]);
}

#[test]
fn changed_policies() {
    let [payouts, export] = [0x61, 0x62].map(|byte| PolicyId::from_bytes([byte; 16]));
    let unknown = PolicyId::from_bytes([0x63; 16]);
    check(
        "update_policy",
        &[
            ("UPDATE_POLICY", json!({"policyId": payouts, "policyNotes": "n"})),
            ("UPDATE_POLICY", json!({"policyId": payouts, "policyName": "all", "policyConsensus": ""})),
            (
                "UPDATE_POLICY_V2",
                json!({"policyId": export, "policyEffect": "EFFECT_ALLOW", "policyCondition": "nonsense =="}),
            ),
            ("UPDATE_POLICY_V2", json!({"policyId": unknown, "policyCondition": "true"})),
            ("UPDATE_POLICY_V2", json!({"policyId": payouts, "time": ""})),
            (
                "UPDATE_POLICY_V2",
                json!({"policyId": payouts, "time": "CronSpan('0 9 * * 1-5', '8h', 'UTC')",
                    "policyCondition": "activity.action == 'SIGN' && wallet.label == 'hot'"}),
            ),
            (
                "UPDATE_POLICY_V2",
                json!({"policyId": payouts, "policyEffect": "EFFECT_ALLOW",
                    "policyConsensus": "approvers.count() >= 1"}),
            ),
        ],
    );
    check(
        "delete_policy",
        &[
            ("DELETE_POLICY", json!({"policyId": export})),
            ("DELETE_POLICIES", json!({"policyIds": [payouts, unknown]})),
        ],
    );
    let trap = json!({"policyName": "a\": DENY", "effect": "EFFECT_ALLOW", "notes": "",
        "condition": "activity.kind != 'A\" is true, by approvers for whom \"x'", "consensus": "approvers.count() >= 1"});
    check("quoted_rules", &[("CREATE_POLICIES", json!({"policies": [trap]}))]);
    let rule = |name: &str, effect: &str| json!({"policyName": name, "effect": effect, "consensus": "approvers.count() >= 2", "notes": ""});
    check(
        "create_policies",
        &[("CREATE_POLICIES", json!({"policies": [rule("a", "EFFECT_ALLOW"), rule("b", "EFFECT_DENY")]}))],
    );
}

#[test]
fn deleted_keys_and_accounts() {
    let (key, unknown) = ("77777777-7777-7777-7777-777777777777", "00000000-0000-4000-8000-000000000009");
    check(
        "keys_and_accounts",
        &[
            ("DISABLE_PRIVATE_KEY", json!({"privateKeyId": key})),
            ("DISABLE_PRIVATE_KEY", json!({"privateKeyId": unknown})),
            ("DELETE_PRIVATE_KEYS", json!({"privateKeyIds": [key, unknown], "deleteWithoutExport": true})),
            ("UPDATE_WALLET_ACCOUNT_NAME", json!({"walletAccountId": unknown, "name": "payouts"})),
            ("DELETE_WALLET_ACCOUNTS", json!({"walletAccountIds": [unknown], "deleteWithoutExport": true})),
            (
                "DELETE_WALLETS",
                json!({"walletIds": ["51515151-5151-5151-5151-515151515151"], "deleteWithoutExport": true}),
            ),
            (
                "UPDATE_ALLOWED_ORIGINS",
                json!({"allowedOrigins": ["https://acme.example", "http://localhost"]}),
            ),
            ("UPDATE_ALLOWED_ORIGINS", json!({"allowedOrigins": []})),
        ],
    );
}

#[test]
fn changed_users() {
    let (mira, nobody) = (Fixture::user(0), "00000000-0000-4000-8000-000000000009");
    check(
        "update_user",
        &[
            (
                "UPDATE_USER",
                json!({"userId": mira, "userName": "mi\u{202e}ra", "userEmail": "m@acme.example",
                    "userTagIds": [TAG], "userPhoneNumber": "+4915112345678"}),
            ),
            ("UPDATE_USER", json!({"userId": nobody, "userTagIds": []})),
            ("UPDATE_USER_NAME", json!({"userId": mira, "userName": "jo"})),
            ("UPDATE_USER_EMAIL", json!({"userId": mira, "userEmail": "m@acme.example"})),
            (
                "UPDATE_USER_EMAIL",
                json!({"userId": mira, "userEmail": "m@acme.example", "verificationToken": "t"}),
            ),
            ("UPDATE_USER_EMAIL", json!({"userId": nobody, "userEmail": ""})),
            ("UPDATE_USER_PHONE_NUMBER", json!({"userId": mira, "userPhoneNumber": "+4915112345678"})),
            ("UPDATE_ORGANIZATION_NAME", json!({"organizationName": "acme"})),
        ],
    );
}

#[test]
fn credentials() {
    let (mira, one) = (Fixture::user(0), "00000000-0000-4000-8000-000000000009");
    let old = json!({"authenticatorName": "old", "userId": mira, "challenge": "c", "attestation": {"id": "i",
        "type": "public-key", "rawId": "i", "response": {"clientDataJson": "d", "attestationObject": "o", "transports": []},
        "clientExtensionResults": {}}});
    let claims = json!({"providerName": "own", "oidcClaims": {"iss": "i", "sub": "s", "aud": "a"}});
    check(
        "credentials",
        &[
            ("CREATE_AUTHENTICATORS", json!({"userId": mira, "authenticators": [old]})),
            (
                "CREATE_AUTHENTICATORS_V2",
                json!({"userId": Fixture::user(1), "authenticators": [passkey(), passkey()]}),
            ),
            ("DELETE_AUTHENTICATORS", json!({"userId": mira, "authenticatorIds": [one]})),
            (
                "CREATE_OAUTH_PROVIDERS",
                json!({"userId": mira, "oauthProviders": [{"providerName": "own", "oidcToken": ""}]}),
            ),
            ("CREATE_OAUTH_PROVIDERS_V2", json!({"userId": one, "oauthProviders": [claims]})),
            ("DELETE_OAUTH_PROVIDERS", json!({"userId": mira, "providerIds": [one]})),
        ],
    );
}

#[test]
fn tags_and_votes() {
    check(
        "create_user_tag",
        &[
            ("CREATE_USER_TAG", json!({"userTagName": "auditors", "userIds": []})),
            ("CREATE_USER_TAG", json!({"userTagName": "finance", "userIds": [Fixture::user(0)]})),
        ],
    );
    let key = "77777777-7777-7777-7777-777777777777";
    let unknown = "00000000-0000-4000-8000-000000000009";
    check(
        "changed_tags",
        &[
            (
                "UPDATE_USER_TAG",
                json!({"userTagId": TAG, "newUserTagName": "money", "addUserIds": [Fixture::user(0)],
                    "removeUserIds": [Fixture::user(1), Fixture::user(2)]}),
            ),
            ("UPDATE_USER_TAG", json!({"userTagId": unknown})),
            ("DELETE_USER_TAGS", json!({"userTagIds": [TAG, unknown]})),
            ("CREATE_PRIVATE_KEY_TAG", json!({"privateKeyTagName": "cold", "privateKeyIds": [key]})),
            (
                "UPDATE_PRIVATE_KEY_TAG",
                json!({"privateKeyTagId": TAG, "addPrivateKeyIds": [], "removePrivateKeyIds": [key]}),
            ),
            ("DELETE_PRIVATE_KEY_TAGS", json!({"privateKeyTagIds": [unknown]})),
        ],
    );
    let fingerprint = json!({"fingerprint": format!("sha256:{}", "ab".repeat(32))});
    check("votes", &[("APPROVE_ACTIVITY", fingerprint.clone()), ("REJECT_ACTIVITY", fingerprint)]);
}
