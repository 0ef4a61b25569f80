//! The console protocol: routes that the daemon's local socket serves in addition to the public routes.
//!
//! The protocol is HTTP/1.1 over the socket. Every route here only reads. A vote goes through the public
//! submit routes and needs a stamp. Errors are returned as [`crate::api_error::ApiError`].
//!
//! | route | response |
//! |---|---|
//! | `GET /console/v1/status` | [`DaemonStatus`] |
//! | `GET /console/v1/catalog` | [`crate::catalog::Catalog`] |
//! | `GET /console/v1/organizations?parent=ID&after=ID&limit=N` | [`OrganizationPage`] |
//! | `GET /console/v1/organizations/ID` | [`OrganizationDetail`] |
//! | `GET /console/v1/organizations/ID/wallets/ID/accounts?after=ID&limit=N` | [`AccountPage`] |
//! | `GET /console/v1/organizations/ID/signer?name=TEXT` | [`Signer`]; TEXT is an address, a public key or an id |
//! | `GET /console/v1/organizations/ID/policies/findings` | `{"findings": […]}`: suspicious policies, as in `quorate policy lint --json` |
//! | `GET /console/v1/organizations/ID/activities/REF/explanation` | outcome of each policy, as in `quorate policy explain --json` |
//! | `GET /console/v1/organizations/ID/activities?status=S,S&type=T,T&after=ID&limit=N` | [`ActivityPage`] |
//! | `GET /console/v1/organizations/ID/activities?id=ID,ID` | [`ActivityPage`] with these activities, at most [`PAGE_LIMIT`]; unknown ids are left out |
//! | `GET /console/v1/organizations/ID/activities/REF` | [`ReviewRecord`]; REF is an activity id or a fingerprint |
//! | `GET /console/v1/outbox/parked?after=CURSOR&limit=N` | [`ParkedPage`] |
//! | `GET /console/v1/events?after=TOKEN` | server-sent events, each `data` an [`Event`], each `id` its token |

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::activity::{Activity, Status};
use crate::ids::{ActivityId, EndpointId, OrganizationId, UserId, WalletAccountId};
use crate::wire::{
    Feature, Invitation, IpAllowlist, PaymentMethod, Policy, PolicyOutcome, PrivateKey, Quorum, Secret,
    SessionProfile, SmartContractInterface, Tag, Timestamp, User, Wallet, WalletAccount, WebhookEndpoint,
};

/// Version of this protocol. A console rejects a daemon with another version.
pub const PROTOCOL: u32 = 1;
/// Maximum number of entries on a page of any list.
pub const PAGE_LIMIT: usize = 100;

/// Mode in which the daemon runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Mode {
    /// `quorated dev`: a throwaway organization, served on loopback only.
    Dev,
    /// `quorated serve`: production service.
    Production,
}

/// Reason why the daemon's store accepts no writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StoreState {
    /// Too little disk space is free. Reads are still served.
    Full,
    /// A write failed and the store is being reopened.
    Recovering,
    /// Records were removed, restored or added by something other than the daemon.
    Altered,
    /// A state that this version of the console does not know.
    #[serde(other)]
    Unknown,
}

/// State of a store that accepts no writes, for operators.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoreStatus {
    /// Reason why the store accepts no writes.
    pub state: StoreState,
    /// Time at which the store entered this state.
    pub since: Timestamp,
    /// Cause as reported by the store.
    #[serde(default)]
    pub detail: String,
}

/// Status of the daemon.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DaemonStatus {
    /// Protocol version of the daemon; see [`PROTOCOL`].
    pub protocol: u32,
    /// Software version of the daemon.
    pub version: String,
    /// Command with which the daemon was started.
    pub mode: Mode,
    /// Time at which the daemon was started.
    pub started_at: Timestamp,
    /// Current time of the daemon's clock, in milliseconds since 1970.
    pub now_millis: u64,
    /// Operating system process id of the daemon.
    pub process_id: u32,
    /// URL of the public API; absent if the API is not served.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// P-256 key that signs bundles: uncompressed point in hex.
    pub quorum_public_key: String,
    /// Whether the operating system keeps decrypted signing keys out of swap space.
    #[serde(default)]
    pub keys_locked: bool,
    /// Whether a deny policy whose evaluation fails denies the request.
    #[serde(default)]
    pub strict_deny_errors: bool,
    /// State of the store; absent while it accepts writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub store: Option<StoreStatus>,
}

/// Summary of an organization, as it appears in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OrganizationHead {
    /// Unique id of the organization.
    pub organization_id: OrganizationId,
    /// Display name.
    pub organization_name: String,
    /// Parent organization; absent for a top-level organization.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_organization_id: Option<OrganizationId>,
    /// Version number that increases with every change of the organization.
    pub version: u64,
    /// Members and threshold of the root quorum.
    pub root_quorum: Quorum,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of the last change.
    pub updated_at: Timestamp,
}

/// A page of organizations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OrganizationPage {
    /// Organizations in order of creation.
    pub organizations: Vec<OrganizationHead>,
    /// Cursor of the next page; absent on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<OrganizationId>,
}

