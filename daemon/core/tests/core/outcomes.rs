//! What each kind answers: once well, with all that the wire promises of a completed activity, and at least
//! once not, in the documented words.

use std::any::type_name_of_val;
use std::collections::{BTreeMap, BTreeSet};

use quorate_common::activity::Activity;
use quorate_common::catalog::{Action, Gate, Resource};
use quorate_common::fault::Code;
use quorate_common::fingerprint::Fingerprint;
use quorate_core::kinds;
use serde_json::{Map, Value, json};

use crate::house::{House, NOW, Person, account, operation, public_key};
use crate::samples;

#[test]
fn every_kind_succeeds_once() {
    let house = House::found(1);
    for entry in kinds::all() {
        let mut house = house.clone();
        let (caller, organization) = samples::stage(entry.activity_type, &house);
        let parameters = samples::parameters(entry.activity_type, &house, &house.spare);
        let body = house.body(organization, entry.activity_type, &parameters, NOW);
        let answer = house.send(&caller, &entry.operation(), &body, NOW);
        let answer = answer.unwrap_or_else(|fault| panic!("{}: {fault:?}", entry.activity_type));
        let row = entry.describe();
        // An approval is answered with what it approved.
        if entry.activity_type == "ACTIVITY_TYPE_APPROVE_ACTIVITY" {
            assert_eq!(answer["activity"]["fingerprint"], house.waiting, "{answer}");
            assert_eq!(answer["activity"]["status"], "ACTIVITY_STATUS_COMPLETED");
            continue;
        }
        check_completed(&answer, &row.intent, row.result.as_deref(), &body, &caller);
        // The same bytes again show the same activity and run nothing.
        let before = house.memory.everything();
        match house.send(&caller, &entry.operation(), &body, NOW + 1000) {
            Ok(again) => {
                assert_eq!(again["activity"]["id"], answer["activity"]["id"], "{}", entry.activity_type);
                assert_eq!(again["activity"]["result"], answer["activity"]["result"]);
            }
            // Nobody is left to be shown anything.
            Err(fault) => {
                assert!(
                    row.acts == Some((Action::Delete, Resource::Organization)),
                    "{}",
                    entry.activity_type
                );
                assert_eq!(fault.message, "no organization found with the given ID");
            }
        }
        assert!(house.memory.everything() == before, "{} ran twice", entry.activity_type);
    }
}

fn check_completed(answer: &Value, intent: &str, result: Option<&str>, body: &[u8], caller: &Person) {
    let activity: Activity = serde_json::from_value(answer["activity"].clone()).expect("an activity");
    let members =
        |value: &Value| -> Vec<String> { value.as_object().expect("an object").keys().cloned().collect() };
    assert_eq!(answer["activity"]["status"], "ACTIVITY_STATUS_COMPLETED", "{intent}");
    assert_eq!(members(&activity.intent), [intent]);
    assert_eq!(members(&activity.result), result.map(str::to_owned).into_iter().collect::<Vec<_>>());
    assert_eq!(activity.fingerprint, Fingerprint::of(body));
    assert_eq!(activity.failure, None);
    let [vote] = activity.votes.as_slice() else { panic!("{intent}: one vote, the proposer's") };
    assert_eq!(vote.user_id, caller.user, "{intent}");
    if intent == "setPaymentMethodIntent" {
        assert!(!vote.message.contains(samples::CARD), "{}", vote.message);
    } else {
        assert_eq!(vote.message.as_bytes(), body, "{intent}");
    }
    assert!(!activity.can_approve && !activity.can_reject, "{intent}: nothing is left to vote on");
}

/// Who sends a request that is refused, and where to.
#[derive(Clone, Copy)]
pub(crate) enum From {
    /// A root user whose word is enough.
    Root,
    /// A user without policies, in the same organization.
    User,
    /// The root user of a sub-organization, in that sub-organization.
    Child,
    /// The root user of an organization that holds nothing, in that organization.
    Bare,
    /// Whoever was invited.
    Invited,
}

/// A refusal: type, who, members to put over the sample's (null takes away), code, reason, and how the
/// message begins.
pub(crate) type Row = (&'static str, From, Value, Code, Option<&'static str>, String);

/// The refusals that are tried, by type, in the order of the table.
pub(crate) fn refusals_by_type(house: &House) -> BTreeMap<String, Vec<Row>> {
    let mut found: BTreeMap<String, Vec<Row>> = BTreeMap::new();
    for row in refusals(house) {
        found.entry(format!("ACTIVITY_TYPE_{}", row.0)).or_default().push(row);
    }
    found
}

/// The tests that every type passes: the one that sends its sample, and the one that tries its refusals.
pub(crate) fn proofs() -> [&'static str; 2] {
    [
        type_name_of_val(&every_kind_succeeds_once),
        type_name_of_val(&every_kind_refuses_in_the_documented_words),
    ]
}

