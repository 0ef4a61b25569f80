//! Section `[limits]`: limits on request rates, memory and the number of resources.

use quorate_core::limits::{Limits as Resources, MIN_POLICY_STEPS};
use quorate_core::model::RecordLimits;

use super::section::Section;
use crate::http::limits::{BODY_BYTES, HTTP_CONNECTIONS, Limits as ListenerLimits, RequestLimits};
use crate::outbox::OutboxLimits;
use crate::outbox::limits::MOST_DELIVERIES;

/// Maximum that a limit on resources can be set to; these lists are read as a whole.
const MOST: u32 = 10_000;
/// Maximum for connections and requests per second.
const MOST_TRAFFIC: u32 = 1_000_000;
/// Minimum of `rows_per_answer`: a page of a list, merged from all statuses and types, needs fewer rows.
const LEAST_ROWS: u32 = 2_000;
/// Maximum of `readers_per_organization`.
const MOST_READERS: u32 = 64;
/// Minimum of limits in bytes.
const LEAST_BYTES: u32 = 64 * 1024;

/// Minimum of `waiting_messages`: the mails of one request fit into the part of a sub-organization.
const LEAST_MESSAGES: u32 = 400;
/// Minimum of `sub_organization_messages`: what the users of one sub-organization may have sent.
const LEAST_SENT: u32 = 16;
/// Maximum of `sub_organization_messages`; each request reads as many counts.
const MOST_MESSAGES: u32 = 1000;
/// Minimum of `waiting_message_bytes`.
const LEAST_MESSAGE_BYTES: u32 = MIB;

/// Maximum memory for request bodies: 1 GiB.
const MOST_BODY_BYTES: u32 = 1024 * 1024 * 1024;
/// Maximum for concurrent and waiting requests.
const MOST_REQUESTS: u32 = 100_000;

/// Limits of the installation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Requests per second and client address on the HTTP listener; `None` means unlimited.
    pub requests_per_second: Option<u32>,
    /// Maximum number of open connections of the HTTP listener.
    pub connections: usize,
    /// Limits on concurrent requests and their memory.
    pub requests: RequestLimits,
    /// Limits on the number and size of resources.
    pub resources: Resources,
    /// Limits of one organization's share of the outbox.
    pub outbox: OutboxLimits,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            requests_per_second: None,
            connections: HTTP_CONNECTIONS,
            requests: RequestLimits::default(),
            resources: Resources::default(),
            outbox: OutboxLimits::default(),
        }
    }
}

impl Limits {
    /// Returns the limits of the HTTP listener.
    pub fn http_listener(&self) -> ListenerLimits {
        ListenerLimits {
            connections: self.connections,
            requests_per_second: self.requests_per_second,
            ..ListenerLimits::default()
        }
    }
}

pub(super) fn read(section: &mut Section<'_, '_>) -> Limits {
    let default = Limits::default();
    let rate = section.number("requests_per_second", 0..=MOST_TRAFFIC).unwrap_or(0);
    let connections = section.number("connections", 1..=MOST_TRAFFIC).map_or(default.connections, size);
    let requests = requests(section, &default.requests);
    let mut count = |key, default| section.number(key, 1..=MOST).map_or(default, size);
    let usual = default.resources;
    let resources = Resources {
        records: RecordLimits::read(&mut count),
        organizations: count("organizations", usual.organizations),
        users: count("users", usual.users),
        policies: count("policies", usual.policies),
        child_tags: count("child_tags", usual.child_tags),
        authenticators: count("authenticators", usual.authenticators),
        long_lived_api_keys: count("long_lived_api_keys", usual.long_lived_api_keys),
        expiring_api_keys: count("expiring_api_keys", usual.expiring_api_keys),
        oauth_providers: count("oauth_providers", usual.oauth_providers),
        mfa_policies: count("mfa_policies", usual.mfa_policies),
        waiting_activities: count("waiting_activities", usual.waiting_activities),
        denied_activities: count("denied_activities", usual.denied_activities),
        denials_per_hour: count("denials_per_hour", usual.denials_per_hour),
        ..usual
    };
    let resources = budgets(section, &resources);
    let outbox = outbox(section, default.outbox);
    Limits { requests_per_second: (rate > 0).then_some(rate), connections, requests, resources, outbox }
}

