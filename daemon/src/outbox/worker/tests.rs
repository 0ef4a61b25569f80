//! Tests of the outbox with a real store and real receivers on loopback.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "tests")]

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use quorate_common::ids::{ActivityId, EndpointId};
use quorate_core::model::layout::{self, Key};
use quorate_core::model::record::Record;
use quorate_core::operator::Repeated;
use quorate_core::outbox::{EventBody, Parked, StoredDelivery};
use quorate_core::world::{Page, World};
use serde_json::value::RawValue;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::*;
use crate::executor::{Shared, testing};
use crate::store::embedded::Embedded;
use crate::store::testing::FaultyStore;
use crate::store::{Batch, Change, Group, Store};

/// A store and everything that an outbox needs.
struct Fixture {
    store: Arc<FaultyStore>,
    shared: Arc<Shared>,
    executor: Arc<Executor>,
    identity: Identity,
    metrics: Metrics,
    _folder: TempDir,
}

impl Fixture {
    /// Damages a stored record.
    fn damage(&self, key: Key) {
        let writes = vec![Change::put(key, vec![7; 64])];
        self.store.commit(&Group::of(Batch { writes, ..Batch::default() })).unwrap();
    }

    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Embedded::open(&folder.path().join("store"), 0).unwrap();
        let store = Arc::new(FaultyStore::new(store));
        let (shared, identity) = testing::shared(folder.path(), Arc::clone(&store) as Arc<dyn Store>);
        // The comparison must end before tests damage records.
        shared.compare_all();
        let executor = Arc::new(Executor::start(Arc::clone(&shared)));
        Self { store, shared, executor, identity, metrics: Metrics::new(), _folder: folder }
    }

    fn outbox(&self, limits: OutboxLimits) -> Outbox {
        let executor = Arc::clone(&self.executor);
        let policy = ReceiverPolicy::dev();
        Outbox::new(executor, self.identity.clone(), &policy, limits, self.metrics.clone())
    }

    async fn commit(&self, writes: Vec<Write>) {
        self.executor.commit(Commit { writes, ..Commit::default() }).await.unwrap();
    }

    /// Queues an activity state of an organization for endpoints with these URLs.
    async fn queue(&self, number: u8, at: u64, votes: u32, urls: &[String]) {
        self.commit(rows(number, at, votes, urls)).await;
    }

    fn counts(&self, outcome: &str) -> bool {
        self.metrics.text().contains(&format!("webhook_deliveries_total{{outcome=\"{outcome}\"}} 1"))
    }

    fn waiting(&self) -> usize {
        self.shared.records().keys(Page::first(b"pd", 1000)).unwrap().len()
    }
}

fn organization(number: u8) -> OrganizationId {
    OrganizationId::from_bytes([number; 16])
}

fn activity(at: u64) -> ActivityId {
    ActivityId::timed(at, [3; 10])
}

fn endpoint(number: usize) -> EndpointId {
    EndpointId::from_bytes([u8::try_from(number).unwrap().saturating_add(1); 16])
}

fn rows(number: u8, at: u64, votes: u32, urls: &[String]) -> Vec<Write> {
    caused(number, number, at, votes, urls)
}

/// Returns the rows of an activity state of one organization for the endpoints of another.
fn caused(cause: u8, number: u8, at: u64, votes: u32, urls: &[String]) -> Vec<Write> {
    let json = format!("{{\"at\":{at},\"votes\":{votes}}}");
    let body = EventBody::from_json(json.into_bytes()).unwrap();
    let receivers = urls.iter().enumerate().map(|(number, url)| (Some(endpoint(number)), url.clone()));
    let state = (organization(cause), activity(at), votes);
    outbox::queue(organization(number), receivers, state, &body, 1).unwrap()
}