/// Documented refusals. The text is how the documented message begins.
fn refusals(house: &House) -> Vec<Row> {
    use Code::{AlreadyExists, InvalidArgument, NotFound, PermissionDenied};
    let nobody = "00000000-0000-4000-8000-000000000000";
    let unknown_user = format!("unable to find user {nobody} in organization {}", house.id);
    let unknown_fingerprint = "No activity found with fingerprint. Consensus activities must target an existing activity by fingerprint.";
    let text = str::to_owned;
    let missing = |name: &str| format!("invalid request body: missing field `{name}`");
    let empty = |path: &str| format!("invalid request body: `{path}`: must not be empty");
    let life = |seconds: &str| json!({"apiKeys": [{"apiKeyName": "k", "publicKey": public_key(30), "expirationSeconds": seconds}]});
    let no_key = json!([{"userName": "bare", "accessType": "ACCESS_TYPE_API", "apiKeys": []}]);
    let bad_mail = json!([{"userName": "m", "userEmail": "not an address", "accessType": "ACCESS_TYPE_API",
        "apiKeys": [{"apiKeyName": "k", "publicKey": public_key(30)}]}]);
    let root_mail = json!({"rootUsers": [{"userName": "m", "userEmail": "not an address", "apiKeys": []}]});
    let no_root_key = json!({"rootUsers": [{"userName": "bare", "apiKeys": []}]});
    let closed = "sub-organizations cannot create sub-organizations";
    let no_signer = "Could not find any resource to sign with";
    let bare = "user missing valid credential: bare";
    let mut rows: Vec<Row> = vec![
        (
            "APPROVE_ACTIVITY",
            From::Root,
            json!({"fingerprint": format!("sha256:{}", "0".repeat(64))}),
            NotFound,
            None,
            text(unknown_fingerprint),
        ),
        (
            "APPROVE_ACTIVITY",
            From::User,
            json!({}),
            PermissionDenied,
            Some("REQUEST_NOT_AUTHORIZED"),
            text("request not authorized"),
        ),
        (
            "REJECT_ACTIVITY",
            From::Root,
            json!({"fingerprint": format!("sha256:{}", "0".repeat(64))}),
            NotFound,
            None,
            text(unknown_fingerprint),
        ),
        (
            "REJECT_ACTIVITY",
            From::User,
            json!({}),
            PermissionDenied,
            Some("REQUEST_NOT_AUTHORIZED"),
            text("request not authorized"),
        ),
        ("CREATE_API_KEYS", From::Root, json!({"userId": nobody}), NotFound, None, unknown_user.clone()),
        ("CREATE_API_KEYS", From::Root, life("0"), InvalidArgument, None, text("invalid api key expiration")),
        (
            "CREATE_API_KEYS_V2",
            From::Root,
            life("-1"),
            InvalidArgument,
            None,
            text("invalid api key expiration"),
        ),
        ("CREATE_API_KEYS_V2", From::Root, json!({"userId": nobody}), NotFound, None, unknown_user.clone()),
        (
            "CREATE_API_ONLY_USERS",
            From::Root,
            json!({"apiOnlyUsers": no_key}),
            InvalidArgument,
            None,
            text(bare),
        ),
        (
            "CREATE_API_ONLY_USERS",
            From::Root,
            json!({"apiOnlyUsers": bad_mail}),
            InvalidArgument,
            Some("INVALID_EMAIL"),
            text("invalid email address"),
        ),
        (
            "CREATE_POLICY_V3",
            From::Root,
            json!({"condition": "activity.kind =="}),
            InvalidArgument,
            None,
            text("invalid policy condition"),
        ),
        (
            "CREATE_POLICY_V3",
            From::Root,
            json!({"consensus": "activity.kind"}),
            InvalidArgument,
            None,
            text("invalid policy consensus"),
        ),
        (
            "CREATE_POLICY_V3",
            From::Root,
            json!({"policyName": null}),
            InvalidArgument,
            None,
            missing("policyName"),
        ),
        (
            "UPDATE_WALLET",
            From::Root,
            json!({"walletName": ""}),
            InvalidArgument,
            None,
            empty("parameters.walletName"),
        ),
        ("UPDATE_WALLET", From::Root, json!({"walletId": nobody}), NotFound, None, text("no wallet found")),
        (
            "CREATE_USER_TAG",
            From::Root,
            json!({"userTagName": null}),
            InvalidArgument,
            None,
            missing("userTagName"),
        ),
        ("CREATE_USER_TAG", From::Root, json!({"userIds": [nobody]}), NotFound, None, unknown_user.clone()),
        (
            "CREATE_SUB_ORGANIZATION",
            From::Root,
            json!({"name": null}),
            InvalidArgument,
            None,
            missing("name"),
        ),
        (
            "DELETE_API_KEYS",
            From::Root,
            json!({"userId": house.expiring.user, "apiKeyIds": house.expiring.keys}),
            InvalidArgument,
            None,
            format!("user missing valid credential: {}", house.expiring.user),
        ),
        ("DELETE_API_KEYS", From::Root, json!({"userId": nobody}), NotFound, None, unknown_user.clone()),
        (
            "DELETE_USERS",
            From::Root,
            json!({"userIds": [house.roots[1].user]}),
            InvalidArgument,
            None,
            text("quorum users missing"),
        ),
        ("DELETE_USERS", From::Root, json!({"userIds": [nobody]}), NotFound, None, unknown_user),
        (
            "REMOVE_ORGANIZATION_FEATURE",
            From::Root,
            json!({"name": null}),
            InvalidArgument,
            None,
            missing("name"),
        ),
        (
            "SET_ORGANIZATION_FEATURE",
            From::Root,
            json!({"name": null}),
            InvalidArgument,
            None,
            missing("name"),
        ),
        ("SIGN_RAW_PAYLOAD", From::Root, json!({"privateKeyId": nobody}), NotFound, None, text(no_signer)),
        (
            "SIGN_RAW_PAYLOAD",
            From::Root,
            json!({"encoding": "PAYLOAD_ENCODING_NONE"}),
            InvalidArgument,
            None,
            text("invalid payload encoding"),
        ),
        (
            "SIGN_RAW_PAYLOAD_V2",
            From::Root,
            json!({"signWith": "0x0000000000000000000000000000000000000000"}),
            NotFound,
            None,
            text(no_signer),
        ),
        (
            "SIGN_RAW_PAYLOAD_V2",
            From::Root,
            json!({"payload": "abcd"}),
            InvalidArgument,
            None,
            text("expected a 32-bytes-long digest"),
        ),
        (
            "SIGN_RAW_PAYLOAD_V2",
            From::Root,
            json!({"hashFunction": "HASH_FUNCTION_MD5"}),
            InvalidArgument,
            None,
            text("invalid hash function"),
        ),
        ("SIGN_RAW_PAYLOADS", From::Root, json!({"signWith": nobody}), NotFound, None, text(no_signer)),
        (
            "SIGN_RAW_PAYLOADS",
            From::Root,
            json!({"payloads": ["ab".repeat(32), "abcd"]}),
            InvalidArgument,
            None,
            text("expected a 32-bytes-long digest"),
        ),
        (
            "UPDATE_ROOT_QUORUM",
            From::Root,
            json!({"threshold": 0}),
            InvalidArgument,
            None,
            text("quorum threshold must be non-zero integer"),
        ),
        (
            "UPDATE_ROOT_QUORUM",
            From::Root,
            json!({"userIds": [nobody]}),
            InvalidArgument,
            None,
            text("quorum users missing"),
        ),
    ];
    for name in ["CREATE_PRIVATE_KEYS", "CREATE_PRIVATE_KEYS_V2"] {
        let key = |curve: &str, format: &str| json!({"privateKeys": [{"privateKeyName": "k", "curve": curve, "addressFormats": [format]}]});
        rows.push((
            name,
            From::Root,
            key("CURVE_NONE", "ADDRESS_FORMAT_ETHEREUM"),
            InvalidArgument,
            None,
            text("invalid curve"),
        ));
        rows.push((
            name,
            From::Root,
            key("CURVE_ED25519", "ADDRESS_FORMAT_ETHEREUM"),
            InvalidArgument,
            None,
            text("invalid address format"),
        ));
    }
    for name in ["CREATE_USERS", "CREATE_USERS_V2", "CREATE_USERS_V3", "CREATE_USERS_V4"] {
        rows.push((name, From::Root, json!({"users": no_key}), InvalidArgument, None, text(bare)));
        rows.push((
            name,
            From::Root,
            json!({"users": bad_mail}),
            InvalidArgument,
            Some("INVALID_EMAIL"),
            text("invalid email address"),
        ));
    }
    for name in [
        "CREATE_SUB_ORGANIZATION",
        "CREATE_SUB_ORGANIZATION_V2",
        "CREATE_SUB_ORGANIZATION_V3",
        "CREATE_SUB_ORGANIZATION_V4",
        "CREATE_SUB_ORGANIZATION_V5",
        "CREATE_SUB_ORGANIZATION_V6",
        "CREATE_SUB_ORGANIZATION_V7",
        "CREATE_SUB_ORGANIZATION_V8",
    ] {
        rows.push((
            name,
            From::Child,
            json!({}),
            InvalidArgument,
            Some("INVALID_ACTIVITY_CALLER"),
            text(closed),
        ));
        if name != "CREATE_SUB_ORGANIZATION" {
            rows.push((
                name,
                From::Root,
                json!({"rootQuorumThreshold": 0}),
                InvalidArgument,
                None,
                text("quorum threshold must be non-zero integer"),
            ));
            rows.push((
                name,
                From::Root,
                root_mail.clone(),
                InvalidArgument,
                Some("INVALID_EMAIL"),
                text("invalid email address"),
            ));
        }
    }
    for name in ["CREATE_SUB_ORGANIZATION_V2", "CREATE_SUB_ORGANIZATION_V3"] {
        rows.push((name, From::Root, no_root_key.clone(), InvalidArgument, None, text(bare)));
    }
    rows.extend(later_refusals(house));
    let accounts = |path: &str, format: &str, address: &str| {
        let mut one = account(path, "CURVE_SECP256K1", address);
        one["pathFormat"] = json!(format);
        json!({"accounts": [one]})
    };
    for name in ["CREATE_WALLET", "CREATE_WALLET_ACCOUNTS"] {
        let (path, ethereum) = ("m/44'/60'/0'/0/7", "ADDRESS_FORMAT_ETHEREUM");
        rows.push((
            name,
            From::Root,
            accounts("m/x", "PATH_FORMAT_BIP32", ethereum),
            InvalidArgument,
            None,
            text("invalid path"),
        ));
        rows.push((
            name,
            From::Root,
            accounts(path, "PATH_FORMAT_NONE", ethereum),
            InvalidArgument,
            None,
            text("invalid path format"),
        ));
        rows.push((
            name,
            From::Root,
            accounts(path, "PATH_FORMAT_BIP32", "ADDRESS_FORMAT_SOLANA"),
            InvalidArgument,
            None,
            text("invalid address format"),
        ));
    }
    let taken = accounts("m/44'/60'/0'/0/0", "PATH_FORMAT_BIP32", "ADDRESS_FORMAT_ETHEREUM");
    rows.push((
        "CREATE_WALLET_ACCOUNTS",
        From::Root,
        taken,
        AlreadyExists,
        None,
        text("path already exists in wallet account "),
    ));
    rows
}

