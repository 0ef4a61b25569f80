//! Places for work that reads much: a thread for each, so many in all, so many for each tenant, and so many for each
//! organization of a tenant, so that none of them waits behind what others ask.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use quorate_common::ids::OrganizationId;
use tokio::sync::Semaphore;

/// Tenants, and organizations, that are remembered before those without work are forgotten.
const REMEMBERED: usize = 256;

/// See the module.
pub(crate) struct Readers {
    all: Arc<Semaphore>,
    tenants: Mutex<HashMap<OrganizationId, Weak<Places>>>,
    organizations: Mutex<HashMap<OrganizationId, Weak<Places>>>,
    each: usize,
    waiting: usize,
}

/// On whose account work is done.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Account {
    /// The organization, or its parent.
    pub(crate) tenant: OrganizationId,
    /// The organization.
    pub(crate) organization: OrganizationId,
}

/// Why there is no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotRun {
    /// As much work of the tenant waits as may.
    Crowded,
    /// The work panicked.
    Panicked,
}

struct Places {
    free: Arc<Semaphore>,
    /// Work that waits or runs.
    count: AtomicUsize,
}

/// Counts work of a tenant while it lives.
struct Counted(Arc<Places>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.count.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Readers {
    /// So many places in all, and of those so many for each tenant and each of its organizations. Beyond `waiting`, work of
    /// one tenant is refused: what waits holds a place among the requests of all.
    pub(crate) fn new(all: usize, each: usize, waiting: usize) -> Self {
        let (tenants, organizations) = (Mutex::default(), Mutex::default());
        Self { all: Arc::new(Semaphore::new(all)), tenants, organizations, each, waiting }
    }

    /// Runs something in a place of the account, on a thread of its own. The place is held by the work and not by who
    /// waits for it: what goes on reading still takes its place.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        account: Account,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, NotRun> {
        let tenant = self.places(&self.tenants, account.tenant);
        let is_crowded = tenant.count.fetch_add(1, Ordering::Relaxed) >= self.waiting;
        let counted = Counted(Arc::clone(&tenant));
        if is_crowded {
            return Err(NotRun::Crowded);
        }
        // Nobody closes the semaphores. A place among more is taken later, so that nobody holds one who waits.
        let organization = self.places(&self.organizations, account.organization);
        let own = Arc::clone(&organization.free).acquire_owned().await;
        let of_tenant = Arc::clone(&tenant.free).acquire_owned().await;
        let place = Arc::clone(&self.all).acquire_owned().await;
        let span = tracing::Span::current();
        let run = move || {
            let result = span.in_scope(work);
            drop((place, of_tenant, own, organization, counted));
            result
        };
        tokio::task::spawn_blocking(run).await.map_err(|_| NotRun::Panicked)
    }

    fn places(&self, of: &Mutex<HashMap<OrganizationId, Weak<Places>>>, id: OrganizationId) -> Arc<Places> {
        let mut known = of.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(places) = known.get(&id).and_then(Weak::upgrade) {
            return places;
        }
        if known.len() >= REMEMBERED {
            known.retain(|_, places| places.strong_count() > 0);
        }
        let places = Places { free: Arc::new(Semaphore::new(self.each)), count: AtomicUsize::new(0) };
        let places = Arc::new(places);
        known.insert(id, Arc::downgrade(&places));
        places
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
    async fn a_tenant_waits_behind_itself_and_nobody_else() {
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
        // Two of the ten run; of three places in all one is free for others, again and again.
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
    async fn work_whose_client_went_away_gives_its_place_back() {
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
                _ = request => unreachable!("it ends only when it is dropped"),
                begun = running => begun.unwrap(),
            }
        }
        assert_eq!(readers.run(tenant(2), || "next").await, Ok("next"));
    }

    #[tokio::test]
    async fn tenants_without_work_are_forgotten() {
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
    async fn siblings_take_turns_and_a_crowd_is_refused() {
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
        // Of sixty that came before, two run and no others stand before the sibling.
        let (sibling, start_of_sibling) = (Arc::clone(&readers), start.clone());
        let mut sibling =
            Box::pin(
                async move { sibling.run(account(1, 2), move || start_of_sibling.send(2).unwrap()).await },
            );
        assert!(futures(sibling.as_mut()).is_pending());
        end.send(()).unwrap();
        assert_eq!(sibling.await, Ok(()));
        let next: Vec<i32> = begun.try_iter().collect();
        assert!(next.contains(&2) && next.len() <= 2, "{next:?}");
        // With as many as may wait, one more is refused at once, and another tenant is not.
        let mut last: Vec<_> = (0..5).map(|_| Box::pin(readers.run(account(1, 1), || ()))).collect();
        let polled: Vec<_> = last.iter_mut().map(|one| futures(one.as_mut())).collect();
        assert!(polled.contains(&Poll::Ready(Err(NotRun::Crowded))), "{polled:?}");
        assert_eq!(readers.run(tenant(9), || ()).await, Ok(()));
        drop(last);
        (1..WAITING).for_each(|_| end.send(()).unwrap_or_default());
        for one in crowd {
            assert_eq!(one.await.unwrap(), Ok(()));
        }
    }

    fn futures<T>(future: Pin<&mut impl Future<Output = T>>) -> Poll<T> {
        future.poll(&mut Context::from_waker(Waker::noop()))
    }
}
