//! The committer: one thread that collects waiting commits into groups, makes each group durable and answers
//! it. After a failure of the store, the thread reopens it and continues from the data on disk.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use quorate_common::console;
use tokio::sync::oneshot;

use super::Shared;
use super::announced::Announced;
use super::effects::Effects;
use super::group::{self, Receiver, Sender, queue};
use super::store_state::{Condition, Figures, StoreMonitor, StoreState};
use crate::clock::now;
use crate::fail_points;
use crate::guard::GuardError;
use crate::journal::OrganizationChange;
use crate::store::{Batch, BatchOutcome, Group, StoreError};

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
    /// The journal cannot be written, so changes of organizations are not accepted. Nothing was changed.
    #[error("the journal cannot be written")]
    Journal,
}

type Reply = oneshot::Sender<Result<(), CommitError>>;

/// A commit that waits for the committer.
pub(super) struct Waiting {
    batch: Batch,
    effects: Effects,
    reply: Reply,
}

impl Waiting {
    /// Returns an empty commit, which wakes the committer after a failure of the store.
    fn empty() -> Self {
        let (reply, _) = oneshot::channel();
        Self { batch: Batch::default(), effects: Effects::default(), reply }
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
    monitor: Arc<StoreMonitor>,
}

/// A request that is being decided and will probably commit soon.
pub(super) type Deciding = group::Deciding<Waiting>;

impl Committer {
    /// Starts the thread. It ends when the committer is dropped and its queue is empty.
    pub(super) fn start(shared: Arc<Shared>) -> Self {
        let (queue, waiting) = queue();
        let monitor = Arc::new(StoreMonitor::default());
        let own = Arc::clone(&monitor);
        let wakeup = queue.downgrade();
        shared.barrier.store().on_failure(Box::new(move || wakeup.send(Waiting::empty())));
        std::thread::spawn(move || {
            let _abort_on_panic = AbortOnPanic;
            run(&shared, waiting, &own);
        });
        Self { queue, monitor }
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
        self.monitor.figures()
    }