/// Refusals of kinds that change what users, keys and policies are called and grouped by.
fn later_refusals(house: &House) -> Vec<Row> {
    use Code::{AlreadyExists, InvalidArgument, NotFound, ResourceExhausted, Unimplemented};
    let nobody = "00000000-0000-4000-8000-000000000000";
    let unknown_user = format!("unable to find user {nobody} in organization {}", house.id);
    let root = |name, changes, code, message: &str| -> Row {
        (name, From::Root, changes, code, None, message.to_owned())
    };
    let wrong = |name, changes, message: &str| root(name, changes, InvalidArgument, message);
    let missing =
        |name, changes, noun: &str| root(name, changes, NotFound, &format!("no {noun} found with "));
    let passkey = |credential: &str| json!({"authenticators": [samples::authenticator(credential)]});
    let many = |count: usize| (0..count).map(|number| samples::authenticator(&number.to_string()));
    let policies = |condition: &str| {
        json!({"policies": [{"policyName": "a", "effect": "EFFECT_DENY", "notes": ""},
            {"policyName": "b", "effect": "EFFECT_DENY", "condition": condition, "notes": ""}]})
    };
    let twice = json!({"policies": [{"policyName": "a", "effect": "EFFECT_DENY", "notes": ""},
        {"policyName": "a", "effect": "EFFECT_DENY", "notes": ""}]});
    let unique = "policy label must be unique";
    let twins = |list: &str, credential: Value| {
        let users = ["a", "b"].map(|name| json!({"userName": name, list: [credential]}));
        json!({"users": users})
    };
    let selector = |subject: &str, operator: &str, target: &str| json!({"selectors": [{"subject": subject, "operator": operator, "target": target}]});
    let condition = "invalid policy condition";
    let mut rows = settings_refusals(house);
    rows.extend([
        missing("UPDATE_USER_TAG", json!({"userTagId": nobody}), "user tag"),
        missing("UPDATE_USER_TAG", json!({"userTagId": house.private_key_tag}), "user tag"),
        root("UPDATE_USER_TAG", json!({"addUserIds": [nobody]}), NotFound, &unknown_user),
        wrong(
            "UPDATE_USER_TAG",
            json!({"addUserIds": [house.spare.user], "removeUserIds": [house.spare.user]}),
            "invalid request body: `removeUserIds` holds an element twice",
        ),
        missing("DELETE_USER_TAGS", json!({"userTagIds": [house.user_tag, nobody]}), "user tag"),
        wrong("DELETE_USER_TAGS", json!({"userTagIds": []}), "invalid request body: `userTagIds` must not"),
        root(
            "CREATE_PRIVATE_KEY_TAG",
            json!({"privateKeyTagName": "tag"}),
            AlreadyExists,
            "private key tag name must be unique",
        ),
        root("CREATE_USER_TAG", json!({"userTagName": "tag"}), AlreadyExists, "user tag name must be unique"),
        missing("CREATE_PRIVATE_KEY_TAG", json!({"privateKeyIds": [nobody]}), "private key"),
        missing("UPDATE_PRIVATE_KEY_TAG", json!({"privateKeyTagId": house.user_tag}), "private key tag"),
        missing("UPDATE_PRIVATE_KEY_TAG", json!({"removePrivateKeyIds": [nobody]}), "private key"),
        missing("DELETE_PRIVATE_KEY_TAGS", json!({"privateKeyTagIds": [house.user_tag]}), "private key tag"),
        root("UPDATE_USER", json!({"userId": nobody}), NotFound, &unknown_user),
        missing("UPDATE_USER", json!({"userTagIds": [house.private_key_tag]}), "user tag"),
        root("UPDATE_USER_NAME", json!({"userId": nobody}), NotFound, &unknown_user),
        wrong("UPDATE_USER_NAME", json!({"userName": ""}), "invalid request body: `parameters.userName`"),
        root("UPDATE_USER_EMAIL", json!({"userId": nobody}), NotFound, &unknown_user),
        root("UPDATE_USER_PHONE_NUMBER", json!({"userId": nobody}), NotFound, &unknown_user),
        wrong(
            "UPDATE_USER_PHONE_NUMBER",
            json!({"userPhoneNumber": "0151"}),
            "invalid request body: `parameters.userPhoneNumber`: expected a phone number in E.164 form",
        ),
        wrong("CREATE_POLICIES", policies("activity.kind =="), condition),
        wrong("CREATE_POLICIES", twice, unique),
        wrong(
            "CREATE_POLICIES",
            json!({"policies": []}),
            "invalid request body: `policies` must not be empty",
        ),
        missing("DELETE_POLICY", json!({"policyId": nobody}), "policy"),
        missing("DELETE_POLICIES", json!({"policyIds": [house.policy, nobody]}), "policy"),
        wrong("UPDATE_ORGANIZATION_NAME", json!({"organizationName": null}), "invalid request body: missing"),
        root("CREATE_AUTHENTICATORS", json!({"userId": nobody}), NotFound, &unknown_user),
        root(
            "CREATE_AUTHENTICATORS_V2",
            passkey("spare"),
            AlreadyExists,
            "credential ID is already registered in this organization",
        ),
        root(
            "CREATE_AUTHENTICATORS_V2",
            json!({"authenticators": many(11).collect::<Vec<_>>()}),
            ResourceExhausted,
            "user has exceeded maximum authenticators",
        ),
        wrong(
            "CREATE_USERS_V4",
            twins("authenticators", samples::authenticator("one")),
            "invalid request body: `authenticators` holds",
        ),
        wrong(
            "CREATE_USERS_V4",
            twins("oauthProviders", samples::provider("one")),
            "invalid request body: `oauthProviders` holds",
        ),
        root(
            "CREATE_USERS_V4",
            json!({"users": [{"userName": "thief", "authenticators": [samples::authenticator("spare")]}]}),
            AlreadyExists,
            "credential ID is already registered in this organization",
        ),
        missing("DELETE_AUTHENTICATORS", json!({"authenticatorIds": [nobody]}), "authenticator"),
        missing("DELETE_OAUTH_PROVIDERS", json!({"providerIds": [nobody]}), "OAuth provider"),
        wrong("CREATE_POLICY", selector("nope.kind", "OPERATOR_EQUAL", "A"), condition),
        wrong("CREATE_POLICY", selector("activity.kind || true", "OPERATOR_EQUAL", "A"), condition),
        wrong(
            "CREATE_POLICY",
            selector("activity.kind", "OPERATOR_LIKE", "A"),
            "invalid request body: `parameters.",
        ),
        wrong(
            "CREATE_POLICY_V2",
            json!({"selectors": [{"subject": "user.id", "operator": "OPERATOR_IN"}]}),
            condition,
        ),
        wrong("CREATE_POLICY_V2", json!({"policyName": "nothing"}), unique),
        missing("DISABLE_PRIVATE_KEY", json!({"privateKeyId": nobody}), "private key"),
        missing("DELETE_PRIVATE_KEYS", json!({"privateKeyIds": [house.private_key, nobody]}), "private key"),
        wrong(
            "DELETE_PRIVATE_KEYS",
            json!({"deleteWithoutExport": null}),
            "private key has not been exported",
        ),
        missing("DELETE_WALLETS", json!({"walletIds": [house.wallet.0, nobody]}), "wallet"),
        wrong("DELETE_WALLETS", json!({"deleteWithoutExport": false}), "wallet has not been exported"),
        missing("DELETE_WALLET_ACCOUNTS", json!({"walletAccountIds": [nobody]}), "wallet account"),
        missing("UPDATE_WALLET_ACCOUNT_NAME", json!({"walletAccountId": nobody}), "wallet account"),
        wrong(
            "UPDATE_ALLOWED_ORIGINS",
            json!({"allowedOrigins": ["https://house.example/path"]}),
            "invalid request body: `allowedOrigins`: expected web origins",
        ),
        (
            "DELETE_WALLET_ACCOUNTS",
            From::Root,
            json!({"deleteWithoutExport": false}),
            InvalidArgument,
            Some("WALLET_ACCOUNT_NOT_EXPORTED"),
            "wallet account has not been exported".to_owned(),
        ),
        (
            "CREATE_OAUTH_PROVIDERS_V2",
            From::Root,
            json!({"oauthProviders": [samples::provider("spare")]}),
            AlreadyExists,
            Some("OAUTH_PROVIDER_ALREADY_EXISTS"),
            "OAuth provider already exists".to_owned(),
        ),
        (
            "CREATE_OAUTH_PROVIDERS_V2",
            From::Root,
            json!({"oauthProviders": [{"providerName": "p", "oidcToken": "t"}]}),
            InvalidArgument,
            Some("INVALID_OIDC_TOKEN"),
            "invalid OIDC token".to_owned(),
        ),
        (
            "UPDATE_USER_EMAIL",
            From::Root,
            json!({"userEmail": "not an address"}),
            InvalidArgument,
            Some("INVALID_EMAIL"),
            "invalid email address".to_owned(),
        ),
    ]);
    for name in ["CREATE_POLICY_V3", "UPDATE_POLICY_V2"] {
        let time = json!({"time": "CronSpan('* 9 * * 1-5', '8h')"});
        rows.push(root(name, time, Unimplemented, "unimplemented: policies with a time"));
    }
    for name in ["UPDATE_POLICY", "UPDATE_POLICY_V2"] {
        rows.push(missing(name, json!({"policyId": nobody}), "policy"));
        rows.push(wrong(name, json!({"policyCondition": "activity.kind"}), condition));
    }
    rows
}

