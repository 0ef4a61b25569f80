//! Threads for expensive reads. Their number is limited in total, per tenant, and per organization of a
//! tenant, so that no organization waits behind the requests of another.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use quorate_common::ids::OrganizationId;
use tokio::sync::Semaphore;

/// Number of tracked tenants, and of organizations, above which those without work are dropped.
const REMEMBERED: usize = 256;

/// Limits on concurrent reads.
pub(crate) struct Readers {
    all: Arc<Semaphore>,
    tenants: Mutex<HashMap<OrganizationId, Weak<Slots>>>,
    organizations: Mutex<HashMap<OrganizationId, Weak<Slots>>>,
    each: usize,
    waiting: usize,
}

/// The organization and tenant that work is charged to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Account {
    /// The parent organization, or the organization itself.
    pub(crate) tenant: OrganizationId,
    /// The organization that requests the work.
    pub(crate) organization: OrganizationId,
}

impl Account {
    /// Returns whether the organization is the parent of its tenant.
    pub(crate) fn is_parent(&self) -> bool {
        self.organization == self.tenant
    }
}

/// The reason why work has no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotRun {
    /// Too much work of the tenant is waiting.
    Crowded,
    /// The work panicked.
    Panicked,
}

struct Slots {
    free: Arc<Semaphore>,
    /// Work that waits or runs.
    count: AtomicUsize,
    /// The part of it that sub-organizations requested.
    of_children: AtomicUsize,
}

/// Counts work until it is dropped.
struct Counted {
    tenant: Arc<Slots>,
    /// The sub-organization that requested it.
    child: Option<Arc<Slots>>,
}

