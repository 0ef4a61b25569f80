//! The outbox over a real store and real receivers on the loopback.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "tests")]

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use quorate_common::ids::{ActivityId, EndpointId};
use quorate_core::model::layout;
use quorate_core::model::record::Record;
use quorate_core::notice::Notice;
use quorate_core::outbox::{EventBody, Parked};
use quorate_core::world::{Page, World};
use serde_json::value::RawValue;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::*;
use crate::store::embedded::Embedded;
use crate::store::testing::FaultyStore;
use crate::store::{Batch, Change, Group, Store};
use crate::turn::{Shared, testing};

/// A store, and all that an outbox needs over it.
struct Bench {
    store: Arc<FaultyStore>,
    shared: Arc<Shared>,
    turns: Arc<Turns>,
    identity: Identity,
    metrics: Metrics,
    _folder: TempDir,
}

impl Bench {
    /// Damages a record.
    fn damage(&self, key: Key) {
        let writes = vec![Change::put(key, vec![7; 64])];
        self.store.commit(&Group::of(Batch { writes, ..Batch::default() })).unwrap();
    }

    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Embedded::open(&folder.path().join("store"), 0).unwrap();
        let store = Arc::new(FaultyStore::new(store));
        let (shared, identity) = testing::shared(folder.path(), Arc::clone(&store) as Arc<dyn Store>);
        // Records that tests damage later are not those that are compared.
        shared.compare_all();
        let turns = Arc::new(Turns::start(Arc::clone(&shared)));
        Self { store, shared, turns, identity, metrics: Metrics::new(), _folder: folder }
    }

    fn outbox(&self, limits: OutboxLimits) -> Outbox {
        let turns = Arc::clone(&self.turns);
        let policy = ReceiverPolicy::dev();
        Outbox::new(turns, self.identity.clone(), &policy, limits, self.metrics.clone())
    }

    async fn commit(&self, writes: Vec<Write>) {
        self.turns.commit(Commit { writes, ..Commit::default() }).await.unwrap();
    }

    /// Queues a state of an activity for these endpoints of an organization, whose receivers are at these URLs.
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

/// The rows of a state of an activity of one organization for the endpoints of another.
fn caused(cause: u8, number: u8, at: u64, votes: u32, urls: &[String]) -> Vec<Write> {
    let json = format!("{{\"at\":{at},\"votes\":{votes}}}");
    let body = EventBody::from_json(json.into_bytes()).unwrap();
    let receivers = urls.iter().enumerate().map(|(number, url)| (Some(endpoint(number)), url.clone()));
    let state = (organization(cause), activity(at), votes);
    outbox::queue(organization(number), receivers, state, &body, 1).unwrap()
}

