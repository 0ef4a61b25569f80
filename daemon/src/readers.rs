//! Threads for expensive reads. Their number is limited in total, per tenant, and per organization of a
//! tenant, so that no organization waits behind the requests of another.

mod turns;

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use quorate_common::ids::OrganizationId;
use tokio::sync::Semaphore;

use self::turns::{Turn, Turns};

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
    /// Work of the organization itself that waits or runs.
    count: AtomicUsize,
    /// Work of its sub-organizations.
    turns: Arc<Turns>,
}

/// Work that waits or runs, until it is dropped.
enum Admitted {
    /// Work of a top-level organization.
    Parent(Arc<Slots>),
    /// Work of a sub-organization.
    Child(Turn),
}

impl Drop for Admitted {
    fn drop(&mut self) {
        if let Self::Parent(slots) = self {
            slots.count.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Readers {
    /// Creates limits: `all` concurrent reads in total, and `each` for each tenant and organization. Beyond
    /// `waiting`, work of a top-level organization is rejected, because waiting work occupies a slot for concurrent
    /// requests. Its sub-organizations take turns, and twice as much of their work may wait.
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
        let mut admitted = self.admit(account, &tenant).await.ok_or(NotRun::Crowded)?;
        // The semaphores are never closed. The more widely shared slot is acquired later, so that waiting
        // work holds none.
        let own = Arc::clone(&organization.free).acquire_owned().await;
        let of_tenant = Arc::clone(&tenant.free).acquire_owned().await;
        let of_all = Arc::clone(&self.all).acquire_owned().await;
        let span = tracing::Span::current();
        let run = move || {
            if let Admitted::Child(turn) = &mut admitted {
                turn.begin();
            }
            let result = span.in_scope(work);
            drop((of_all, of_tenant, own, organization, admitted));
            result
        };
        tokio::task::spawn_blocking(run).await.map_err(|_| NotRun::Panicked)
    }

    /// Counts work. Work of a sub-organization waits for its turn among those of the tenant. Returns `None` if it is too much.
    async fn admit(&self, account: Account, tenant: &Arc<Slots>) -> Option<Admitted> {
        if !account.is_parent() {
            let turn = tenant.turns.take(account.organization).await?;
            return Some(Admitted::Child(turn));
        }
        let is_crowded = tenant.count.fetch_add(1, Ordering::Relaxed) >= self.waiting;
        let admitted = Admitted::Parent(Arc::clone(tenant));
        (!is_crowded).then_some(admitted)
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
        let turns = Arc::new(Turns::new(self.each, self.waiting));
        let slots = Arc::new(Slots { free, count: AtomicUsize::default(), turns });
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

    #[tokio::test]
    async fn a_crowd_of_sub_organizations_leaves_room_for_their_parent_and_for_each_other() {
        let readers = Arc::new(Readers::new(8, 2, 16));
        let (end, ended) = mpsc::channel::<()>();
        let ended = Arc::new(Mutex::new(ended));
        let mut crowd: Vec<_> = (2..200)
            .map(|number| {
                let ended = Arc::clone(&ended);
                let work = move || {
                    let _ = ended.lock().unwrap().recv();
                };
                Box::pin(readers.run(account(1, number), work))
            })
            .collect();
        let rejected = crowd.iter_mut().map(|one| poll(one.as_mut())).filter(Poll::is_ready).count();
        assert_eq!(rejected, 198 - 32);
        let mut of_parent: Vec<_> = (0..17).map(|_| Box::pin(readers.run(tenant(1), || ()))).collect();
        let polled: Vec<_> = of_parent.iter_mut().map(|one| poll(one.as_mut())).collect();
        let waiting = polled.iter().filter(|one| one.is_pending()).count();
        assert_eq!(waiting, 16, "the parent is not rejected");
        assert_eq!(polled.last(), Some(&Poll::Ready(Err(NotRun::Crowded))));
        assert_eq!(readers.run(account(2, 250), || ()).await, Ok(()), "another tenant is not affected");
        drop(end);
        for one in of_parent.into_iter().take(16) {
            assert_eq!(one.await, Ok(()));
        }
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