/// Behaviour of a receiver.
#[derive(Clone, Copy, PartialEq)]
enum Behavior {
    Answers(&'static str),
    /// Accepts the connection, reads and sends nothing.
    Silent,
    /// Resets the connection after the request.
    Resets,
    /// Sends status 200 and an endless body.
    Lies,
}

const ACCEPTS: Behavior = Behavior::Answers("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");

/// A receiver and the bodies that it received.
#[derive(Clone)]
struct Receiver {
    address: std::net::SocketAddr,
    behavior: Arc<Mutex<Behavior>>,
    bodies: Arc<Mutex<Vec<String>>>,
    open: Arc<AtomicUsize>,
    most_open: Arc<AtomicUsize>,
}

impl Receiver {
    async fn start(behavior: Behavior) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let receiver = Self {
            address: listener.local_addr().unwrap(),
            behavior: Arc::new(Mutex::new(behavior)),
            bodies: Arc::default(),
            open: Arc::default(),
            most_open: Arc::default(),
        };
        let own = receiver.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(own.clone().serve(stream));
            }
        });
        receiver
    }

    fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    async fn serve(self, mut stream: TcpStream) {
        let open = self.open.fetch_add(1, Ordering::SeqCst) + 1;
        self.most_open.fetch_max(open, Ordering::SeqCst);
        let mut received = Vec::new();
        let body = loop {
            let mut part = [0; 4096];
            let count = stream.read(&mut part).await.unwrap_or(0);
            received.extend_from_slice(&part[..count]);
            let text = String::from_utf8_lossy(&received).into_owned();
            if count == 0 || text.ends_with('}') {
                break text.split_once("\r\n\r\n").map(|(_, body)| body.to_owned()).unwrap_or_default();
            }
        };
        self.bodies.lock().unwrap().push(body);
        let behavior = *self.behavior.lock().unwrap();
        match behavior {
            Behavior::Answers(answer) => drop(stream.write_all(answer.as_bytes()).await),
            Behavior::Silent => {
                let _ = stream.read(&mut [0]).await;
            }
            Behavior::Resets => stream.set_zero_linger().unwrap(),
            Behavior::Lies => {
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 9999999999\r\n\r\n").await;
                while stream.write_all(&[b'x'; 4096]).await.is_ok() {}
            }
        }
        self.open.fetch_sub(1, Ordering::SeqCst);
    }

    fn bodies(&self) -> Vec<String> {
        self.bodies.lock().unwrap().clone()
    }
}

/// Works until nothing runs and nothing can be started.
async fn finish(outbox: &mut Outbox) {
    loop {
        outbox.work().await.unwrap();
        match outbox.running.join_next_with_id().await {
            Some(joined) => outbox.join(joined),
            None if outbox.ended.is_empty() => return,
            None => {}
        }
    }
}

/// Works until a condition holds.
async fn until(outbox: &mut Outbox, happened: impl Fn() -> bool) {
    let deadline = tokio::time::Instant::now() + Duration::from_mins(1);
    while !happened() {
        assert!(tokio::time::Instant::now() < deadline, "the condition does not hold in time");
        outbox.work().await.unwrap();
        tokio::select! {
            Some(joined) = outbox.running.join_next_with_id() => outbox.join(joined),
            () = tokio::time::sleep(Duration::from_millis(10)) => {}
        }
    }
}

#[tokio::test]
async fn a_silent_receiver_holds_one_connection_and_delays_no_other_tenant() {
    let fixture = Fixture::new();
    let (silent, other) = (Receiver::start(Behavior::Silent).await, Receiver::start(ACCEPTS).await);
    for at in 0..50 {
        fixture.queue(1, at, 1, &vec![silent.url(); 10]).await;
    }
    let mut outbox = fixture.outbox(OutboxLimits::default());
    until(&mut outbox, || silent.bodies().len() >= 8).await;
    // All of these are still silent when the event of the other tenant is queued.
    fixture.queue(2, 1, 1, &[other.url()]).await;
    until(&mut outbox, || other.bodies().len() == 1).await;
    assert_eq!(silent.bodies().len(), 8, "half of a share, once each");
    assert_eq!(silent.most_open.load(Ordering::SeqCst), 8);
}

