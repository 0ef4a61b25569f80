//! Queued messages with a real store, and a channel whose outcomes are chosen.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::sync::Mutex;

use quorate_common::bounded::Phone;
use quorate_common::ids::{ActivityId, OrganizationId};
use quorate_core::message_events;
use quorate_core::model::layout::of_message;
use quorate_core::model::layout::outbox::{SMS, sms};
use quorate_core::model::message_event::{DeliveryStep, MessageOrigin};
use quorate_core::model::one_time_code::Contact;
use quorate_core::sms::Sms;
use tempfile::TempDir;

use super::*;
use crate::executor::testing;
use crate::store::embedded::Embedded;
use crate::store::testing::FaultyStore;
use crate::store::{Batch, Change, Group, Store};

/// Returns chosen outcomes, and records the texts that were sent.
#[derive(Clone)]
struct Chosen {
    outcome: Arc<Mutex<Outcome>>,
    sent: Arc<Mutex<Vec<String>>>,
}

impl Channel for Chosen {
    type Message = Sms;
    const NAME: &'static str = "test";
    const QUEUE: &'static [u8] = SMS;
    const EFFECT: Effect = Effect::Sms;
    const ATTEMPTS: u32 = 3;

    fn committed(world: &Shared) -> &Notify {
        &world.sms
    }

    fn schedule(sms: &Sms) -> (u32, Millis) {
        (sms.attempts, sms.due)
    }

    fn rescheduled(sms: &Sms, attempts: u32, due: Millis) -> Sms {
        let mut later = sms.clone();
        (later.attempts, later.due) = (attempts, due);
        later
    }

    fn described(&self, key: &[u8], sms: &Sms) -> Option<Message> {
        let (activity, number) = of_message(key)?;
        Some(Message {
            origin: sms.origin?,
            activity,
            number,
            to: Contact::Phone(sms.to.clone()),
            from: None,
        })
    }

    async fn send(&self, _: &[u8], sms: &Sms) -> Reply {
        self.sent.lock().unwrap().push(sms.text.clone());
        Reply { outcome: *self.outcome.lock().unwrap(), answer: ServerAnswer::new(Some(1), "a  b", &[]) }
    }

    fn reach(_: Step) {}
}

/// Organization that keeps the events.
const KEEPER: OrganizationId = OrganizationId::from_bytes([9; 16]);

struct Fixture {
    store: Arc<FaultyStore>,
    executor: Arc<Executor>,
    channel: Chosen,
    metrics: Metrics,
    _folder: TempDir,
}

impl Fixture {
    fn new(outcome: Outcome) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Embedded::open(&folder.path().join("store"), 0).unwrap();
        let store = Arc::new(FaultyStore::new(store));
        let (shared, _) = testing::shared(folder.path(), Arc::clone(&store) as Arc<dyn Store>);
        shared.compare_all();
        let executor = Arc::new(Executor::start(shared));
        let channel = Chosen { outcome: Arc::new(Mutex::new(outcome)), sent: Arc::default() };
        Self { store, executor, channel, metrics: Metrics::new(), _folder: folder }
    }

    fn queue(&self) -> Queue<Chosen> {
        Queue::new(Arc::clone(&self.executor), self.channel.clone(), self.metrics.clone())
    }

    /// Queues a message that is due at a time.
    async fn put(&self, number: u32, text: &str, due: Millis) {
        let to = Phone::parse("+4915112345678".to_owned()).unwrap();
        let mut sms = Sms::new(to, text.to_owned(), due);
        sms.origin = Some(MessageOrigin { organization: KEEPER, keeper: KEEPER, queued: 0 });
        let write = Write::put(key(number), &sms).unwrap();
        let writes = vec![write.with(Effect::Sms)];
        self.executor.commit(Commit { writes, ..Commit::default() }).await.unwrap();
    }

    /// Queues a message of another tenant that is due now.
    async fn put_of(&self, tenant: u8, number: u32, text: &str) {
        let to = Phone::parse("+4915112345678".to_owned()).unwrap();
        let mut sms = Sms::new(to, text.to_owned(), 0);
        let keeper = OrganizationId::from_bytes([tenant; 16]);
        sms.origin = Some(MessageOrigin { organization: keeper, keeper, queued: 0 });
        let writes = vec![Write::put(key(number), &sms).unwrap().with(Effect::Sms)];
        self.executor.commit(Commit { writes, ..Commit::default() }).await.unwrap();
    }

    /// Returns the queued messages that can be read.
    fn queued(&self) -> Vec<Sms> {
        let records = self.executor.world().records();
        let keys = records.keys(Page::first(SMS, 100)).unwrap();
        keys.iter().filter_map(|key| readable(records.read(key)).unwrap()).collect()
    }

    /// Returns the recorded events, newest first.
    fn steps(&self) -> Vec<DeliveryStep> {
        let records = self.executor.world().records();
        let (events, _) = message_events::of_organization(records, KEEPER, None, 100).unwrap();
        events.into_iter().map(|(_, event)| event.step).collect()
    }

    fn sent(&self) -> Vec<String> {
        self.channel.sent.lock().unwrap().clone()
    }

    fn counts(&self, outcome: &str) -> bool {
        self.metrics.text().contains(&format!("deliveries_total{{outcome=\"{outcome}\"}} 1"))
    }
}