/// How a receiver behaves.
#[derive(Clone, Copy, PartialEq)]
enum Manner {
    Answers(&'static str),
    /// Takes the connection, reads, and says nothing.
    Silent,
    /// Resets the connection when the request is there.
    Resets,
    /// Says that it took it, and sends a body without end.
    Lies,
}

const TAKEN: Manner = Manner::Answers("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");

/// A receiver and what came to it.
#[derive(Clone)]
struct Receiver {
    address: std::net::SocketAddr,
    manner: Arc<Mutex<Manner>>,
    bodies: Arc<Mutex<Vec<String>>>,
    open: Arc<AtomicUsize>,
    most_open: Arc<AtomicUsize>,
}

impl Receiver {
    async fn start(manner: Manner) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let receiver = Self {
            address: listener.local_addr().unwrap(),
            manner: Arc::new(Mutex::new(manner)),
            bodies: Arc::default(),
            open: Arc::default(),
            most_open: Arc::default(),
        };
        let own = receiver.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(own.clone().take(stream));
            }
        });
        receiver
    }

    fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    async fn take(self, mut stream: TcpStream) {
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
        let manner = *self.manner.lock().unwrap();
        match manner {
            Manner::Answers(answer) => drop(stream.write_all(answer.as_bytes()).await),
            Manner::Silent => {
                let _ = stream.read(&mut [0]).await;
            }
            Manner::Resets => stream.set_zero_linger().unwrap(),
            Manner::Lies => {
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
async fn settle(outbox: &mut Outbox) {
    loop {
        outbox.work().await.unwrap();
        match outbox.running.join_next_with_id().await {
            Some(joined) => outbox.join(joined),
            None if outbox.ended.is_empty() => return,
            None => {}
        }
    }
}

/// Works beside something else until that has happened.
async fn until(outbox: &mut Outbox, happened: impl Fn() -> bool) {
    let deadline = tokio::time::Instant::now() + Duration::from_mins(1);
    while !happened() {
        assert!(tokio::time::Instant::now() < deadline, "it does not happen");
        outbox.work().await.unwrap();
        tokio::select! {
            Some(joined) = outbox.running.join_next_with_id() => outbox.join(joined),
            () = tokio::time::sleep(Duration::from_millis(10)) => {}
        }
    }
}

#[tokio::test]
async fn a_silent_receiver_holds_one_connection_and_delays_no_other_tenant() {
    let bench = Bench::new();
    let (silent, other) = (Receiver::start(Manner::Silent).await, Receiver::start(TAKEN).await);
    for at in 0..50 {
        bench.queue(1, at, 1, &vec![silent.url(); 10]).await;
    }
    let mut outbox = bench.outbox(OutboxLimits::default());
    until(&mut outbox, || silent.bodies().len() >= 8).await;
    // All of these are still silent when the other tenant has its event.
    bench.queue(2, 1, 1, &[other.url()]).await;
    until(&mut outbox, || other.bodies().len() == 1).await;
    assert_eq!(silent.bodies().len(), 8, "half of a share, once each");
    assert_eq!(silent.most_open.load(Ordering::SeqCst), 8);
}

#[tokio::test]
async fn hostile_receivers_cost_an_attempt_each() {
    let bench = Bench::new();
    for (number, manner) in [(1, Manner::Resets), (2, Manner::Lies), (3, Manner::Answers("nonsense\r\n\r\n"))]
    {
        let receiver = Receiver::start(manner).await;
        let mut outbox = bench.outbox(OutboxLimits::default());
        for at in 0..5 {
            bench.queue(number, at, 1, &[receiver.url()]).await;
        }
        settle(&mut outbox).await;
        let expected = if manner == Manner::Lies { (5, 0) } else { (1, 5) };
        assert_eq!((receiver.bodies().len(), bench.waiting()), expected, "{number}");
        let left = bench.shared.records().keys(Page::first(b"p", 1000)).unwrap();
        bench.commit(left.into_iter().map(Write::remove).collect()).await;
    }
}

#[tokio::test]
async fn what_cannot_be_recorded_is_not_delivered_again() {
    let bench = Bench::new();
    let receiver = Receiver::start(TAKEN).await;
    bench.queue(1, 1, 1, &[receiver.url()]).await;
    bench.queue(1, 2, 1, &[receiver.url()]).await;
    let mut outbox = bench.outbox(OutboxLimits::default());
    outbox.work().await.unwrap();
    let joined = outbox.running.join_next_with_id().await.unwrap();
    bench.store.takes_no_writes.store(true, Ordering::Relaxed);
    outbox.join(joined);
    for _ in 0..100 {
        assert!(matches!(outbox.work().await, Err(Stopped::Writes)));
        assert!(outbox.running.is_empty());
    }
    assert!(!bench.turns.takes_writes());
    assert_eq!((receiver.bodies().len(), bench.waiting()), (1, 2));
    // When writes are taken again, it is recorded, and only the other one is delivered.
    bench.store.takes_no_writes.store(false, Ordering::Relaxed);
    while !bench.turns.takes_writes() {
        bench.shared.store_state.notified().await;
    }
    settle(&mut outbox).await;
    assert_eq!(receiver.bodies(), ["{\"at\":1,\"votes\":1}", "{\"at\":2,\"votes\":1}"]);
    assert_eq!(bench.waiting(), 0);
}

#[tokio::test]
async fn nothing_is_delivered_while_no_writes_are_taken() {
    let bench = Bench::new();
    let receiver = Receiver::start(TAKEN).await;
    bench.queue(1, 1, 1, &[receiver.url()]).await;
    bench.store.takes_no_writes.store(true, Ordering::Relaxed);
    assert!(bench.turns.commit(Commit::default()).await.is_err());
    let mut outbox = bench.outbox(OutboxLimits::default());
    for _ in 0..100 {
        assert!(matches!(outbox.work().await, Err(Stopped::Writes)));
    }
    assert!(outbox.running.is_empty() && receiver.bodies().is_empty());
}

#[tokio::test]
async fn what_cannot_be_read_stops_nothing_else() {
    let bench = Bench::new();
    let receiver = Receiver::start(TAKEN).await;
    for at in 1..=3 {
        bench.queue(1, at, 1, &[receiver.url()]).await;
    }
    // A record whose bytes were damaged, and a body.
    let id = |at| {
        let keys = bench.shared.records().keys(Page::first(b"pd", 10)).unwrap();
        let mut ids = keys.iter().filter_map(|key| DeliveryId::of_key(key));
        ids.find(|id| id.activity == activity(at)).unwrap()
    };
    for key in [id(1).key(), id(2).body()] {
        bench.damage(key);
    }
    let mut outbox = bench.outbox(OutboxLimits::default());
    settle(&mut outbox).await;
    assert_eq!(receiver.bodies(), ["{\"at\":3,\"votes\":1}"]);
    assert_eq!(bench.waiting(), 0);
    assert!(bench.metrics.text().contains("webhook_deliveries_total{outcome=\"unreadable\"} 2"));
    let page = quorate_core::operator::parked(bench.shared.as_ref(), None, 10).unwrap();
    assert_eq!(page.destinations.len(), 1);
    assert_eq!((page.destinations[0].parked, page.destinations[0].unreadable), (0, 2));
}

#[tokio::test]
async fn the_oldest_are_parked_and_counted() {
    let bench = Bench::new();
    let receiver = Receiver::start(Manner::Silent).await;
    let limits = OutboxLimits { waiting: 6, ..OutboxLimits::default() };
    let mut outbox = bench.outbox(limits);
    for at in 0..20 {
        bench.queue(1, at, 1, &[receiver.url(), receiver.url()]).await;
    }
    until(&mut outbox, || bench.waiting() <= 6).await;
    let left = bench.shared.records().keys(Page::first(b"pd", 100)).unwrap();
    let left: BTreeSet<_> =
        left.iter().filter_map(|key| DeliveryId::of_key(key)).map(|id| id.activity).collect();
    assert_eq!(left, (17..20).map(activity).collect());
    assert_eq!(bench.shared.records().keys(Page::first(b"pb", 100)).unwrap().len(), 3, "bodies");
    assert_eq!(bench.shared.records().keys(Page::first(b"ps", 100)).unwrap().len(), 6, "places");
    let page = quorate_core::operator::parked(bench.shared.as_ref(), None, 1).unwrap();
    let next = quorate_core::operator::parked(bench.shared.as_ref(), page.next.as_deref(), 2).unwrap();
    for (parked, number) in [(&page.destinations[0], 0), (&next.destinations[0], 1)] {
        assert_eq!((parked.parked, parked.unreadable), (17, 0));
        assert_eq!((parked.organization_id, parked.endpoint_id), (organization(1), Some(endpoint(number))));
        assert_eq!((parked.oldest_activity_id, parked.newest_activity_id), (activity(0), activity(16)));
    }
    assert!(next.next.is_none() && !bench.counts("parked"));
    // By bytes as well: bodies for several endpoints count once.
    let limits = OutboxLimits { waiting_bytes: 3 * 20, ..OutboxLimits::default() };
    let mut outbox = bench.outbox(limits);
    bench.queue(1, 20, 1, &[receiver.url(), receiver.url()]).await;
    until(&mut outbox, || bench.waiting() <= 6).await;
    assert_eq!(bench.shared.records().keys(Page::first(b"pb", 100)).unwrap().len(), 3, "bodies");
}

#[tokio::test]
async fn who_causes_most_loses_its_own_deliveries_first() {
    for by_bytes in [false, true] {
        let limits = OutboxLimits::default();
        let limits = if by_bytes {
            OutboxLimits { waiting_bytes: 10 * 20, ..limits }
        } else {
            OutboxLimits { waiting: 10, ..limits }
        };
        let bench = Bench::new();
        let receiver = Receiver::start(Manner::Silent).await;
        let mut outbox = bench.outbox(limits);
        // What the organization itself and one of its sub-organizations caused is older than what another one caused.
        for at in 10..13 {
            bench.commit(caused(1, 1, at, 1, &[receiver.url()])).await;
            bench.commit(caused(2, 1, at + 10, 1, &[receiver.url()])).await;
        }
        for at in 30..70 {
            bench.commit(caused(3, 1, at, 1, &[receiver.url()])).await;
            if at % 7 == 0 {
                outbox.work().await.unwrap();
            }
        }
        until(&mut outbox, || bench.waiting() <= 10).await;
        let left = bench.shared.records().keys(Page::first(b"pd", 100)).unwrap();
        let left = left.iter().filter_map(|key| DeliveryId::of_key(key));
        let left: BTreeSet<_> = left.map(|id| id.activity).collect();
        let kept = (10..13).chain(20..23).chain(66..70).map(activity).collect();
        assert_eq!(left, kept, "by bytes: {by_bytes}");
        let counted = outbox::usage(bench.shared.records(), organization(1)).unwrap();
        assert_eq!(outbox.waiting[&organization(1)].caused(), &counted);
    }
}

#[tokio::test]
async fn what_an_earlier_version_stored_is_delivered() {
    let bench = Bench::new();
    let receiver = Receiver::start(TAKEN).await;
    let old = |at: u64, votes: u32| {
        let notice = Notice {
            receiver: organization(1),
            endpoint: None,
            url: receiver.url(),
            activity: activity(at),
            body: RawValue::from_string(format!("{{\"at\":{at},\"votes\":{votes}}}")).unwrap(),
            attempts: 2,
            due: 1,
        };
        Write::put_new(layout::notice(organization(1), None, activity(at), votes), &notice).unwrap()
    };
    bench.commit(vec![old(1, 1), old(1, 2), old(2, 1)]).await;
    bench.damage(layout::notice(organization(1), None, activity(3), 1));
    let mut outbox = bench.outbox(OutboxLimits::default());
    outbox.convert().await;
    settle(&mut outbox).await;
    let bodies = receiver.bodies();
    let of_one: Vec<_> = bodies.iter().filter(|body| body.contains("\"at\":1")).collect();
    assert_eq!(of_one, ["{\"at\":1,\"votes\":1}", "{\"at\":1,\"votes\":2}"]);
    assert_eq!((bodies.len(), bench.waiting()), (3, 0));
    assert!(bench.counts("unreadable"));
    assert_eq!(
        bench.shared.records().keys(Page::first(b"x", 10)).unwrap().len(),
        1,
        "what cannot be read stays"
    );
}

#[tokio::test]
async fn a_pass_reads_a_few_rows_of_twenty_thousand() {
    let bench = Bench::new();
    let receiver = Receiver::start(Manner::Silent).await;
    for step in 0..20 {
        let of = |at| rows(u8::try_from(step % 2).unwrap(), at, 1, &[receiver.url()]);
        bench.commit((step * 1000..(step + 1) * 1000).flat_map(of).collect()).await;
    }
    let mut outbox = bench.outbox(OutboxLimits { waiting: 20_000, ..OutboxLimits::default() });
    // Counts once what waits, by keys.
    outbox.work().await.unwrap();
    for pass in 0..5 {
        bench.store.reads.store(0, Ordering::Relaxed);
        bench.queue(0, 30_000 + pass, 1, &[receiver.url()]).await;
        outbox.work().await.unwrap();
        let reads = bench.store.reads.load(Ordering::Relaxed);
        assert!(reads < 100, "{reads} rows were read");
    }
    assert_eq!(receiver.bodies().len().max(outbox.running.len()), 2);
}

#[tokio::test]
async fn counts_of_parked_deliveries_survive_damage() {
    let bench = Bench::new();
    let destination = Destination { organization: organization(1), endpoint: None };
    bench.damage(destination.parked());
    assert!(quorate_core::operator::parked(bench.shared.as_ref(), None, 10).unwrap().destinations.is_empty());
    let cause = destination.organization;
    let id = DeliveryId { destination, cause, activity: activity(1), votes: 1, size: 2 };
    let mut outcomes = Outcomes::default();
    outcomes.park(id, Some(1), ParkedFor::Limit);
    let batch = outcomes.finish(bench.shared.records(), 9).unwrap();
    bench.commit(batch.writes).await;
    let count = bench.shared.records().read(&destination.parked()).unwrap().unwrap();
    assert_eq!(Parked::decode(&count).unwrap().parked, 1);
}