#[tokio::test]
async fn each_hostile_receiver_gets_a_single_attempt() {
    let fixture = Fixture::new();
    for (number, behavior) in
        [(1, Behavior::Resets), (2, Behavior::Lies), (3, Behavior::Answers("nonsense\r\n\r\n"))]
    {
        let receiver = Receiver::start(behavior).await;
        let mut outbox = fixture.outbox(OutboxLimits::default());
        for at in 0..5 {
            fixture.queue(number, at, 1, &[receiver.url()]).await;
        }
        finish(&mut outbox).await;
        let expected = if behavior == Behavior::Lies { (5, 0) } else { (1, 5) };
        assert_eq!((receiver.bodies().len(), fixture.waiting()), expected, "{number}");
        let left = fixture.shared.records().keys(Page::first(b"p", 1000)).unwrap();
        fixture.commit(left.into_iter().map(Write::remove).collect()).await;
    }
}

#[tokio::test]
async fn a_delivery_whose_outcome_cannot_be_recorded_is_not_repeated() {
    let fixture = Fixture::new();
    let receiver = Receiver::start(ACCEPTS).await;
    fixture.queue(1, 1, 1, &[receiver.url()]).await;
    fixture.queue(1, 2, 1, &[receiver.url()]).await;
    let mut outbox = fixture.outbox(OutboxLimits::default());
    outbox.work().await.unwrap();
    let joined = outbox.running.join_next_with_id().await.unwrap();
    fixture.store.rejects_writes.store(true, Ordering::Relaxed);
    outbox.join(joined);
    for _ in 0..100 {
        assert!(matches!(outbox.work().await, Err(Stopped::Writes)));
        assert!(outbox.running.is_empty());
    }
    assert!(!fixture.executor.accepts_writes());
    assert_eq!((receiver.bodies().len(), fixture.waiting()), (1, 2));
    let destination = first_queued(&fixture).destination;
    assert_eq!(outbox.attempts.of(&destination, 10).delivered, 0, "operators see what is recorded");
    // Once writes are accepted again, the outcome is recorded, and only the other delivery is made.
    fixture.store.rejects_writes.store(false, Ordering::Relaxed);
    while !fixture.executor.accepts_writes() {
        fixture.shared.store_state.notified().await;
    }
    finish(&mut outbox).await;
    assert_eq!(receiver.bodies(), ["{\"at\":1,\"votes\":1}", "{\"at\":2,\"votes\":1}"]);
    assert_eq!(fixture.waiting(), 0);
    assert_eq!(outbox.attempts.of(&destination, 10).delivered, 2);
}

#[tokio::test]
async fn nothing_is_delivered_while_writes_are_rejected() {
    let fixture = Fixture::new();
    let receiver = Receiver::start(ACCEPTS).await;
    fixture.queue(1, 1, 1, &[receiver.url()]).await;
    fixture.store.rejects_writes.store(true, Ordering::Relaxed);
    assert!(fixture.executor.commit(Commit::default()).await.is_err());
    let mut outbox = fixture.outbox(OutboxLimits::default());
    for _ in 0..100 {
        assert!(matches!(outbox.work().await, Err(Stopped::Writes)));
    }
    assert!(outbox.running.is_empty() && receiver.bodies().is_empty());
}

#[tokio::test]
async fn unreadable_deliveries_do_not_stop_others() {
    let fixture = Fixture::new();
    let receiver = Receiver::start(ACCEPTS).await;
    for at in 1..=3 {
        fixture.queue(1, at, 1, &[receiver.url()]).await;
    }
    // A damaged record and a damaged body.
    let id = |at| {
        let keys = fixture.shared.records().keys(Page::first(b"pd", 10)).unwrap();
        let mut ids = keys.iter().filter_map(|key| DeliveryId::of_key(key));
        ids.find(|id| id.activity == activity(at)).unwrap()
    };
    for key in [id(1).key(), id(2).body()] {
        fixture.damage(key);
    }
    let mut outbox = fixture.outbox(OutboxLimits::default());
    finish(&mut outbox).await;
    assert_eq!(receiver.bodies(), ["{\"at\":3,\"votes\":1}"]);
    assert_eq!(fixture.waiting(), 0);
    assert!(fixture.metrics.text().contains("webhook_deliveries_total{outcome=\"unreadable\"} 2"));
    let page = quorate_core::operator::parked(fixture.shared.as_ref(), None, 10).unwrap();
    assert_eq!(page.destinations.len(), 1);
    assert_eq!((page.destinations[0].parked, page.destinations[0].unreadable), (0, 2));
}