fn key(number: u32) -> Key {
    sms(ActivityId::timed(1, [3; 10]), number)
}

#[tokio::test]
async fn accepted_and_rejected_messages_are_removed() {
    for (outcome, name) in [(Outcome::Accepted, "delivered"), (Outcome::Rejected, "refused")] {
        let fixture = Fixture::new(outcome);
        fixture.put(0, "a", 0).await;
        let mut queue = fixture.queue();
        queue.work().await.unwrap();
        queue.work().await.unwrap();
        assert_eq!((fixture.sent(), fixture.queued().len()), (vec!["a".to_owned()], 0), "{name}");
        assert!(fixture.counts(name), "{}", fixture.metrics.text());
        let steps = fixture.steps();
        assert_eq!(steps.len(), 1, "{name}: {steps:?}");
        let step = steps.first().unwrap();
        assert_eq!(step.answer().unwrap().line(), "1 a b");
        let is_delivered = matches!(step, DeliveryStep::Delivered(..));
        assert!(is_delivered || matches!(step, DeliveryStep::Rejected(_)), "{name}: {step:?}");
    }
}

#[tokio::test]
async fn failed_messages_are_sent_again_until_the_last_attempt() {
    let fixture = Fixture::new(Outcome::Failed);
    fixture.put(0, "a", 0).await;
    // The queue of a restarted daemon continues with the recorded schedule.
    for attempts in 1..3 {
        fixture.queue().work().await.unwrap();
        let later = fixture.queued().pop().unwrap();
        assert_eq!((later.attempts, fixture.sent().len()), (attempts, usize::try_from(attempts).unwrap()));
        let mut now = later.clone();
        now.due = 0;
        let writes = vec![Write::put(key(0), &now).unwrap()];
        fixture.executor.commit(Commit { writes, ..Commit::default() }).await.unwrap();
    }
    fixture.queue().work().await.unwrap();
    assert_eq!((fixture.queued().len(), fixture.sent().len()), (0, 3));
    let answer = || ServerAnswer { code: Some(1), text: "a b".to_owned() };
    let delayed = || DeliveryStep::Delayed(answer());
    assert_eq!(fixture.steps(), [DeliveryStep::GivenUp(answer()), delayed(), delayed()]);
}

#[tokio::test]
async fn messages_wait_until_they_are_due() {
    let fixture = Fixture::new(Outcome::Accepted);
    let due = now().saturating_add(10_000);
    fixture.put(0, "later", due).await;
    fixture.put(1, "now", 0).await;
    let mut queue = fixture.queue();
    queue.work().await.unwrap();
    assert_eq!((fixture.sent(), fixture.queued().len()), (vec!["now".to_owned()], 1));
    assert_eq!(queue.wait_time(due.saturating_sub(700)), Duration::from_millis(700));
}

#[tokio::test]
async fn messages_that_cannot_be_read_delay_no_others() {
    let fixture = Fixture::new(Outcome::Accepted);
    fixture.put(0, "a", 0).await;
    fixture.put(1, "b", 0).await;
    let writes = vec![Change::put(key(0), vec![7; 64])];
    fixture.store.commit(&Group::of(Batch { writes, ..Batch::default() })).unwrap();
    let mut queue = fixture.queue();
    queue.work().await.unwrap();
    queue.work().await.unwrap();
    assert_eq!(fixture.sent(), ["b"]);
    assert!(fixture.counts("unreadable"), "{}", fixture.metrics.text());
    assert_eq!(fixture.executor.world().records().keys(Page::first(SMS, 9)).unwrap(), [key(0)]);
}

#[tokio::test]
async fn a_running_queue_sends_what_is_committed_and_stops() {
    let fixture = Fixture::new(Outcome::Accepted);
    let stop = CancellationToken::new();
    let running = tokio::spawn(fixture.queue().run(stop.clone()));
    fixture.put(0, "a", 0).await;
    let deadline = tokio::time::Instant::now() + Duration::from_mins(1);
    while fixture.sent().is_empty() {
        assert!(tokio::time::Instant::now() < deadline, "the message is not sent in time");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    stop.cancel();
    running.await.unwrap();
}

#[tokio::test]
async fn many_messages_of_one_tenant_do_not_delay_another() {
    let fixture = Fixture::new(Outcome::Accepted);
    for number in 0..300 {
        fixture.put_of(1, number, "one of many").await;
    }
    fixture.put_of(2, 300, "the only one").await;
    let mut queue = fixture.queue();
    // The second pass reads on after the first batch.
    queue.work().await.unwrap();
    queue.work().await.unwrap();
    let sent = fixture.channel.sent.lock().unwrap().clone();
    assert_eq!(sent.iter().filter(|text| *text == "the only one").count(), 1);
    assert_eq!(sent.len(), 2 * SHARE + 1);
    // The rest is sent without waiting, and nothing is lost or repeated.
    let mut passes = 0;
    while fixture.channel.sent.lock().unwrap().len() < 301 {
        assert_eq!(queue.wait_time(now()), Duration::ZERO);
        queue.work().await.unwrap();
        passes += 1;
        assert!(passes < 200);
    }
    assert_eq!(fixture.queued().len(), 0);
}
