//! Stored objects as queries, votes and the console's routes return them. Member names and types are exactly
//! those that clients read.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::{ActivityId, EvaluationId, OrganizationId, PolicyId, TagId, UserId, VoteId};

mod key;
mod message;
mod mfa;
mod oauth2;
mod organization;
mod secret;
mod settings;
mod user;

pub use key::{Address, PrivateKey, Wallet, WalletAccount};
pub use message::{EmailEvent, EmailEventDetails};
pub use mfa::{
    AuthenticationMethod, AuthenticationType, MFA_METHODS, MFA_STEPS, MfaPolicy, MfaStatus,
    RequiredAuthenticationMethod,
};
pub use oauth2::{Oauth2Credential, Oauth2Provider};
pub use organization::*;
pub use secret::{Secret, StaticProperty};
pub use settings::{
    Feature, IpAllowlist, IpAllowlistRule, PaymentMethod, SmartContractInterface,
    SmartContractInterfaceReference, WebhookEndpoint, WebhookSubscription,
};
pub use user::{
    ApiKey, Authenticator, CounterWentBack, Credential, INVITATION_LIFE_MILLIS, Invitation, InvitationMail,
    LastUse, OauthProvider, ReadOnlySession, SessionProfile, User,
};

/// A point in time. Both members are decimal strings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Timestamp {
    /// Seconds since 1970-01-01T00:00:00Z.
    pub seconds: String,
    /// Nanoseconds within the second; always `0`.
    pub nanos: String,
}

impl Timestamp {
    /// Creates a timestamp from milliseconds since 1970. Fractions of a second are dropped.
    pub fn from_millis(millis: u64) -> Self {
        Self { seconds: (millis / 1000).to_string(), nanos: "0".to_owned() }
    }

    /// Returns the milliseconds since 1970, or zero if the text is not a number.
    pub fn millis(&self) -> u64 {
        self.seconds.parse::<u64>().unwrap_or(0).saturating_mul(1000)
    }
}

/// Tag of users or of private keys.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Tag {
    /// Unique id of the tag.
    pub tag_id: TagId,
    /// Display name.
    pub tag_name: String,
    /// `TAG_TYPE_*`.
    pub tag_type: String,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of the last change.
    pub updated_at: Timestamp,
}

/// A policy with its expressions.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Policy {
    /// Unique id of the policy.
    pub policy_id: PolicyId,
    /// Label, unique within the organization.
    pub policy_name: String,
    /// `EFFECT_*`.
    pub effect: String,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of the last change.
    pub updated_at: Timestamp,
    /// Free text for people.
    pub notes: String,
    /// Consensus expression; empty if unset.
    pub consensus: String,
    /// Condition expression; empty if unset.
    pub condition: String,
    /// Time expression; absent if unset.
    pub time: Option<String>,
}

/// A root quorum: its members and its threshold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Quorum {
    /// Number of members whose approval is needed.
    pub threshold: u32,
    /// Members of the quorum.
    pub user_ids: Vec<UserId>,
}

/// Outcome of one policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PolicyOutcome {
    /// Policy that was evaluated.
    pub policy_id: PolicyId,
    /// `OUTCOME_*`.
    pub outcome: String,
}

/// Outcomes of the policies at the time of a vote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PolicyEvaluation {
    /// Unique id of the evaluation.
    pub id: EvaluationId,
    /// Activity that the vote is about.
    pub activity_id: ActivityId,
    /// Organization of the activity.
    pub organization_id: OrganizationId,
    /// Vote that caused the evaluation.
    pub vote_id: VoteId,
    /// Policies that were evaluated; empty if the root quorum was met or decides alone.
    pub policy_evaluations: Vec<PolicyOutcome>,
    /// Time at which the vote was cast.
    pub created_at: Timestamp,
}
