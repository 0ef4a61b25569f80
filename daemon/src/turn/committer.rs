//! The committer: one thread that gathers what waits, makes it durable at once, and answers all.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use quorate_common::console;
use quorate_core::model::Organization;
use tokio::sync::oneshot;

use super::gather::{self, Receiver, Sender, queue};
use super::{Gone, Shared};
use crate::store::{Batch, Verdict};

/// A commit did not happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CommitError {
    /// A condition did not hold: decide again.
    #[error("the state has moved")]
    Clash,
    /// The store failed, and no writes are taken any more.
    #[error("the store takes no writes")]
    Stopped,
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
pub(super) struct Effects {
    /// Snapshots to publish.
    pub(super) after: Vec<Organization>,
    /// Opened keys to drop.
    pub(super) gone: Vec<Gone>,
    /// What the change feed tells.
    pub(super) news: Vec<console::Change>,
    /// Whether notices wait.
    pub(super) rings: bool,
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

#[derive(Default)]
struct Gauge {
    commits: AtomicU64,
    groups: AtomicU64,
    stopped: AtomicBool,
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
        std::thread::spawn(move || run(&shared, waiting, &own));
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
        async move { answer.await.unwrap_or(Err(CommitError::Stopped)) }
    }

    /// Counts since the start.
    pub(super) fn figures(&self) -> Figures {
        Figures {
            commits: self.gauge.commits.load(Ordering::Relaxed),
            groups: self.gauge.groups.load(Ordering::Relaxed),
        }
    }

    /// Whether the store has not failed.
    pub(super) fn takes_writes(&self) -> bool {
        !self.gauge.stopped.load(Ordering::Relaxed)
    }
}

fn run(shared: &Shared, mut waiting: Receiver<Waiting>, gauge: &Gauge) {
    while let Some(group) = waiting.group() {
        settle(shared, group, gauge);
    }
}

/// Makes a group durable, publishes what it changed, answers.
fn settle(shared: &Shared, group: Vec<Waiting>, gauge: &Gauge) {
    let (batches, rest): (Vec<_>, Vec<_>) =
        group.into_iter().map(|one| (one.batch, (one.effects, one.reply))).unzip();
    let verdicts = if gauge.stopped.load(Ordering::Relaxed) {
        None
    } else {
        let result = shared.barrier.store().commit(&batches);
        result
            .inspect_err(
                |error| tracing::error!(cause = %error, "the store failed; no more writes are taken"),
            )
            .ok()
    };
    let Some(verdicts) = verdicts else {
        // After a failed sync nothing is known of what is on disk, so nothing is tried again.
        gauge.stopped.store(true, Ordering::Relaxed);
        for (_, reply) in rest {
            // A caller who went away needs no answer.
            let _ = reply.send(Err(CommitError::Stopped));
        }
        return;
    };
    gauge.groups.fetch_add(1, Ordering::Relaxed);
    let mut replies = Vec::with_capacity(rest.len());
    for ((effects, reply), verdict) in rest.into_iter().zip(verdicts) {
        if verdict == Verdict::Clash {
            replies.push((reply, Err(CommitError::Clash)));
            continue;
        }
        gauge.commits.fetch_add(1, Ordering::Relaxed);
        for organization in effects.after {
            shared.snapshots.publish(organization);
        }
        if !effects.gone.is_empty() {
            shared.forget(&effects.gone);
        }
        shared.feed.publish(effects.news);
        if effects.rings {
            shared.notices.notify_one();
        }
        if effects.mails {
            shared.mails.notify_one();
        }
        if effects.leaves {
            shared.leftovers.notify_one();
        }
        replies.push((reply, Ok(())));
    }
    // Clashes are answered last: their next attempt must see what won.
    for (reply, result) in replies {
        let _ = reply.send(result);
    }
}
