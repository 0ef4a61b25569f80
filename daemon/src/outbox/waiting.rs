//! What an organization has waiting, charged to the organizations that caused it. Only counts.

use std::collections::{BTreeMap, BTreeSet};

use quorate_common::ids::OrganizationId;
use quorate_core::outbox::Usage;

use super::limits::OutboxLimits;

/// See the module.
#[derive(Debug, Clone, Default)]
pub(super) struct Waiting {
    total: Usage,
    caused: BTreeMap<OrganizationId, Usage>,
    /// Whether the log says that some of it was parked.
    pub(super) is_logged: bool,
}

impl Waiting {
    /// What waits, by the organizations that caused it.
    pub(super) fn new(caused: BTreeMap<OrganizationId, Usage>) -> Self {
        let mut waiting = Self::default();
        for (cause, usage) in caused {
            waiting.add(cause, usage);
        }
        waiting
    }

    /// Adds what an organization caused.
    pub(super) fn add(&mut self, cause: OrganizationId, usage: Usage) {
        self.total.add(usage);
        self.caused.entry(cause).or_default().add(usage);
    }

    /// Subtracts what is gone.
    pub(super) fn subtract(&mut self, cause: OrganizationId, usage: Usage) {
        self.total.subtract(usage);
        if let Some(caused) = self.caused.get_mut(&cause) {
            caused.subtract(usage);
            if caused.deliveries == 0 {
                self.caused.remove(&cause);
            }
        }
    }

    /// What waits, by the organizations that caused it.
    #[cfg(test)]
    pub(super) const fn caused(&self) -> &BTreeMap<OrganizationId, Usage> {
        &self.caused
    }

    /// Whether nothing waits.
    pub(super) const fn is_empty(&self) -> bool {
        self.total.deliveries == 0
    }

    /// Whether no more waits than half of what may.
    pub(super) const fn is_half(&self, limits: &OutboxLimits) -> bool {
        self.total.deliveries <= limits.waiting / 2 && self.total.bytes <= limits.waiting_bytes / 2
    }

    /// Returns who caused most of what waits for an organization if more waits than may: in bytes where there are too
    /// many bytes, otherwise in deliveries. Leaves out the exceptions. Of two that caused as much it is the one that is not the organization itself.
    pub(super) fn heaviest(
        &self,
        organization: OrganizationId,
        limits: &OutboxLimits,
        except: &BTreeSet<OrganizationId>,
    ) -> Option<OrganizationId> {
        let by_bytes = self.total.bytes > limits.waiting_bytes;
        if !by_bytes && self.total.deliveries <= limits.waiting {
            return None;
        }
        let amount = |usage: &Usage| if by_bytes { usage.bytes } else { usage.deliveries as u64 };
        let caused = self.caused.iter().filter(|(cause, _)| !except.contains(*cause));
        caused.max_by_key(|&(cause, usage)| (amount(usage), *cause != organization)).map(|(cause, _)| *cause)
    }
}
