//! What a dev organization holds at first: made by its own root users, through the same path as any request.

use bytes::Bytes;
use quorate_common::activity::{Activity, Status};
use quorate_common::fingerprint::Fingerprint;
use quorate_common::stamp::Stamper;
use quorate_core::authn::Credentials as Stamps;
use serde::Deserialize;
use serde_json::{Value, json};

use super::credentials::{Credentials, RootUser};
use crate::service::StartError;
use crate::turn::Turns;

struct Demo<'a> {
    turns: &'a Turns,
    credentials: &'a Credentials,
    stampers: Vec<Stamper>,
    /// Time of the next request, in milliseconds since 1970. Two bodies of one time would be one request.
    next: u64,
}

/// Furnishes the organization: a wallet, a tag, policies, and two activities that wait for approval.
pub(super) async fn furnish(turns: &Turns, credentials: &Credentials, begun: u64) -> Result<(), StartError> {
    let stampers = credentials.root_users.iter().map(RootUser::stamper).collect::<Result<_, _>>()?;
    let mut demo = Demo { turns, credentials, stampers, next: begun };
    let account = |path: &str, curve: &str, format: &str| json!({"curve": curve, "pathFormat": "PATH_FORMAT_BIP32", "path": path, "addressFormat": format});
    let wallet = json!({"walletName": "treasury-hot", "accounts": [
        account("m/44'/60'/0'/0/0", "CURVE_SECP256K1", "ADDRESS_FORMAT_ETHEREUM"),
        account("m/44'/501'/0'/0'", "CURVE_ED25519", "ADDRESS_FORMAT_SOLANA"),
    ]});
    let made = demo.agreed("create_wallet", "ACTIVITY_TYPE_CREATE_WALLET", &wallet).await?;
    let wallet = text(&made, "/createWalletResult/walletId")?;
    let address = text(&made, "/createWalletResult/addresses/0")?;
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

/// A text in the result of an activity, at a JSON pointer (RFC 6901).
fn text(activity: &Activity, pointer: &str) -> Result<String, StartError> {
    let found = activity.result.pointer(pointer).and_then(Value::as_str);
    found.map(str::to_owned).ok_or_else(|| failed(&format!("a result has no {pointer}")))
}

fn failed(why: &str) -> StartError {
    StartError::Other(format!("the demo organization cannot be furnished: {why}"))
}

impl Demo<'_> {
    /// Tags all root users; gives the id of the tag.
    async fn tag(&mut self) -> Result<String, StartError> {
        let members: Vec<_> = self.credentials.root_users.iter().map(|user| user.user_id).collect();
        let parameters = json!({"userTagName": "treasurers", "userIds": members});
        let made = self.agreed("create_user_tag", "ACTIVITY_TYPE_CREATE_USER_TAG", &parameters).await?;
        text(&made, "/createUserTagResult/userTagId")
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
            self.agreed("create_policy", "ACTIVITY_TYPE_CREATE_POLICY_V3", &policy).await?;
        }
        Ok(())
    }

    /// Proposes as the first user and lets as many others approve as it takes.
    async fn agreed(
        &mut self,
        operation: &'static str,
        activity_type: &str,
        parameters: &Value,
    ) -> Result<Activity, StartError> {
        // However many approvals it takes this time, the next step has the same times as ever.
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
        let stamper = self.stampers.get(user).ok_or_else(|| failed("there is no such user"))?;
        let stamp = stamper.stamp(&body).map_err(|error| failed(&error.to_string()))?;
        let stamps = Stamps { stamps: vec![stamp.header()], ..Stamps::default() };
        let answer = self.turns.submit(operation, &stamps, &body).await;
        let answer = answer.map_err(|fault| failed(&fault.message))?;
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
