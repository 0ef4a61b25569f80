//! Sends queued messages, one after the other: mail and SMS.
//!
//! A message is removed from the store when its channel has accepted or permanently rejected it, or after its
//! last attempt. If the daemon crashes between sending and removing it, the message is sent twice; it is
//! never lost.

mod events;

use std::collections::{HashMap, HashSet};
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use quorate_common::ids::OrganizationId;
use quorate_core::error::Corrupt;
use quorate_core::message_events::Message;
use quorate_core::model::Millis;
use quorate_core::model::layout::Key;
use quorate_core::model::message_event::ServerAnswer;
use quorate_core::model::record::Record;
use quorate_core::model::write::{Effect, Write};
use quorate_core::outbox::readable;
use quorate_core::pipeline::Commit;
use quorate_core::world::{Page, World as _};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use self::events::Counts;
use super::pause::{Pause, Stopped};
use super::schedule;
use crate::clock::now;
use crate::executor::{Executor, Shared};
use crate::telemetry::Metrics;

/// Maximum number of messages that are read in one pass.
const BATCH: usize = 256;
/// Maximum number of messages of one tenant that are sent in one pass. The others wait for a later pass, so that the
/// messages of a tenant with many do not delay those of the others for long.
const SHARE: usize = 4;
/// Maximum time between two passes.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// A means of sending queued messages.
pub(super) trait Channel: Send + Sync + 'static {
    /// The stored form of a message.
    type Message: Record + Send + Sync;
    /// Name of the channel in the log.
    const NAME: &'static str;
    /// Prefix of the keys of queued messages.
    const QUEUE: &'static [u8];
    /// Effect of a write that queues a message.
    const EFFECT: Effect;
    /// Maximum number of attempts.
    const ATTEMPTS: u32;

    /// Returns what is notified when messages were committed.
    fn committed(world: &Shared) -> &Notify;

    /// Returns the number of attempts so far, and the time of the next one.
    fn schedule(message: &Self::Message) -> (u32, Millis);

    /// Returns the same message with another schedule.
    fn rescheduled(message: &Self::Message, attempts: u32, due: Millis) -> Self::Message;

    /// Returns the message as its events describe it, if events are recorded for it.
    fn described(&self, key: &[u8], message: &Self::Message) -> Option<Message>;

    /// Sends a message once. The key distinguishes it from all other messages.
    fn send(&self, key: &[u8], message: &Self::Message) -> impl Future<Output = Reply> + Send;

    /// Reaches the fail point of a step.
    fn reach(step: Step);
}

/// A step at which tests stop the daemon.
#[derive(Clone, Copy)]
pub(super) enum Step {
    /// Before queued messages are read.
    Read,
    /// After an outcome was recorded.
    Recorded,
}

/// Outcome of one attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The message was accepted.
    Accepted,
    /// The message is permanently rejected.
    Rejected,
    /// A later attempt may succeed.
    Failed,
}

/// The outcome of one attempt, and the answer that led to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reply {
    /// Outcome.
    pub(super) outcome: Outcome,
    /// Answer of the server.
    pub(super) answer: ServerAnswer,
}

/// A message that was sent.
struct Sent<M> {
    key: Key,
    message: M,
    reply: Reply,
    /// Time of the answer.
    at: Millis,
}

/// Sends the queued messages of a channel.
pub(super) struct Queue<C: Channel> {
    executor: Arc<Executor>,
    channel: C,
    metrics: Metrics,
    /// A message that was sent and whose outcome is not recorded yet.
    unrecorded: Option<Sent<C::Message>>,
    /// Counts of recorded events.
    counts: Counts,
    /// Messages that cannot be read. They are kept in the store.
    unreadable: HashSet<Key>,
    pause: Pause,
    /// Key after which the next read continues; `None` means from the start.
    after: Option<Key>,
    /// Earliest due time of the messages read since the start.
    next: Option<Millis>,
}

impl<C: Channel> Queue<C> {
    /// Creates a queue that commits through an executor.
    pub(super) fn new(executor: Arc<Executor>, channel: C, metrics: Metrics) -> Self {
        Self {
            executor,
            channel,
            metrics,
            unrecorded: None,
            counts: Counts::default(),
            unreadable: HashSet::new(),
            pause: Pause::default(),
            after: None,
            next: None,
        }
    }

