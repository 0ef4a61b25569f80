//! Places for work that reads much: a thread for each, so many in all, and so many for each tenant, so that none of them
//! waits behind what others ask.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use quorate_common::ids::OrganizationId;
use tokio::sync::Semaphore;

/// Tenants that are remembered before those without work are forgotten.
const TENANTS: usize = 256;

/// See the module.
pub(crate) struct Readers {
    all: Arc<Semaphore>,
    of_tenants: Mutex<HashMap<OrganizationId, Weak<Semaphore>>>,
    each: usize,
}

impl Readers {
    /// So many places in all, and of those so many for each tenant.
    pub(crate) fn new(all: usize, each: usize) -> Self {
        Self { all: Arc::new(Semaphore::new(all)), of_tenants: Mutex::new(HashMap::new()), each }
    }

    /// Runs something in a place of the tenant, on a thread of its own; nothing if it panicked. The place is held by the
    /// work and not by who waits for it: what goes on reading still takes its place.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        tenant: OrganizationId,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        // Nobody closes the semaphores. A place among all is taken last, so that nobody holds one who waits.
        let own = self.of_tenant(tenant).acquire_owned().await;
        let place = Arc::clone(&self.all).acquire_owned().await;
        let span = tracing::Span::current();
        let run = move || {
            let result = span.in_scope(work);
            drop((place, own));
            result
        };
        tokio::task::spawn_blocking(run).await.ok()
    }

    fn of_tenant(&self, tenant: OrganizationId) -> Arc<Semaphore> {
        let mut known = self.of_tenants.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(places) = known.get(&tenant).and_then(Weak::upgrade) {
            return places;
        }
        if known.len() >= TENANTS {
            known.retain(|_, places| places.strong_count() > 0);
        }
        let places = Arc::new(Semaphore::new(self.each));
        known.insert(tenant, Arc::downgrade(&places));
        places
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use std::sync::mpsc;

    use quorate_core::budget::{CancelOnDrop, Cancellation};

    use super::*;

    fn tenant(number: u8) -> OrganizationId {
        OrganizationId::from_bytes([number; 16])
    }

    #[tokio::test]
    async fn a_tenant_waits_behind_itself_and_nobody_else() {
        let readers = Arc::new(Readers::new(3, 2));
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
            assert_eq!(readers.run(tenant(number), move || number).await, Some(number));
        }
        (0..10).for_each(|_| end.send(()).unwrap());
        for one in long {
            assert_eq!(one.await.unwrap(), Some(()));
        }
    }

    #[tokio::test]
    async fn work_whose_client_went_away_gives_its_place_back() {
        let readers = Readers::new(1, 1);
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
        assert_eq!(readers.run(tenant(2), || "next").await, Some("next"));
    }

    #[tokio::test]
    async fn tenants_without_work_are_forgotten() {
        let readers = Readers::new(4, 2);
        for number in 0..1000_u32 {
            let mut id = [0; 16];
            id.iter_mut().zip(number.to_be_bytes()).for_each(|(to, from)| *to = from);
            readers.run(OrganizationId::from_bytes(id), || ()).await;
        }
        assert!(readers.of_tenants.lock().unwrap().len() <= TENANTS);
    }
}
