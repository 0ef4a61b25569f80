//! Tests of the descriptions of imports and exports.

use serde_json::{Value, json};

use super::super::{ReviewContext, decode};
use super::check;
use crate::testing::Fixture;

const TARGET: &str = "040217e617f0b6443928278f96999e69a23a4f2c152bdf6d6cdf66e5b80282d4ed194a7debcb97712d2dda3ca85aa8765a56f45fc758599652f2897c65306e5794";

#[test]
fn exports() {
    let organization = Fixture::new(3, 2).with_all_records();
    let wallet = organization.wallets[0].wallet_id;
    let key = organization.private_keys[0].private_key_id;
    check(
        "exports",
        &[
            ("EXPORT_WALLET", json!({"walletId": wallet, "targetPublicKey": TARGET})),
            (
                "EXPORT_WALLET",
                json!({"walletId": "7f7f7f7f-7f7f-4f7f-8f7f-7f7f7f7f7f7f", "targetPublicKey": TARGET,
                    "language": "MNEMONIC_LANGUAGE_SPANISH"}),
            ),
            (
                "EXPORT_WALLET_ACCOUNT",
                json!({"address": "0x9858EfFD232B4033E47d90003D41EC34EcaEda94", "targetPublicKey": TARGET}),
            ),
            ("EXPORT_PRIVATE_KEY", json!({"privateKeyId": key, "targetPublicKey": TARGET})),
        ],
    );
}

#[test]
fn secrets() {
    let known = ["86868686-8686-8686-8686-868686868686", "87878787-8787-8787-8787-878787878787"];
    let suite = "TRANSPORT_ENCRYPTION_SUITE_ENCLAVE_ENCRYPT_V1";
    let secret = |name: Option<&str>, properties: Value| {
        let mut secret = json!({"secretPayload": "{\"encappedPublic\":\"04\"}", "targetPublicKey": TARGET,
            "encryptionSuite": suite, "staticProperties": properties});
        if let Some(name) = name {
            secret["name"] = json!(name);
        }
        secret
    };
    let export = |id: &str, context: Value| json!({"secretId": id, "targetPublicKey": TARGET, "encryptionSuite": suite, "requestContext": context});
    let unknown = "7f7f7f7f-7f7f-4f7f-8f7f-7f7f7f7f7f7f";
    let environment = json!([{"key": "env", "value": "prod"}]);
    check(
        "secrets",
        &[
            ("INIT_IMPORT_SECRETS", json!({"encryptionSuite": suite, "numSecrets": 2})),
            (
                "IMPORT_SECRETS",
                json!({"secrets": [secret(Some("database"), environment), secret(None, json!([]))]}),
            ),
            (
                "EXPORT_SECRETS",
                json!({"secrets": [export(known[0], json!([{"key": "reason", "value": "release 7"}])),
                    export(known[1], json!([]))]}),
            ),
            ("EXPORT_SECRETS", json!({"secrets": [export(unknown, json!([]))]})),
            ("DELETE_SECRETS", json!({"secretIds": known})),
            ("DELETE_SECRETS", json!({"secretIds": [unknown]})),
        ],
    );
}

#[test]
fn payloads_in_lists_are_abridged() {
    let organization = Fixture::new(3, 2).with_all_records();
    let context = ReviewContext::of(&organization);
    let secret = |payload: &str| {
        json!({"secretPayload": payload, "targetPublicKey": TARGET,
            "encryptionSuite": "TRANSPORT_ENCRYPTION_SUITE_ENCLAVE_ENCRYPT_V1"})
    };
    let parameters = json!({"secrets": [secret("first"), secret("second")]});
    let decoded = decode("ACTIVITY_TYPE_IMPORT_SECRETS", &parameters, &context);
    assert_eq!(decoded.abridged, ["secrets[].secretPayload"]);
    let payloads = decoded.fields.iter().filter(|field| field.name.ends_with("secretPayload"));
    let shown: Vec<&str> = payloads.map(|field| field.value.as_str()).collect();
    let whole = |length| format!("{length} characters, which only the daemon can decrypt");
    assert_eq!(shown, [whole(5), whole(6)]);
    let mut other = parameters;
    other["secrets"][0]["encryptionSuite"] = json!("TRANSPORT_ENCRYPTION_SUITE_UNSPECIFIED");
    assert!(decode("ACTIVITY_TYPE_IMPORT_SECRETS", &other, &context).undecoded.is_some());
}

#[test]
fn imports() {
    let user = Fixture::user(0);
    let account = super::account();
    check(
        "imports",
        &[
            ("INIT_IMPORT_WALLET", json!({"userId": user})),
            ("INIT_IMPORT_PRIVATE_KEY", json!({"userId": user})),
            (
                "IMPORT_WALLET",
                json!({"userId": user, "walletName": "old", "encryptedBundle": "{}", "accounts": [account]}),
            ),
            (
                "IMPORT_PRIVATE_KEY",
                json!({"userId": user, "privateKeyName": "old", "encryptedBundle": "{}", "curve": "CURVE_ED25519",
                    "addressFormats": ["ADDRESS_FORMAT_SOLANA"]}),
            ),
        ],
    );
}