/// Refusals of kinds that set what an organization is, and of those that end one.
fn settings_refusals(house: &House) -> Vec<Row> {
    use Code::{
        AlreadyExists, InvalidArgument, NotFound, PermissionDenied, ResourceExhausted, Unimplemented,
    };
    let nobody = "00000000-0000-4000-8000-000000000000";
    let root = |name, changes, code, message: &str| -> Row {
        (name, From::Root, changes, code, None, message.to_owned())
    };
    let wrong = |name, changes, message: &str| root(name, changes, InvalidArgument, message);
    let missing =
        |name, changes, noun: &str| root(name, changes, NotFound, &format!("no {noun} found with "));
    let closed = |name, what: &str| -> Row {
        let reason = Some("INVALID_ACTIVITY_CALLER");
        (name, From::Child, json!({}), InvalidArgument, reason, format!("sub-organizations cannot {what}"))
    };
    let invitation = |member: &str, value: Value| {
        let parameters = samples::parameters("ACTIVITY_TYPE_CREATE_INVITATIONS", house, &house.spare);
        let good = parameters["invitations"][0].clone();
        let (mut bad, mut other) = (good.clone(), good);
        bad[member] = value;
        other["receiverUserEmail"] = json!("other@house.example");
        json!({"invitations": [other, bad]})
    };
    let blocks = |count: u8| {
        let blocks: Vec<_> = (0..count).map(|one| json!({"cidr": format!("192.0.2.{one}/32")})).collect();
        json!({"rules": blocks})
    };
    let unknown_user = format!("unable to find user {nobody} in organization {}", house.id);
    let taken = "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48";
    let ethereum = "SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM";
    let subscribe = |event: &str| json!({"subscriptions": [{"eventType": event}]});
    vec![
        root("CREATE_INVITATIONS", invitation("senderUserId", json!(nobody)), NotFound, &unknown_user),
        missing(
            "CREATE_INVITATIONS",
            invitation("receiverUserTags", json!([house.private_key_tag])),
            "user tag",
        ),
        wrong(
            "CREATE_INVITATIONS",
            json!({"invitations": []}),
            "invalid request body: `invitations` must not",
        ),
        wrong(
            "CREATE_INVITATIONS",
            invitation("receiverUserEmail", json!("other@house.example")),
            "invalid request body: `invitations` holds an element twice",
        ),
        wrong(
            "CREATE_INVITATIONS",
            invitation("accessType", json!("ACCESS_TYPE_NONE")),
            "invalid request body",
        ),
        missing("DELETE_INVITATION", json!({"invitationId": nobody}), "invitation"),
        (
            "ACCEPT_INVITATION",
            From::Invited,
            json!({"invitationId": nobody}),
            PermissionDenied,
            Some("REQUEST_NOT_AUTHORIZED"),
            "request not authorized".to_owned(),
        ),
        (
            "ACCEPT_INVITATION_V2",
            From::Invited,
            json!({"userId": house.spare.user}),
            AlreadyExists,
            None,
            "user ID is already taken in this organization".to_owned(),
        ),
        (
            "ACCEPT_INVITATION_V2",
            From::Invited,
            json!({"authenticator": samples::authenticator("spare")}),
            AlreadyExists,
            None,
            "credential ID is already registered".to_owned(),
        ),
        wrong("CREATE_WEBHOOK_ENDPOINT", json!({"url": "http://hooks.example.org"}), "invalid webhook URL"),
        root(
            "CREATE_WEBHOOK_ENDPOINT",
            json!({"name": "endpoint"}),
            AlreadyExists,
            "webhook endpoint name must be unique",
        ),
        wrong("CREATE_WEBHOOK_ENDPOINT", subscribe("ACTIVITY"), "invalid request body: `eventType`"),
        root(
            "CREATE_WEBHOOK_ENDPOINT",
            subscribe("BALANCE_CONFIRMED_UPDATES"),
            Unimplemented,
            "unimplemented: webhooks of BALANCE_CONFIRMED_UPDATES",
        ),
        missing("UPDATE_WEBHOOK_ENDPOINT", json!({"endpointId": nobody}), "webhook endpoint"),
        wrong("UPDATE_WEBHOOK_ENDPOINT", json!({"url": "file:///etc/passwd"}), "invalid webhook URL"),
        missing("DELETE_WEBHOOK_ENDPOINT", json!({"endpointId": house.user_tag}), "webhook endpoint"),
        wrong(
            "CREATE_SESSION_PROFILE",
            json!({"scope": "activity.kind =="}),
            "invalid session profile scope",
        ),
        wrong(
            "CREATE_SESSION_PROFILE",
            json!({"scope": " "}),
            "invalid request body: `scope` must not be empty",
        ),
        root(
            "CREATE_SESSION_PROFILE",
            json!({"sessionProfileName": "signer"}),
            AlreadyExists,
            "session profile name must be unique",
        ),
        closed("CREATE_SESSION_PROFILE", "create session profiles"),
        wrong(
            "CREATE_SMART_CONTRACT_INTERFACE",
            json!({"smartContractAddress": taken}),
            "invalid request body: `smartContractAddress`",
        ),
        root(
            "CREATE_SMART_CONTRACT_INTERFACE",
            json!({"smartContractAddress": taken, "type": ethereum}),
            AlreadyExists,
            "smart contract address already has an interface",
        ),
        wrong(
            "CREATE_SMART_CONTRACT_INTERFACE",
            json!({"smartContractInterface": "[{]"}),
            "invalid request body: `smartContractInterface`",
        ),
        missing(
            "DELETE_SMART_CONTRACT_INTERFACE",
            json!({"smartContractInterfaceId": nobody}),
            "smart contract interface",
        ),
        wrong(
            "SET_IP_ALLOWLIST",
            json!({"rules": [{"cidr": "192.0.2.0/24"}, {"cidr": "192.0.2/24"}]}),
            "invalid CIDR at index 1: \"192.0.2/24\"",
        ),
        wrong(
            "SET_IP_ALLOWLIST",
            json!({"rules": [{"cidr": "10.0.0.0/19"}]}),
            "invalid CIDR at index 0: \"10.0.0.0/19\": must not be wider than /20",
        ),
        root(
            "SET_IP_ALLOWLIST",
            blocks(11),
            ResourceExhausted,
            "organization has reached its limit of 10 IP",
        ),
        missing("SET_IP_ALLOWLIST", json!({"publicKey": public_key(99)}), "api key"),
        closed("SET_IP_ALLOWLIST", "have IP allowlists"),
        missing("REMOVE_IP_ALLOWLIST", json!({"publicKey": null}), "IP allowlist"),
        wrong(
            "SET_PAYMENT_METHOD",
            json!({"number": "4242 4242"}),
            "invalid request body: `parameters.number`",
        ),
        wrong(
            "SET_PAYMENT_METHOD_V2",
            json!({"paymentMethodId": ""}),
            "invalid request body: `paymentMethodId`",
        ),
        missing("DELETE_PAYMENT_METHOD", json!({"paymentMethodId": "other"}), "payment method"),
        wrong("ACTIVATE_BILLING_TIER", json!({"productId": null}), "invalid request body: missing field"),
        closed("DELETE_ORGANIZATION", "delete organizations"),
        (
            "DELETE_ORGANIZATION",
            From::Bare,
            json!({"organizationId": house.id}),
            InvalidArgument,
            None,
            "invalid request body: `parameters.organizationId` must be the organization acted upon"
                .to_owned(),
        ),
        wrong(
            "DELETE_ORGANIZATION",
            json!({"organizationId": house.id}),
            "organization has sub-organizations",
        ),
        wrong("DELETE_SUB_ORGANIZATION", json!({}), "organization is not a sub-organization"),
    ]
}

