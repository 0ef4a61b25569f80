//! Samples and expected errors of votes, and of kinds that create, use or export keys.

use quorate_common::api_error::Code;
use serde_json::{Value, json};

use super::{Row, Sender};
use crate::fixture::{Fixture, Person, account, public_key};
use crate::samples;
use crate::sign_in::{TOKEN_KEY, UNSIGNED, sign_up_signature};

/// Returns valid parameters of a type of this module. The user whose credentials change is the last argument.
pub(super) fn sample(name: &str, fixture: &Fixture, subject: &Person) -> Option<Value> {
    let digest = "ab".repeat(32);
    let raw = |with: &str, value: &str| {
        json!({with: value, "payload": digest, "encoding": "PAYLOAD_ENCODING_HEXADECIMAL",
            "hashFunction": "HASH_FUNCTION_NO_OP"})
    };
    Some(match name {
        "APPROVE_ACTIVITY" | "REJECT_ACTIVITY" => json!({"fingerprint": fixture.waiting}),
        "CREATE_API_KEYS" => json!({"userId": subject.user, "apiKeys": [samples::key(30)]}),
        "CREATE_API_KEYS_V2" => json!({"userId": subject.user, "apiKeys": [samples::key_v2(30)]}),
        "CREATE_API_ONLY_USERS" => {
            json!({"apiOnlyUsers": [{"userName": "machine", "apiKeys": [samples::key(30)], "userTags": []}]})
        }
        "CREATE_POLICY_V3" => samples::policy("policy"),
        "CREATE_PRIVATE_KEYS" | "CREATE_PRIVATE_KEYS_V2" => {
            json!({"privateKeys": [samples::private_key("fresh")]})
        }
        "CREATE_SUB_ORGANIZATION" => {
            json!({"name": "new", "rootAuthenticator": samples::authenticator("new")})
        }
        "CREATE_SUB_ORGANIZATION_V2" => samples::child(&samples::key(30), None),
        "CREATE_SUB_ORGANIZATION_V3" => {
            samples::child(&samples::key(30), Some(("privateKeys", json!([samples::private_key("fresh")]))))
        }
        "CREATE_SUB_ORGANIZATION_V4" | "CREATE_SUB_ORGANIZATION_V5" => {
            samples::child(&samples::key(30), Some(("wallet", samples::wallet("fresh"))))
        }
        "CREATE_SUB_ORGANIZATION_V6" => {
            samples::child(&samples::key_v2(30), Some(("wallet", samples::wallet("fresh"))))
        }
        "CREATE_SUB_ORGANIZATION_V7" | "CREATE_SUB_ORGANIZATION_V8" => {
            let mut child = samples::child(&samples::key_v2(30), Some(("wallet", samples::wallet("fresh"))));
            child["rootUsers"][0]["userEmail"] = json!("root1@house.example");
            let token = &fixture.sign_in.tokens[1];
            let user = json!({"apiKeys": [samples::key_v2(30)], "email": "root1@house.example"});
            child["verificationToken"] = json!(token);
            child["clientSignature"] = sign_up_signature(token, TOKEN_KEY, &user);
            child
        }
        "CREATE_USERS" => {
            json!({"users": [{"userName": "new", "accessType": "ACCESS_TYPE_API", "apiKeys": [samples::key(30)],
            "authenticators": [], "userTags": []}]})
        }
        "CREATE_USERS_V2" => {
            json!({"users": [{"userName": "new", "apiKeys": [samples::key(30)], "authenticators": [], "userTags": []}]})
        }
        "CREATE_USER_TAG" => json!({"userTagName": "fresh", "userIds": [subject.user]}),
        "CREATE_WALLET" => samples::wallet("fresh"),
        "UPDATE_WALLET" => json!({"walletId": fixture.wallet.0, "walletName": "fresh"}),
        "CREATE_WALLET_ACCOUNTS" => json!({"walletId": fixture.wallet.0, "accounts": [
            account("m/44'/60'/0'/0/1", "CURVE_SECP256K1", "ADDRESS_FORMAT_ETHEREUM"),
            account("m/44'/501'/0'/0'", "CURVE_ED25519", "ADDRESS_FORMAT_SOLANA"),
        ]}),
        "DELETE_API_KEYS" => json!({"userId": subject.user, "apiKeyIds": [subject.keys[1]]}),
        "EXPORT_PRIVATE_KEY" => {
            json!({"privateKeyId": fixture.private_key, "targetPublicKey": public_key(30)})
        }
        "EXPORT_WALLET" => json!({"walletId": fixture.wallet.0, "targetPublicKey": public_key(30),
            "language": "MNEMONIC_LANGUAGE_SPANISH"}),
        "EXPORT_WALLET_ACCOUNT" => json!({"address": fixture.wallet.1, "targetPublicKey": public_key(30)}),
        "DELETE_USERS" => json!({"userIds": [fixture.spare.user]}),
        "REMOVE_ORGANIZATION_FEATURE" => json!({"name": "FEATURE_NAME_WEBHOOK"}),
        "SET_ORGANIZATION_FEATURE" => json!({"name": "FEATURE_NAME_EMAIL_AUTH"}),
        "SIGN_RAW_PAYLOAD" => raw("privateKeyId", &fixture.private_key),
        "SIGN_RAW_PAYLOAD_V2" => raw("signWith", &fixture.wallet.1),
        "SIGN_RAW_PAYLOADS" => json!({"signWith": fixture.wallet.1, "payloads": [digest, "cd".repeat(32)],
            "encoding": "PAYLOAD_ENCODING_HEXADECIMAL", "hashFunction": "HASH_FUNCTION_NO_OP"}),
        "SIGN_TRANSACTION" => {
            json!({"privateKeyId": fixture.private_key, "unsignedTransaction": samples::UNSIGNED, "type": "TRANSACTION_TYPE_ETHEREUM"})
        }
        "SIGN_TRANSACTION_V2" => {
            json!({"signWith": fixture.wallet.1, "unsignedTransaction": samples::UNSIGNED, "type": "TRANSACTION_TYPE_ETHEREUM"})
        }
        "UPDATE_ROOT_QUORUM" => {
            json!({"threshold": 2, "userIds": fixture.roots.each_ref().map(|root| root.user)})
        }
        _ => return None,
    })
}

