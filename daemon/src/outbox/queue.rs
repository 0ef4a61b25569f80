//! Sends queued messages, several at once: mail and SMS. `daemon/src/message_queue.rs` selects the next one.
//!
//! A message is removed from the store when its channel has accepted or permanently rejected it, after its last
//! attempt, or when its secret has expired. Nothing is sent while an outcome is not recorded. If the daemon crashes
//! between sending a message and recording that, the message is sent twice; it is never lost.

mod dropping;
mod events;
mod outage;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use quorate_core::error::Corrupt;
use quorate_core::message_end;
use quorate_core::model::Millis;
use quorate_core::model::layout::Key;
use quorate_core::model::message_event::ServerAnswer;
use quorate_core::model::queued_message::{self, MessageId, QueuedMessage, StoredMessage};
use quorate_core::model::write::Write;
use quorate_core::outbox::readable;
use quorate_core::pipeline::Commit;
use quorate_core::world::{Page, World as _};
use tokio::task::{Id, JoinError, JoinSet};
use tokio_util::sync::CancellationToken;

use self::events::Counts;
use self::outage::Outage;
use super::channel::{Channel, Outcome, Reply, SentMessage, Step};
use super::pause::{Pause, Stopped};
use super::schedule;
use crate::clock::now;
use crate::executor::{CommitError, Executor};
use crate::lease::Lease;
use crate::message_queue::{MessageQueue, Turns};
use crate::telemetry::{MessageStep, Metrics};

/// Time in which outcomes are collected while other messages are being sent, in milliseconds. One commit then records
/// several, and delays the commits of requests less. A message whose outcome is lost is sent again.
const COLLECTION: Millis = 20;
/// Maximum number of messages that are read in one step, or removed in one commit because they expired.
const BATCH: usize = 64;
/// Maximum time between two steps.
const LONGEST_WAIT: Duration = Duration::from_secs(30);
/// Time above which a receiver counts as slow.
const SLOW: Duration = Duration::from_secs(5);
/// How long a daemon that stops waits for the messages that it is sending, so that it does not send them again.
const STOP_WAIT: Duration = Duration::from_secs(2);

/// A message that is being sent.
struct Running<M> {
    id: MessageId,
    message: Arc<M>,
    begun: Instant,
}

/// A message whose outcome is not recorded yet.
struct Ended<M> {
    id: MessageId,
    key: Key,
    message: Arc<M>,
    reply: Reply,
    /// Time of the answer.
    at: Millis,
}

/// A message that was read, and whether what it is for has ended.
type Usable<M> = (Arc<M>, bool);

/// Reads the queued messages of the store.
enum Scan {
    /// The scan continues after this key.
    Running(Option<Key>),
    /// All of them are known.
    Done,
}

/// Sends the queued messages of a channel.
pub(super) struct Queue<C: Channel> {
    executor: Arc<Executor>,
    /// Whether this daemon sends, or another one that shares the store.
    lease: Lease,
    channel: Arc<C>,
    metrics: Metrics,
    running: JoinSet<Reply>,
    under_way: HashMap<Id, Running<C::Message>>,
    /// Messages whose outcomes are not recorded yet.
    ended: Vec<Ended<C::Message>>,
    /// Counts of recorded events.
    counts: Counts,
    /// Messages that cannot be read. They are kept in the store.
    unreadable: HashSet<Key>,
    pause: Pause,
    outage: Outage,
    scan: Scan,
}

impl<C: Channel> Queue<C> {
    /// Creates a queue that commits through an executor.
    pub(super) fn new(executor: Arc<Executor>, channel: C, metrics: Metrics) -> Self {
        Self {
            lease: Lease::new(Arc::clone(&executor), C::NAME),
            executor,
            channel: Arc::new(channel),
            metrics,
            running: JoinSet::new(),
            under_way: HashMap::new(),
            ended: Vec::new(),
            counts: Counts::default(),
            unreadable: HashSet::new(),
            pause: Pause::default(),
            outage: Outage::default(),
            scan: Scan::Running(None),
        }
    }

