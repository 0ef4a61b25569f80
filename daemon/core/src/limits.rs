//! How many of each thing there may be, and how much work one request may cause.

/// Limits of an installation. The defaults are those that clients of this API expect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Organizations without a parent, beyond which nobody may found one more.
    pub organizations: usize,
    /// Wallets of an organization.
    pub wallets: usize,
    /// Private keys of an organization.
    pub private_keys: usize,
    /// Secrets of an organization.
    pub secrets: usize,
    /// Users of an organization.
    pub users: usize,
    /// Policies of an organization.
    pub policies: usize,
    /// Tags of an organization.
    pub tags: usize,
    /// Tags of a sub-organization.
    pub child_tags: usize,
    /// Authenticators of a user.
    pub authenticators: usize,
    /// API keys without end of a user.
    pub long_lived_api_keys: usize,
    /// API keys with an end of a user; one more replaces an expired or the oldest one.
    pub expiring_api_keys: usize,
    /// OAuth providers of a user.
    pub oauth_providers: usize,
    /// Invitations of an organization, also those that were accepted or taken back, of which the oldest make room.
    pub invitations: usize,
    /// Webhook endpoints of an organization.
    pub webhook_endpoints: usize,
    /// Session profiles of an organization.
    pub session_profiles: usize,
    /// Smart contract interfaces of an organization.
    pub smart_contract_interfaces: usize,
    /// Activities of an organization that may wait for votes at once.
    pub waiting_activities: usize,
    /// Denied attempts kept as activities per credential; older ones are dropped.
    pub denied_activities: usize,
    /// Denied attempts per credential beyond those, within the life of a body; more are refused as too many.
    pub denials_per_hour: usize,
    /// Expressions of all policies of an organization together, in bytes.
    pub policy_bytes: usize,
    /// What an organization takes in memory beside its wallet accounts and activities, in bytes.
    pub snapshot_bytes: usize,
    /// What all caches may take in memory together, in bytes.
    pub cache_bytes: usize,
    /// Rows of the store that are read for one answer to a query.
    pub rows_per_answer: usize,
    /// Steps that policies take for one answer to a query.
    pub policy_steps_per_answer: u32,
    /// Queries of an organization and its sub-organizations that may read much at the same time.
    pub readers_per_organization: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            organizations: 1000,
            wallets: 100,
            private_keys: 1000,
            secrets: 1000,
            users: 100,
            policies: 100,
            tags: 100,
            child_tags: 10,
            authenticators: 10,
            long_lived_api_keys: 10,
            expiring_api_keys: 10,
            oauth_providers: 10,
            invitations: 100,
            webhook_endpoints: 10,
            session_profiles: 100,
            smart_contract_interfaces: 100,
            waiting_activities: 1000,
            denied_activities: 100,
            denials_per_hour: 10_000,
            policy_bytes: 1024 * 1024,
            snapshot_bytes: 32 * 1024 * 1024,
            cache_bytes: 256 * 1024 * 1024,
            rows_per_answer: 10_000,
            policy_steps_per_answer: 2_000_000,
            readers_per_organization: 2,
        }
    }
}

/// Fewest steps that policies may be given for an answer: as many as one decision may take.
pub const LEAST_POLICY_STEPS: u32 = quorate_policy::DECISION_STEP_LIMIT;
/// Smart contract interfaces of an organization, all texts together, in bytes.
pub const INTERFACE_BYTES: usize = 8 * 1024 * 1024;
/// Blocks of an IP allowlist, of each address family.
pub const IP_RULES: usize = 10;
/// How long an invitation can be accepted, in milliseconds: seven days.
pub const INVITATION_LIFE_MILLIS: u64 = 7 * 24 * 60 * 60 * 1000;
/// How long something can be imported to a key, in milliseconds: 24 hours.
pub const IMPORT_TARGET_LIFE_MILLIS: u64 = 24 * 60 * 60 * 1000;
/// Keys that a user may have at once to import a wallet to, and as many for private keys.
pub const IMPORT_TARGETS: usize = 5;
/// Keys that a user may have at once to import secrets to, and secrets that one request may carry.
pub const SECRET_TARGETS: usize = 50;
/// Longest value of a secret, in bytes.
pub const SECRET_BYTES: usize = 64 * 1024;
/// Static properties of a secret.
pub const STATIC_PROPERTIES: usize = 20;
/// Secrets that one request may delete.
pub const DELETED_SECRETS: usize = 32;
/// Longest body of a request that creates an organization, in bytes. Its stamp is by a passkey that the body itself
/// brings, so the body is read before anything about its sender is known.
pub const FOUNDING_BYTES: usize = 64 * 1024;
/// Longest list that one request may carry.
pub const BATCH: usize = 100;
/// A body may be this old, in milliseconds: one hour.
pub const BODY_AGE_MILLIS: u64 = 60 * 60 * 1000;
/// A body may be this far ahead, in milliseconds: five minutes.
pub const BODY_AHEAD_MILLIS: u64 = 5 * 60 * 1000;
