//! Activities and what they wait for.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::OrganizationDetail;
use super::activity_log::LogEntry;
use crate::activity::Activity;
use crate::ids::{ActivityId, OrganizationId, UserId};
use crate::wire::{MfaStatus, PolicyOutcome, PrivateKey, SmartContractInterface, Timestamp, WalletAccount};

/// Objects that a name in a request refers to: a wallet account or a private key that signs, or a called
/// contract.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Signer {
    /// Wallet account with this name, if there is one.
    pub wallet_account: Option<WalletAccount>,
    /// Private key with this name, if there is one.
    pub private_key: Option<PrivateKey>,
    /// Interface of the contract with this address, including its JSON text, if there is one.
    pub contract: Option<SmartContractInterface>,
}

/// A page of activities, newest first.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ActivityPage {
    /// Activities. `can_approve` and `can_reject` are false, since the socket does not authenticate a caller.
    pub activities: Vec<ActivityRow>,
    /// Cursor of the next page; absent on the last one.
    pub next: Option<ActivityId>,
    /// Number of activities that wait for votes; present only on the first page of a list of exactly those
    /// activities.
    pub waiting: Option<u64>,
}

/// Order of the activities of a [`HistoryPage`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HistoryOrder {
    /// Newest first.
    #[default]
    Time,
    /// By status, and newest first among those of one status.
    Status,
    /// By type, and newest first among those of one type.
    Type,
}

/// A page of the activities of an organization that match a filter, in an order.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HistoryPage {
    /// Activities that match. There may be none although later pages have some.
    pub activities: Vec<ActivityRow>,
    /// Cursor of the next page; absent on the last one.
    pub next: Option<String>,
    /// Time of the last activity that was compared with the filter.
    pub reached: Option<Timestamp>,
}

/// Where an activity is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ActivityLocation {
    /// Organization of the activity.
    pub organization_id: OrganizationId,
}

/// A page of the activities that wait for votes in an organization and in all its sub-organizations, by organization
/// and oldest first.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InboxPage {
    /// Organizations with their waiting activities. An organization with more activities than fit continues on the next
    /// page.
    pub organizations: Vec<OrganizationInbox>,
    /// Cursor of the next page; absent on the last one.
    pub next: Option<String>,
    /// Number of all waiting activities; present on the first page only, and absent if there are very many.
    pub waiting: Option<u64>,
    /// Whether the list is complete. It is not while the daemon still indexes a store of an earlier version.
    pub is_complete: bool,
}

/// The waiting activities of one organization.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OrganizationInbox {
    /// Current state of the organization.
    pub organization: OrganizationDetail,
    /// Waiting activities, oldest first.
    pub activities: Vec<ActivityRow>,
}

/// An activity in a list, with the rule that decides it.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ActivityRow {
    /// Activity as the public API returns it.
    pub activity: Activity,
    /// What the activity waits for; present while it waits for votes.
    pub waiting: Option<Waiting>,
}

/// Rule that decides a waiting activity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum WaitingRule {
    /// The root quorum must approve.
    RootQuorum,
    /// The consensus of a policy must be satisfied. The root quorum can approve instead.
    Policy,
}

/// Reason why the rule applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum WaitingReason {
    /// Policies are not consulted for activities of this kind.
    RootQuorumOnly,
    /// A policy permits the activity once its consensus is satisfied.
    PolicyConsensus,
    /// No policy can permit the activity, regardless of further approvals.
    NoPolicyAllows,
    /// A policy denies the activity.
    PolicyDenies,
    /// All requirements are met: the activity is executed with the next vote.
    NextVote,
    /// The proposer must prove further authentication methods.
    Authenticators,
}

/// What an activity waits for, as the daemon computes it.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Waiting {
    /// Rule that decides.
    pub rule: WaitingRule,
    /// Reason why this rule decides.
    pub reason: WaitingReason,
    /// Current outcome of each policy. If the activity acts on several objects, the outcomes for each object
    /// follow one another.
    pub policy_evaluations: Vec<PolicyOutcome>,
    /// Number of approvals of root users that complete the activity.
    pub needed: u32,
    /// Users whose approval counts now.
    pub counted: Vec<UserId>,
    /// Users whose approval would still count.
    pub open_to: Vec<UserId>,
    /// MFA policies that apply to the proposer and to the users who approved. An approval of another user than the
    /// proposer counts once its user meets them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mfa: Vec<MfaStatus>,
    /// Time at which the oldest counted approval expires, in milliseconds since 1970.
    #[serde(rename = "lapsesAtMillis")]
    pub expires_at_millis: Option<u64>,
}

/// All data for the review of an activity, read in one snapshot.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReviewRecord {
    /// The activity and the rule that decides it.
    #[serde(flatten)]
    pub row: ActivityRow,
    /// Current state of the organization that the activity acts on. Its `version` identifies the state.
    pub organization: OrganizationDetail,
    /// Further inputs of the rule that the activity waits for; absent if it does not wait.
    #[serde(rename = "grounds")]
    pub rule_inputs: Option<RuleInputs>,
    /// The activity in the activity log; absent from daemons of earlier versions.
    pub log: Option<LogEntry>,
}

/// Inputs of the rules, in addition to the organization and the activity.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RuleInputs {
    /// Objects that the names in the request refer to. Names that refer to nothing are left out.
    pub signers: BTreeMap<String, Signer>,
    /// Whether a deny policy whose evaluation fails denies the request.
    pub strict_deny_errors: bool,
}
