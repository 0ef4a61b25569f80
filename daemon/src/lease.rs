//! Which of the daemons that share a store does some work, such as on a queue: the one that has its lease.
//!
//! A lease is two registers. Who takes it raises the first one, and every outcome of the holder is committed only if that still
//! has its value. The holder raises the second one while it lives. Another daemon takes the lease when it has seen no change
//! for longer than the holder would go on without one, so no clocks are compared. The first register names its daemon, so one
//! that starts again after a crash takes its own lease at once. A store in a directory has one daemon, which always has all leases.

use std::sync::Arc;
use std::time::{Duration, Instant};

use quorate_core::error::Corrupt;
use quorate_core::model::layout::{self, Key};

use crate::executor::{CommitError, Executor};
use crate::store::Register;

/// Time between two signs of life of the holder.
const RENEWAL: Duration = Duration::from_secs(2);
/// Time after the last sign of life from which the holder begins nothing.
const END: Duration = Duration::from_secs(6);
/// Time without a sign of life after which another daemon takes the lease.
const SILENCE: Duration = Duration::from_secs(10);
/// Time between two looks at the lease of another daemon.
pub(crate) const LOOK: Duration = Duration::from_secs(1);
/// Value of the second register after the holder stopped.
const FREE: u64 = 0;

/// The reason why it is unknown who has a lease.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LeaseError {
    /// The store does not accept writes.
    #[error("the store does not accept writes")]
    Writes,
    /// The store cannot be read.
    #[error(transparent)]
    Reads(#[from] Corrupt),
}

/// The lease of some work.
pub(crate) struct Lease {
    executor: Arc<Executor>,
    /// Registers: the holder, and its life.
    keys: [Key; 2],
    /// Lower half of the first register while this daemon has the lease. The upper half counts how often the lease was taken.
    tag: u32,
    state: State,
}

enum State {
    /// The store is not shared.
    Alone,
    /// Another daemon has it, as far as is known: the values of the registers, and since when they are unchanged.
    Other { seen: Option<([u64; 2], Instant)>, looked: Option<Instant> },
    /// This daemon has it. The last attempt to renew it may have failed.
    Own { values: [u64; 2], renewed: Instant, failed: Option<Instant> },
}

impl Lease {
    pub(crate) fn new(executor: Arc<Executor>, name: &str) -> Self {
        let state = if executor.is_shared() { State::other() } else { State::Alone };
        let tag = executor.daemon_tag();
        Self { executor, keys: layout::lease(name), tag, state }
    }

    /// Returns whether other daemons may do the work.
    pub(crate) const fn is_shared(&self) -> bool {
        !matches!(self.state, State::Alone)
    }

    /// Returns whether this daemon has the lease, as far as it knows.
    pub(crate) const fn is_own(&self) -> bool {
        !matches!(self.state, State::Other { .. })
    }

    /// Returns the time until [`Self::hold`] must be called again.
    pub(crate) fn wait_time(&self) -> Duration {
        match self.state {
            State::Alone => Duration::MAX,
            State::Other { .. } => LOOK,
            State::Own { failed: Some(failed), .. } => LOOK.saturating_sub(failed.elapsed()),
            State::Own { renewed, failed: None, .. } => RENEWAL.saturating_sub(renewed.elapsed()),
        }
    }

    /// Returns what an outcome must be committed with.
    pub(crate) fn condition(&self) -> Vec<Register> {
        match (&self.state, &self.keys) {
            (State::Own { values: [holder, _], .. }, [key, _]) => vec![(key.clone(), *holder)],
            _ => Vec::new(),
        }
    }

    /// Keeps the lease, or takes it if nobody has it. Returns whether this daemon may begin something.
    pub(crate) async fn hold(&mut self) -> Result<bool, LeaseError> {
        match self.state {
            State::Alone => Ok(true),
            State::Own { renewed, .. } if renewed.elapsed() < RENEWAL => Ok(true),
            State::Own { renewed, failed: Some(failed), .. } if failed.elapsed() < LOOK => {
                Ok(renewed.elapsed() < END)
            }
            State::Own { values, renewed, .. } => Ok(self.renew(values, renewed).await),
            State::Other { looked: Some(looked), .. } if looked.elapsed() < LOOK => Ok(false),
            State::Other { seen, .. } => self.look(seen).await,
        }
    }

    async fn renew(&mut self, values: [u64; 2], renewed: Instant) -> bool {
        let began = Instant::now();
        let [holder, life] = values;
        let next = [holder, life.saturating_add(1)];
        match self.change(values, next).await {
            Ok(()) => {
                self.state = State::Own { values: next, renewed: began, failed: None };
                true
            }
            Err(CommitError::Clash) => {
                self.lose();
                false
            }
            // Nobody takes it before the store works again, or much later.
            Err(_) => {
                self.state = State::Own { values, renewed, failed: Some(Instant::now()) };
                renewed.elapsed() < END
            }
        }
    }

