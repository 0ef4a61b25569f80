//! Limits on one organization's share of the outbox.

use super::shares::DELIVERIES;

/// Maximum of `webhook_deliveries`.
pub const MOST_DELIVERIES: usize = DELIVERIES;

/// Limits of the outbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutboxLimits {
    /// Concurrent deliveries of an organization together with its sub-organizations.
    pub deliveries: usize,
    /// Deliveries of an organization that wait; beyond it, the oldest are parked.
    pub waiting: usize,
    /// Bytes of waiting bodies of an organization; beyond it, the oldest deliveries are parked.
    pub waiting_bytes: u64,
}

impl Default for OutboxLimits {
    fn default() -> Self {
        Self { deliveries: 64, waiting: 10_000, waiting_bytes: 64 * 1024 * 1024 }
    }
}