    /// Sends messages until `stop`. The rest is sent after the next start.
    pub(super) async fn run(mut self, stop: CancellationToken) {
        let executor = Arc::clone(&self.executor);
        while !stop.is_cancelled() {
            let result = self.leased().await;
            if self.pause.record(result, C::NAME, now()) || self.messages().take_unknown() {
                // The store may hold other messages than were seen before.
                self.messages().turns().clear();
                self.scan = Scan::Running(None);
            }
            let wait = self.wait_time(now());
            tokio::select! {
                () = stop.cancelled() => {}
                () = executor.world().messages(C::Message::CHANNEL).added() => {}
                () = tokio::time::sleep(wait) => {}
                Some(joined) = self.running.join_next_with_id() => self.join(joined),
            }
        }
        let rest = async {
            while let Some(joined) = self.running.join_next_with_id().await {
                self.join(joined);
            }
        };
        let _ = tokio::time::timeout(STOP_WAIT, rest).await;
        // An outcome that cannot be recorded is as that of a message that is being sent: it is sent again.
        let _ = self.record().await;
        self.lease.free().await;
    }

    /// Works if this daemon has the lease of the queue. Otherwise, it only counts what waits.
    async fn leased(&mut self) -> Result<(), Stopped> {
        let had = self.lease.is_own();
        let has = self.lease.hold().await;
        if !self.lease.is_own() {
            if had {
                self.abandon();
            }
            self.messages().take_added();
            has?;
            return Ok(self.scan()?);
        }
        if !had {
            self.messages().turns().clear();
            self.scan = Scan::Running(None);
        }
        if !has? {
            return Err(Stopped::Writes);
        }
        self.work().await
    }

    /// Forgets the messages that are being sent: another daemon sends them again.
    fn abandon(&mut self) {
        tracing::warn!(what = C::NAME, "another daemon has taken over the queue");
        self.running = JoinSet::new();
        self.under_way.clear();
        self.ended.clear();
        *self.messages().turns() = Turns::default();
        self.scan = Scan::Running(None);
    }

    fn messages(&self) -> &MessageQueue {
        self.executor.world().messages(C::Message::CHANNEL)
    }

    /// Counts messages in the metrics.
    fn count(&self, step: MessageStep, count: u64) {
        let channel = match C::Message::CHANNEL {
            queued_message::Channel::Mail => "mail",
            queued_message::Channel::Sms => "sms",
        };
        self.metrics.messages(channel, step, count);
    }

    /// Does the work that is possible now.
    async fn work(&mut self) -> Result<(), Stopped> {
        match self.messages().take_added() {
            0 => {}
            added => self.count(MessageStep::Queued, added),
        }
        while let Some(joined) = self.running.try_join_next_with_id() {
            self.join(joined);
        }
        if self.pause.is_active(now()) {
            return Ok(());
        }
        if !self.executor.accepts_writes() {
            return Err(Stopped::Writes);
        }
        if self.is_record_due() {
            self.record().await?;
        }
        self.scan()?;
        self.drop_displaced().await?;
        self.drop_expired().await?;
        self.start()?;
        while self.is_record_due() {
            self.record().await?;
            self.start()?;
        }
        Ok(())
    }

    /// Returns the time at which the outcomes are recorded at the latest.
    fn record_time(&self) -> Option<Millis> {
        self.ended.first().map(|ended| ended.at.saturating_add(COLLECTION))
    }

    /// Returns whether the outcomes are to be recorded now.
    fn is_record_due(&self) -> bool {
        let is_last = self.running.is_empty() || self.ended.len() >= BATCH;
        self.record_time().is_some_and(|time| is_last || time <= now())
    }

    /// Returns the time until there is work to do, unless a message is queued or ends earlier.
    fn wait_time(&self, now: Millis) -> Duration {
        let turns = self.messages().turns();
        let next = match self.scan {
            Scan::Running(_) => Some(now),
            Scan::Done if self.outage.is_open() => {
                let probe = self.outage.until().filter(|_| self.running.is_empty());
                [probe, turns.next_end()].into_iter().flatten().min()
            }
            Scan::Done => turns.next(),
        };
        drop(turns);
        let until = self.pause.until().or_else(|| next.into_iter().chain(self.record_time()).min());
        let wait = until
            .map_or(LONGEST_WAIT, |until| Duration::from_millis(until.saturating_sub(now)).min(LONGEST_WAIT));
        let is_scanned = matches!(self.scan, Scan::Done);
        let lease_wait = self.lease.wait_time();
        if !self.lease.is_own() && is_scanned { lease_wait } else { wait.min(lease_wait) }
    }