#[tokio::test]
async fn the_oldest_deliveries_are_parked_and_counted() {
    let fixture = Fixture::new();
    let receiver = Receiver::start(Behavior::Silent).await;
    let limits = OutboxLimits { waiting: 6, ..OutboxLimits::default() };
    let mut outbox = fixture.outbox(limits);
    for at in 0..20 {
        fixture.queue(1, at, 1, &[receiver.url(), receiver.url()]).await;
    }
    until(&mut outbox, || fixture.waiting() <= 6).await;
    let left = fixture.shared.records().keys(Page::first(b"pd", 100)).unwrap();
    let left: BTreeSet<_> =
        left.iter().filter_map(|key| DeliveryId::of_key(key)).map(|id| id.activity).collect();
    assert_eq!(left, (17..20).map(activity).collect());
    assert_eq!(fixture.shared.records().keys(Page::first(b"pb", 100)).unwrap().len(), 3, "bodies");
    assert_eq!(fixture.shared.records().keys(Page::first(b"ps", 100)).unwrap().len(), 6, "schedule entries");
    let page = quorate_core::operator::parked(fixture.shared.as_ref(), None, 1).unwrap();
    let next = quorate_core::operator::parked(fixture.shared.as_ref(), page.next.as_deref(), 2).unwrap();
    for (parked, number) in [(&page.destinations[0], 0), (&next.destinations[0], 1)] {
        assert_eq!((parked.parked, parked.unreadable), (17, 0));
        assert_eq!((parked.organization_id, parked.endpoint_id), (organization(1), Some(endpoint(number))));
        assert_eq!((parked.oldest_activity_id, parked.newest_activity_id), (activity(0), activity(16)));
    }
    assert!(next.next.is_none() && !fixture.counts("parked"));
    // The same applies to bytes: a body for several endpoints counts once.
    let limits = OutboxLimits { waiting_bytes: 3 * 20, ..OutboxLimits::default() };
    let mut outbox = fixture.outbox(limits);
    fixture.queue(1, 20, 1, &[receiver.url(), receiver.url()]).await;
    until(&mut outbox, || fixture.waiting() <= 6).await;
    assert_eq!(fixture.shared.records().keys(Page::first(b"pb", 100)).unwrap().len(), 3, "bodies");
}

#[tokio::test]
async fn the_organization_that_causes_most_loses_its_own_deliveries_first() {
    for by_bytes in [false, true] {
        let limits = OutboxLimits::default();
        let limits = if by_bytes {
            OutboxLimits { waiting_bytes: 10 * 20, ..limits }
        } else {
            OutboxLimits { waiting: 10, ..limits }
        };
        let fixture = Fixture::new();
        let receiver = Receiver::start(Behavior::Silent).await;
        let mut outbox = fixture.outbox(limits);
        // Deliveries caused by the organization itself and by one sub-organization are older than those of
        // another one.
        for at in 10..13 {
            fixture.commit(caused(1, 1, at, 1, &[receiver.url()])).await;
            fixture.commit(caused(2, 1, at + 10, 1, &[receiver.url()])).await;
        }
        for at in 30..70 {
            fixture.commit(caused(3, 1, at, 1, &[receiver.url()])).await;
            if at % 7 == 0 {
                outbox.work().await.unwrap();
            }
        }
        until(&mut outbox, || fixture.waiting() <= 10).await;
        let left = fixture.shared.records().keys(Page::first(b"pd", 100)).unwrap();
        let left = left.iter().filter_map(|key| DeliveryId::of_key(key));
        let left: BTreeSet<_> = left.map(|id| id.activity).collect();
        let kept = (10..13).chain(20..23).chain(66..70).map(activity).collect();
        assert_eq!(left, kept, "by bytes: {by_bytes}");
        let counted = outbox::usage(fixture.shared.records(), organization(1)).unwrap();
        assert_eq!(outbox.waiting[&organization(1)].caused(), &counted);
    }
}

