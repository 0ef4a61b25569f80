//! Ten kinds of activities, for scenarios that send one request at a time.

use quorate_tests::caller::Caller;
use quorate_tests::daemon::Daemon;
use quorate_tests::keys::Key;
use quorate_tests::requests;
use serde_json::{Value, json};

/// The resources that the activities act on.
pub(crate) struct Stage {
    wallet: String,
    address: String,
    number: usize,
}

/// A prepared request, which can be sent repeatedly.
pub(crate) struct Operation {
    /// Activity type.
    pub(crate) activity_type: &'static str,
    /// Exact bytes of the body.
    pub(crate) body: Vec<u8>,
}

/// The activity types of the operations.
pub(crate) const KINDS: [&str; 10] = [
    requests::SIGN,
    requests::CREATE_WALLET,
    "ACTIVITY_TYPE_CREATE_WALLET_ACCOUNTS",
    "ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2",
    requests::CREATE_USERS,
    requests::CREATE_SUB_ORGANIZATION,
    "ACTIVITY_TYPE_CREATE_POLICY_V3",
    "ACTIVITY_TYPE_CREATE_USER_TAG",
    "ACTIVITY_TYPE_DELETE_USER_TAGS",
    "ACTIVITY_TYPE_SIGN_RAW_PAYLOADS",
];

impl Stage {
    /// Creates the resources that the activities act on. One root user of the daemon must be able to decide
    /// alone.
    pub(crate) async fn prepare(daemon: &Daemon) -> Self {
        let wallet = daemon.root(0).result(requests::CREATE_WALLET, &requests::wallet("stage")).await;
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        Self { wallet: text(&wallet["walletId"]), address: text(&wallet["addresses"][0]), number: 0 }
    }

    /// Prepares a new request of a type, after creating the resource that it acts on.
    pub(crate) async fn operation(&mut self, caller: &Caller, activity_type: &'static str) -> Operation {
        self.number += 1;
        let number = self.number;
        let name = format!("operation {number}");
        let parameters = match activity_type {
            requests::SIGN => requests::sign(&self.address, &name),
            requests::CREATE_WALLET => requests::wallet(&name),
            "ACTIVITY_TYPE_CREATE_WALLET_ACCOUNTS" => {
                let index = u32::try_from(number).expect("a small number");
                json!({ "walletId": self.wallet, "accounts": [requests::account(index)] })
            }
            "ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2" => json!({ "privateKeys": [{
                "privateKeyName": name, "curve": "CURVE_P256", "privateKeyTags": [], "addressFormats": [],
            }] }),
            requests::CREATE_USERS => requests::user(&name, &Key::named(&name)),
            requests::CREATE_SUB_ORGANIZATION => {
                requests::sub_organization(&name, &[requests::root_user("root", &Key::named(&name))], 1)
            }
            "ACTIVITY_TYPE_CREATE_POLICY_V3" => json!({
                "policyName": name,
                "effect": "EFFECT_ALLOW",
                "condition": "activity.type == 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2'",
                "consensus": "approvers.count() >= 2",
                "notes": "n".repeat(4_000),
            }),
            "ACTIVITY_TYPE_CREATE_USER_TAG" => json!({ "userTagName": name, "userIds": [] }),
            "ACTIVITY_TYPE_DELETE_USER_TAGS" => {
                let tag = json!({ "userTagName": name, "userIds": [] });
                let created = caller.result("ACTIVITY_TYPE_CREATE_USER_TAG", &tag).await;
                json!({ "userTagIds": [created["userTagId"]] })
            }
            _ => json!({
                "signWith": self.address,
                "payloads": ["a".repeat(60_000), name],
                "encoding": "PAYLOAD_ENCODING_TEXT_UTF8",
                "hashFunction": "HASH_FUNCTION_SHA256",
            }),
        };
        Operation { activity_type, body: caller.proposal(activity_type, &parameters) }
    }
}
