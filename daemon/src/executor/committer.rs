//! The committer: one thread that collects waiting commits into groups, makes each group durable and answers
//! it. After a failure of the store, the thread reopens it and continues from the data on disk.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use quorate_common::console;
use quorate_core::model::{Millis, Organization};
use tokio::sync::oneshot;

use super::group::{self, Receiver, Sender, queue};
use super::{Shared, StaleKeys};
use crate::clock::now;
use crate::fail_points;
use crate::guard::GuardError;
use crate::outbox::arrivals::ByOrganization;
use crate::store::{Batch, StoreError, Verdict};

/// Interval of attempts to write again after a failure.
const RETRY: Duration = Duration::from_millis(250);
/// Length of the pause after comparing records with their digest, as a multiple of the time it took. The
/// pause ends early when a group arrives.
const PAUSE_FACTOR: u32 = 3;

/// An error of a commit. The commit did not happen, or it is unknown whether it did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CommitError {
    /// A condition did not hold. The request must be decided again.
    #[error("the organization changed")]
    Clash,
    /// The disk is full. Nothing was changed.
    #[error("the disk of the store is full")]
    Full,
    /// The store failed. Whether the commit is on disk is known only after the store is reopened.
    #[error("the store does not accept writes")]
    Unavailable,
    /// Records of the store were altered or damaged. Nothing was changed.
    #[error("records of the store were altered or damaged")]
    Altered,
}

/// Whether the store accepts writes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum StoreState {
    /// The store accepts writes.
    #[default]
    Ready,
    /// The store has too little free space. Reads continue.
    Full {
        /// Start of this state, in milliseconds since 1970.
        since: Millis,
        /// Error that the store reported.
        cause: String,
    },
    /// A commit failed and the store is being reopened, or the guard file cannot be written.
    Failed {
        /// Whether only the guard file failed.
        guard_only: bool,
        /// Start of this state, in milliseconds since 1970.
        since: Millis,
        /// Error that the store reported.
        cause: String,
    },
    /// Records were removed, restored from an older copy, added or damaged. Reads continue.
    Altered {
        /// Time of the discovery, in milliseconds since 1970.
        since: Millis,
        /// Error that the guard reported.
        cause: String,
    },
}

impl StoreState {
    /// Adopts the newer cause of the same state. The amount of missing space, for example, may have grown.
    fn update_cause(&mut self, newer: Self) {
        match (self, newer) {
            (Self::Full { cause, .. }, Self::Full { cause: newer, .. })
            | (Self::Altered { cause, .. }, Self::Altered { cause: newer, .. }) => *cause = newer,
            (Self::Failed { cause, guard_only, .. }, Self::Failed { cause: newer, guard_only: only, .. }) => {
                *cause = newer;
                *guard_only &= only;
            }
            _ => {}
        }
    }
}

/// Counters since the start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Figures {
    /// Batches that became durable.
    pub commits: u64,
    /// Groups of batches, each of which became durable with one sync.
    pub groups: u64,
}

/// Changes of the state in memory, applied once a commit is durable.
#[derive(Default)]
pub(super) struct Effects {
    /// Snapshots to publish.
    pub(super) after: Vec<Organization>,
    /// Decrypted keys to remove from the cache.
    pub(super) stale_keys: Vec<StaleKeys>,
    /// Events for the change feed.
    pub(super) events: Vec<console::Change>,
    /// Webhook deliveries that the commit queues.
    pub(super) deliveries: ByOrganization,
    /// Whether the commit queues mail.
    pub(super) has_mail: bool,
    /// Whether the commit leaves tombstones for the cleanup.
    pub(super) has_tombstones: bool,
}

/// A commit that waits for the committer.
pub(super) struct Waiting {
    batch: Batch,
    effects: Effects,
    reply: oneshot::Sender<Result<(), CommitError>>,
}

impl Waiting {
    /// Returns an empty commit, which wakes the committer after a failure of the store.
    fn empty() -> Self {
        let (reply, _) = oneshot::channel();
        Self { batch: Batch::default(), effects: Effects::default(), reply }
    }
}

#[derive(Default)]
struct Gauge {
    commits: AtomicU64,
    groups: AtomicU64,
    state: Mutex<StoreState>,
}

