//! Limits on the number of objects, and on the work that one request may cause.

pub use crate::model::import_target::IMPORT_TARGET_LIFE_MILLIS;
pub use crate::model::invitation::INVITATION_LIFE_MILLIS;
pub use crate::model::one_time_code::ATTEMPTS as CODE_ATTEMPTS;
pub use crate::model::queued_message::DISPLACED_FACTOR;
pub use crate::model::{IMPORT_TARGETS, SECRET_TARGETS};

use crate::model::RecordLimits;
use crate::model::queued_message::MessageUsage;

/// The limits of an installation. The defaults are those that clients of this API expect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Top-level organizations, beyond which the API creates no more.
    pub organizations: usize,
    /// Records of an organization, by their class.
    pub records: RecordLimits,
    /// Users of an organization.
    pub users: usize,
    /// Policies of an organization.
    pub policies: usize,
    /// Mails of a top-level organization and its sub-organizations that may wait to be sent, and as many SMS.
    pub waiting_messages: usize,
    /// Bytes of these mails, and as many of these SMS.
    pub waiting_message_bytes: usize,
    /// Codes, mailed keys and invitations that the users of all sub-organizations of a parent together may have sent within
    /// [`SENT_WINDOW_MILLIS`], besides the first one of each sub-organization. These are at most as many.
    pub sub_organization_messages: usize,
    /// Codes by SMS that the users of all sub-organizations of a parent together may have sent within an hour, and all
    /// registered tenants. SMS cost money.
    pub sub_organization_sms: usize,
    /// Tags of a sub-organization.
    pub child_tags: usize,
    /// Authenticators of a user.
    pub authenticators: usize,
    /// API keys of a user that do not expire.
    pub long_lived_api_keys: usize,
    /// API keys of a user that expire; one more replaces an expired key, or the oldest one.
    pub expiring_api_keys: usize,
    /// OAuth providers of a user.
    pub oauth_providers: usize,
    /// MFA policies of a user.
    pub mfa_policies: usize,
    /// Activities of an organization that may wait for votes at once.
    pub waiting_activities: usize,
    /// Denied attempts of a credential that are kept as activities; older ones are removed.
    pub denied_activities: usize,
    /// Further denied attempts of a credential within the lifetime of a body; more are refused.
    pub denials_per_hour: usize,
    /// Total length of the expressions of all policies of an organization, in bytes.
    pub policy_bytes: usize,
    /// Memory of the snapshot of an organization, without its wallet accounts and activities, in bytes.
    pub snapshot_bytes: usize,
    /// Total memory of all caches, in bytes.
    pub cache_bytes: usize,
    /// Rows of the store that one answer to a query may read.
    pub rows_per_answer: usize,
    /// Policy steps that one answer to a query may take.
    pub policy_steps_per_answer: u32,
    /// Concurrent expensive queries of an organization and its sub-organizations.
    pub readers_per_organization: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            organizations: 1000,
            records: RecordLimits::default(),
            users: 100,
            policies: 100,
            waiting_messages: 1000,
            waiting_message_bytes: 16 * 1024 * 1024,
            sub_organization_messages: 64,
            sub_organization_sms: 60,
            child_tags: 10,
            authenticators: 10,
            long_lived_api_keys: 10,
            expiring_api_keys: 10,
            oauth_providers: 10,
            mfa_policies: 10,
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

impl Limits {
    /// Returns how many messages of a channel may wait for each tenant.
    pub const fn message_share(&self) -> MessageUsage {
        MessageUsage { messages: self.waiting_messages, bytes: self.waiting_message_bytes }
    }
}

/// Minimum of `policy_steps_per_answer`: the policy steps that one decision may take.
pub const MIN_POLICY_STEPS: u32 = quorate_policy::DECISION_STEP_LIMIT;
/// Total length of the texts of all smart contract interfaces of an organization, in bytes.
pub const INTERFACE_BYTES: usize = 8 * 1024 * 1024;
/// Address blocks of an IP allowlist, for each address family.
pub const IP_RULES: usize = 10;
/// Maximum length of the value of a secret, in bytes.
pub const SECRET_BYTES: usize = 64 * 1024;
/// Static properties of a secret.
pub const STATIC_PROPERTIES: usize = 20;
/// Secrets that one request may delete.
pub const DELETED_SECRETS: usize = 32;
/// Maximum length of the body of a request that creates an organization, in bytes. The passkey of its stamp
/// is part of the body, so the body is read before anything about its sender is known.
pub const CREATE_ORGANIZATION_BYTES: usize = 64 * 1024;
/// Lifetime of a session if neither its request nor its profile states one, in seconds.
pub const SESSION_SECONDS: u64 = 900;
/// Lifetime of a read-only session in milliseconds.
pub const READ_ONLY_SESSION_MILLIS: u64 = 3_600_000;
/// Read-only sessions of a user; one more replaces the oldest.
pub const READ_ONLY_SESSIONS: usize = 10;
/// Lifetime of a one-time code unless its request states it, in seconds.
pub const CODE_SECONDS: u64 = 300;
/// Longest lifetime of a one-time code, in seconds.
pub const LONGEST_CODE_SECONDS: u64 = 600;
/// Number of characters of a one-time code, at least.
pub const MIN_CODE_LENGTH: i32 = 6;
/// Number of characters of a one-time code, at most.
pub const MAX_CODE_LENGTH: i32 = 9;
/// Codes or mailed keys that a receiver may be sent within [`SENT_WINDOW_MILLIS`], and codes that may be valid at once.
pub const SENT_CODES: usize = 3;
/// Codes, mailed keys and invitations that the users of a sub-organization may have sent within [`SENT_WINDOW_MILLIS`],
/// to whatever receivers. Anyone may be such a user, so they must not send mail and SMS to many.
pub const SENT_BY_CHILD: usize = 16;
/// The same for the users of all registered tenants together. Anyone may register one.
pub const SENT_BY_REGISTERED: usize = 64;
/// Time in which the codes or mailed keys of a receiver are counted, in milliseconds.
pub const SENT_WINDOW_MILLIS: u64 = 180_000;
/// Lifetime of a verification token unless its request states it, in seconds.
pub const TOKEN_SECONDS: u64 = 3600;
/// Longest lifetime of a verification token, in seconds.
pub const LONGEST_TOKEN_SECONDS: u64 = 86_400;
/// Lifetime of an ID token that the service issues, in seconds.
pub const ID_TOKEN_SECONDS: u64 = 900;
/// Longest lifetime of a recovery key, in seconds. Anyone who can read the mailbox can use the key.
pub const LONGEST_RECOVERY_SECONDS: u64 = 86_400;
/// Maximum length of a list in a request.
pub const BATCH: usize = 100;
/// Maximum age of a body in milliseconds: one hour.
pub const BODY_AGE_MILLIS: u64 = 60 * 60 * 1000;
/// Maximum time that a body may be ahead of the clock, in milliseconds: five minutes.
pub const BODY_AHEAD_MILLIS: u64 = 5 * 60 * 1000;
