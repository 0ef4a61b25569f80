//! Delivers notices: in order for each activity and receiver, retried, and never forgotten by a crash, since a
//! notice leaves the store only when it was delivered or given up.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use quorate_common::ids::{ActivityId, EndpointId, OrganizationId};
use quorate_core::model::change::Write;
use quorate_core::model::layout::{Key, NOTICES};
use quorate_core::model::record::Record;
use quorate_core::notice::Notice;
use quorate_core::pipeline::Commit;
use quorate_core::refusal::Corrupt;
use quorate_core::world::{Page, World};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::dial::{Dialler, Outcome};
use super::receiver::{ReceiverPolicy, WebhookUrl};
use super::schedule;
use crate::clock::now;
use crate::fail_points;
use crate::identity::Identity;
use crate::telemetry::Metrics;
use crate::turn::Turns;

/// How many notices are looked at in one pass.
const PASS: usize = 1024;
/// How many deliveries run at once.
const DELIVERIES: usize = 16;
/// Longest rest between two passes.
const REST: Duration = Duration::from_secs(30);

/// Who is told, and of what: one notice after the other.
type Lane = (OrganizationId, Option<EndpointId>, ActivityId);

/// Delivers what waits.
pub struct Outbox {
    turns: Arc<Turns>,
    identity: Identity,
    dialler: Arc<Dialler>,
    policy: ReceiverPolicy,
    metrics: Metrics,
}

/// What became of one delivery.
struct Ended {
    lane: Lane,
    key: Key,
    notice: Notice,
    outcome: Outcome,
}

/// One pass over what waits.
struct Found {
    /// The first notice of each lane that is due.
    due: Vec<(Key, Notice)>,
    /// When the earliest of the others is due.
    next: Option<u64>,
    /// Where the next pass begins; nothing means from the start.
    cursor: Option<Key>,
}

impl Outbox {
    /// An outbox over these turns.
    pub fn new(turns: Arc<Turns>, identity: Identity, policy: &ReceiverPolicy, metrics: Metrics) -> Self {
        let dialler = Arc::new(Dialler::new(policy.clone()));
        Self { turns, identity, dialler, policy: policy.clone(), metrics }
    }

    /// Delivers until `stop`. What is under way then is tried again after the next start.
    pub async fn run(self, stop: CancellationToken) {
        let mut under_way: HashSet<Lane> = HashSet::new();
        let mut deliveries: JoinSet<Ended> = JoinSet::new();
        let mut cursor: Option<Key> = None;
        loop {
            let found = self.look(cursor.as_deref(), &under_way).unwrap_or_else(|corrupt| {
                tracing::error!(cause = %corrupt, "notices cannot be read");
                Found { due: Vec::new(), next: None, cursor: None }
            });
            let mut waits = found.cursor.is_none();
            for (key, notice) in found.due {
                if deliveries.len() >= DELIVERIES {
                    waits = true;
                    break;
                }
                let lane = lane(&notice);
                under_way.insert(lane);
                deliveries.spawn(self.deliver(lane, key, notice));
            }
            cursor = found.cursor;
            if !waits && !stop.is_cancelled() {
                continue;
            }
            let rest =
                found.next.map_or(REST, |due| Duration::from_millis(due.saturating_sub(now())).min(REST));
            tokio::select! {
                () = stop.cancelled() => return,
                () = self.turns.world().notices.notified() => {}
                () = tokio::time::sleep(rest) => {}
                Some(ended) = deliveries.join_next() => if let Ok(ended) = ended {
                    under_way.remove(&ended.lane);
                    self.settle(ended).await;
                },
            }
        }
    }

    /// Looks at a stretch of what waits. A lane is looked at whole, so that its first notice is its first.
    fn look(&self, after: Option<&[u8]>, under_way: &HashSet<Lane>) -> Result<Found, Corrupt> {
        fail_points::reach("outbox.read");
        let page = Page { after, ..Page::first(NOTICES, PASS) };
        let rows = self.turns.world().records().page(page)?;
        let full = rows.len() == PASS;
        let last = rows.last().and_then(|(key, _)| activity_of(key)).map(<[u8]>::to_vec);
        let one_activity = rows.first().and_then(|(key, _)| activity_of(key)) == last.as_deref();
        let mut found = Found { due: Vec::new(), next: None, cursor: None };
        let mut seen: HashSet<Lane> = HashSet::new();
        for (key, bytes) in rows {
            if full && !one_activity && activity_of(&key) == last.as_deref() {
                break;
            }
            let notice = Notice::decode(&bytes)?;
            let lane = lane(&notice);
            if full {
                found.cursor = Some(key.clone());
            }
            if !seen.insert(lane) || under_way.contains(&lane) {
                continue;
            }
            if notice.due <= now() {
                found.due.push((key, notice));
            } else {
                found.next = Some(found.next.map_or(notice.due, |next| next.min(notice.due)));
            }
        }
        Ok(found)
    }