impl Gauge {
    fn state(&self) -> MutexGuard<'_, StoreState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Enters a state and logs the transition.
    fn enter(&self, shared: &Shared, next: StoreState) {
        let mut state = self.state();
        if std::mem::discriminant(&*state) == std::mem::discriminant(&next) {
            state.update_cause(next);
            return;
        }
        match &next {
            StoreState::Ready => tracing::info!("the store accepts writes again"),
            StoreState::Full { cause, .. } => {
                tracing::error!(%cause, "writes are rejected until space is freed; reads continue");
            }
            StoreState::Failed { guard_only: true, cause, .. } => {
                tracing::error!(
                    %cause,
                    "writes are rejected until the guard file can be written; reads continue"
                );
            }
            StoreState::Failed { cause, .. } => {
                tracing::error!(%cause, "the store failed; it is reopened as soon as it can be written");
            }
            StoreState::Altered { cause, .. } => {
                tracing::error!(%cause, "writes are rejected until the store is restored; reads continue");
            }
        }
        *state = next;
        drop(state);
        shared.state_changed();
    }

    fn enter_failed(&self, shared: &Shared, error: &GuardError) {
        let guard_only = matches!(error, GuardError::System { .. });
        self.enter(shared, StoreState::Failed { guard_only, since: now(), cause: error.to_string() });
    }

    /// Records that the failed store was reopened and only the guard file still fails.
    fn enter_guard_only(&self, shared: &Shared, error: &GuardError) {
        if let StoreState::Failed { guard_only, cause, .. } = &mut *self.state() {
            *cause = error.to_string();
            if std::mem::replace(guard_only, true) {
                return;
            }
            tracing::error!(
                %cause,
                "the store was reopened; writes are rejected until the guard file can be written"
            );
        }
        shared.state_changed();
    }

    fn enter_full(&self, shared: &Shared, error: &StoreError) {
        self.enter(shared, StoreState::Full { since: now(), cause: error.to_string() });
    }
}

/// Aborts the process if the thread panics. Without the thread, all changes would wait forever, and the state
/// in memory is unknown. The next start continues from the data on disk.
struct AbortOnPanic;

impl Drop for AbortOnPanic {
    fn drop(&mut self) {
        if std::thread::panicking() {
            tracing::error!("the commit thread panicked; the daemon aborts");
            std::process::abort();
        }
    }
}

/// Handle to the committer thread.
pub struct Committer {
    queue: Sender<Waiting>,
    gauge: Arc<Gauge>,
}

/// A request that is being decided and will probably commit soon.
pub(super) type Deciding = group::Deciding<Waiting>;

impl Committer {
    /// Starts the thread. It ends when the committer is dropped and its queue is empty.
    pub(super) fn start(shared: Arc<Shared>) -> Self {
        let (queue, waiting) = queue();
        let gauge = Arc::new(Gauge::default());
        let own = Arc::clone(&gauge);
        let wakeup = queue.downgrade();
        shared.barrier.store().on_failure(Box::new(move || wakeup.send(Waiting::empty())));
        std::thread::spawn(move || {
            let _abort_on_panic = AbortOnPanic;
            run(&shared, waiting, &own);
        });
        Self { queue, gauge }
    }

    /// Counts a request as being decided until the returned guard is dropped.
    pub(super) fn deciding(&self) -> Deciding {
        self.queue.deciding()
    }

    /// Queues a commit at once. The future completes when the commit is durable.
    pub(super) fn commit(
        &self,
        batch: Batch,
        effects: Effects,
        deciding: Option<Deciding>,
    ) -> impl Future<Output = Result<(), CommitError>> + use<> {
        let (reply, answer) = oneshot::channel();
        self.queue.send(Waiting { batch, effects, reply }, deciding);
        async move { answer.await.unwrap_or(Err(CommitError::Unavailable)) }
    }

    /// Returns the counters since the start.
    pub(super) fn figures(&self) -> Figures {
        Figures {
            commits: self.gauge.commits.load(Ordering::Relaxed),
            groups: self.gauge.groups.load(Ordering::Relaxed),
        }
    }

    /// Returns whether the store accepts writes.
    pub(super) fn state(&self) -> StoreState {
        self.gauge.state().clone()
    }
}

fn run(shared: &Shared, mut waiting: Receiver<Waiting>, gauge: &Gauge) {
    let (mut pause, mut tried) = (Duration::ZERO, None);
    // The disk may already be full.
    check_store(shared, gauge);
    loop {
        let state = gauge.state().clone();
        let reads_only = matches!(state, StoreState::Full { .. });
        let compares = (reads_only || state == StoreState::Ready) && shared.guard.is_comparing();
        let group = match state {
            StoreState::Ready => waiting.group(compares.then_some(pause)),
            // The first attempt to recover follows at once.
            StoreState::Failed { .. } if tried.is_none() => Some(Vec::new()),
            _ => waiting.group_within(if compares { pause } else { RETRY }),
        };
        let Some(group) = group else { return };
        if let Some(error) = try_recover(shared, gauge, &state, &mut tried) {
            reject(group, error);
            continue;
        }
        if !group.is_empty() {
            commit(shared, group, gauge);
        }
        if compares && matches!(*gauge.state(), StoreState::Ready | StoreState::Full { .. }) {
            let begun = Instant::now();
            compare(shared, gauge);
            pause = begun.elapsed().saturating_mul(PAUSE_FACTOR);
        }
    }
}