/// An organization with all its collections of bounded size, read in one snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OrganizationDetail {
    /// Summary: id, name, version and root quorum.
    #[serde(flatten)]
    pub head: OrganizationHead,
    /// Users with their credentials.
    pub users: Vec<User>,
    /// Wallets without their accounts, which have pages of their own.
    pub wallets: Vec<Wallet>,
    /// Private keys, without their secrets.
    pub private_keys: Vec<PrivateKey>,
    /// Tags of users and of private keys.
    pub tags: Vec<Tag>,
    /// Policies with their expressions.
    pub policies: Vec<Policy>,
    /// Enabled features.
    pub features: Vec<Feature>,
    /// Invitations to become a user.
    #[serde(default)]
    pub invitations: Vec<Invitation>,
    /// Endpoints that receive webhooks.
    #[serde(default)]
    pub webhook_endpoints: Vec<WebhookEndpoint>,
    /// Session profiles, which restrict sessions.
    #[serde(default)]
    pub session_profiles: Vec<SessionProfile>,
    /// Interfaces of smart contracts, without their JSON text.
    #[serde(default)]
    pub smart_contract_interfaces: Vec<SmartContractInterface>,
    /// Imported secrets, without their values.
    #[serde(default)]
    pub secrets: Vec<Secret>,
    /// IP allowlists of the organization and of its API keys.
    #[serde(default)]
    pub ip_allowlists: Vec<IpAllowlist>,
    /// Payment method; absent if none is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payment_method: Option<PaymentMethod>,
    /// Product of the activated billing tier; absent if none was activated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub billing_tier: Option<String>,
}

/// A page of wallet accounts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AccountPage {
    /// Accounts in order of creation.
    pub accounts: Vec<WalletAccount>,
    /// Cursor of the next page; absent on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<WalletAccountId>,
}

/// Objects that a name in a request refers to: a wallet account or a private key that signs, or a called
/// contract.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Signer {
    /// Wallet account with this name, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wallet_account: Option<WalletAccount>,
    /// Private key with this name, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub private_key: Option<PrivateKey>,
    /// Interface of the contract with this address, including its JSON text, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contract: Option<SmartContractInterface>,
}

/// A page of activities, newest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ActivityPage {
    /// Activities. `can_approve` and `can_reject` are false, since the socket does not authenticate a caller.
    pub activities: Vec<ActivityRow>,
    /// Cursor of the next page; absent on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<ActivityId>,
    /// Number of activities that wait for votes; present only on the first page of a list of exactly those
    /// activities.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<u64>,
}

/// An activity in a list, with the rule that decides it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ActivityRow {
    /// Activity as the public API returns it.
    pub activity: Activity,
    /// What the activity waits for; present while it waits for votes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<Waiting>,
}

/// Rule that decides a waiting activity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum WaitingRule {
    /// The root quorum must approve.
    RootQuorum,
    /// The consensus of a policy must be satisfied. The root quorum can approve instead.
    Policy,
}

/// Reason why the rule applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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
}

/// What an activity waits for, as the daemon computes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
    /// Time at which the oldest counted approval expires, in milliseconds since 1970.
    #[serde(rename = "lapsesAtMillis", default, skip_serializing_if = "Option::is_none")]
    pub expires_at_millis: Option<u64>,
}

/// All data for the review of an activity, read in one snapshot.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReviewRecord {
    /// The activity and the rule that decides it.
    #[serde(flatten)]
    pub row: ActivityRow,
    /// Current state of the organization that the activity acts on. Its `version` identifies the state.
    pub organization: OrganizationDetail,
    /// Further inputs of the rule that the activity waits for; absent if it does not wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grounds: Option<Grounds>,
}

/// Inputs of the rules, in addition to the organization and the activity.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Grounds {
    /// Objects that the names in the request refer to. Names that refer to nothing are left out.
    pub signers: BTreeMap<String, Signer>,
    /// Whether a deny policy whose evaluation fails denies the request.
    pub strict_deny_errors: bool,
}

/// Parked webhook deliveries, grouped by destination.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ParkedPage {
    /// One entry for each destination with parked deliveries.
    pub destinations: Vec<ParkedDeliveries>,
    /// Cursor of the next page; absent on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// Webhook deliveries to one destination that were removed from the queue without being sent. Their
/// activities can still be queried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ParkedDeliveries {
    /// Organization that owns the destination.
    pub organization_id: OrganizationId,
    /// Webhook endpoint; absent for the URL of the webhook feature.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint_id: Option<EndpointId>,
    /// Number of deliveries parked because more were waiting than the limits of the organization allow.
    pub parked: u64,
    /// Number of deliveries parked because their stored records cannot be read.
    pub unreadable: u64,
    /// Time at which the first delivery was parked.
    pub first_parked_at: Timestamp,
    /// Time at which the last delivery was parked.
    pub last_parked_at: Timestamp,
    /// Oldest activity among the parked deliveries.
    pub oldest_activity_id: ActivityId,
    /// Newest activity among the parked deliveries.
    pub newest_activity_id: ActivityId,
}

/// An event of the change feed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    /// Resume token: pass it as `after` to continue after this event.
    pub token: String,
    /// The change that this event reports.
    pub change: Change,
}

/// A change that the feed reports.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE", rename_all_fields = "camelCase", tag = "what")]
pub enum Change {
    /// An activity was recorded or its status changed.
    Activity {
        /// Organization that the activity acts on.
        organization_id: OrganizationId,
        /// Activity that changed.
        activity_id: ActivityId,
        /// Current status of the activity.
        status: Status,
    },
    /// The state of an organization changed.
    Organization {
        /// Organization that changed.
        organization_id: OrganizationId,
        /// Current version of the organization.
        version: u64,
    },
    /// Earlier events are no longer available: the console must read everything again.
    Reset,
}