    /// Sends messages until `stop`. The rest is sent after the next start.
    pub(super) async fn run(mut self, stop: CancellationToken) {
        let executor = Arc::clone(&self.executor);
        while !stop.is_cancelled() {
            let result = tokio::select! {
                () = stop.cancelled() => return,
                result = self.work() => result,
            };
            self.pause.record(result, C::NAME, now());
            let wait = self.wait_time(now());
            tokio::select! {
                () = stop.cancelled() => return,
                () = C::committed(executor.world()).notified() => {}
                () = tokio::time::sleep(wait) => {}
            }
        }
    }

    /// Sends the due messages of the next pass. Nothing is sent while the outcome of an earlier message cannot
    /// be recorded.
    async fn work(&mut self) -> Result<(), Stopped> {
        if self.pause.is_active(now()) {
            return Ok(());
        }
        if !self.executor.accepts_writes() {
            return Err(Stopped::Writes);
        }
        self.record().await?;
        for (key, message) in self.read_due()? {
            let reply = self.channel.send(&key, &message).await;
            self.unrecorded = Some(Sent { key, message, reply, at: now() });
            self.record().await?;
        }
        Ok(())
    }

    /// Returns the time until there is work to do, unless a message is queued earlier.
    fn wait_time(&self, now: Millis) -> Duration {
        let next = if self.after.is_some() { Some(now) } else { self.next };
        let until = self.pause.until().or(next);
        until.map_or(LONGEST_WAIT, |until| Duration::from_millis(until.saturating_sub(now)).min(LONGEST_WAIT))
    }

    /// Reads some of the queued messages and returns those that are due, at most [`SHARE`] of each tenant.
    fn read_due(&mut self) -> Result<Vec<(Key, C::Message)>, Corrupt> {
        C::reach(Step::Read);
        if self.after.is_none() {
            self.next = None;
        }
        let records = self.executor.world().records();
        let keys = records.keys(Page { after: self.after.as_deref(), ..Page::first(C::QUEUE, BATCH) })?;
        let is_full = keys.len() == BATCH;
        let mut due = Vec::new();
        let mut shares: HashMap<Option<OrganizationId>, usize> = HashMap::new();
        for key in &keys {
            let Some(message) = readable::<C::Message>(records.read(key))? else {
                // The message may have been sent since its key was read.
                if !records.keys(Page::first(key, 1))?.is_empty() && self.unreadable.insert(key.clone()) {
                    self.metrics.delivery("unreadable");
                    tracing::error!(
                        what = C::NAME,
                        "a queued message cannot be read; it is kept in the store"
                    );
                }
                continue;
            };
            let (_, time) = C::schedule(&message);
            let tenant = self.channel.described(key, &message).map(|message| message.origin.keeper);
            let share = shares.entry(tenant).or_default();
            if time <= now() && *share < SHARE {
                *share = share.saturating_add(1);
                due.push((key.clone(), message));
            } else {
                self.next = Some(self.next.map_or(time, |next| next.min(time)));
            }
        }
        self.after = keys.into_iter().next_back().filter(|_| is_full);
        Ok(due)
    }

    /// Makes the outcome of a message durable, with its event. If that fails, the outcome is kept, and the message
    /// is not sent again.
    async fn record(&mut self) -> Result<(), Stopped> {
        let Some(sent) = &self.unrecorded else { return Ok(()) };
        let outcome = sent.reply.outcome;
        let postponed = if outcome == Outcome::Failed { postponed::<C>(sent)? } else { None };
        let mut writes = self.counts.record(&self.executor, &self.channel, sent, postponed.is_some())?;
        writes.push(postponed.unwrap_or_else(|| Write::remove(sent.key.clone())));
        let commit = Commit { writes, ..Commit::default() };
        let recorded = self.executor.commit(commit).await;
        C::reach(Step::Recorded);
        recorded.map_err(|_| Stopped::Writes)?;
        self.metrics.delivery(match outcome {
            Outcome::Accepted => "delivered",
            Outcome::Rejected => "refused",
            Outcome::Failed => "failed",
        });
        self.unrecorded = None;
        Ok(())
    }
}

/// Returns the write that postpones a message; `None` after the last attempt.
fn postponed<C: Channel>(sent: &Sent<C::Message>) -> Result<Option<Write>, Corrupt> {
    let attempts = C::schedule(&sent.message).0.saturating_add(1);
    let Some(due) = schedule::next(attempts, C::ATTEMPTS, now()) else {
        tracing::warn!(what = C::NAME, "a message was abandoned after its last attempt");
        return Ok(None);
    };
    let later = C::rescheduled(&sent.message, attempts, due);
    Ok(Some(Write::put(sent.key.clone(), &later)?.with(C::EFFECT)))
}

#[cfg(test)]
mod tests;