    fn deliver(&self, lane: Lane, key: Key, notice: Notice) -> impl Future<Output = Ended> + use<> {
        let dialler = Arc::clone(&self.dialler);
        let headers = self.headers(&notice, &key);
        let url = WebhookUrl::check(&notice.url, &self.policy);
        async move {
            fail_points::reach("outbox.send");
            let outcome = match (url, headers) {
                (Ok(url), Ok(headers)) => {
                    let body = Bytes::from(notice.body.get().to_owned());
                    dialler.post(&url, &headers, body).await
                }
                // What was allowed when it was set is not allowed any more.
                (Err(why), _) => Outcome::Refused(why),
                (_, Err(_)) => Outcome::Retry("it could not be signed"),
            };
            fail_points::reach("outbox.sent");
            Ended { lane, key, notice, outcome }
        }
    }

    /// The headers of one attempt. The event id stays the same over attempts; time and signature do not.
    fn headers(&self, notice: &Notice, key: &[u8]) -> Result<Vec<(&'static str, String)>, Corrupt> {
        let (key_id, time, event) = (self.identity.webhook_key_id(), now().to_string(), event_id(key));
        let mut text = format!("v1.ed25519.{key_id}.{time}.{event}.").into_bytes();
        text.extend_from_slice(notice.body.get().as_bytes());
        Ok(vec![
            ("x-turnkey-organization-id", notice.receiver.to_string()),
            ("x-turnkey-event-type", "ACTIVITY_UPDATES".to_owned()),
            ("x-turnkey-timestamp", time),
            ("x-turnkey-webhook-version", "1".to_owned()),
            ("x-turnkey-event-id", event),
            ("x-turnkey-signature-key-id", key_id),
            ("x-turnkey-signature-algorithm", "ed25519".to_owned()),
            ("x-turnkey-signature-version", "v1".to_owned()),
            ("x-turnkey-signature", self.identity.sign_webhook(text)?),
        ])
    }

    /// Takes a delivered notice out of the store, and puts a failed one back for later.
    async fn settle(&self, ended: Ended) {
        let Ended { key, mut notice, outcome, .. } = ended;
        let (receiver, activity) = (notice.receiver, notice.activity);
        notice.attempts = notice.attempts.saturating_add(1);
        let write = match outcome {
            Outcome::Delivered(_) => {
                self.metrics.delivery("delivered");
                Write::remove(key)
            }
            Outcome::Final(status) => {
                self.metrics.delivery("refused");
                tracing::warn!(%receiver, %activity, status, "a webhook was refused for good");
                Write::remove(key)
            }
            Outcome::Refused(why) => {
                self.metrics.delivery("refused");
                tracing::warn!(%receiver, %activity, why, "a webhook may not be delivered");
                Write::remove(key)
            }
            Outcome::Retry(why) => {
                self.metrics.delivery("failed");
                tracing::warn!(%receiver, %activity, why, attempts = notice.attempts, "a webhook failed");
                postponed(key, notice)
            }
        };
        let commit = Commit { writes: vec![write], ..Commit::default() };
        fail_points::reach("outbox.settle");
        let recorded = self.turns.commit(commit).await;
        fail_points::reach("outbox.settled");
        if let Err(error) = recorded {
            tracing::error!(cause = %error, "a delivery cannot be recorded; it is made again after the next start");
        }
    }
}

/// Puts a notice back for later, or gives it up.
fn postponed(key: Key, mut notice: Notice) -> Write {
    let Some(due) = schedule::next(notice.attempts, schedule::WEBHOOK_ATTEMPTS, now()) else {
        tracing::warn!(receiver = %notice.receiver, activity = %notice.activity, "a webhook was given up");
        return Write::remove(key);
    };
    notice.due = due;
    // A notice that was read from the store can be written there again.
    Write::put(key.clone(), &notice).unwrap_or_else(|_| Write::remove(key))
}

fn lane(notice: &Notice) -> Lane {
    (notice.receiver, notice.endpoint, notice.activity)
}

/// The activity in the key of a notice.
fn activity_of(key: &[u8]) -> Option<&[u8]> {
    key.get(1..17)
}

/// Names an event by where its notice stands, so that it is the same at each attempt.
fn event_id(key: &[u8]) -> String {
    use sha2::{Digest, Sha256};
    let mut bytes = [0; 16];
    bytes.iter_mut().zip(Sha256::digest(key)).for_each(|(to, from)| *to = from);
    ActivityId::random(bytes).to_string()
}