    /// Returns whether the store accepts writes.
    pub(super) fn state(&self) -> StoreState {
        self.monitor.state().clone()
    }
}

fn run(shared: &Shared, mut waiting: Receiver<Waiting>, monitor: &StoreMonitor) {
    let (mut pause, mut tried) = (Duration::ZERO, None);
    // The disk may already be full.
    check_store(shared, monitor);
    loop {
        let condition = monitor.condition();
        let compares = is_comparable(condition) && shared.guard.is_comparing();
        let group = match condition {
            Condition::Ready => waiting.group(compares.then_some(pause)),
            // The first attempt to recover follows at once.
            failed if failed.is_failed() && tried.is_none() => Some(Vec::new()),
            _ => waiting.group_within(if compares { pause } else { RETRY }),
        };
        let Some(group) = group else { return };
        if let Some(error) = try_recover(shared, monitor, condition, &mut tried) {
            answer(group.into_iter().map(|waiting| (waiting.reply, Err(error))));
            continue;
        }
        if !group.is_empty() {
            commit(shared, group, monitor);
        }
        if compares && is_comparable(monitor.condition()) {
            let begun = Instant::now();
            compare(shared, monitor);
            pause = begun.elapsed().saturating_mul(PAUSE_FACTOR);
        }
    }
}

/// Tries to leave a state in which writes are rejected. Returns the error for commits in the meantime. A
/// failed attempt is repeated [`RETRY`] after its end, however many commits wait, because reads fail while the store
/// is reopened.
fn try_recover(
    shared: &Shared,
    monitor: &StoreMonitor,
    condition: Condition,
    tried: &mut Option<Instant>,
) -> Option<CommitError> {
    let is_due = tried.is_none_or(|tried| tried.elapsed() >= RETRY);
    match condition {
        Condition::Ready => return None,
        Condition::Full => {}
        Condition::Failed | Condition::GuardFailed if !is_due => return Some(CommitError::Unavailable),
        Condition::Failed | Condition::GuardFailed => {
            let recovered = recover(shared, condition == Condition::GuardFailed);
            // An attempt may take seconds, and what waited for it is answered before the next one.
            *tried = Some(Instant::now());
            if let Err(error) = recovered {
                if matches!(error, GuardError::System { .. }) && !has_failed(shared) {
                    monitor.enter_guard_only(shared, &error);
                } else {
                    monitor.stay_failed(shared, &error);
                }
                return Some(CommitError::Unavailable);
            }
        }
        Condition::Altered if !is_due => return Some(CommitError::Altered),
        Condition::Altered => {
            *tried = Some(Instant::now());
            // Reads continue, so a store that fails in this state is reopened as well.
            if let Err(error) = recover_altered(shared) {
                tracing::debug!(cause = %error, "the store is not usable yet");
            }
            return Some(CommitError::Altered);
        }
    }
    check_store(shared, monitor);
    if monitor.condition() == Condition::Ready {
        *tried = None;
    }
    None
}

/// Returns whether records can be compared with their digest.
fn is_comparable(condition: Condition) -> bool {
    matches!(condition, Condition::Ready | Condition::Full)
}

/// Enters the condition that the store reports.
fn check_store(shared: &Shared, monitor: &StoreMonitor) {
    match shared.barrier.store().ready() {
        Ok(()) => monitor.enter(shared, Condition::Ready, ""),
        Err(error) if error.is_full() => monitor.enter(shared, Condition::Full, error),
        Err(error) => monitor.enter_failed(shared, &error.into()),
    }
}

/// Compares a few records with the digest over all records.
fn compare(shared: &Shared, monitor: &StoreMonitor) {
    match shared.guard.compare(&shared.barrier) {
        Ok(()) => {}
        Err(error @ GuardError::Altered) => monitor.enter(shared, Condition::Altered, error),
        Err(error) => monitor.enter_failed(shared, &error),
    }
}

/// Continues from the data on disk, which has all or nothing of the failed group. A store that did not fail
/// is not reopened.
fn recover(shared: &Shared, guard_only: bool) -> Result<(), GuardError> {
    if !guard_only || has_failed(shared) {
        shared.barrier.store().recover(&shared.guard.acceptance(&shared.barrier))?;
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

fn answer(replies: impl IntoIterator<Item = (Reply, Result<(), CommitError>)>) {
    for (reply, result) in replies {
        // The caller may have gone away; it needs no answer.
        let _ = reply.send(result);
    }
}

/// Makes a group durable, publishes its changes and answers its commits.
fn commit(shared: &Shared, group: Vec<Waiting>, monitor: &StoreMonitor) {
    fail_points::reach("commit.group");
    let (stale, group): (Vec<_>, Vec<_>) =
        group.into_iter().partition(|one| shared.barrier.is_stale(&one.batch));
    // They must be sealed again.
    answer(stale.into_iter().map(|one| (one.reply, Err(CommitError::Clash))));
    let (rejected, group): (Vec<_>, Vec<_>) = if shared.guard.accepts_changes(&shared.barrier) {
        (Vec::new(), group)
    } else {
        group.into_iter().partition(|one| OrganizationChange::is_in(&one.batch))
    };
    answer(rejected.into_iter().map(|one| (one.reply, Err(CommitError::Journal))));
    if group.is_empty() {
        return;
    }
    let (batches, rest): (Vec<_>, Vec<_>) =
        group.into_iter().map(|one| (one.batch, (one.effects, one.reply))).unzip();
    let effects: Vec<&Effects> = rest.iter().map(|(effects, _)| effects).collect();
    let verdicts = match store(shared, batches, &effects, monitor) {
        Ok(verdicts) => verdicts,
        Err(error) => return answer(rest.into_iter().map(|(_, reply)| (reply, Err(error)))),
    };
    monitor.groups.fetch_add(1, Ordering::Relaxed);
    fail_points::reach("commit.publish");
    let mut replies = Vec::with_capacity(rest.len());
    for ((effects, reply), verdict) in rest.into_iter().zip(verdicts) {
        if verdict == BatchOutcome::Clash {
            monitor.clashes.fetch_add(1, Ordering::Relaxed);
            replies.push((reply, Err(CommitError::Clash)));
            continue;
        }
        monitor.commits.fetch_add(1, Ordering::Relaxed);
        effects.publish(shared);
        replies.push((reply, Ok(())));
    }
    fail_points::reach("commit.answer");
    // Commits that clashed are answered last, because their next attempt must see the winning commit.
    answer(replies);
}

/// Writes a group with its mark to the store, and advances the guard file.
fn store(
    shared: &Shared,
    mut batches: Vec<Batch>,
    effects: &[&Effects],
    monitor: &StoreMonitor,
) -> Result<Vec<BatchOutcome>, CommitError> {
    let time = now();
    let failed = |error: GuardError| {
        monitor.enter_failed(shared, &error);
        CommitError::Unavailable
    };
    let mark = shared.guard.mark(&shared.barrier, time).map_err(|error| failed(error.into()))?;
    let announced = Announced { barrier: &shared.barrier, effects };
    let mark = mark.with_entries(effects.iter().map(|effects| effects.logged()).collect());
    let mark = mark.with_journal(&mut batches).map_err(|error| failed(error.into()))?;
    let group = Group { announcement: Some(&announced), ..mark.group(batches) };
    let verdicts = shared.barrier.store().commit(&group).map_err(|error| {
        if error.is_full() {
            shared.guard.abandon_group(&shared.barrier);
            monitor.enter(shared, Condition::Full, error);
            return CommitError::Full;
        }
        if matches!(error, StoreError::Journal(_)) && !has_failed(shared) {
            return CommitError::Journal;
        }
        failed(error.into())
    })?;
    let changed =
        |(batch, verdict): (&Batch, &BatchOutcome)| *verdict == BatchOutcome::Done && !batch.is_empty();
    if group.batches.iter().zip(&verdicts).any(changed) {
        // If this fails, the group is durable, but its loss would not be detected, so it is not acknowledged.
        shared.guard.advance(&shared.barrier, time).map_err(failed)?;
    }
    Ok(verdicts)
}

#[cfg(test)]
mod tests;
