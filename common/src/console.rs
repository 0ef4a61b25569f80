//! The console protocol: routes that the daemon's local socket serves in addition to the public routes.
//!
//! The protocol is HTTP/1.1 over the socket. `GET` only reads. `POST` repeats deliveries that an organization already
//! decided on, and changes no organization. A vote goes through the public submit routes and needs a stamp. Errors are
//! returned as [`crate::api_error::ApiError`].
//!
//! Users of an organization and of its parent read the routes below `organizations/ID` remotely, with the stamped query
//! `get_console_view`. It also has the path [`REMOTE_STATUS`], which returns a [`RemoteStatus`].
//!
//! | route | response |
//! |---|---|
//! | `GET /console/v1/status` | [`DaemonStatus`] |
//! | `GET /console/v1/health` | [`Health`] |
//! | `GET /console/v1/catalog` | [`crate::catalog::Catalog`] |
//! | `GET /console/v1/organizations?parent=ID&after=ID&limit=N` | [`OrganizationPage`] |
//! | `GET /console/v1/organizations?parent=ID&contact=TEXT&after=ID&limit=N` | [`OrganizationPage`]: the sub-organizations with a user who has this verified mail address or phone number |
//! | `GET /console/v1/organizations/ID` | [`OrganizationDetail`] |
//! | `GET /console/v1/organizations/ID/wallets/ID/accounts?after=ID&limit=N` | [`AccountPage`] |
//! | `GET /console/v1/organizations/ID/signer?name=TEXT` | [`Signer`]; TEXT is an address, a public key or an id |
//! | `GET /console/v1/organizations/ID/policies/findings` | `{"findings": […]}`: suspicious policies, as in `quorate policy lint --json` |
//! | `GET /console/v1/organizations/ID/activities/REF/explanation` | outcome of each policy, as in `quorate policy explain --json` |
//! | `GET /console/v1/organizations/ID/activities?status=S,S&type=T,T&after=ID&limit=N` | [`ActivityPage`] |
//! | `GET /console/v1/organizations/ID/activities?id=ID,ID` | [`ActivityPage`] with these activities, at most [`PAGE_LIMIT`]; unknown ids are left out |
//! | `GET /console/v1/organizations/ID/history?status=S,S&type=T,T&proposer=ID,ID&text=WORDS&before=MILLIS&order=O&reverse=B&after=CURSOR&limit=N` | [`HistoryPage`], without votes; O is a [`HistoryOrder`]. Each of the WORDS occurs in the request or starts the id |
//! | `GET /console/v1/organizations/ID/inbox?after=CURSOR&limit=N` | [`InboxPage`]: what waits in the organization and all its sub-organizations |
//! | `GET /console/v1/organizations/ID/activities/REF` | [`ReviewRecord`]; REF is an activity id or a fingerprint |
//! | `GET /console/v1/organizations/ID/messages?after=ID&limit=N` | [`MessagePage`] |
//! | `GET /console/v1/organizations/ID/webhooks` | [`WebhookReceivers`] |
//! | `GET /console/v1/organizations/ID/webhooks/RECEIVER/deliveries` | [`WebhookDeliveries`]; RECEIVER is an endpoint id or [`FEATURE`] |
//! | `POST /console/v1/organizations/ID/webhooks/RECEIVER/retry?organization=ID&activity=ID` | [`RetriedDelivery`]; the organization of the activity, by default the same |
//! | `POST /console/v1/organizations/ID/webhooks/RECEIVER/test` | [`WebhookAttempt`] |
//! | `GET /console/v1/outbox/parked?after=CURSOR&limit=N` | [`ParkedPage`] |
//! | `GET /console/v1/events?after=TOKEN` | server-sent events, each `data` an [`Event`], each `id` its token |
//!
//! The paths of [`custody`] are answered by a sealed daemon too.

pub mod activity_log;
pub mod custody;
mod health;
mod messages;
mod review;
mod webhooks;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::activity::Status;
use crate::ids::{ActivityId, EndpointId, OrganizationId};
use crate::wire::Timestamp;

pub use crate::wire::{AccountPage, OrganizationDetail, OrganizationHead, OrganizationPage};
pub use health::{Health, LatencyBucket, QueueFigures, RequestFigures};
pub use messages::{MessageEvent, MessagePage};
pub use review::{
    ActivityLocation, ActivityPage, ActivityRow, HistoryOrder, HistoryPage, InboxPage, OrganizationInbox,
    ReviewRecord, RuleInputs, Signer, Waiting, WaitingReason, WaitingRule,
};

pub use webhooks::{
    AttemptResult, FEATURE, RetriedDelivery, TEST_EVENT, WaitingDelivery, WebhookAttempt, WebhookDeliveries,
    WebhookReceiver, WebhookReceivers,
};