#[test]
fn every_kind_refuses_in_the_documented_words() {
    let house = House::found(1);
    let strict = House::found(2);
    let mut tried = BTreeSet::new();
    let mut flaws = Vec::new();
    for (name, from, changes, code, reason, message) in refusals(&house) {
        let activity_type = format!("ACTIVITY_TYPE_{name}");
        // Voters matter only while something waits: the threshold that keeps it waiting does not touch others.
        let mut house = if matches!(from, From::User) { strict.clone() } else { house.clone() };
        let (caller, organization) = match from {
            From::Root => (house.roots[0].clone(), house.id),
            From::User => (house.user.clone(), house.id),
            From::Child => (house.child.clone(), house.child.home),
            From::Bare => (house.bare.clone(), house.bare.home),
            From::Invited => (house.invited.clone(), house.id),
        };
        let parameters = changed(samples::parameters(&activity_type, &house, &house.spare), &changes);
        let before = house.memory.everything();
        let body = house.body(organization, &activity_type, &parameters, NOW);
        let answer = house.send(&caller, &operation(&activity_type), &body, NOW);
        tried.insert(activity_type.clone());
        let fault = match answer {
            Ok(answer) => {
                flaws.push(format!("{name} {changes} was taken: {}", answer["activity"]["status"]));
                continue;
            }
            Err(fault) => fault,
        };
        let fits = fault.code == code
            && fault.message.starts_with(&message)
            && fault.turnkey_error_code.as_deref() == reason;
        if !fits {
            flaws.push(format!(
                "{name} {changes}\n    wanted {code:?} {reason:?} {message}\n    got    {:?} {:?} {}",
                fault.code, fault.turnkey_error_code, fault.message
            ));
        }
        let is_wrong_request = fault.code == Code::InvalidArgument;
        if is_wrong_request && house.memory.everything() != before {
            flaws.push(format!("{name} {changes}: a wrong request left something behind"));
        }
    }
    let untried = kinds::all().iter().filter(|entry| !tried.contains(entry.activity_type));
    flaws.extend(untried.map(|entry| format!("{} has no refusal row", entry.activity_type)));
    assert!(flaws.is_empty(), "\n{}\n", flaws.join("\n"));
}

