//! Waiting deliveries of an organization, charged to the organizations that caused them. This module only
//! counts.

use std::collections::{BTreeMap, BTreeSet};

use quorate_common::ids::OrganizationId;
use quorate_core::outbox::Usage;

use super::limits::OutboxLimits;

/// The waiting deliveries of an organization.
#[derive(Debug, Clone, Default)]
pub(super) struct Waiting {
    total: Usage,
    caused: BTreeMap<OrganizationId, Usage>,
    /// Whether it was logged that some of them were parked.
    pub(super) is_logged: bool,
}

impl Waiting {
    /// Creates the counts from the usage by causing organization.
    pub(super) fn new(caused: BTreeMap<OrganizationId, Usage>) -> Self {
        let mut waiting = Self::default();
        for (cause, usage) in caused {
            waiting.add(cause, usage);
        }
        waiting
    }

    /// Adds usage that an organization caused.
    pub(super) fn add(&mut self, cause: OrganizationId, usage: Usage) {
        self.total.add(usage);
        self.caused.entry(cause).or_default().add(usage);
    }

    /// Subtracts usage that has ended.
    pub(super) fn subtract(&mut self, cause: OrganizationId, usage: Usage) {
        self.total.subtract(usage);
        if let Some(caused) = self.caused.get_mut(&cause) {
            caused.subtract(usage);
            if caused.deliveries == 0 {
                self.caused.remove(&cause);
            }
        }
    }

    /// Returns the usage by causing organization.
    #[cfg(test)]
    pub(super) const fn caused(&self) -> &BTreeMap<OrganizationId, Usage> {
        &self.caused
    }

    /// Returns whether nothing waits.
    pub(super) const fn is_empty(&self) -> bool {
        self.total.deliveries == 0
    }

    /// Returns whether at most half of each limit is used.
    pub(super) const fn is_half(&self, limits: &OutboxLimits) -> bool {
        self.total.deliveries <= limits.waiting / 2 && self.total.bytes <= limits.waiting_bytes / 2
    }

    /// If a limit is exceeded, returns the organization that caused most of the waiting deliveries: by bytes if
    /// the limit of bytes is exceeded, otherwise by number. Organizations in `except` are skipped. Of two that
    /// caused the same amount, `organization` itself is returned last.
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