/// Returns the table rows of this module.
pub(super) fn rows(fixture: &Fixture) -> Vec<Row> {
    use Code::{AlreadyExists, InvalidArgument, NotFound, PermissionDenied};
    let unknown_id = "00000000-0000-4000-8000-000000000000";
    let unknown_user = format!("unable to find user {unknown_id} in organization {}", fixture.id);
    let unknown_fingerprint = "No activity found with fingerprint. Consensus activities must target an existing activity by fingerprint.";
    let text = str::to_owned;
    let missing = |name: &str| format!("invalid request body: missing field `{name}`");
    let empty = |path: &str| format!("invalid request body: `{path}`: must not be empty");
    let with_expiration = |seconds: &str| json!({"apiKeys": [{"apiKeyName": "k", "publicKey": public_key(30), "expirationSeconds": seconds}]});
    let no_key = json!([{"userName": "bare", "accessType": "ACCESS_TYPE_API", "apiKeys": []}]);
    let bad_mail = json!([{"userName": "m", "userEmail": "not an address", "accessType": "ACCESS_TYPE_API",
        "apiKeys": [{"apiKeyName": "k", "publicKey": public_key(30)}]}]);
    let root_mail = json!({"rootUsers": [{"userName": "m", "userEmail": "not an address", "apiKeys": []}]});
    let no_root_key = json!({"rootUsers": [{"userName": "bare", "apiKeys": []}]});
    let closed = "sub-organizations cannot create sub-organizations";
    let no_signer = "Could not find any resource to sign with";
    let no_credential = "user missing valid credential: bare";
    let mut rows: Vec<Row> = vec![
        (
            "APPROVE_ACTIVITY",
            Sender::Root,
            json!({"fingerprint": format!("sha256:{}", "0".repeat(64))}),
            NotFound,
            None,
            text(unknown_fingerprint),
        ),
        (
            "APPROVE_ACTIVITY",
            Sender::User,
            json!({}),
            PermissionDenied,
            Some("REQUEST_NOT_AUTHORIZED"),
            text("request not authorized"),
        ),
        (
            "REJECT_ACTIVITY",
            Sender::Root,
            json!({"fingerprint": format!("sha256:{}", "0".repeat(64))}),
            NotFound,
            None,
            text(unknown_fingerprint),
        ),
        (
            "REJECT_ACTIVITY",
            Sender::User,
            json!({}),
            PermissionDenied,
            Some("REQUEST_NOT_AUTHORIZED"),
            text("request not authorized"),
        ),
        (
            "CREATE_API_KEYS",
            Sender::Root,
            json!({"userId": unknown_id}),
            NotFound,
            None,
            unknown_user.clone(),
        ),
        (
            "CREATE_API_KEYS",
            Sender::Root,
            with_expiration("0"),
            InvalidArgument,
            None,
            text("invalid api key expiration"),
        ),
        (
            "CREATE_API_KEYS_V2",
            Sender::Root,
            with_expiration("-1"),
            InvalidArgument,
            None,
            text("invalid api key expiration"),
        ),
        (
            "CREATE_API_KEYS_V2",
            Sender::Root,
            json!({"userId": unknown_id}),
            NotFound,
            None,
            unknown_user.clone(),
        ),
        (
            "CREATE_API_ONLY_USERS",
            Sender::Root,
            json!({"apiOnlyUsers": no_key}),
            InvalidArgument,
            None,
            text(no_credential),
        ),
        (
            "CREATE_API_ONLY_USERS",
            Sender::Root,
            json!({"apiOnlyUsers": bad_mail}),
            InvalidArgument,
            Some("INVALID_EMAIL"),
            text("invalid email address"),
        ),
        (
            "CREATE_POLICY_V3",
            Sender::Root,
            json!({"condition": "activity.kind =="}),
            InvalidArgument,
            None,
            text("invalid policy condition"),
        ),
        (
            "CREATE_POLICY_V3",
            Sender::Root,
            json!({"consensus": "activity.kind"}),
            InvalidArgument,
            None,
            text("invalid policy consensus"),
        ),
        (
            "CREATE_POLICY_V3",
            Sender::Root,
            json!({"policyName": null}),
            InvalidArgument,
            None,
            missing("policyName"),
        ),
        (
            "UPDATE_WALLET",
            Sender::Root,
            json!({"walletName": ""}),
            InvalidArgument,
            None,
            empty("parameters.walletName"),
        ),
        (
            "EXPORT_WALLET",
            Sender::Root,
            json!({"targetPublicKey": "04"}),
            InvalidArgument,
            None,
            text("invalid target public key"),
        ),
        (
            "EXPORT_WALLET",
            Sender::Root,
            json!({"walletId": unknown_id}),
            NotFound,
            None,
            text("no wallet found"),
        ),
        (
            "EXPORT_WALLET",
            Sender::Root,
            json!({"language": "MNEMONIC_LANGUAGE_LATIN"}),
            InvalidArgument,
            None,
            text("invalid request body: `parameters.language`: invalid mnemonic language"),
        ),
        (
            "EXPORT_WALLET_ACCOUNT",
            Sender::Root,
            json!({"address": "0x00"}),
            NotFound,
            None,
            text("Could not find wallet account with address: 0x00"),
        ),
        (
            "EXPORT_PRIVATE_KEY",
            Sender::Root,
            json!({"targetPublicKey": fixture.wallet.1}),
            InvalidArgument,
            None,
            text("invalid target public key"),
        ),
        (
            "UPDATE_WALLET",
            Sender::Root,
            json!({"walletId": unknown_id}),
            NotFound,
            None,
            text("no wallet found"),
        ),
        (
            "CREATE_USER_TAG",
            Sender::Root,
            json!({"userTagName": null}),
            InvalidArgument,
            None,
            missing("userTagName"),
        ),
        (
            "CREATE_USER_TAG",
            Sender::Root,
            json!({"userIds": [unknown_id]}),
            NotFound,
            None,
            unknown_user.clone(),
        ),
        (
            "CREATE_SUB_ORGANIZATION",
            Sender::Root,
            json!({"name": null}),
            InvalidArgument,
            None,
            missing("name"),
        ),
        (
            "DELETE_API_KEYS",
            Sender::Root,
            json!({"userId": fixture.expiring.user, "apiKeyIds": fixture.expiring.keys}),
            InvalidArgument,
            None,
            format!("user missing valid credential: {}", fixture.expiring.user),
        ),
        (
            "DELETE_API_KEYS",
            Sender::Root,
            json!({"userId": unknown_id}),
            NotFound,
            None,
            unknown_user.clone(),
        ),
        (
            "DELETE_USERS",
            Sender::Root,
            json!({"userIds": [fixture.roots[1].user]}),
            InvalidArgument,
            None,
            text("quorum users missing"),
        ),
        ("DELETE_USERS", Sender::Root, json!({"userIds": [unknown_id]}), NotFound, None, unknown_user),
        (
            "REMOVE_ORGANIZATION_FEATURE",
            Sender::Root,
            json!({"name": null}),
            InvalidArgument,
            None,
            missing("name"),
        ),
        (
            "SET_ORGANIZATION_FEATURE",
            Sender::Root,
            json!({"name": null}),
            InvalidArgument,
            None,
            missing("name"),
        ),
        (
            "SIGN_RAW_PAYLOAD",
            Sender::Root,
            json!({"privateKeyId": unknown_id}),
            NotFound,
            None,
            text(no_signer),
        ),
        (
            "SIGN_RAW_PAYLOAD",
            Sender::Root,
            json!({"encoding": "PAYLOAD_ENCODING_NONE"}),
            InvalidArgument,
            None,
            text("invalid payload encoding"),
        ),
        (
            "SIGN_RAW_PAYLOAD_V2",
            Sender::Root,
            json!({"signWith": "0x0000000000000000000000000000000000000000"}),
            NotFound,
            None,
            text(no_signer),
        ),
        (
            "SIGN_RAW_PAYLOAD_V2",
            Sender::Root,
            json!({"payload": "abcd"}),
            InvalidArgument,
            None,
            text("expected a 32-bytes-long digest"),
        ),
        (
            "SIGN_RAW_PAYLOAD_V2",
            Sender::Root,
            json!({"hashFunction": "HASH_FUNCTION_MD5"}),
            InvalidArgument,
            None,
            text("invalid hash function"),
        ),
        (
            "SIGN_RAW_PAYLOAD_V2",
            Sender::Root,
            json!({"encoding": "PAYLOAD_ENCODING_EIP712", "payload": "{}"}),
            InvalidArgument,
            None,
            text("invalid typed data: `types` is missing"),
        ),
        (
            "SIGN_RAW_PAYLOAD_V2",
            Sender::Root,
            json!({"encoding": "PAYLOAD_ENCODING_EIP7702_AUTHORIZATION", "payload": "[]"}),
            InvalidArgument,
            None,
            text("invalid authorization: it is not an object"),
        ),
        (
            "SIGN_RAW_PAYLOAD_V2",
            Sender::Root,
            json!({"encoding": "PAYLOAD_ENCODING_EIP712", "hashFunction": "HASH_FUNCTION_KECCAK256"}),
            InvalidArgument,
            None,
            text("invalid hash function"),
        ),
        ("SIGN_RAW_PAYLOADS", Sender::Root, json!({"signWith": unknown_id}), NotFound, None, text(no_signer)),
        (
            "SIGN_TRANSACTION",
            Sender::Root,
            json!({"privateKeyId": unknown_id}),
            NotFound,
            None,
            text(no_signer),
        ),
        (
            "SIGN_TRANSACTION_V2",
            Sender::Root,
            json!({"unsignedTransaction": "0x"}),
            InvalidArgument,
            Some("INVALID_TRANSACTION"),
            text("failed to parse transaction: the data is empty"),
        ),
        (
            "SIGN_TRANSACTION_V2",
            Sender::Root,
            json!({"type": "TRANSACTION_TYPE_TEMPO"}),
            InvalidArgument,
            Some("UNSUPPORTED_TRANSACTION_TYPE"),
            text("unsupported transaction type TRANSACTION_TYPE_TEMPO"),
        ),
        (
            "SIGN_TRANSACTION_V2",
            Sender::Root,
            json!({"type": "TRANSACTION_TYPE_DOGE"}),
            InvalidArgument,
            None,
            text("invalid request body: `parameters.type`: invalid transaction type"),
        ),
        (
            "SIGN_RAW_PAYLOADS",
            Sender::Root,
            json!({"payloads": ["ab".repeat(32), "abcd"]}),
            InvalidArgument,
            None,
            text("expected a 32-bytes-long digest"),
        ),
        (
            "UPDATE_ROOT_QUORUM",
            Sender::Root,
            json!({"threshold": 0}),
            InvalidArgument,
            None,
            text("quorum threshold must be non-zero integer"),
        ),
        (
            "UPDATE_ROOT_QUORUM",
            Sender::Root,
            json!({"userIds": [unknown_id]}),
            InvalidArgument,
            None,
            text("quorum users missing"),
        ),
    ];
    for name in ["CREATE_PRIVATE_KEYS", "CREATE_PRIVATE_KEYS_V2"] {
        let key = |curve: &str, format: &str| json!({"privateKeys": [{"privateKeyName": "k", "curve": curve, "addressFormats": [format]}]});
        rows.push((
            name,
            Sender::Root,
            key("CURVE_NONE", "ADDRESS_FORMAT_ETHEREUM"),
            InvalidArgument,
            None,
            text("invalid curve"),
        ));
        rows.push((
            name,
            Sender::Root,
            key("CURVE_ED25519", "ADDRESS_FORMAT_ETHEREUM"),
            InvalidArgument,
            None,
            text("invalid address format"),
        ));
    }
    for name in ["CREATE_USERS", "CREATE_USERS_V2", "CREATE_USERS_V3", "CREATE_USERS_V4"] {
        rows.push((name, Sender::Root, json!({"users": no_key}), InvalidArgument, None, text(no_credential)));
        rows.push((
            name,
            Sender::Root,
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
            Sender::Child,
            json!({}),
            InvalidArgument,
            Some("INVALID_ACTIVITY_CALLER"),
            text(closed),
        ));
        if name != "CREATE_SUB_ORGANIZATION" {
            rows.push((
                name,
                Sender::Root,
                json!({"rootQuorumThreshold": 0}),
                InvalidArgument,
                None,
                text("quorum threshold must be non-zero integer"),
            ));
            rows.push((
                name,
                Sender::Root,
                root_mail.clone(),
                InvalidArgument,
                Some("INVALID_EMAIL"),
                text("invalid email address"),
            ));
        }
    }
    for name in ["CREATE_SUB_ORGANIZATION_V7", "CREATE_SUB_ORGANIZATION_V8"] {
        let token = json!({"verificationToken": "a.b.c"});
        rows.push((name, Sender::Root, token, InvalidArgument, None, text("invalid verification token")));
        let unsigned = json!({"clientSignature": null});
        rows.push((name, Sender::Root, unsigned, InvalidArgument, None, text(UNSIGNED)));
    }
    for name in ["CREATE_SUB_ORGANIZATION_V2", "CREATE_SUB_ORGANIZATION_V3"] {
        rows.push((name, Sender::Root, no_root_key.clone(), InvalidArgument, None, text(no_credential)));
    }
    let accounts = |path: &str, format: &str, address: &str| {
        let mut one = account(path, "CURVE_SECP256K1", address);
        one["pathFormat"] = json!(format);
        json!({"accounts": [one]})
    };
    for name in ["CREATE_WALLET", "CREATE_WALLET_ACCOUNTS"] {
        let (path, ethereum) = ("m/44'/60'/0'/0/7", "ADDRESS_FORMAT_ETHEREUM");
        rows.push((
            name,
            Sender::Root,
            accounts("m/x", "PATH_FORMAT_BIP32", ethereum),
            InvalidArgument,
            None,
            text("invalid path"),
        ));
        rows.push((
            name,
            Sender::Root,
            accounts(path, "PATH_FORMAT_NONE", ethereum),
            InvalidArgument,
            None,
            text("invalid path format"),
        ));
        rows.push((
            name,
            Sender::Root,
            accounts(path, "PATH_FORMAT_BIP32", "ADDRESS_FORMAT_SOLANA"),
            InvalidArgument,
            None,
            text("invalid address format"),
        ));
    }
    let existing_account = accounts("m/44'/60'/0'/0/0", "PATH_FORMAT_BIP32", "ADDRESS_FORMAT_ETHEREUM");
    rows.push((
        "CREATE_WALLET_ACCOUNTS",
        Sender::Root,
        existing_account,
        AlreadyExists,
        None,
        text("path already exists in wallet account "),
    ));
    rows
}
