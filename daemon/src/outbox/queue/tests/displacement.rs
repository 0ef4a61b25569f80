//! Delayed messages give way to new ones, also after a restart, and with an event of their own.

use quorate_core::model::message_event::SenderGroup;
use quorate_core::model::queued_message::QueueUsage;

use super::*;

/// Share of the authentication proxy: a quarter of `waiting_messages`.
const SHARE: u32 = 250;
const SOURCE: MessageSource =
    MessageSource { tenant: KEEPER, organization: KEEPER, group: Some(SenderGroup::Proxy) };

impl Fixture {
    /// Queues messages that the authentication proxy sends.
    async fn put_by_proxy(&self, numbers: std::ops::Range<u32>) {
        for number in numbers {
            let mut sms = Sms::new(phone(number), number.to_string(), 0);
            let group = Some(SenderGroup::Proxy);
            sms.origin = Some(MessageOrigin { organization: KEEPER, keeper: KEEPER, group, queued: 0 });
            self.commit(number, &sms).await;
        }
    }

    fn of_proxy(&self) -> QueueUsage {
        let [_, _, group] = self.executor.world().messages(Sms::CHANNEL).usage(&SOURCE);
        group
    }

    /// Returns the numbers of the queued messages.
    fn numbers(&self) -> Vec<u32> {
        let records = self.executor.world().records();
        let keys = records.keys(Page::first(SMS, 1000)).unwrap();
        keys.iter().map(|key| of_message(key).unwrap().1).collect()
    }
}

#[tokio::test]
async fn delayed_messages_give_way_to_new_ones() {
    let fixture = Fixture::new(Outcome::Failed);
    fixture.put_by_proxy(0..SHARE).await;
    assert_eq!(fixture.of_proxy().counted().messages, 250);
    let mut queue = fixture.queue();
    queue.finish(0).await;
    assert_eq!((fixture.of_proxy().counted().messages, fixture.of_proxy().delayed.messages), (0, 250));
    // New messages do not fail, so that the first attempts of others are not mixed with theirs.
    *fixture.channel.outcome.lock().unwrap() = Outcome::Accepted;
    fixture.put_by_proxy(SHARE..SHARE + 70).await;
    queue.drop_displaced().await.unwrap();
    let left: Vec<u32> = (70..SHARE + 70).collect();
    assert_eq!(fixture.numbers(), left, "the oldest are removed");
    assert_eq!((fixture.count("displaced"), fixture.usage()), (70, 250));
    let steps = fixture.steps();
    let displaced = steps.iter().filter(|step| matches!(step, DeliveryStep::Displaced(_)));
    let answers: Vec<String> = displaced.map(|step| step.answer().unwrap().line()).collect();
    assert_eq!(answers.len(), 70);
    assert!(
        answers.iter().all(|answer| answer.ends_with("(`waiting_messages` or `waiting_message_bytes`)")),
        "{answers:?}"
    );
    // A restarted daemon knows whose messages they are and that they are delayed.
    drop(queue);
    fixture.executor.world().messages(Sms::CHANNEL).turns().clear();
    let mut queue = fixture.queue();
    while !matches!(queue.scan, Scan::Done) {
        queue.drop_displaced().await.unwrap();
        queue.scan().unwrap();
    }
    assert_eq!((fixture.of_proxy().all.messages, fixture.of_proxy().counted().messages), (250, 70));
    fixture.put_by_proxy(SHARE + 70..SHARE + 75).await;
    queue.drop_displaced().await.unwrap();
    assert_eq!(fixture.numbers(), (75..SHARE + 75).collect::<Vec<_>>());
    assert_eq!(fixture.of_proxy().displaced.messages, 0);
}

#[tokio::test]
async fn an_outage_delays_no_message() {
    let fixture = Fixture::new(Outcome::Unavailable);
    fixture.put_by_proxy(0..SHARE).await;
    let mut queue = fixture.queue();
    for _ in 0..3 {
        queue.outage.end_pause();
        queue.finish(0).await;
    }
    assert!(fixture.queued().iter().any(|sms| sms.attempts > 0));
    assert_eq!((fixture.of_proxy().delayed.messages, fixture.of_proxy().counted().messages), (0, 250));
    // Messages that are delayed give way during an outage as well.
    *fixture.channel.outcome.lock().unwrap() = Outcome::Failed;
    queue.outage.end_pause();
    queue.finish(0).await;
    let delayed = fixture.of_proxy().delayed.messages;
    assert!(delayed > 0);
    *fixture.channel.outcome.lock().unwrap() = Outcome::Unavailable;
    // On a slow machine, some have had their last attempt.
    let left = u32::try_from(fixture.of_proxy().all.messages).unwrap();
    fixture.put_by_proxy(SHARE..SHARE + (SHARE - left) + 1).await;
    queue.finish(0).await;
    assert_eq!((fixture.count("displaced"), fixture.of_proxy().all.messages), (1, 250));
}

#[tokio::test]
async fn a_displacement_that_cannot_be_recorded_is_not_lost() {
    let fixture = Fixture::new(Outcome::Failed);
    fixture.put_by_proxy(0..SHARE).await;
    let mut queue = fixture.queue();
    queue.finish(0).await;
    // On a slow machine, some have had their last attempt.
    let left = u32::try_from(fixture.of_proxy().all.messages).unwrap();
    let put = SHARE + (SHARE - left) + 3;
    fixture.put_by_proxy(SHARE..put).await;
    fixture.store.is_full.store(true, Ordering::Relaxed);
    assert!(queue.drop_displaced().await.is_err());
    assert_eq!((fixture.of_proxy().displaced.messages, fixture.numbers().len()), (3, 253));
    fixture.store.is_full.store(false, Ordering::Relaxed);
    while queue.work().await.is_err() {
        tokio::task::yield_now().await;
    }
    queue.finish(0).await;
    let others = fixture.numbers().len() + usize::try_from(fixture.count("bounced")).unwrap();
    assert_eq!((fixture.count("displaced"), others), (3, put as usize - 3));
}