impl Counted {
    /// Counts work. Also returns whether it is too much: all sub-organizations of a tenant together have half of what may
    /// wait, and each of them half of that.
    fn new(tenant: Arc<Slots>, child: Option<Arc<Slots>>, waiting: usize) -> (Self, bool) {
        let is_full = |count: &AtomicUsize, most: usize| count.fetch_add(1, Ordering::Relaxed) >= most;
        let mut is_crowded = is_full(&tenant.count, waiting);
        if let Some(child) = &child {
            is_crowded |= is_full(&tenant.of_children, waiting / 2);
            is_crowded |= is_full(&child.count, waiting / 4);
        }
        (Self { tenant, child }, is_crowded)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.tenant.count.fetch_sub(1, Ordering::Relaxed);
        if let Some(child) = &self.child {
            self.tenant.of_children.fetch_sub(1, Ordering::Relaxed);
            child.count.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Readers {
    /// Creates limits: `all` concurrent reads in total, and `each` for each tenant and organization. Beyond
    /// `waiting`, work of one tenant is rejected, because waiting work occupies a slot for concurrent
    /// requests.
    pub(crate) fn new(all: usize, each: usize, waiting: usize) -> Self {
        let (tenants, organizations) = (Mutex::default(), Mutex::default());
        Self { all: Arc::new(Semaphore::new(all)), tenants, organizations, each, waiting }
    }

    /// Runs work on a thread of its own, charged to an account. The slot is held by the work and not by its
    /// caller: if the caller is cancelled, the slot is occupied until the work ends.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        account: Account,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, NotRun> {
        let tenant = self.slots(&self.tenants, account.tenant);
        let organization = self.slots(&self.organizations, account.organization);
        let child = (!account.is_parent()).then(|| Arc::clone(&organization));
        let (counted, is_crowded) = Counted::new(Arc::clone(&tenant), child, self.waiting);
        if is_crowded {
            return Err(NotRun::Crowded);
        }
        // The semaphores are never closed. The more widely shared slot is acquired later, so that waiting
        // work holds none.
        let own = Arc::clone(&organization.free).acquire_owned().await;
        let of_tenant = Arc::clone(&tenant.free).acquire_owned().await;
        let of_all = Arc::clone(&self.all).acquire_owned().await;
        let span = tracing::Span::current();
        let run = move || {
            let result = span.in_scope(work);
            drop((of_all, of_tenant, own, organization, counted));
            result
        };
        tokio::task::spawn_blocking(run).await.map_err(|_| NotRun::Panicked)
    }

    fn slots(&self, of: &Mutex<HashMap<OrganizationId, Weak<Slots>>>, id: OrganizationId) -> Arc<Slots> {
        let mut known = of.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(slots) = known.get(&id).and_then(Weak::upgrade) {
            return slots;
        }
        if known.len() >= REMEMBERED {
            known.retain(|_, slots| slots.strong_count() > 0);
        }
        let free = Arc::new(Semaphore::new(self.each));
        let slots =
            Arc::new(Slots { free, count: AtomicUsize::default(), of_children: AtomicUsize::default() });
        known.insert(id, Arc::downgrade(&slots));
        slots
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use std::pin::Pin;
    use std::sync::mpsc;
    use std::task::{Context, Poll, Waker};

    use quorate_core::budget::{CancelOnDrop, Cancellation};

    use super::*;

    fn account(tenant: u8, organization: u8) -> Account {
        let [tenant, organization] =
            [tenant, organization].map(|byte| OrganizationId::from_bytes([byte; 16]));
        Account { tenant, organization }
    }

    fn tenant(number: u8) -> Account {
        account(number, number)
    }

    #[tokio::test]
    async fn a_tenant_waits_only_behind_itself() {
        let readers = Arc::new(Readers::new(3, 2, 64));
        let (end, ended) = mpsc::channel::<()>();
        let ended = Arc::new(Mutex::new(ended));
        let (start, running) = mpsc::channel();
        let long = (0..10).map(|_| {
            let (readers, ended, start) = (Arc::clone(&readers), Arc::clone(&ended), start.clone());
            let work = move || {
                start.send(()).ok();
                ended.lock().unwrap().recv().unwrap();
            };
            tokio::spawn(async move { readers.run(tenant(1), work).await })
        });
        let long: Vec<_> = long.collect();
        // Two of the ten run. One of the three slots stays free for others.
        let both = tokio::task::spawn_blocking(move || [running.recv().unwrap(), running.recv().unwrap()]);
        both.await.unwrap();
        for number in 2..100 {
            assert_eq!(readers.run(tenant(number), move || number).await, Ok(number));
        }
        (0..10).for_each(|_| end.send(()).unwrap());
        for one in long {
            assert_eq!(one.await.unwrap(), Ok(()));
        }
    }

    #[tokio::test]
    async fn cancelled_work_releases_its_slot() {
        let readers = Readers::new(1, 1, 64);
        let cancellation = Cancellation::default();
        let cancel = CancelOnDrop(cancellation.clone());
        let (start, running) = tokio::sync::oneshot::channel();
        let work = move || {
            start.send(()).unwrap();
            while !cancellation.is_cancelled() {
                std::thread::yield_now();
            }
        };
        {
            let request = async {
                let _cancel = cancel;
                readers.run(tenant(1), work).await
            };
            tokio::select! {
                _ = request => unreachable!("the request ends only when it is dropped"),
                begun = running => begun.unwrap(),
            }
        }
        assert_eq!(readers.run(tenant(2), || "next").await, Ok("next"));
    }

    #[tokio::test]
    async fn tenants_without_work_are_dropped() {
        let readers = Readers::new(4, 2, 64);
        for number in 0..1000_u32 {
            let mut id = [0; 16];
            id.iter_mut().zip(number.to_be_bytes()).for_each(|(to, from)| *to = from);
            let id = OrganizationId::from_bytes(id);
            readers.run(Account { tenant: id, organization: id }, || ()).await.unwrap();
        }
        assert!(readers.tenants.lock().unwrap().len() <= REMEMBERED);
        assert!(readers.organizations.lock().unwrap().len() <= REMEMBERED);
    }

    #[test]
    fn sub_organizations_leave_room_for_their_parent_and_for_each_other() {
        let readers = Readers::new(8, 2, 16);
        let count = |of: Account| {
            let tenant = readers.slots(&readers.tenants, of.tenant);
            let organization = readers.slots(&readers.organizations, of.organization);
            Counted::new(tenant, (!of.is_parent()).then_some(organization), 16)
        };
        let take = |of: Account, held: &mut Vec<Counted>| {
            let (counted, is_crowded) = count(of);
            held.extend((!is_crowded).then_some(counted));
            !is_crowded
        };
        let mut held = Vec::new();
        let taken = (0..10).filter(|_| take(account(1, 2), &mut held)).count();
        assert_eq!(taken, 4, "one sub-organization has a quarter");
        let taken = (3..20).filter(|number| take(account(1, *number), &mut held)).count();
        assert_eq!(taken, 4, "all of them have half");
        let taken = (0..20).filter(|_| take(tenant(1), &mut held)).count();
        assert_eq!(taken, 8, "the rest is for the parent");
        assert!(!take(account(1, 30), &mut held) && take(account(2, 31), &mut held));
        held.clear();
        assert!((0..4).all(|_| take(account(1, 2), &mut held)), "nothing stays counted");
    }

    #[tokio::test]
    async fn sub_organizations_take_turns_and_excess_work_is_rejected() {
        const WAITING: usize = 60;
        let readers = Arc::new(Readers::new(8, 2, WAITING));
        let (start, begun) = mpsc::channel();
        let (end, ended) = mpsc::channel::<()>();
        let ended = Arc::new(Mutex::new(ended));
        let crowd: Vec<_> = (0..WAITING - 2)
            .map(|_| {
                let (readers, ended, start) = (Arc::clone(&readers), Arc::clone(&ended), start.clone());
                let work = move || {
                    start.send(1).ok();
                    ended.lock().unwrap().recv().unwrap();
                };
                tokio::spawn(async move { readers.run(account(1, 1), work).await })
            })
            .collect();
        let (begun, running) = tokio::task::spawn_blocking(move || {
            let running = [begun.recv().unwrap(), begun.recv().unwrap()];
            (begun, running)
        })
        .await
        .unwrap();
        assert_eq!(running, [1, 1]);
        // Of the work that came before, two run, and no others run before the sibling.
        let (sibling, start_of_sibling) = (Arc::clone(&readers), start.clone());
        let mut sibling =
            Box::pin(
                async move { sibling.run(account(1, 2), move || start_of_sibling.send(2).unwrap()).await },
            );
        assert!(poll(sibling.as_mut()).is_pending());
        end.send(()).unwrap();
        assert_eq!(sibling.await, Ok(()));
        let next: Vec<i32> = begun.try_iter().collect();
        assert!(next.contains(&2) && next.len() <= 2, "{next:?}");
        // When the maximum is waiting, one more is rejected at once; another tenant is not affected.
        let mut last: Vec<_> = (0..5).map(|_| Box::pin(readers.run(account(1, 1), || ()))).collect();
        let polled: Vec<_> = last.iter_mut().map(|one| poll(one.as_mut())).collect();
        assert!(polled.contains(&Poll::Ready(Err(NotRun::Crowded))), "{polled:?}");
        assert_eq!(readers.run(tenant(9), || ()).await, Ok(()));
        drop(last);
        (1..WAITING).for_each(|_| end.send(()).unwrap_or_default());
        for one in crowd {
            assert_eq!(one.await.unwrap(), Ok(()));
        }
    }

    fn poll<T>(future: Pin<&mut impl Future<Output = T>>) -> Poll<T> {
        future.poll(&mut Context::from_waker(Waker::noop()))
    }
}