#[tokio::test]
async fn deliveries_stored_by_an_earlier_version_are_made() {
    let fixture = Fixture::new();
    let receiver = Receiver::start(ACCEPTS).await;
    let old = |at: u64, votes: u32| {
        let notice = StoredDelivery {
            receiver: organization(1),
            endpoint: None,
            url: receiver.url(),
            activity: activity(at),
            body: RawValue::from_string(format!("{{\"at\":{at},\"votes\":{votes}}}")).unwrap(),
            attempts: 2,
            due: 1,
        };
        Write::put_new(layout::event_key(organization(1), None, activity(at), votes), &notice).unwrap()
    };
    fixture.commit(vec![old(1, 1), old(1, 2), old(2, 1)]).await;
    fixture.damage(layout::event_key(organization(1), None, activity(3), 1));
    let mut outbox = fixture.outbox(OutboxLimits::default());
    outbox.convert().await;
    finish(&mut outbox).await;
    let bodies = receiver.bodies();
    let of_one: Vec<_> = bodies.iter().filter(|body| body.contains("\"at\":1")).collect();
    assert_eq!(of_one, ["{\"at\":1,\"votes\":1}", "{\"at\":1,\"votes\":2}"]);
    assert_eq!((bodies.len(), fixture.waiting()), (3, 0));
    assert!(fixture.counts("unreadable"));
    assert_eq!(
        fixture.shared.records().keys(Page::first(b"x", 10)).unwrap().len(),
        1,
        "an unreadable record is kept"
    );
}

#[tokio::test]
async fn a_pass_over_twenty_thousand_rows_reads_only_a_few() {
    let fixture = Fixture::new();
    let receiver = Receiver::start(Behavior::Silent).await;
    for step in 0..20 {
        let of = |at| rows(u8::try_from(step % 2).unwrap(), at, 1, &[receiver.url()]);
        fixture.commit((step * 1000..(step + 1) * 1000).flat_map(of).collect()).await;
    }
    let mut outbox = fixture.outbox(OutboxLimits { waiting: 20_000, ..OutboxLimits::default() });
    // The first pass counts the waiting deliveries by their keys.
    outbox.work().await.unwrap();
    for pass in 0..5 {
        fixture.store.reads.store(0, Ordering::Relaxed);
        fixture.queue(0, 30_000 + pass, 1, &[receiver.url()]).await;
        outbox.work().await.unwrap();
        let reads = fixture.store.reads.load(Ordering::Relaxed);
        assert!(reads < 100, "{reads} rows were read");
    }
    assert_eq!(receiver.bodies().len().max(outbox.running.len()), 2);
}

#[tokio::test]
async fn counts_of_parked_deliveries_survive_damage() {
    let fixture = Fixture::new();
    let destination = Destination { organization: organization(1), endpoint: None };
    fixture.damage(destination.parked());
    assert!(
        quorate_core::operator::parked(fixture.shared.as_ref(), None, 10).unwrap().destinations.is_empty()
    );
    let cause = destination.organization;
    let id = DeliveryId { destination, cause, activity: activity(1), votes: 1, size: 2 };
    let mut outcomes = Outcomes::default();
    outcomes.park(id, Some(1), ParkedFor::Limit);
    let batch = outcomes.finish(fixture.shared.records(), 9).unwrap();
    fixture.commit(batch.writes).await;
    let count = fixture.shared.records().read(&destination.parked()).unwrap().unwrap();
    assert_eq!(Parked::decode(&count).unwrap().parked, 1);
}

