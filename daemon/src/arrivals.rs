//! Committed deliveries that the worker has not processed yet, counted by organization.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use quorate_common::ids::OrganizationId;
use quorate_core::model::layout::outbox::{DeliveryId, Destination};
use quorate_core::outbox::Usage;
use serde::{Deserialize, Serialize};
use tokio::sync::Notify;
use tokio::sync::futures::Notified;

/// New deliveries of an organization.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Arrived {
    /// Their number and bytes, by the organizations that caused them.
    pub caused: BTreeMap<OrganizationId, Usage>,
    /// Their destinations.
    pub destinations: BTreeSet<Destination>,
}

/// New deliveries, by organization.
pub type ByOrganization = BTreeMap<OrganizationId, Arrived>;

/// Adds a queued delivery.
pub fn add_delivery(queued: &mut ByOrganization, id: &DeliveryId) {
    let arrived = queued.entry(id.destination.organization).or_default();
    arrived.caused.entry(id.cause).or_default().add(Usage { deliveries: 1, bytes: 0 });
    arrived.destinations.insert(id.destination);
}

/// Adds the body of queued deliveries, given by one of them.
pub fn add_body(queued: &mut ByOrganization, id: &DeliveryId) {
    let arrived = queued.entry(id.destination.organization).or_default();
    arrived.caused.entry(id.cause).or_default().add(Usage { deliveries: 0, bytes: id.size.into() });
}

/// Adds new deliveries to others.
pub fn add_all(sum: &mut ByOrganization, queued: ByOrganization) {
    for (organization, arrived) in queued {
        let sum = sum.entry(organization).or_default();
        for (cause, usage) in arrived.caused {
            sum.caused.entry(cause).or_default().add(usage);
        }
        sum.destinations.extend(arrived.destinations);
    }
}

/// New deliveries since the worker last took them. There is one entry for each destination and each causing
/// organization, regardless of the number of deliveries.
#[derive(Default)]
pub struct Arrivals {
    waiting: Mutex<ByOrganization>,
    unknown: AtomicBool,
    notify: Notify,
}

impl Arrivals {
    /// Adds the deliveries of a commit and wakes the worker.
    pub fn add(&self, queued: ByOrganization) {
        if queued.is_empty() {
            return;
        }
        {
            let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
            add_all(&mut waiting, queued);
        }
        self.notify.notify_one();
    }

    /// Wakes the worker when the new deliveries are unknown; it then scans the whole outbox.
    pub fn notify_one(&self) {
        self.unknown.store(true, Ordering::Relaxed);
        self.notify.notify_one();
    }

    /// Returns whether there are unknown new deliveries, and resets the flag.
    pub fn take_unknown(&self) -> bool {
        self.unknown.swap(false, Ordering::Relaxed)
    }

    /// Takes all known new deliveries.
    pub fn take(&self) -> ByOrganization {
        std::mem::take(&mut *self.waiting.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Completes when deliveries were added.
    pub fn added(&self) -> Notified<'_> {
        self.notify.notified()
    }
}
