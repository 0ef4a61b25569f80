//! Demo contents of a dev organization, created by its own root users through the same code path as any
//! request.

use bytes::Bytes;
use quorate_common::activity::{Activity, Status};
use quorate_common::fingerprint::Fingerprint;
use quorate_common::stamp::Stamper;
use quorate_core::authn::{Credentials as Stamps, Header};
use quorate_core::kinds;
use serde::Deserialize;
use serde_json::{Value, json};

use super::credentials::{Credentials, RootUser};
use crate::executor::Executor;
use crate::service::StartError;

struct Demo<'a> {
    executor: &'a Executor,
    credentials: &'a Credentials,
    stampers: Vec<Stamper>,
    /// Time of the next request, in milliseconds since 1970. Two equal bodies with the same time would be one
    /// request.
    next: u64,
}

/// Creates the demo contents: a wallet, a tag, policies, and two activities that wait for approval.
pub(super) async fn populate(
    executor: &Executor,
    credentials: &Credentials,
    begun: u64,
) -> Result<(), StartError> {
    let stampers = credentials.root_users.iter().map(RootUser::stamper).collect::<Result<_, _>>()?;
    let mut demo = Demo { executor, credentials, stampers, next: begun };
    let account = |path: &str, curve: &str, format: &str| json!({"curve": curve, "pathFormat": "PATH_FORMAT_BIP32", "path": path, "addressFormat": format});
    let wallet = json!({"walletName": "treasury-hot", "accounts": [
        account("m/44'/60'/0'/0/0", "CURVE_SECP256K1", "ADDRESS_FORMAT_ETHEREUM"),
        account("m/44'/501'/0'/0'", "CURVE_ED25519", "ADDRESS_FORMAT_SOLANA"),
    ]});
    let created = demo.approved("create_wallet", "ACTIVITY_TYPE_CREATE_WALLET", &wallet).await?;
    let wallet = text(&created, "/createWalletResult/walletId")?;
    let address = text(&created, "/createWalletResult/addresses/0")?;
    let tag = demo.tag().await?;
    demo.policies(&wallet, &tag).await?;
    if credentials.threshold > 1 {
        let payload = json!({
            "signWith": address, "payload": "Quorate demo: release of November",
            "encoding": "PAYLOAD_ENCODING_TEXT_UTF8", "hashFunction": "HASH_FUNCTION_KECCAK256",
        });
        demo.propose("sign_raw_payload", "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2", &payload).await?;
        let members: Vec<_> = credentials.root_users.iter().map(|user| user.user_id).collect();
        let quorum = json!({"threshold": 1, "userIds": members});
        demo.propose("update_root_quorum", "ACTIVITY_TYPE_UPDATE_ROOT_QUORUM", &quorum).await?;
    }
    Ok(())
}

/// Returns a string in the result of an activity, by JSON pointer (RFC 6901).
fn text(activity: &Activity, pointer: &str) -> Result<String, StartError> {
    let found = activity.result.pointer(pointer).and_then(Value::as_str);
    found.map(str::to_owned).ok_or_else(|| failed(&format!("{pointer} is missing in a result")))
}

fn failed(why: &str) -> StartError {
    StartError::Other(format!("cannot create the demo contents: {why}"))
}

impl Demo<'_> {
    /// Tags all root users and returns the id of the tag.
    async fn tag(&mut self) -> Result<String, StartError> {
        let members: Vec<_> = self.credentials.root_users.iter().map(|user| user.user_id).collect();
        let parameters = json!({"userTagName": "treasurers", "userIds": members});
        let created = self.approved("create_user_tag", "ACTIVITY_TYPE_CREATE_USER_TAG", &parameters).await?;
        text(&created, "/createUserTagResult/userTagId")
    }

    async fn policies(&mut self, wallet: &str, tag: &str) -> Result<(), StartError> {
        let sign = json!({
            "policyName": "two treasurers sign with treasury-hot", "effect": "EFFECT_ALLOW",
            "condition": format!("activity.action == 'SIGN' && wallet.id == '{wallet}'"),
            "consensus": format!("approvers.filter(user, user.tags.contains('{tag}')).count() >= 2"),
            "notes": "Two treasurers must agree.",
        });
        let export = json!({
            "policyName": "never export treasury-hot", "effect": "EFFECT_DENY",
            "condition": format!("activity.action == 'EXPORT' && wallet.id == '{wallet}'"),
            "notes": "Only the whole root quorum overrides this.",
        });
        for policy in [sign, export] {
            self.approved("create_policy", "ACTIVITY_TYPE_CREATE_POLICY_V3", &policy).await?;
        }
        Ok(())
    }

    /// Proposes as the first user and approves as the others, until the activity does not need consensus
    /// anymore.
    async fn approved(
        &mut self,
        operation: &'static str,
        activity_type: &str,
        parameters: &Value,
    ) -> Result<Activity, StartError> {
        // The next step always starts at the same time, however many approvals this one needs.
        let end = self.next.saturating_add(self.stampers.len() as u64);
        let mut activity = self.propose(operation, activity_type, parameters).await?;
        let fingerprint = json!({"fingerprint": activity.fingerprint});
        for user in 1..self.stampers.len() {
            if activity.status != Status::ConsensusNeeded {
                break;
            }
            activity =
                self.send("approve_activity", "ACTIVITY_TYPE_APPROVE_ACTIVITY", &fingerprint, user).await?;
        }
        self.next = end;
        Ok(activity)
    }

    async fn propose(
        &mut self,
        operation: &'static str,
        activity_type: &str,
        parameters: &Value,
    ) -> Result<Activity, StartError> {
        self.send(operation, activity_type, parameters, 0).await
    }

    async fn send(
        &mut self,
        operation: &'static str,
        activity_type: &str,
        parameters: &Value,
        user: usize,
    ) -> Result<Activity, StartError> {
        #[derive(Deserialize)]
        struct Answer {
            activity: Activity,
        }
        self.next = self.next.saturating_add(1);
        let body = json!({
            "type": activity_type, "timestampMs": self.next.to_string(),
            "organizationId": self.credentials.organization_id, "parameters": parameters,
        });
        let body = Bytes::from(body.to_string());
        let stamper = self.stampers.get(user).ok_or_else(|| failed("a root user is missing"))?;
        let stamp = stamper.stamp(&body).map_err(|error| failed(&error.to_string()))?;
        let stamps = Stamps { stamp: Header::Once(stamp.header()), ..Stamps::default() };
        let operation = kinds::operation(operation).ok_or_else(|| failed("an operation is missing"))?;
        let answer = self.executor.submit(operation, &stamps, &body).await;
        let answer = answer.map_err(|error| failed(&error.message))?;
        let answer: Answer = serde_json::from_slice(&answer).map_err(|error| failed(&error.to_string()))?;
        debug_assert!(
            answer
                .activity
                .votes
                .iter()
                .any(|vote| Fingerprint::of(vote.message.as_bytes()) == answer.activity.fingerprint)
        );
        Ok(answer.activity)
    }
}