/// Version of this protocol. A console rejects a daemon with another version.
pub const PROTOCOL: u32 = 2;

/// Path of [`RemoteStatus`] in the query `get_console_view`.
pub const REMOTE_STATUS: &str = "status";

/// Path of the page of sub-organizations in the query `get_console_view`.
pub const REMOTE_CHILDREN: &str = "organizations";

/// Maximum time for which a stamped request to read for a console is valid, in milliseconds.
pub const REMOTE_VALID_MILLIS: u64 = 300_000;

/// Maximum number of entries on a page of any list.
pub const PAGE_LIMIT: usize = 100;

/// Mode in which the daemon runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Mode {
    /// `quorated dev`: a throwaway organization, served on loopback only.
    Dev,
    /// `quorated serve`: production service.
    Production,
}

/// Reason why the daemon's store accepts no writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
    pub base_url: Option<String>,
    /// P-256 key that signs bundles: uncompressed point in hex.
    pub quorum_public_key: String,
    /// Whether the operating system keeps decrypted signing keys out of swap space.
    #[serde(default)]
    pub keys_locked: bool,
    /// Whether a deny policy whose evaluation fails denies the request.
    #[serde(default)]
    pub strict_deny_errors: bool,
    /// Key that seals records; absent if the daemon is too old to state it, or the store cannot be read now.
    pub sealing_key: Option<Box<custody::SealingKeyStatus>>,
    /// Whether the store was restored and waits to be released.
    #[serde(default)]
    pub awaits_release: bool,
    /// Time of which the newest backup contains the store, in milliseconds since 1970; absent if none was made.
    pub last_backup: Option<u64>,
    /// State of the journal; absent if the daemon has none.
    pub journal: Option<Box<custody::JournalStatus>>,
    /// State of the activity log.
    pub log: Option<Box<activity_log::LogStatus>>,
    /// Engine of the store; absent if the daemon is too old to state it.
    pub engine: Option<Box<EngineStatus>>,
    /// State of the store; absent while it accepts writes.
    pub store: Option<StoreStatus>,
}

/// Engine that stores the records.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EngineStatus {
    /// Name of the engine in the configuration.
    pub name: String,
    /// Server of the database that the daemon uses, as HOST:PORT or the path of a socket; absent for stores in files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// Settings on which the durability of a commit depends, by their names.
    #[serde(default)]
    pub durability: BTreeMap<String, String>,
    /// Why acknowledged changes can be lost, and what to do about it; absent if the daemon knows no reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
    /// Daemons that share the store, with the queried one; empty if stores of the engine have one daemon, or if the store
    /// cannot be read now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub daemons: Vec<StoreDaemon>,
    /// Time from the last commit of another daemon to its effect on this one, in milliseconds by the clock of the database; absent before
    /// the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notice_lag_millis: Option<u64>,
}

/// A daemon that shares a store with others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StoreDaemon {
    /// Id of the daemon (UUID), which is in its guard file.
    pub id: String,
    /// Software version of the daemon.
    pub version: String,
    /// Time since its last sign of life in milliseconds, by the clock of the database.
    pub silent_millis: u64,
    /// Whether it is the daemon that was queried.
    pub is_queried: bool,
}

/// What users may know of the daemon. Only operators read the rest, at the local socket.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RemoteStatus {
    /// Protocol version of the daemon; see [`PROTOCOL`].
    pub protocol: u32,
    /// Software version of the daemon.
    pub version: String,
    /// Command with which the daemon was started.
    pub mode: Mode,
    /// Current time of the daemon's clock, in milliseconds since 1970.
    pub now_millis: u64,
    /// P-256 key that signs bundles: uncompressed point in hex.
    pub quorum_public_key: String,
    /// Whether a deny policy whose evaluation fails denies the request.
    pub strict_deny_errors: bool,
    /// Version of the organization that was queried, which changes with everything in it.
    pub organization_version: u64,
}

/// Parked webhook deliveries, grouped by destination.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ParkedPage {
    /// One entry for each destination with parked deliveries.
    pub destinations: Vec<ParkedDeliveries>,
    /// Cursor of the next page; absent on the last one.
    pub next: Option<String>,
}

/// Webhook deliveries to one destination that were removed from the queue without being sent. Their
/// activities can still be queried.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ParkedDeliveries {
    /// Organization that owns the destination.
    pub organization_id: OrganizationId,
    /// Webhook endpoint; absent for the URL of the webhook feature.
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
#[serde_with::skip_serializing_none]
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
        /// Parent of that organization; absent if it is a top-level one.
        parent_organization_id: Option<OrganizationId>,
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