    /// Continues the scan of the queued messages by one step.
    fn scan(&mut self) -> Result<(), Corrupt> {
        let Scan::Running(after) = &self.scan else { return Ok(()) };
        C::reach(Step::Read);
        let executor = Arc::clone(&self.executor);
        let records = executor.world().records();
        let prefix = C::Message::CHANNEL.prefix();
        let keys = records.keys(Page { after: after.as_deref(), ..Page::first(prefix, BATCH) })?;
        for key in &keys {
            let Some(id) = MessageId::of_key(key) else { continue };
            let record = records.read(key);
            let length = record.as_ref().map_or(0, |record| record.as_ref().map_or(0, Vec::len));
            match readable::<C::Message>(record)? {
                Some(message) => {
                    let index = executor.world().index();
                    let queued = QueuedMessage::of(id, &message, length, index);
                    self.messages().turns().add(queued);
                }
                None => self.report_unreadable(key)?,
            }
        }
        let is_full = keys.len() == BATCH;
        self.scan = match keys.into_iter().next_back().filter(|_| is_full) {
            Some(last) => Scan::Running(Some(last)),
            None => Scan::Done,
        };
        Ok(())
    }

    /// Reports a message that cannot be read, unless it was removed.
    fn report_unreadable(&mut self, key: &Key) -> Result<(), Corrupt> {
        let records = self.executor.world().records();
        if !records.keys(Page::first(key, 1))?.is_empty() && self.unreadable.insert(key.clone()) {
            self.count(MessageStep::Unreadable, 1);
            tracing::error!(what = C::NAME, "a queued message cannot be read; it is kept in the store");
        }
        Ok(())
    }

    /// Reads a message. Returns `None` if it is not there, or cannot be read.
    fn read(&mut self, key: &Key) -> Result<Option<Arc<C::Message>>, Corrupt> {
        C::reach(Step::Read);
        let message = readable::<C::Message>(self.executor.world().records().read(key))?;
        if message.is_none() {
            self.report_unreadable(key)?;
        }
        Ok(message.map(Arc::new))
    }

    /// Sends the messages whose turn it is, unless what they are for has ended. Stops after a number of the latter, whose
    /// ends are to be recorded.
    fn start(&mut self) -> Result<(), Stopped> {
        if self.outage.is_open() && (self.outage.is_pause(now()) || !self.running.is_empty()) {
            return Ok(());
        }
        while self.ended.len() < BATCH {
            let next = {
                let mut turns = self.messages().turns();
                turns.tick(now());
                turns.select()
            };
            let Some(QueuedMessage { id, due, .. }) = next else { return Ok(()) };
            let key = id.key(C::Message::CHANNEL);
            let read = self.read(&key).and_then(|message| self.with_use(message));
            let Ok(Some((message, is_useless))) = read else {
                let mut turns = self.messages().turns();
                turns.end(id, None);
                if read.is_err() {
                    turns.postpone(id, due, false);
                } else {
                    turns.forget(id);
                }
                drop(turns);
                read?;
                continue;
            };
            if is_useless {
                self.messages().turns().end(id, None);
                let answer = ServerAnswer::new(None, "what it was for ended before the server took it", &[]);
                let reply = Reply { outcome: Outcome::Expired, answer };
                self.ended.push(Ended { id, key, message, reply, at: now() });
                continue;
            }
            let (channel, sent) = (Arc::clone(&self.channel), Arc::clone(&message));
            let task = self.running.spawn(async move { channel.send(&key, &sent).await });
            self.under_way.insert(task.id(), Running { id, message, begun: Instant::now() });
            if self.outage.is_open() {
                // One message shows whether the server is available again.
                return Ok(());
            }
        }
        Ok(())
    }

    /// Returns a message, and whether what it is for has ended.
    fn with_use(&self, message: Option<Arc<C::Message>>) -> Result<Option<Usable<C::Message>>, Corrupt> {
        let Some(message) = message else { return Ok(None) };
        let is_useless = message_end::is_useless(&*message, self.executor.world().records(), now())?;
        Ok(Some((message, is_useless)))
    }