/// Tries to leave a state in which writes are rejected. Returns the error for commits in the meantime. A
/// failed attempt is repeated after [`RETRY`], however many commits wait, because reads fail while the store
/// is reopened.
fn try_recover(
    shared: &Shared,
    gauge: &Gauge,
    state: &StoreState,
    tried: &mut Option<Instant>,
) -> Option<CommitError> {
    let is_due = tried.is_none_or(|tried| tried.elapsed() >= RETRY);
    match state {
        StoreState::Ready => return None,
        StoreState::Full { .. } => {}
        StoreState::Failed { .. } if !is_due => return Some(CommitError::Unavailable),
        StoreState::Failed { guard_only, .. } => {
            *tried = Some(Instant::now());
            if let Err(error) = recover(shared, *guard_only) {
                tracing::debug!(cause = %error, "the store is not usable yet");
                if matches!(error, GuardError::System { .. }) && !has_failed(shared) {
                    gauge.enter_guard_only(shared, &error);
                }
                return Some(CommitError::Unavailable);
            }
        }
        StoreState::Altered { .. } if !is_due => return Some(CommitError::Altered),
        StoreState::Altered { .. } => {
            *tried = Some(Instant::now());
            // Reads continue, so a store that fails in this state is reopened as well.
            if let Err(error) = recover_altered(shared) {
                tracing::debug!(cause = %error, "the store is not usable yet");
            }
            return Some(CommitError::Altered);
        }
    }
    check_store(shared, gauge);
    if *gauge.state() == StoreState::Ready {
        *tried = None;
    }
    None
}

/// Enters the state that the store reports.
fn check_store(shared: &Shared, gauge: &Gauge) {
    match shared.barrier.store().ready() {
        Ok(()) => gauge.enter(shared, StoreState::Ready),
        Err(error @ StoreError::Full { .. }) => gauge.enter_full(shared, &error),
        Err(error) => gauge.enter_failed(shared, &error.into()),
    }
}

/// Compares a few records with the digest over all records.
fn compare(shared: &Shared, gauge: &Gauge) {
    match shared.guard.compare(&shared.barrier) {
        Ok(()) => {}
        Err(error @ GuardError::Altered) => {
            gauge.enter(shared, StoreState::Altered { since: now(), cause: error.to_string() });
        }
        Err(error) => gauge.enter_failed(shared, &error),
    }
}

/// Continues from the data on disk, which has all or nothing of the failed group. A store that did not fail
/// is not reopened.
fn recover(shared: &Shared, guard_only: bool) -> Result<(), GuardError> {
    if !guard_only || has_failed(shared) {
        shared.barrier.store().recover()?;
        shared.forget_cached();
    }
    shared.guard.resume(&shared.barrier)?;
    shared.forget_cached();
    shared.feed.publish(vec![console::Change::Reset]);
    shared.wake_all();
    Ok(())
}

/// Reopens an altered store that failed, and records in it that it was altered.
fn recover_altered(shared: &Shared) -> Result<(), GuardError> {
    if has_failed(shared) {
        recover(shared, false)?;
    }
    if shared.barrier.store().ready().is_ok() {
        shared.guard.store_alteration(&shared.barrier);
    }
    Ok(())
}

fn has_failed(shared: &Shared) -> bool {
    matches!(shared.barrier.store().ready(), Err(StoreError::Unavailable))
}

fn reject(group: Vec<Waiting>, error: CommitError) {
    for waiting in group {
        // The caller may have gone away; it needs no answer.
        let _ = waiting.reply.send(Err(error));
    }
}

