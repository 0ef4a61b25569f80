//! How much one organization may have in the outbox.

use super::shares::DELIVERIES;

/// Most deliveries that can be configured for a tenant.
pub const MOST_DELIVERIES: usize = DELIVERIES;

/// Limits of the outbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutboxLimits {
    /// Deliveries that run at once for an organization together with its sub-organizations.
    pub deliveries: usize,
    /// Deliveries that wait for an organization; beyond it the oldest are parked.
    pub waiting: usize,
    /// Bytes of bodies that wait for an organization; beyond it the oldest deliveries are parked.
    pub waiting_bytes: u64,
}

impl Default for OutboxLimits {
    fn default() -> Self {
        Self { deliveries: 64, waiting: 10_000, waiting_bytes: 64 * 1024 * 1024 }
    }
}
