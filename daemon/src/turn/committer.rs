//! The committer: one thread that collects waiting commits into groups, makes each durable, and answers. After a failure
//! of the store it reopens it and goes on from what is on disk.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use quorate_common::console;
use quorate_core::model::{Millis, Organization};
use tokio::sync::oneshot;

use super::gather::{self, Receiver, Sender, queue};
use super::{Gone, Shared};
use crate::clock::now;
use crate::fail_points;
use crate::guard::GuardError;
use crate::outbox::arrivals::ByOrganization;
use crate::store::{Batch, StoreError, Verdict};

/// How often it is tried to write again after a failure.
const RETRY: Duration = Duration::from_millis(250);
/// For how many times as long as it took to compare a few records with their digest nothing more is compared, if no
/// group comes.
const RESTS: u32 = 3;

/// A commit did not happen, or it is unknown whether it did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CommitError {
    /// A condition did not hold: decide again.
    #[error("the organization changed")]
    Clash,
    /// The disk is full. Nothing happened.
    #[error("the disk of the store is full")]
    Full,
    /// The store failed. Whether the commit is on disk is known when the store is reopened.
    #[error("the store takes no writes")]
    Unavailable,
    /// Records of the store were altered or damaged. Nothing happened.
    #[error("records of the store were altered or damaged")]
    Altered,
}

/// Whether the store takes writes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum StoreState {
    /// It does.
    #[default]
    Ready,
    /// Too little space is free. Reads go on.
    Full {
        /// Since when, in milliseconds since 1970.
        since: Millis,
        /// What the store reports.
        cause: String,
    },
    /// A commit failed, and the store is being reopened, or the guard file cannot be written.
    Failed {
        /// Whether only the guard file failed.
        guard_only: bool,
        /// Since when, in milliseconds since 1970.
        since: Millis,
        /// What the store reports.
        cause: String,
    },
    /// Records were removed, put back, added or damaged. Reads go on.
    Altered {
        /// Since when it is known, in milliseconds since 1970.
        since: Millis,
        /// What the guard reports.
        cause: String,
    },
}