/// Requests that the delivery of an activity is repeated, as an operator does.
async fn repeat(outbox: &mut Outbox, id: DeliveryId, url: &str) -> Result<u64, String> {
    let body = EventBody::from_json(b"{\"again\":1}".to_vec()).unwrap();
    let control = outbox.control();
    let wanted = Repeated { id, url: url.to_owned(), body };
    let task = tokio::spawn(async move { control.repeat(wanted).await });
    outbox.requested = outbox.requests.recv().await;
    outbox.work().await.unwrap();
    task.await.unwrap().map_err(|error| error.message)
}

/// Returns the id of the first delivery that is queued.
fn first_queued(fixture: &Fixture) -> DeliveryId {
    let keys = fixture.shared.records().keys(Page::first(b"pd", 1)).unwrap();
    DeliveryId::of_key(&keys[0]).unwrap()
}

#[tokio::test]
async fn an_operator_ends_the_pause_of_a_receiver() {
    let fixture = Fixture::new();
    let receiver = Receiver::start(Behavior::Resets).await;
    let mut outbox = fixture.outbox(OutboxLimits::default());
    fixture.queue(1, 1, 1, &[receiver.url()]).await;
    let id = first_queued(&fixture);
    finish(&mut outbox).await;
    assert_eq!((receiver.bodies().len(), fixture.waiting()), (1, 1), "paused");
    let seen = outbox.attempts.of(&id.destination, 10);
    assert_eq!((seen.delivered, seen.failed, seen.last[0].status), (0, 1, None));
    assert!(seen.last[0].next_millis.is_some());
    *receiver.behavior.lock().unwrap() = ACCEPTS;
    assert_eq!(repeat(&mut outbox, id, &receiver.url()).await, Ok(1));
    finish(&mut outbox).await;
    assert_eq!((receiver.bodies().len(), fixture.waiting()), (2, 0));
    let seen = outbox.attempts.of(&id.destination, 10);
    assert_eq!((seen.delivered, seen.failed, seen.last[0].attempt), (1, 1, 2));
}

#[tokio::test]
async fn an_operator_queues_again_what_ended() {
    let fixture = Fixture::new();
    let receiver = Receiver::start(Behavior::Answers("HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n")).await;
    let mut outbox = fixture.outbox(OutboxLimits::default());
    fixture.queue(1, 1, 1, &[receiver.url()]).await;
    let id = first_queued(&fixture);
    finish(&mut outbox).await;
    assert_eq!((receiver.bodies().len(), fixture.waiting()), (1, 0), "refused");
    *receiver.behavior.lock().unwrap() = ACCEPTS;
    assert_eq!(repeat(&mut outbox, id, &receiver.url()).await, Ok(0));
    finish(&mut outbox).await;
    assert_eq!(receiver.bodies()[1], "{\"again\":1}");
    assert_eq!(fixture.shared.records().keys(Page::first(b"p", 100)).unwrap().len(), 0);
    assert!(outbox.waiting.is_empty(), "the queue was counted and is empty");
    let events: Vec<_> =
        outbox.attempts.of(&id.destination, 10).last.into_iter().map(|made| made.event_id).collect();
    assert_eq!(events[0], events[1], "the receiver can recognize the repetition");
}

#[tokio::test]
async fn a_delivery_under_way_is_not_repeated() {
    let fixture = Fixture::new();
    let receiver = Receiver::start(Behavior::Silent).await;
    let mut outbox = fixture.outbox(OutboxLimits::default());
    fixture.queue(1, 1, 1, &[receiver.url()]).await;
    let id = first_queued(&fixture);
    until(&mut outbox, || receiver.bodies().len() == 1).await;
    let refused = repeat(&mut outbox, id, &receiver.url()).await;
    assert_eq!(refused, Err("a delivery of this activity is under way".to_owned()));
    assert_eq!((receiver.bodies().len(), fixture.waiting()), (1, 1));
}
