//! The console protocol: what the daemon's local socket answers beside the public routes.
//!
//! HTTP/1.1 over the socket. Every route here only reads; a vote goes through the public submit routes
//! and needs a stamp. Errors have the form of [`crate::fault::Fault`].
//!
//! | route | answer |
//! |---|---|
//! | `GET /console/v1/status` | [`DaemonStatus`] |
//! | `GET /console/v1/catalog` | [`crate::catalog::Catalog`] |
//! | `GET /console/v1/organizations?parent=ID&after=ID&limit=N` | [`OrganizationPage`] |
//! | `GET /console/v1/organizations/ID` | [`OrganizationDetail`] |
//! | `GET /console/v1/organizations/ID/wallets/ID/accounts?after=ID&limit=N` | [`AccountPage`] |
//! | `GET /console/v1/organizations/ID/signer?name=TEXT` | [`Signer`]; TEXT is an address, a public key or an id |
//! | `GET /console/v1/organizations/ID/policies/findings` | `{"findings": […]}`: what is suspicious, as `quorate policy lint --json` tells it |
//! | `GET /console/v1/organizations/ID/activities/REF/explanation` | what each policy says of it, as `quorate policy explain --json` tells it |
//! | `GET /console/v1/organizations/ID/activities?status=S,S&type=T,T&after=ID&limit=N` | [`ActivityPage`] |
//! | `GET /console/v1/organizations/ID/activities?id=ID,ID` | [`ActivityPage`] with those activities, at most [`PAGE_LIMIT`]; the others are not there |
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

/// Version of this protocol. A console refuses a daemon that speaks another one.
pub const PROTOCOL: u32 = 1;
/// Largest page of any list.
pub const PAGE_LIMIT: usize = 100;

/// Whether the daemon serves for real.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Mode {
    /// `quorated dev`: loopback only, throw-away.
    Dev,
    /// `quorated serve`.
    Production,
}

/// Why the daemon's store takes no writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StoreState {
    /// Too little space is free. Reads go on.
    Full,
    /// A write failed, and the store is being opened again.
    Recovering,
    /// Records were removed, put back or added by others than the daemon.
    Altered,
    /// A state that this console does not know.
    #[serde(other)]
    Unknown,
}

/// The state of a store that takes no writes, for operators.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoreStatus {
    /// Why it takes none.
    pub state: StoreState,
    /// When it came into this state.
    pub since: Timestamp,
    /// The cause, as the store reports it.
    #[serde(default)]
    pub detail: String,
}

/// The daemon itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DaemonStatus {
    /// [`PROTOCOL`] of the daemon.
    pub protocol: u32,
    /// Version of the daemon.
    pub version: String,
    /// How it was started.
    pub mode: Mode,
    /// Started at.
    pub started_at: Timestamp,
    /// The daemon's clock, milliseconds since 1970.
    pub now_millis: u64,
    /// Process id of the daemon on its host.
    pub process_id: u32,
    /// Where the public API is served, if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// P-256 key that signs bundles, uncompressed hex.
    pub quorum_public_key: String,
    /// Whether the system keeps opened signing keys out of the swap.
    #[serde(default)]
    pub keys_locked: bool,
    /// Whether denying policies that fail over a request deny it.
    #[serde(default)]
    pub strict_deny_errors: bool,
    /// State of the store; absent while it takes writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub store: Option<StoreStatus>,
}

/// An organization in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OrganizationHead {
    /// Id.
    pub organization_id: OrganizationId,
    /// Name.
    pub organization_name: String,
    /// Parent, for a sub-organization.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_organization_id: Option<OrganizationId>,
    /// Grows with every change of the organization's state.
    pub version: u64,
    /// Root quorum.
    pub root_quorum: Quorum,
    /// Created at.
    pub created_at: Timestamp,
    /// Last changed at.
    pub updated_at: Timestamp,
}

/// A page of organizations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OrganizationPage {
    /// In order of creation.
    pub organizations: Vec<OrganizationHead>,
    /// Cursor of the next page; absent on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<OrganizationId>,
}

/// An organization with everything that is bounded in number, read in one snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OrganizationDetail {
    /// Id, name, version, quorum.
    #[serde(flatten)]
    pub head: OrganizationHead,
    /// Users with their credentials.
    pub users: Vec<User>,
    /// Wallets; accounts are paged.
    pub wallets: Vec<Wallet>,
    /// Private keys.
    pub private_keys: Vec<PrivateKey>,
    /// Tags of users and of private keys.
    pub tags: Vec<Tag>,
    /// Policies.
    pub policies: Vec<Policy>,
    /// Features that are on.
    pub features: Vec<Feature>,
    /// Invitations.
    #[serde(default)]
    pub invitations: Vec<Invitation>,
    /// Endpoints that receive webhooks.
    #[serde(default)]
    pub webhook_endpoints: Vec<WebhookEndpoint>,
    /// What sessions may be limited to.
    #[serde(default)]
    pub session_profiles: Vec<SessionProfile>,
    /// Interfaces of smart contracts, without their text.
    #[serde(default)]
    pub smart_contract_interfaces: Vec<SmartContractInterface>,
    /// Secrets that were brought in, without their values.
    #[serde(default)]
    pub secrets: Vec<Secret>,
    /// From which addresses requests are taken: of the organization and of API keys.
    #[serde(default)]
    pub ip_allowlists: Vec<IpAllowlist>,
    /// How the service is paid for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payment_method: Option<PaymentMethod>,
    /// Product of the billing tier that was activated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub billing_tier: Option<String>,
}