fn requests(section: &mut Section<'_, '_>, usual: &RequestLimits) -> RequestLimits {
    // The largest possible body must fit.
    let least = u32::try_from(BODY_BYTES).unwrap_or(u32::MAX);
    let mut bytes = |key, usual| section.number(key, least..=MOST_BODY_BYTES).map_or(usual, size);
    let (body_bytes, body_bytes_per_client) =
        (bytes("body_bytes", usual.body_bytes), bytes("body_bytes_per_client", usual.body_bytes_per_client));
    let (answer_bytes, answer_bytes_per_client) = (
        bytes("answer_bytes", usual.answer_bytes),
        bytes("answer_bytes_per_client", usual.answer_bytes_per_client),
    );
    let mut count = |key, usual| section.number(key, 1..=MOST_REQUESTS).map_or(usual, size);
    RequestLimits {
        body_bytes,
        body_bytes_per_client,
        answer_bytes,
        answer_bytes_per_client,
        requests_in_flight: count("requests_in_flight", usual.requests_in_flight),
        requests_in_flight_per_client: count(
            "requests_in_flight_per_client",
            usual.requests_in_flight_per_client,
        ),
        requests_waiting_per_client: count("requests_waiting_per_client", usual.requests_waiting_per_client),
    }
}

const KIB: u32 = 1024;
const MIB: u32 = 1024 * KIB;

/// Reads the limits on the cost of one organization and of one answer.
fn budgets(section: &mut Section<'_, '_>, usual: &Resources) -> Resources {
    let mut number = |key, range, default| section.number(key, range).map_or(default, size);
    Resources {
        policy_bytes: number("policy_bytes", 64 * KIB..=64 * MIB, usual.policy_bytes),
        snapshot_bytes: number("snapshot_bytes", MIB..=1024 * MIB, usual.snapshot_bytes),
        cache_bytes: number("cache_bytes", 16 * MIB..=u32::MAX, usual.cache_bytes),
        waiting_messages: number("waiting_messages", LEAST_MESSAGES..=MOST, usual.waiting_messages),
        waiting_message_bytes: number(
            "waiting_message_bytes",
            LEAST_MESSAGE_BYTES..=u32::MAX,
            usual.waiting_message_bytes,
        ),
        sub_organization_messages: number(
            "sub_organization_messages",
            LEAST_SENT..=MOST_MESSAGES,
            usual.sub_organization_messages,
        ),
        sub_organization_sms: number("sub_organization_sms", 1..=MOST_MESSAGES, usual.sub_organization_sms),
        rows_per_answer: number("rows_per_answer", LEAST_ROWS..=100 * MOST_TRAFFIC, usual.rows_per_answer),
        readers_per_organization: number(
            "readers_per_organization",
            1..=MOST_READERS,
            usual.readers_per_organization,
        ),
        policy_steps_per_answer: section
            .number("policy_steps_per_answer", MIN_POLICY_STEPS..=1000 * MOST_TRAFFIC)
            .unwrap_or(usual.policy_steps_per_answer),
        ..usual.clone()
    }
}

fn outbox(section: &mut Section<'_, '_>, default: OutboxLimits) -> OutboxLimits {
    let most = u32::try_from(MOST_DELIVERIES).unwrap_or(u32::MAX);
    let bytes = section.number("waiting_webhook_bytes", LEAST_BYTES..=u32::MAX);
    OutboxLimits {
        deliveries: section.number("webhook_deliveries", 1..=most).map_or(default.deliveries, size),
        waiting: section.number("waiting_webhooks", 1..=MOST_TRAFFIC).map_or(default.waiting, size),
        waiting_bytes: bytes.map_or(default.waiting_bytes, u64::from),
    }
}

fn size(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