    async fn look(&mut self, seen: Option<([u64; 2], Instant)>) -> Result<bool, LeaseError> {
        let now = Instant::now();
        let found = self.executor.registers(&self.keys)?;
        let values = [found.first().copied().unwrap_or(0), found.get(1).copied().unwrap_or(0)];
        let since = seen.filter(|(before, _)| *before == values).map_or(now, |(_, since)| since);
        self.state = State::Other { seen: Some((values, since)), looked: Some(now) };
        let [holder, life] = values;
        if life != FREE && !self.is_of_earlier_run(holder) && since.elapsed() < SILENCE {
            return Ok(false);
        }
        let next = [self.taken(holder), life.saturating_add(1)];
        match self.change(values, next).await {
            Ok(()) => {
                self.state = State::Own { values: next, renewed: now, failed: None };
                Ok(true)
            }
            Err(CommitError::Clash) => Ok(false),
            Err(_) => Err(LeaseError::Writes),
        }
    }

    /// Returns whether this daemon, of which no other process runs, took the lease before it started.
    fn is_of_earlier_run(&self, holder: u64) -> bool {
        holder & u64::from(u32::MAX) == u64::from(self.tag)
    }

    /// Returns the value of the first register when this daemon takes the lease from an earlier holder.
    fn taken(&self, holder: u64) -> u64 {
        let count = (holder >> u32::BITS).wrapping_add(1);
        count << u32::BITS | u64::from(self.tag)
    }

    async fn change(&self, from: [u64; 2], to: [u64; 2]) -> Result<(), CommitError> {
        let registers = |values: [u64; 2]| self.keys.iter().cloned().zip(values).collect::<Vec<Register>>();
        self.executor.set_registers(registers(from), registers(to)).await
    }

    /// Gives the lease up as lost: an outcome clashed.
    pub(crate) fn lose(&mut self) {
        if self.is_shared() {
            self.state = State::other();
        }
    }

    /// Frees the lease when the daemon stops.
    pub(crate) async fn free(&mut self) {
        if let State::Own { values, .. } = self.state {
            let [holder, _] = values;
            // Otherwise, another daemon takes it after a while.
            let _ = self.change(values, [holder, FREE]).await;
            self.state = State::other();
        }
    }
}

impl State {
    const fn other() -> Self {
        Self::Other { seen: None, looked: None }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use std::sync::atomic::Ordering;

    use super::*;
    use crate::executor::testing;
    use crate::store::Store;
    use crate::store::embedded::Embedded;
    use crate::store::testing::FaultyStore;

    #[tokio::test]
    async fn a_lease_that_cannot_be_renewed_rests() {
        let folder = tempfile::tempdir().unwrap();
        let store = Embedded::open(&folder.path().join("store"), 0).unwrap();
        let store = Arc::new(FaultyStore::new(store));
        let (shared, _) = testing::shared(folder.path(), Arc::clone(&store) as Arc<dyn Store>);
        let executor = Arc::new(Executor::start(shared));
        let long_ago = Instant::now().checked_sub(RENEWAL).unwrap();
        let state = State::Own { values: [1, 1], renewed: long_ago, failed: None };
        let mut lease = Lease { executor, keys: layout::lease("test"), tag: 7, state };
        assert_eq!(lease.wait_time(), Duration::ZERO);
        store.rejects_writes.store(true, Ordering::Relaxed);
        assert!(lease.hold().await.unwrap() && lease.is_own());
        assert!(lease.wait_time() > LOOK / 2, "it is tried again at once");
        assert!(lease.hold().await.unwrap());
    }

    #[tokio::test]
    async fn a_daemon_that_starts_again_takes_its_own_lease_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let store = Embedded::open(&folder.path().join("store"), 0).unwrap();
        let (shared, _) = testing::shared(folder.path(), Arc::new(store));
        let executor = Arc::new(Executor::start(shared));
        let lease = |tag| {
            let keys = layout::lease("test");
            Lease { executor: Arc::clone(&executor), keys, tag, state: State::other() }
        };
        let mut first = lease(7);
        assert!(first.hold().await.unwrap(), "nobody has the lease yet");
        assert!(!lease(8).hold().await.unwrap(), "another daemon has the lease");
        let mut again = lease(7);
        assert!(again.hold().await.unwrap());
        assert_ne!(first.condition(), again.condition(), "outcomes of the earlier run must clash");
        again.free().await;
        assert!(lease(8).hold().await.unwrap());
    }
}