/// Puts members over others; null takes a member away.
fn changed(mut parameters: Value, changes: &Value) -> Value {
    let members: &mut Map<String, Value> = parameters.as_object_mut().expect("an object");
    for (name, value) in changes.as_object().expect("an object") {
        if value.is_null() {
            members.remove(name);
        } else {
            members.insert(name.clone(), value.clone());
        }
    }
    parameters
}

#[test]
fn names_are_taken_once() {
    for (activity_type, parameters, code, message) in [
        (
            "ACTIVITY_TYPE_CREATE_POLICY_V3",
            json!({"policyName": "p", "effect": "EFFECT_ALLOW", "notes": ""}),
            Code::InvalidArgument,
            "policy label must be unique",
        ),
        (
            "ACTIVITY_TYPE_CREATE_WALLET",
            json!({"walletName": "w", "accounts": []}),
            Code::AlreadyExists,
            "wallet name must be unique",
        ),
    ] {
        let mut house = House::found(1);
        let caller = house.roots[0].clone();
        house.submit(&caller, house.id, activity_type, &parameters, NOW).expect("the name is free");
        let fault =
            house.submit(&caller, house.id, activity_type, &parameters, NOW).expect_err("the name is taken");
        assert_eq!((fault.code, fault.message.as_str()), (code, message));
    }
}

