//! What approvers are told of keys that come and go.

use serde_json::json;

use super::check;
use crate::testing::Stage;

const TARGET: &str = "040217e617f0b6443928278f96999e69a23a4f2c152bdf6d6cdf66e5b80282d4ed194a7debcb97712d2dda3ca85aa8765a56f45fc758599652f2897c65306e5794";

#[test]
fn exports() {
    let organization = Stage::new(3, 2).furnished();
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
fn imports() {
    let user = Stage::user(0);
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
