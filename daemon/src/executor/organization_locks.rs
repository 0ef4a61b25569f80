//! Locks that serialize the changes of an organization under contention.
//!
//! If several changes of an organization are decided at the same time, one is committed and the others are
//! decided again. Those then take the lock of the organization one after the other, and later changes wait
//! behind them. No change can therefore lose again and again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use quorate_common::ids::OrganizationId;
use tokio::sync::OwnedMutexGuard;

type OrganizationLock = Arc<tokio::sync::Mutex<()>>;

/// The locks in use, at most one for each request in progress.
#[derive(Default)]
pub(super) struct OrganizationLocks(Mutex<HashMap<OrganizationId, OrganizationLock>>);

/// Holds the lock of an organization, or a position in its queue. The next request proceeds when it is
/// dropped.
pub(super) struct OrganizationGuard<'a> {
    organization_locks: &'a OrganizationLocks,
    organization: OrganizationId,
    /// The lock; `None` while the request waits for it.
    held: Option<OwnedMutexGuard<()>>,
}

impl OrganizationLocks {
    fn all(&self) -> MutexGuard<'_, HashMap<OrganizationId, OrganizationLock>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether a request holds the lock of an organization or waits for it.
    pub(super) fn is_locked(&self, organization: OrganizationId) -> bool {
        self.all().contains_key(&organization)
    }

    /// Takes the lock of an organization, after all requests that came before.
    pub(super) async fn lock(&self, organization: OrganizationId) -> OrganizationGuard<'_> {
        let lock = Arc::clone(self.all().entry(organization).or_default());
        // Created before the wait: a request that is cancelled while it waits leaves no entry behind.
        let mut guard = OrganizationGuard { organization_locks: self, organization, held: None };
        guard.held = Some(lock.lock_owned().await);
        guard
    }
}

impl Drop for OrganizationGuard<'_> {
    fn drop(&mut self) {
        let mut all = self.organization_locks.all();
        drop(self.held.take());
        // The waiting requests hold references to the lock, too.
        if all.get(&self.organization).is_some_and(|lock| Arc::strong_count(lock) == 1) {
            all.remove(&self.organization);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::Pin;
    use std::task::{Context, Waker};

    use super::*;

    fn waits(guard: Pin<&mut impl Future>) -> bool {
        guard.poll(&mut Context::from_waker(Waker::noop())).is_pending()
    }

    #[tokio::test]
    async fn requests_take_the_lock_in_order_and_leave_nothing_behind() {
        let organization_locks = OrganizationLocks::default();
        let (one, other) = (OrganizationId::from_bytes([1; 16]), OrganizationId::from_bytes([2; 16]));
        let first = organization_locks.lock(one).await;
        assert!(organization_locks.is_locked(one) && !organization_locks.is_locked(other));
        drop(organization_locks.lock(other).await);
        let mut second = Box::pin(organization_locks.lock(one));
        let mut third = Box::pin(organization_locks.lock(one));
        assert!(waits(second.as_mut()) && waits(third.as_mut()));
        drop(first);
        assert!(waits(third.as_mut()), "requests proceed in the order of their arrival");
        let second = second.await;
        // A request that is cancelled does not delay others.
        drop(third);
        assert!(organization_locks.is_locked(one));
        drop(second);
        assert!(organization_locks.all().is_empty());
    }
}