/// Makes a group durable, publishes its changes and answers its commits.
fn commit(shared: &Shared, group: Vec<Waiting>, gauge: &Gauge) {
    fail_points::reach("commit.group");
    let time = now();
    let (batches, rest): (Vec<_>, Vec<_>) =
        group.into_iter().map(|one| (one.batch, (one.effects, one.reply))).unzip();
    let answer_all = |rest: Vec<(Effects, oneshot::Sender<_>)>, error| {
        for (_, reply) in rest {
            let _ = reply.send(Err(error));
        }
    };
    let mark = match shared.guard.mark(&shared.barrier, time) {
        Ok(mark) => mark,
        Err(error) => {
            gauge.enter_failed(shared, &error.into());
            return answer_all(rest, CommitError::Unavailable);
        }
    };
    let group = mark.group(batches);
    let verdicts = match shared.barrier.store().commit(&group) {
        Ok(verdicts) => verdicts,
        Err(error @ StoreError::Full { .. }) => {
            gauge.enter_full(shared, &error);
            return answer_all(rest, CommitError::Full);
        }
        Err(error) => {
            gauge.enter_failed(shared, &error.into());
            return answer_all(rest, CommitError::Unavailable);
        }
    };
    let changed = |(batch, verdict): (&Batch, &Verdict)| *verdict == Verdict::Done && !batch.is_empty();
    if group.batches.iter().zip(&verdicts).any(changed)
        && let Err(error) = shared.guard.advance(&shared.barrier, time)
    {
        // The group is durable, but its loss would not be detected, so it is not acknowledged.
        gauge.enter_failed(shared, &error);
        return answer_all(rest, CommitError::Unavailable);
    }
    gauge.groups.fetch_add(1, Ordering::Relaxed);
    fail_points::reach("commit.publish");
    let mut replies = Vec::with_capacity(rest.len());
    for ((effects, reply), verdict) in rest.into_iter().zip(verdicts) {
        if verdict == Verdict::Clash {
            replies.push((reply, Err(CommitError::Clash)));
            continue;
        }
        gauge.commits.fetch_add(1, Ordering::Relaxed);
        publish(shared, effects);
        replies.push((reply, Ok(())));
    }
    fail_points::reach("commit.answer");
    // Commits that clashed are answered last, because their next attempt must see the winning commit.
    for (reply, result) in replies {
        let _ = reply.send(result);
    }
}