    /// Processes the end of sending a message.
    fn join(&mut self, joined: Result<(Id, Reply), JoinError>) {
        let (task, reply) = joined.unwrap_or_else(|error| {
            let answer = ServerAnswer::new(None, "internal error", &[]);
            (error.id(), Reply { outcome: Outcome::Failed, answer })
        });
        let Some(Running { id, message, begun }) = self.under_way.remove(&task) else { return };
        let is_available = reply.outcome != Outcome::Unavailable;
        self.outage.record(is_available, C::NAME, now());
        let is_prompt = begun.elapsed() <= SLOW;
        let mut turns = self.messages().turns();
        turns.end(id, is_available.then_some(is_prompt));
        turns.set_unavailable(self.outage.since());
        drop(turns);
        self.ended.push(Ended { id, key: id.key(C::Message::CHANNEL), message, reply, at: now() });
    }

    /// Makes outcomes durable, with their events. If that fails, they are kept, and nothing is sent.
    async fn record(&mut self) -> Result<(), Stopped> {
        if self.ended.is_empty() {
            return Ok(());
        }
        let (mut writes, mut next) = (Vec::new(), Vec::new());
        for ended in &self.ended {
            let later = later::<C>(ended);
            let due = later.as_ref().map(|message| message.schedule().1);
            writes.extend(self.counts.record(&self.executor, &*self.channel, ended, due.is_some())?);
            writes.push(match &later {
                Some(later) => Write::put(ended.key.clone(), later)?,
                None => Write::remove(ended.key.clone()),
            });
            next.push((ended.id, due, ended.reply.outcome == Outcome::Failed));
        }
        // Two messages to one receiver may remove the same old events.
        let mut removed = HashSet::new();
        writes.retain(|write| write.value.is_some() || removed.insert(write.key.clone()));
        C::reach(Step::Record);
        let commit = Commit { writes, ..Commit::default() };
        let recorded = self.executor.commit_if(commit, self.lease.condition()).await;
        C::reach(Step::Recorded);
        if recorded == Err(CommitError::Clash) {
            self.lease.lose();
            self.abandon();
        }
        recorded.map_err(|_| Stopped::Writes)?;
        let ended: Vec<_> = self.ended.drain(..).collect();
        for (ended, (_, due, _)) in ended.iter().zip(&next) {
            self.count(counted_as(ended.reply.outcome, due.is_some()), 1);
        }
        let mut turns = self.executor.world().messages(C::Message::CHANNEL).turns();
        for (id, due, is_delayed) in next {
            match due {
                Some(due) => turns.postpone(id, due, is_delayed),
                None => turns.forget(id),
            }
        }
        Ok(())
    }
}

/// Returns what the metrics count for the outcome of an attempt. `continues` states whether another attempt will be made.
const fn counted_as(outcome: Outcome, continues: bool) -> MessageStep {
    match outcome {
        Outcome::Accepted => MessageStep::Sent,
        Outcome::Expired => MessageStep::Expired,
        Outcome::Displaced => MessageStep::Displaced,
        Outcome::Failed | Outcome::Unavailable if continues => MessageStep::Delayed,
        Outcome::Rejected | Outcome::Failed | Outcome::Unavailable => MessageStep::Bounced,
    }
}

/// Returns the message with the schedule of its next attempt; `None` if there is none.
fn later<C: Channel>(ended: &Ended<C::Message>) -> Option<C::Message> {
    if !matches!(ended.reply.outcome, Outcome::Failed | Outcome::Unavailable) {
        return None;
    }
    let attempts = ended.message.schedule().0.saturating_add(1);
    let Some(due) = schedule::next(attempts, C::ATTEMPTS, now()) else {
        let sent = SentMessage::of(&ended.key, &ended.message.receiver());
        let SentMessage { activity, domain } = &sent;
        tracing::warn!(what = C::NAME, activity, domain, "a message was abandoned after its last attempt");
        return None;
    };
    let mut later = C::Message::clone(&ended.message);
    later.reschedule(attempts, due);
    if ended.reply.outcome == Outcome::Failed {
        later.delay(ended.at);
    }
    Some(later)
}

#[cfg(test)]
mod tests;