impl StoreState {
    /// Takes the newer cause of the same state: what is missing may have become more.
    fn take_cause(&mut self, newer: Self) {
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

/// Counts since the start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Figures {
    /// Batches that became durable.
    pub commits: u64,
    /// Groups: each was made durable at once.
    pub groups: u64,
}

/// What happens in memory once a commit is durable.
#[derive(Default)]
pub(super) struct Effects {
    /// Snapshots to publish.
    pub(super) after: Vec<Organization>,
    /// Opened keys to drop.
    pub(super) gone: Vec<Gone>,
    /// What the change feed tells.
    pub(super) news: Vec<console::Change>,
    /// Webhook deliveries that it queues.
    pub(super) rings: ByOrganization,
    /// Whether mail waits.
    pub(super) mails: bool,
    /// Whether more has to be removed.
    pub(super) leaves: bool,
}

/// A commit on its way to the store.
pub(super) struct Waiting {
    batch: Batch,
    effects: Effects,
    reply: oneshot::Sender<Result<(), CommitError>>,
}

impl Waiting {
    /// An empty commit, by which the committer learns that the store failed.
    fn nothing() -> Self {
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

    /// Enters a state, which is logged when it changes.
    fn enter(&self, shared: &Shared, next: StoreState) {
        let mut state = self.state();
        if std::mem::discriminant(&*state) == std::mem::discriminant(&next) {
            state.take_cause(next);
            return;
        }
        match &next {
            StoreState::Ready => tracing::info!("the store takes writes again"),
            StoreState::Full { cause, .. } => {
                tracing::error!(%cause, "no writes are taken until space is free; reads go on");
            }
            StoreState::Failed { guard_only: true, cause, .. } => {
                tracing::error!(%cause, "no writes are taken until the guard file can be written; reads go on");
            }
            StoreState::Failed { cause, .. } => {
                tracing::error!(%cause, "the store failed; it is reopened as soon as writing is possible");
            }
            StoreState::Altered { cause, .. } => {
                tracing::error!(%cause, "no writes are taken until the store is restored; reads go on");
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

    /// The store that failed was reopened; only the guard file is still missing.
    fn leave_to_guard(&self, shared: &Shared, error: &GuardError) {
        if let StoreState::Failed { guard_only, cause, .. } = &mut *self.state() {
            *cause = error.to_string();
            if std::mem::replace(guard_only, true) {
                return;
            }
            tracing::error!(%cause, "the store was reopened; no writes are taken until the guard file can be written");
        }
        shared.state_changed();
    }

    fn enter_full(&self, shared: &Shared, error: &StoreError) {
        self.enter(shared, StoreState::Full { since: now(), cause: error.to_string() });
    }
}

/// Ends the process if the thread panics: without it all changes would wait for ever, and what it left in memory is
/// unknown. The next start goes on from what is on disk.
struct EndsProcess;

impl Drop for EndsProcess {
    fn drop(&mut self) {
        if std::thread::panicking() {
            tracing::error!("the thread that commits panicked; the daemon ends");
            std::process::abort();
        }
    }
}

/// Hands commits to the thread.
pub struct Committer {
    queue: Sender<Waiting>,
    gauge: Arc<Gauge>,
}

/// A request that is being decided, and will probably commit soon.
pub(super) type Deciding = gather::Deciding<Waiting>;

impl Committer {
    /// Starts the thread. It ends when the committer is dropped and its queue is empty.
    pub(super) fn start(shared: Arc<Shared>) -> Self {
        let (queue, waiting) = queue();
        let gauge = Arc::new(Gauge::default());
        let own = Arc::clone(&gauge);
        let bell = queue.downgrade();
        shared.barrier.store().on_failure(Box::new(move || bell.send(Waiting::nothing())));
        std::thread::spawn(move || {
            let _ends_process = EndsProcess;
            run(&shared, waiting, &own);
        });
        Self { queue, gauge }
    }

    /// Counts a request as being decided until the answer is dropped.
    pub(super) fn deciding(&self) -> Deciding {
        self.queue.deciding()
    }

    /// Queues a commit at once; the future ends when it is durable.
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

    /// Counts since the start.
    pub(super) fn figures(&self) -> Figures {
        Figures {
            commits: self.gauge.commits.load(Ordering::Relaxed),
            groups: self.gauge.groups.load(Ordering::Relaxed),
        }
    }

    /// Whether the store takes writes.
    pub(super) fn state(&self) -> StoreState {
        self.gauge.state().clone()
    }
}

fn run(shared: &Shared, mut waiting: Receiver<Waiting>, gauge: &Gauge) {
    let (mut rest, mut tried) = (Duration::ZERO, None);
    // The disk may be full already.
    look(shared, gauge);
    loop {
        let state = gauge.state().clone();
        let reads_only = matches!(state, StoreState::Full { .. });
        let compares = (reads_only || state == StoreState::Ready) && shared.guard.is_comparing();
        let group = match state {
            StoreState::Ready => waiting.group(compares.then_some(rest)),
            // What just failed is mended at once.
            StoreState::Failed { .. } if tried.is_none() => Some(Vec::new()),
            _ => waiting.group_within(if compares { rest } else { RETRY }),
        };
        let Some(group) = group else { return };
        if let Some(error) = mend(shared, gauge, &state, &mut tried) {
            refuse(group, error);
            continue;
        }
        if !group.is_empty() {
            commit(shared, group, gauge);
        }
        if compares && matches!(*gauge.state(), StoreState::Ready | StoreState::Full { .. }) {
            let begun = Instant::now();
            compare(shared, gauge);
            rest = begun.elapsed().saturating_mul(RESTS);
        }
    }
}

/// Tries to leave a state in which no writes are taken. Returns what commits are refused with meanwhile. After an attempt
/// that failed, the next one follows after [`RETRY`], however many commits wait: reads fail while the store is reopened.
fn mend(
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
                tracing::debug!(cause = %error, "the store cannot be used yet");
                if matches!(error, GuardError::System { .. }) && !has_failed(shared) {
                    gauge.leave_to_guard(shared, &error);
                }
                return Some(CommitError::Unavailable);
            }
        }
        StoreState::Altered { .. } if !is_due => return Some(CommitError::Altered),
        StoreState::Altered { .. } => {
            *tried = Some(Instant::now());
            // Reads go on, so a store that fails now is reopened all the same.
            if let Err(error) = recover_altered(shared) {
                tracing::debug!(cause = %error, "the store cannot be used yet");
            }
            return Some(CommitError::Altered);
        }
    }
    look(shared, gauge);
    if *gauge.state() == StoreState::Ready {
        *tried = None;
    }
    None
}

/// Enters the state that the store is in.
fn look(shared: &Shared, gauge: &Gauge) {
    match shared.barrier.store().ready() {
        Ok(()) => gauge.enter(shared, StoreState::Ready),
        Err(error @ StoreError::Full { .. }) => gauge.enter_full(shared, &error),
        Err(error) => gauge.enter_failed(shared, &error.into()),
    }
}

/// Compares a few records with the digest over all.
fn compare(shared: &Shared, gauge: &Gauge) {
    match shared.guard.compare(&shared.barrier) {
        Ok(()) => {}
        Err(error @ GuardError::Altered) => {
            gauge.enter(shared, StoreState::Altered { since: now(), cause: error.to_string() });
        }
        Err(error) => gauge.enter_failed(shared, &error),
    }
}

/// Goes on from what is on disk. Of the group that failed, all or nothing is there. A store that did not fail is not
/// reopened.
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

/// Reopens an altered store that failed, and stores that it is altered.
fn recover_altered(shared: &Shared) -> Result<(), GuardError> {
    if has_failed(shared) {
        recover(shared, false)?;
    }
    if shared.barrier.store().ready().is_ok() {
        shared.guard.keep_finding(&shared.barrier);
    }
    Ok(())
}

fn has_failed(shared: &Shared) -> bool {
    matches!(shared.barrier.store().ready(), Err(StoreError::Unavailable))
}

fn refuse(group: Vec<Waiting>, error: CommitError) {
    for waiting in group {
        // A caller that went away needs no answer.
        let _ = waiting.reply.send(Err(error));
    }
}

/// Makes a group durable, publishes what it changed, answers.
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
        // The group is durable, but a loss of it would not be noticed: it is not acknowledged.
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
    // Clashes are answered last: their next attempt must see what won.
    for (reply, result) in replies {
        let _ = reply.send(result);
    }
}

/// Shows in memory what became durable.
fn publish(shared: &Shared, effects: Effects) {
    for organization in effects.after {
        shared.snapshots.publish(organization);
    }
    if !effects.gone.is_empty() {
        shared.forget(&effects.gone);
    }
    shared.feed.publish(effects.news);
    shared.notices.add(effects.rings);
    if effects.mails {
        shared.mails.notify_one();
    }
    if effects.leaves {
        shared.leftovers.notify_one();
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use quorate_core::model::write::Write;
    use quorate_core::pipeline::Commit;
    use quorate_core::world::World;

    use super::super::{Turns, testing};
    use super::*;
    use crate::guard;
    use crate::store::embedded::Embedded;
    use crate::store::testing::FaultyStore;
    use crate::store::{Change, Group, Store};

    fn commit(number: u32) -> Commit {
        let write = Write::mark(format!("a{number}").into_bytes(), &number.to_be_bytes());
        Commit { writes: vec![write], ..Commit::default() }
    }

    /// A store, and turns over it.
    struct Place {
        folder: tempfile::TempDir,
        store: Arc<FaultyStore>,
    }

    impl Place {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let store = Embedded::open(&folder.path().join("store"), 0).unwrap();
            Self { folder, store: Arc::new(FaultyStore::new(store)) }
        }

        /// Begins to take requests.
        fn turns(&self) -> Turns {
            let store = Arc::clone(&self.store) as Arc<dyn Store>;
            Turns::start(testing::shared(self.folder.path(), store).0)
        }

        /// Has a record removed by others.
        async fn alter(&self) {
            let turns = self.turns();
            turns.world().compare_all();
            for number in 0..100 {
                turns.commit(commit(number)).await.unwrap();
            }
            drop(turns);
            let removed = Batch { writes: vec![Change::remove(*b"a77")], ..Batch::default() };
            self.store.commit(&Group::of(removed)).unwrap();
        }

        /// Puts a folder where the guard file is, so that it cannot be written.
        fn obstruct_guard(&self) {
            std::fs::remove_file(self.guard()).unwrap();
            std::fs::create_dir(self.guard()).unwrap();
        }

        fn guard(&self) -> std::path::PathBuf {
            self.folder.path().join("guard")
        }
    }

    /// Waits until a state is entered.
    async fn until(turns: &Turns, is_it: impl Fn(&StoreState) -> bool) {
        while !is_it(&turns.store_state()) {
            turns.world().store_state.notified().await;
        }
    }

    const fn is_altered(state: &StoreState) -> bool {
        matches!(state, StoreState::Altered { .. })
    }

    #[tokio::test]
    async fn what_is_altered_on_a_full_disk_is_stored_when_there_is_room() {
        let place = Place::new();
        place.alter().await;
        place.store.is_full.store(true, Ordering::Relaxed);
        let turns = place.turns();
        until(&turns, is_altered).await;
        let check = || guard::check(&place.guard(), &turns.world().barrier);
        check().unwrap();
        place.store.is_full.store(false, Ordering::Relaxed);
        while check().is_ok() {
            tokio::task::yield_now().await;
        }
        assert!(matches!(check(), Err(GuardError::Altered)));
        assert_eq!(turns.commit(commit(200)).await, Err(CommitError::Altered));
    }

    #[tokio::test]
    async fn a_guard_file_that_cannot_be_written_costs_no_reads() {
        let place = Place::new();
        let turns = place.turns();
        turns.commit(commit(1)).await.unwrap();
        place.obstruct_guard();
        let mut number = 2;
        while turns.takes_writes() {
            let _ = turns.commit(commit(number)).await;
            number += 1;
        }
        assert!(matches!(turns.store_state(), StoreState::Failed { guard_only: true, .. }));
        // What was not acknowledged is there all the same, since its end is unknown.
        assert_eq!(turns.commit(commit(number)).await, Err(CommitError::Unavailable));
        assert!(turns.world().records().read(b"a1").unwrap().is_some());
        assert_eq!(place.store.recoveries.load(Ordering::Relaxed), 0);
        std::fs::remove_dir(place.guard()).unwrap();
        until(&turns, |state| *state == StoreState::Ready).await;
        turns.commit(commit(number)).await.unwrap();
    }

    #[tokio::test]
    async fn a_store_that_was_reopened_does_not_wait_for_its_guard_file() {
        let place = Place::new();
        let turns = place.turns();
        turns.commit(commit(1)).await.unwrap();
        place.obstruct_guard();
        place.store.takes_no_writes.store(true, Ordering::Relaxed);
        assert_eq!(turns.commit(commit(2)).await, Err(CommitError::Unavailable));
        place.store.takes_no_writes.store(false, Ordering::Relaxed);
        until(&turns, |state| matches!(state, StoreState::Failed { guard_only: true, .. })).await;
        let recoveries = place.store.recoveries.load(Ordering::Relaxed);
        let begun = Instant::now();
        while begun.elapsed() < RETRY * 2 {
            assert_eq!(turns.commit(commit(3)).await, Err(CommitError::Unavailable));
        }
        assert_eq!(place.store.recoveries.load(Ordering::Relaxed), recoveries);
    }

    #[tokio::test]
    async fn a_store_that_failed_is_not_reopened_for_each_request() {
        let place = Place::new();
        let turns = place.turns();
        turns.commit(commit(1)).await.unwrap();
        place.store.takes_no_writes.store(true, Ordering::Relaxed);
        let begun = Instant::now();
        for number in 2..200 {
            assert_eq!(turns.commit(commit(number)).await, Err(CommitError::Unavailable));
        }
        let most = begun.elapsed().as_millis() / RETRY.as_millis() + 2;
        let recoveries = place.store.recoveries.load(Ordering::Relaxed);
        assert!(recoveries as u128 <= most, "{recoveries} of {most}");
    }

    #[tokio::test]
    async fn a_record_that_was_removed_ends_all_changes_and_no_reads() {
        let place = Place::new();
        place.alter().await;
        let turns = place.turns();
        until(&turns, is_altered).await;
        assert_eq!(turns.commit(commit(200)).await, Err(CommitError::Altered));
        assert_eq!(turns.world().records().read(b"a200").unwrap(), None);
        assert!(turns.world().records().read(b"a78").unwrap().is_some());
    }

    #[test]
    fn a_state_keeps_its_begin_and_takes_the_newest_cause() {
        let full = |since, cause: &str| StoreState::Full { since, cause: cause.to_owned() };
        let mut state = full(1, "free at least 24 MiB");
        state.take_cause(full(2, "free at least 30 MiB"));
        assert_eq!(state, full(1, "free at least 30 MiB"));
    }

    #[tokio::test]
    async fn an_altered_store_that_fails_is_reopened_for_reads() {
        let place = Place::new();
        place.alter().await;
        let turns = place.turns();
        until(&turns, is_altered).await;
        place.store.is_unavailable.store(true, Ordering::Relaxed);
        while turns.world().records().read(b"a78").is_err() {
            tokio::task::yield_now().await;
        }
        assert_eq!(turns.commit(commit(200)).await, Err(CommitError::Altered));
        assert!(is_altered(&turns.store_state()), "{:?}", turns.store_state());
    }
}
