//! Section `[limits]`: how often a client may call, and how many of each thing there may be.

use quorate_core::limits::Limits as Resources;

use super::section::Section;
use crate::http::limits::{HTTP_CONNECTIONS, Limits as DoorLimits};

/// Most that a limit on things may be raised to: these lists are read as a whole.
const MOST: u32 = 10_000;
/// Most connections and requests per second that can be configured.
const MOST_TRAFFIC: u32 = 1_000_000;

/// Limits of an installation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Requests per second and client address of the HTTP door; none means no limit.
    pub requests_per_second: Option<u32>,
    /// Open connections of the HTTP door.
    pub connections: usize,
    /// How many of each thing.
    pub resources: Resources,
}

impl Default for Limits {
    fn default() -> Self {
        Self { requests_per_second: None, connections: HTTP_CONNECTIONS, resources: Resources::default() }
    }
}

impl Limits {
    /// The limits of the HTTP door.
    pub fn http_door(&self) -> DoorLimits {
        DoorLimits {
            connections: self.connections,
            requests_per_second: self.requests_per_second,
            ..DoorLimits::default()
        }
    }
}

pub(super) fn read(section: &mut Section<'_, '_>) -> Limits {
    let default = Limits::default();
    let rate = section.number("requests_per_second", 0..=MOST_TRAFFIC).unwrap_or(0);
    let connections = section.number("connections", 1..=MOST_TRAFFIC).map_or(default.connections, size);
    let mut count = |key, default| section.number(key, 1..=MOST).map_or(default, size);
    let usual = default.resources;
    let resources = Resources {
        organizations: count("organizations", usual.organizations),
        wallets: count("wallets", usual.wallets),
        private_keys: count("private_keys", usual.private_keys),
        secrets: count("secrets", usual.secrets),
        users: count("users", usual.users),
        policies: count("policies", usual.policies),
        tags: count("tags", usual.tags),
        child_tags: count("child_tags", usual.child_tags),
        authenticators: count("authenticators", usual.authenticators),
        long_lived_api_keys: count("long_lived_api_keys", usual.long_lived_api_keys),
        expiring_api_keys: count("expiring_api_keys", usual.expiring_api_keys),
        oauth_providers: count("oauth_providers", usual.oauth_providers),
        invitations: count("invitations", usual.invitations),
        webhook_endpoints: count("webhook_endpoints", usual.webhook_endpoints),
        session_profiles: count("session_profiles", usual.session_profiles),
        smart_contract_interfaces: count("smart_contract_interfaces", usual.smart_contract_interfaces),
        waiting_activities: count("waiting_activities", usual.waiting_activities),
        denied_activities: count("denied_activities", usual.denied_activities),
    };
    Limits { requests_per_second: (rate > 0).then_some(rate), connections, resources }
}

fn size(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