/// Applies a durable commit to the state in memory.
fn publish(shared: &Shared, effects: Effects) {
    for organization in effects.after {
        shared.snapshots.publish(organization);
    }
    if !effects.stale_keys.is_empty() {
        shared.forget(&effects.stale_keys);
    }
    shared.feed.publish(effects.events);
    shared.deliveries.add(effects.deliveries);
    if effects.has_mail {
        shared.mail.notify_one();
    }
    if effects.has_tombstones {
        shared.tombstones.notify_one();
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use quorate_core::model::write::Write;
    use quorate_core::pipeline::Commit;
    use quorate_core::world::World;

    use super::super::{Executor, testing};
    use super::*;
    use crate::guard;
    use crate::store::embedded::Embedded;
    use crate::store::testing::FaultyStore;
    use crate::store::{Change, Group, Store};

    fn commit(number: u32) -> Commit {
        let write = Write::mark(format!("a{number}").into_bytes(), &number.to_be_bytes());
        Commit { writes: vec![write], ..Commit::default() }
    }

    /// A store, with an executor started on demand.
    struct Fixture {
        folder: tempfile::TempDir,
        store: Arc<FaultyStore>,
    }

    impl Fixture {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let store = Embedded::open(&folder.path().join("store"), 0).unwrap();
            Self { folder, store: Arc::new(FaultyStore::new(store)) }
        }

        /// Starts an executor on the store.
        fn executor(&self) -> Executor {
            let store = Arc::clone(&self.store) as Arc<dyn Store>;
            Executor::start(testing::shared(self.folder.path(), store).0)
        }

        /// Removes a record without the daemon.
        async fn alter(&self) {
            let executor = self.executor();
            executor.world().compare_all();
            for number in 0..100 {
                executor.commit(commit(number)).await.unwrap();
            }
            drop(executor);
            let removed = Batch { writes: vec![Change::remove(*b"a77")], ..Batch::default() };
            self.store.commit(&Group::of(removed)).unwrap();
        }

        /// Replaces the guard file by a directory, so that it cannot be written.
        fn obstruct_guard(&self) {
            std::fs::remove_file(self.guard()).unwrap();
            std::fs::create_dir(self.guard()).unwrap();
        }

        fn guard(&self) -> std::path::PathBuf {
            self.folder.path().join("guard")
        }
    }

    /// Waits until the store is in a matching state.
    async fn until(executor: &Executor, matches: impl Fn(&StoreState) -> bool) {
        while !matches(&executor.store_state()) {
            executor.world().store_state.notified().await;
        }
    }

    const fn is_altered(state: &StoreState) -> bool {
        matches!(state, StoreState::Altered { .. })
    }

    #[tokio::test]
    async fn an_alteration_found_on_a_full_disk_is_recorded_once_space_is_free() {
        let fixture = Fixture::new();
        fixture.alter().await;
        fixture.store.is_full.store(true, Ordering::Relaxed);
        let executor = fixture.executor();
        until(&executor, is_altered).await;
        let check = || guard::check(&fixture.guard(), &executor.world().barrier);
        check().unwrap();
        fixture.store.is_full.store(false, Ordering::Relaxed);
        while check().is_ok() {
            tokio::task::yield_now().await;
        }
        assert!(matches!(check(), Err(GuardError::Altered)));
        assert_eq!(executor.commit(commit(200)).await, Err(CommitError::Altered));
    }

    #[tokio::test]
    async fn an_unwritable_guard_file_does_not_stop_reads() {
        let fixture = Fixture::new();
        let executor = fixture.executor();
        executor.commit(commit(1)).await.unwrap();
        fixture.obstruct_guard();
        let mut number = 2;
        while executor.accepts_writes() {
            let _ = executor.commit(commit(number)).await;
            number += 1;
        }
        assert!(matches!(executor.store_state(), StoreState::Failed { guard_only: true, .. }));
        // A commit that was not acknowledged may still be on disk; its outcome is unknown.
        assert_eq!(executor.commit(commit(number)).await, Err(CommitError::Unavailable));
        assert!(executor.world().records().read(b"a1").unwrap().is_some());
        assert_eq!(fixture.store.recoveries.load(Ordering::Relaxed), 0);
        std::fs::remove_dir(fixture.guard()).unwrap();
        until(&executor, |state| *state == StoreState::Ready).await;
        executor.commit(commit(number)).await.unwrap();
    }

    #[tokio::test]
    async fn a_reopened_store_does_not_wait_for_its_guard_file() {
        let fixture = Fixture::new();
        let executor = fixture.executor();
        executor.commit(commit(1)).await.unwrap();
        fixture.obstruct_guard();
        fixture.store.rejects_writes.store(true, Ordering::Relaxed);
        assert_eq!(executor.commit(commit(2)).await, Err(CommitError::Unavailable));
        fixture.store.rejects_writes.store(false, Ordering::Relaxed);
        until(&executor, |state| matches!(state, StoreState::Failed { guard_only: true, .. })).await;
        let recoveries = fixture.store.recoveries.load(Ordering::Relaxed);
        let begun = Instant::now();
        while begun.elapsed() < RETRY * 2 {
            assert_eq!(executor.commit(commit(3)).await, Err(CommitError::Unavailable));
        }
        assert_eq!(fixture.store.recoveries.load(Ordering::Relaxed), recoveries);
    }

    #[tokio::test]
    async fn a_failed_store_is_not_reopened_for_each_request() {
        let fixture = Fixture::new();
        let executor = fixture.executor();
        executor.commit(commit(1)).await.unwrap();
        fixture.store.rejects_writes.store(true, Ordering::Relaxed);
        let begun = Instant::now();
        for number in 2..200 {
            assert_eq!(executor.commit(commit(number)).await, Err(CommitError::Unavailable));
        }
        let most = begun.elapsed().as_millis() / RETRY.as_millis() + 2;
        let recoveries = fixture.store.recoveries.load(Ordering::Relaxed);
        assert!(recoveries as u128 <= most, "{recoveries} of {most}");
    }

    #[tokio::test]
    async fn a_removed_record_stops_all_changes_but_no_reads() {
        let fixture = Fixture::new();
        fixture.alter().await;
        let executor = fixture.executor();
        until(&executor, is_altered).await;
        assert_eq!(executor.commit(commit(200)).await, Err(CommitError::Altered));
        assert_eq!(executor.world().records().read(b"a200").unwrap(), None);
        assert!(executor.world().records().read(b"a78").unwrap().is_some());
    }

    #[test]
    fn a_state_keeps_its_start_and_takes_the_newest_cause() {
        let full = |since, cause: &str| StoreState::Full { since, cause: cause.to_owned() };
        let mut state = full(1, "free at least 24 MiB");
        state.update_cause(full(2, "free at least 30 MiB"));
        assert_eq!(state, full(1, "free at least 30 MiB"));
    }

    #[tokio::test]
    async fn an_altered_store_that_fails_is_reopened_for_reads() {
        let fixture = Fixture::new();
        fixture.alter().await;
        let executor = fixture.executor();
        until(&executor, is_altered).await;
        fixture.store.is_unavailable.store(true, Ordering::Relaxed);
        while executor.world().records().read(b"a78").is_err() {
            tokio::task::yield_now().await;
        }
        assert_eq!(executor.commit(commit(200)).await, Err(CommitError::Altered));
        assert!(is_altered(&executor.store_state()), "{:?}", executor.store_state());
    }
}
