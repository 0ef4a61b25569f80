//! Deliveries that were committed and that the worker has not seen yet, counted by organization.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use quorate_common::ids::OrganizationId;
use quorate_core::model::layout::outbox::{DeliveryId, Destination, is_body};
use quorate_core::model::write::Write;
use quorate_core::outbox::Usage;
use tokio::sync::Notify;
use tokio::sync::futures::Notified;

/// What came for an organization.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Arrived {
    /// How much, by the organizations that caused it.
    pub caused: BTreeMap<OrganizationId, Usage>,
    /// Where it goes.
    pub destinations: BTreeSet<Destination>,
}

/// What came, by organization.
pub type ByOrganization = BTreeMap<OrganizationId, Arrived>;

/// The deliveries that a commit queues. A delivery that is only postponed replaces its record and does not count.
pub fn queued(writes: &[Write]) -> ByOrganization {
    let mut queued = ByOrganization::new();
    let mut last: Option<DeliveryId> = None;
    for write in writes.iter().filter(|write| !write.replaces && write.value.is_some()) {
        if let Some(id) = DeliveryId::of_key(&write.key) {
            last = Some(id);
            let arrived = queued.entry(id.destination.organization).or_default();
            arrived.caused.entry(id.cause).or_default().add(Usage { deliveries: 1, bytes: 0 });
            arrived.destinations.insert(id.destination);
        } else if is_body(&write.key)
            && let Some(id) = last
            && let Some(arrived) = queued.get_mut(&id.destination.organization)
        {
            // A body is written behind the deliveries that refer to it.
            arrived.caused.entry(id.cause).or_default().add(Usage { deliveries: 0, bytes: id.size.into() });
        }
    }
    queued
}

/// What came since the worker last took it. Holds one entry for each destination
/// and each organization that caused something, however many deliveries came.
#[derive(Default)]
pub struct Arrivals {
    waiting: Mutex<ByOrganization>,
    unknown: AtomicBool,
    notify: Notify,
}

impl Arrivals {
    /// Adds what a commit queued, and wakes the worker.
    pub fn add(&self, queued: ByOrganization) {
        if queued.is_empty() {
            return;
        }
        {
            let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
            for (organization, arrived) in queued {
                let sum = waiting.entry(organization).or_default();
                for (cause, usage) in arrived.caused {
                    sum.caused.entry(cause).or_default().add(usage);
                }
                sum.destinations.extend(arrived.destinations);
            }
        }
        self.notify.notify_one();
    }

    /// Wakes the worker when it is not known what came: it looks at all that waits.
    pub fn notify_one(&self) {
        self.unknown.store(true, Ordering::Relaxed);
        self.notify.notify_one();
    }

    /// Whether something came of which it is not known what it was, since this was last asked.
    pub fn take_unknown(&self) -> bool {
        self.unknown.swap(false, Ordering::Relaxed)
    }

    /// Takes all.
    pub fn take(&self) -> ByOrganization {
        std::mem::take(&mut *self.waiting.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Ends when something was added.
    pub fn added(&self) -> Notified<'_> {
        self.notify.notified()
    }
}