/// A page of wallet accounts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AccountPage {
    /// In order of creation.
    pub accounts: Vec<WalletAccount>,
    /// Cursor of the next page; absent on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<WalletAccountId>,
}

/// What a name stands for: a wallet account or a private key that signs under it, or a contract that is called by it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Signer {
    /// The wallet account, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wallet_account: Option<WalletAccount>,
    /// The private key, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub private_key: Option<PrivateKey>,
    /// The interface of the contract with this address, with its text, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contract: Option<SmartContractInterface>,
}

/// A page of activities, newest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ActivityPage {
    /// Activities; the can-flags are false, since the socket knows no caller.
    pub activities: Vec<ActivityRow>,
    /// Cursor of the next page; absent on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<ActivityId>,
    /// How many activities wait for votes; only on the first page of a list of exactly those.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<u64>,
}

/// An activity in a list, with who decides it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ActivityRow {
    /// The activity.
    pub activity: Activity,
    /// Present while it waits for votes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<Waiting>,
}

/// Which rule an activity waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum WaitingRule {
    /// The root quorum must agree.
    RootQuorum,
    /// A policy's consensus must hold; the root quorum can complete it too.
    Policy,
}

/// Why that rule and no other decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum WaitingReason {
    /// Policies are not asked about its kind.
    RootQuorumOnly,
    /// A policy permits it once its consensus holds.
    PolicyConsensus,
    /// No policy permits it, whoever else agrees.
    NoPolicyAllows,
    /// A policy denies it.
    PolicyDenies,
    /// Nothing is missing any more: it runs with the next vote.
    NextVote,
}

/// What an activity waits for, by the daemon's reckoning.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Waiting {
    /// Which rule decides.
    pub rule: WaitingRule,
    /// Why.
    pub reason: WaitingReason,
    /// What each policy says now; of an activity about several things, of one after the other.
    pub policy_evaluations: Vec<PolicyOutcome>,
    /// How many approvals of root users complete it.
    pub needed: u32,
    /// Users whose approval counts now.
    pub counted: Vec<UserId>,
    /// Users whose approval would still help.
    pub open_to: Vec<UserId>,
    /// When the oldest counted approval lapses, milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lapses_at_millis: Option<u64>,
}

/// Everything a review needs, read in one snapshot.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReviewRecord {
    /// The activity and who decides it.
    #[serde(flatten)]
    pub row: ActivityRow,
    /// The organization that the activity acts on, as it is now. Its `version` names the state.
    pub organization: OrganizationDetail,
    /// What the rule that it waits for is applied with; absent if it does not wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grounds: Option<Grounds>,
}

/// What rules are applied with, beside the organization and the activity.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Grounds {
    /// What the names in the request stand for. Those that stand for nothing are left out.
    pub signers: BTreeMap<String, Signer>,
    /// Whether a denying policy that fails denies.
    pub strict_deny_errors: bool,
}

/// Webhook deliveries that were parked, by where they would have gone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ParkedPage {
    /// One entry for each destination of which deliveries were parked.
    pub destinations: Vec<ParkedDeliveries>,
    /// Cursor of the next page; absent on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// Webhook deliveries that were taken from the queue without having been made. Their activities can still be queried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ParkedDeliveries {
    /// The organization that would have been called.
    pub organization_id: OrganizationId,
    /// Its endpoint; absent for the URL of the feature.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint_id: Option<EndpointId>,
    /// How many were parked because more waited than the limits of the organization allow.
    pub parked: u64,
    /// How many were parked because what is stored of them cannot be read.
    pub unreadable: u64,
    /// When the first one was parked.
    pub first_parked_at: Timestamp,
    /// When the last one was parked.
    pub last_parked_at: Timestamp,
    /// The oldest activity among them.
    pub oldest_activity_id: ActivityId,
    /// The newest activity among them.
    pub newest_activity_id: ActivityId,
}

/// Something changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    /// Resume token: pass it as `after` to continue behind this event.
    pub token: String,
    /// What happened.
    pub change: Change,
}

/// A change as the feed tells it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE", rename_all_fields = "camelCase", tag = "what")]
pub enum Change {
    /// An activity was recorded or moved on.
    Activity {
        /// Organization.
        organization_id: OrganizationId,
        /// Activity.
        activity_id: ActivityId,
        /// Its status now.
        status: Status,
    },
    /// The state of an organization changed.
    Organization {
        /// Organization.
        organization_id: OrganizationId,
        /// Its version now.
        version: u64,
    },
    /// Events before this one are not known any more: read everything again.
    Reset,
}