#[test]
fn what_fails_is_kept_as_failed_and_stays_so() {
    let mut house = House::found(1);
    let caller = house.roots[0].clone();
    let parameters = json!({"signWith": "nothing", "payload": "ab".repeat(32), "encoding": "PAYLOAD_ENCODING_HEXADECIMAL",
        "hashFunction": "HASH_FUNCTION_NO_OP"});
    let body = house.body(house.id, "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2", &parameters, NOW);
    let first = house.send(&caller, "sign_raw_payload", &body, NOW).expect_err("nothing signs");
    let before = house.memory.everything();
    let again = house.send(&caller, "sign_raw_payload", &body, NOW).expect_err("it does not run again");
    assert_eq!(first, again);
    assert!(house.memory.everything() == before);
    let list = json!({"organizationId": house.id, "filterByStatus": ["ACTIVITY_STATUS_FAILED"]})
        .to_string()
        .into_bytes();
    let listed =
        house.memory.query("list_activities", &caller.stamps(&list), &list, NOW).expect("it is listed");
    assert_eq!(listed["activities"][0]["failure"]["code"], first.code.number());
    assert_eq!(listed["activities"][0]["failure"]["message"], first.message);
}

#[test]
fn no_policy_opens_what_the_root_quorum_alone_decides() {
    let mut house = House::found(2);
    let consensus = format!("approvers.any(user, user.id == '{}')", house.user.user);
    house.agreed(
        "ACTIVITY_TYPE_CREATE_POLICY_V3",
        &json!({"policyName": "all", "effect": "EFFECT_ALLOW", "consensus": consensus, "notes": ""}),
    );
    let caller = house.user.clone();
    for entry in kinds::all().iter().filter(|entry| entry.gate == Gate::RootQuorum) {
        let parameters = samples::parameters(entry.activity_type, &house, &house.spare);
        let fault =
            house.submit(&caller, house.id, entry.activity_type, &parameters, NOW).expect_err("it is denied");
        assert_eq!(fault.code, Code::PermissionDenied, "{}", entry.activity_type);
        assert!(fault.message.starts_with("You don't have sufficient permissions to take this action."));
    }
}
