//! Raw byte sequences against a real listener, with a service that echoes each request.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper_util::rt::{TokioExecutor, TokioIo};
use quorate_common::api_error::{ApiError, Code};
use quorate_core::authn::Header;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::limits::{BODY_BYTES, HEAD_BYTES, Limits, RequestLimits};
use super::{HttpListener, Server, tls};
use crate::listener::{Answer, Incoming, Service};
use crate::source::Proxies;
use crate::telemetry::{Metrics, Readiness, SharedReadiness};

/// Time after which a test has failed.
const TIMEOUT: Duration = Duration::from_secs(20);

/// Echoes the request as JSON; a few paths behave differently.
#[derive(Default)]
pub(crate) struct Echo {
    pub(crate) calls: AtomicUsize,
    pub(crate) entered: Notify,
    pub(crate) leave: Notify,
}

impl Service for Echo {
    fn reject(&self, head: &Incoming) -> Option<Answer> {
        let error = ApiError::new(Code::Unauthenticated, "rejected by its head");
        (head.path() == "/rejected").then(|| Answer::error(&error))
    }

    async fn call(&self, incoming: Incoming) -> Answer {
        self.calls.fetch_add(1, Ordering::SeqCst);
        self.entered.notify_one();
        match incoming.path() {
            "/wait" => self.leave.notified().await,
            "/large" => return Answer::ok(vec![b'x'; 64 * 1024 * 1024]),
            "/events" => return Answer::events(events()),
            "/cached" => return Answer::ok("{}").cached("no-cache").of("cached"),
            "/missing" => return Answer::not_found(),
            "/wrong" => return Answer::wrong_method(),
            _ => {}
        }
        let stamp = match &incoming.credentials.stamp {
            Header::Absent => "absent",
            Header::Once(text) => text.as_str(),
            Header::Repeated => "repeated",
        };
        Answer::ok(format!(
            r#"{{"method":"{}","path":"{}","query":"{}","body":{},"stamp":"{stamp}","console":{}}}"#,
            incoming.method,
            incoming.path(),
            incoming.query(),
            incoming.body.len(),
            incoming.listener.serves_console(),
        ))
    }
}

fn events() -> mpsc::Receiver<Bytes> {
    let (sender, receiver) = mpsc::channel(1);
    tokio::spawn(async move {
        let _ = sender.send(Bytes::from_static(b"id: 1\ndata: {}\n\n")).await;
        // The stream stays open until the reader disconnects or the listener stops.
        sender.closed().await;
    });
    receiver
}

struct Fixture {
    address: SocketAddr,
    echo: Arc<Echo>,
    readiness: SharedReadiness,
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl Fixture {
    async fn start(limits: Limits) -> Self {
        Self::start_with(limits, None, RequestLimits::default()).await
    }

    async fn start_with(
        limits: Limits,
        tls: Option<tokio_rustls::TlsAcceptor>,
        requests: RequestLimits,
    ) -> Self {
        let listener = HttpListener::bind("127.0.0.1:0".parse().unwrap(), tls, limits).await.unwrap();
        let address = listener.local_address().unwrap();
        let (echo, readiness, stop) =
            (Arc::new(Echo::default()), SharedReadiness::default(), CancellationToken::new());
        let proxies = Proxies::default();
        let server = Server::new(Arc::clone(&echo), Metrics::new(), readiness.clone(), proxies, &requests);
        let task = tokio::spawn(listener.run(server, stop.clone()));
        Self { address, echo, readiness, stop, task }
    }

    async fn start_limited(requests: RequestLimits) -> Self {
        Self::start_with(Limits::default(), None, requests).await
    }

    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// Connects from 127.0.0.`last`, which is a client of its own.
    async fn connect_from(&self, last: u8) -> TcpStream {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind(SocketAddr::from(([127, 0, 0, last], 0))).unwrap();
        socket.connect(self.address).await.unwrap()
    }

    /// Connects and sends a body up to the point where the daemon waits for more of it.
    async fn half_sent(&self, last: u8, length: usize) -> TcpStream {
        let mut stream = self.connect_from(last).await;
        let head = format!(
            "POST /a HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: {length}\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        read_until(&mut stream, "100 Continue\r\n\r\n").await;
        stream.write_all(b"half").await.unwrap();
        stream
    }

    /// Sends everything and reads until the other side closes.
    async fn script(&self, bytes: impl AsRef<[u8]>) -> String {
        let mut stream = self.connect().await;
        // The other side may answer with an error before it has read everything.
        let _ = stream.write_all(bytes.as_ref()).await;
        read_all(&mut stream).await
    }

    fn calls(&self) -> usize {
        self.echo.calls.load(Ordering::SeqCst)
    }

    async fn is_healthy(&self) -> bool {
        let answer = self.script("GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").await;
        answer.starts_with("HTTP/1.1 200 OK\r\n")
    }
}

async fn read_all(stream: &mut (impl AsyncReadExt + Unpin)) -> String {
    let mut answer = Vec::new();
    // A reset after the answer ends the stream as well.
    let _ = timeout(TIMEOUT, stream.read_to_end(&mut answer)).await.expect_in_time();
    String::from_utf8_lossy(&answer).into_owned()
}

/// Reads until the text contains `mark`.
async fn read_until(stream: &mut (impl AsyncReadExt + Unpin), mark: &str) -> String {
    let mut answer = Vec::new();
    let mut part = [0; 4096];
    loop {
        let count = timeout(TIMEOUT, stream.read(&mut part)).await.expect_in_time().unwrap();
        answer.extend_from_slice(&part[..count]);
        let text = String::from_utf8_lossy(&answer).into_owned();
        if text.contains(mark) {
            return text;
        }
        assert!(count > 0, "closed before {mark:?}: {text:?}");
    }
}

trait InTime<T> {
    fn expect_in_time(self) -> T;
}

impl<T> InTime<T> for Result<T, tokio::time::error::Elapsed> {
    fn expect_in_time(self) -> T {
        self.unwrap_or_else(|_| panic!("nothing happened in time"))
    }
}

fn short_deadlines() -> Limits {
    Limits {
        head: Duration::from_millis(200),
        body: Duration::from_millis(200),
        idle: Duration::from_millis(400),
        write: Duration::from_millis(300),
        handshake: Duration::from_millis(200),
        drain: Duration::from_secs(5),
        tick: Duration::from_millis(20),
        ..Limits::default()
    }
}

fn statuses(answer: &str) -> Vec<&str> {
    answer.split("HTTP/1.1 ").skip(1).map(|rest| rest.get(..3).unwrap_or("???")).collect()
}

const MALFORMED: &str = r#"{"code":3,"message":"Malformed request","details":[]}"#;

#[tokio::test]
async fn malformed_heads_are_rejected_and_close_the_connection() {
    let fixture = Fixture::start(Limits::default()).await;
    let long = "x".repeat(HEAD_BYTES);
    for (script, expected) in [
        // 54: both framings, in either order
        (
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            "400",
        ),
        (
            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n0\r\n\r\n",
            "400",
        ),
        // 55: two lengths
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}", "400"),
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\n{}", "400"),
        // 58: line ends and hosts
        ("GET / HTTP/1.1\nHost: a\n\n", "400"),
        ("GET / HTTP/1.1\r\nHost: a\nX: b\r\n\r\n", "400"),
        ("GET / HTTP/1.1\r\n\r\n", "400"),
        ("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "400"),
        // 59: targets
        ("GET http://a/healthz HTTP/1.1\r\nHost: a\r\n\r\n", "400"),
        ("CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n", "400"),
        ("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", "400"),
        ("GET /a#b HTTP/1.1\r\nHost: a\r\n\r\n", "400"),
        // rejected by hyper itself
        ("G@T / HTTP/1.1\r\nHost: a\r\nX y: z\r\n\r\n", "400"),
        ("GET / HTTP/3.0\r\nHost: a\r\n\r\n", "400"),
        // bytes that are invalid in a stamp
        ("GET / HTTP/1.1\r\nHost: a\r\nX-Stamp: \u{e4}\r\n\r\n", "400"),
        ("REFUSED / HTTP/1.1\r\nHost: a\r\n\r\n", "400"),
        // 7: the size of the head, with and without an end
        (&format!("GET / HTTP/1.1\r\nHost: a\r\nX-Stamp: {long}\r\n\r\n"), "431"),
        (&format!("GET /{long}"), "431"),
        (&format!("GET / HTTP/1.1\r\nHost: a\r\n{}\r\n", "X: y\r\n".repeat(20_000)), "431"),
    ] {
        let answer = fixture.script(script).await;
        let shown = &script[..script.len().min(80)];
        assert_eq!(statuses(&answer), [expected], "{shown:?} got {answer:?}");
        assert!(answer.contains("connection: close\r\n"), "{shown:?} got {answer:?}");
        if expected == "400" {
            assert!(answer.ends_with(MALFORMED), "{shown:?} got {answer:?}");
        }
    }
    assert_eq!(fixture.calls(), 0);
    assert!(fixture.is_healthy().await);
}

#[tokio::test]
async fn invalid_chunks_are_rejected() {
    let fixture = Fixture::start(Limits::default()).await;
    let head = "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
    for chunks in [
        "x\r\nab\r\n0\r\n\r\n",
        "0x1\r\na\r\n0\r\n\r\n",
        "-1\r\na\r\n0\r\n\r\n",
        "fffffffffffffffff\r\na",
        "1\na\r\n0\r\n\r\n",
        "1\r\nab\r\n0\r\n\r\n",
        &format!("1;{}\r\na\r\n0\r\n\r\n", "e".repeat(20_000)),
        "\r\n\r\n",
    ] {
        let answer = fixture.script(format!("{head}{chunks}")).await;
        let shown = &chunks[..chunks.len().min(40)];
        assert_eq!(statuses(&answer), ["400"], "{shown:?} got {answer:?}");
    }
    assert_eq!(fixture.calls(), 0);
    let answer = fixture.script(format!("{head}2\r\n{{}}\r\n0\r\n\r\n")).await;
    assert!(answer.contains(r#""body":2"#) && answer.contains("connection: close"), "{answer}");
}

#[tokio::test]
async fn a_chunked_body_ends_the_connection() {
    let fixture = Fixture::start(Limits::default()).await;
    let script = "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n\
                  GET http://b/ HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n";
    assert_eq!(statuses(&fixture.script(script).await), ["200"]);
    assert_eq!(fixture.calls(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn large_bodies_stop_at_the_limit() {
    let fixture = Fixture::start(Limits::default()).await;
    let full = vec![b'x'; BODY_BYTES];
    let head = |length: usize| {
        format!("POST /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n")
    };
    let exact = [head(BODY_BYTES).into_bytes(), full.clone()].concat();
    assert!(fixture.script(exact).await.contains(&format!(r#""body":{BODY_BYTES}"#)));
    let too_large = r#"{"code":8,"message":"Request body is too large","details":[]}"#;
    // Declared length: rejected at once, before a byte of the body is sent.
    let declared = fixture.script(head(BODY_BYTES + 1)).await;
    assert_eq!(statuses(&declared), ["413"]);
    assert!(declared.ends_with(too_large), "{declared}");
    // Chunked: rejected one byte beyond the limit, before the end of the body.
    let chunked =
        format!("POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n{BODY_BYTES:x}\r\n");
    let over = [chunked.as_bytes(), &full, b"\r\n1\r\nx\r\n"].concat();
    assert!(fixture.script(over).await.ends_with(too_large));
    assert_eq!(fixture.calls(), 1);
}

/// Returns a complete request with a large body.
fn large(length: usize) -> Vec<u8> {
    let head =
        format!("POST /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n");
    [head.into_bytes(), vec![b'x'; length]].concat()
}

async fn send(mut stream: TcpStream, bytes: &[u8]) -> String {
    // The other side may answer with an error before it has read everything.
    let _ = stream.write_all(bytes).await;
    read_all(&mut stream).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_half_sent_body_delays_only_its_own_client() {
    let limits =
        RequestLimits { body_bytes: 2 * BODY_BYTES, body_bytes_per_client: BODY_BYTES, ..Default::default() };
    let fixture = Fixture::start_limited(limits).await;
    let mut slow = fixture.half_sent(2, BODY_BYTES).await;
    // This body is not read, because the first one uses all the memory of the client.
    let second = fixture.connect_from(2).await;
    let second = tokio::spawn(async move { send(second, &large(200_000)).await });
    for length in [BODY_BYTES, 100_000] {
        let answer = send(fixture.connect_from(3).await, &large(length)).await;
        assert!(answer.contains(&format!(r#""body":{length}"#)), "{answer}");
    }
    assert!(!second.is_finished());
    slow.write_all(&vec![b'x'; BODY_BYTES - 4]).await.unwrap();
    assert!(read_until(&mut slow, "}").await.contains(&format!(r#""body":{BODY_BYTES}"#)));
    assert!(second.await.unwrap().contains(r#""body":200000"#));
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_bodies_are_evicted_for_others() {
    let limits =
        RequestLimits { body_bytes: BODY_BYTES, body_bytes_per_client: BODY_BYTES, ..Default::default() };
    let fixture = Fixture::start_limited(limits).await;
    let mut slow = fixture.half_sent(2, BODY_BYTES).await;
    let answer = send(fixture.connect_from(3).await, &large(100_000)).await;
    assert!(answer.contains(r#""body":100000"#), "{answer}");
    let rejected = read_all(&mut slow).await;
    assert_eq!(statuses(&rejected), ["503"]);
    assert!(rejected.contains("(limits.body_bytes)"), "{rejected}");
    // A client that would hold more memory than all others evicts no body.
    let mut modest = fixture.half_sent(4, 1_000_000).await;
    let greedy = fixture.connect_from(5).await;
    let greedy = tokio::spawn(async move { send(greedy, &large(BODY_BYTES)).await });
    modest.write_all(&vec![b'x'; 1_000_000 - 4]).await.unwrap();
    assert!(read_until(&mut modest, "}").await.contains(r#""body":1000000"#));
    assert!(greedy.await.unwrap().contains(&format!(r#""body":{BODY_BYTES}"#)));
}

#[tokio::test(flavor = "multi_thread")]
async fn small_bodies_do_not_wait_behind_many_stalled_ones() {
    let limits = RequestLimits {
        body_bytes: 2 * BODY_BYTES,
        body_bytes_per_client: 2 * BODY_BYTES,
        ..Default::default()
    };
    // The stalled clients would hold the memory, one after the other, for far longer than the test waits.
    let patient = Limits { body: Duration::from_secs(1000), ..Limits::default() };
    let fixture = Fixture::start_with(patient, None, limits).await;
    let mut crowd = Vec::new();
    for client in 10..26 {
        crowd.push(fixture.half_sent(client, BODY_BYTES).await);
        // The second bodies wait for memory, because their clients would hold more than others do.
        let mut second = fixture.connect_from(client).await;
        let head = format!("POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: {BODY_BYTES}\r\n\r\n");
        second.write_all(head.as_bytes()).await.unwrap();
        crowd.push(second);
    }
    for _ in 0..3 {
        let answer = send(fixture.connect_from(3).await, &large(300_000)).await;
        assert!(answer.contains(r#""body":300000"#), "{answer}");
    }
    drop(crowd);
    // All the memory is released.
    let answer = send(fixture.connect_from(4).await, &large(BODY_BYTES)).await;
    assert!(answer.contains(&format!(r#""body":{BODY_BYTES}"#)), "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reached_limit_is_named() {
    let limits = RequestLimits {
        body_bytes_per_client: BODY_BYTES,
        requests_in_flight_per_client: 1,
        requests_waiting_per_client: 0,
        ..Default::default()
    };
    let fixture = Fixture::start_limited(limits).await;
    let slow = fixture.half_sent(2, BODY_BYTES).await;
    let rejected = send(fixture.connect_from(2).await, &large(100_000)).await;
    assert_eq!(statuses(&rejected), ["429"]);
    assert!(rejected.contains("(limits.body_bytes_per_client)"), "{rejected}");
    drop(slow);
    let mut waiting = fixture.connect_from(3).await;
    waiting.write_all(b"GET /wait HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
    fixture.echo.entered.notified().await;
    let get = b"GET /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    let rejected = send(fixture.connect_from(3).await, get).await;
    assert_eq!(statuses(&rejected), ["429"]);
    assert!(rejected.contains("(limits.requests_waiting_per_client)"), "{rejected}");
    assert!(rejected.contains(r#""turnkeyErrorCode":"RATE_LIMIT_EXCEEDED""#), "{rejected}");
    assert_eq!(statuses(&send(fixture.connect_from(4).await, get).await), ["200"], "another client");
    let health = b"GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    assert_eq!(statuses(&send(fixture.connect_from(3).await, health).await), ["200"]);
    let metrics = fixture.script("GET /metrics HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").await;
    for limit in ["body_bytes_per_client", "requests_waiting_per_client"] {
        let line = format!(r#"quorate_limits_reached_total{{limit="{limit}"}} 1"#);
        assert!(metrics.contains(&line), "{metrics}");
    }
    fixture.echo.leave.notify_one();
    assert!(read_until(&mut waiting, "}").await.contains("/wait"));
}

#[tokio::test(flavor = "multi_thread")]
async fn unread_answers_are_bounded() {
    // An answer of 64 MiB is all that a client may leave unread.
    let fixture = Fixture::start_limited(RequestLimits::default()).await;
    let get = b"GET /large HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    let mut unread = fixture.connect_from(2).await;
    unread.write_all(get).await.unwrap();
    unread.readable().await.unwrap();
    let rejected = send(fixture.connect_from(2).await, get).await;
    assert_eq!(statuses(&rejected), ["429"]);
    assert!(rejected.contains("(limits.answer_bytes_per_client)"), "{rejected}");
    let small = b"GET /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    assert_eq!(statuses(&send(fixture.connect_from(2).await, small).await), ["200"]);
    let others: Vec<TcpStream> = unread_by([3, 4, 5], &fixture, get).await;
    let rejected = send(fixture.connect_from(6).await, get).await;
    assert_eq!(statuses(&rejected), ["503"]);
    assert!(rejected.contains("(limits.answer_bytes)"), "{rejected}");
    // An answer that is read releases its memory.
    assert!(read_all(&mut unread).await.len() > 64 * 1024 * 1024);
    assert_eq!(statuses(&send(fixture.connect_from(2).await, get).await), ["200"]);
    drop(others);
}

/// Returns connections of these clients that have sent a request and do not read the answer.
async fn unread_by(clients: [u8; 3], fixture: &Fixture, request: &[u8]) -> Vec<TcpStream> {
    let mut streams = Vec::new();
    for client in clients {
        let mut stream = fixture.connect_from(client).await;
        stream.write_all(request).await.unwrap();
        stream.readable().await.unwrap();
        streams.push(stream);
    }
    streams
}

#[tokio::test]
async fn a_large_body_is_not_received_for_a_rejected_head() {
    let fixture = Fixture::start(Limits::default()).await;
    let head = "POST /rejected HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n";
    for framing in [format!("Content-Length: {BODY_BYTES}"), "Transfer-Encoding: chunked".to_owned()] {
        let answer = fixture.script(format!("{head}{framing}\r\n\r\n")).await;
        assert_eq!(statuses(&answer), ["401"], "no 100 Continue: {answer}");
        assert!(answer.contains("connection: close\r\n"), "{answer}");
    }
    assert_eq!(fixture.calls(), 0);
    let metrics = fixture.script("GET /metrics HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").await;
    assert!(metrics.contains("quorate_stamps_refused_total 2\n"), "{metrics}");
}

#[tokio::test(flavor = "multi_thread")]
async fn small_chunks_are_collected() {
    let fixture = Fixture::start(Limits::default()).await;
    let mut script = b"POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
    script.extend(b"1\r\nx\r\n".repeat(300_000));
    script.extend(b"0\r\n\r\n");
    assert!(fixture.script(script).await.contains(r#""body":300000"#));
}

#[tokio::test]
async fn slow_senders_are_disconnected() {
    let fixture = Fixture::start(short_deadlines()).await;
    // 51: a head that never ends, or never begins
    for begun in ["", "GET / HT", "GET / HTTP/1.1\r\nHost: a\r\nX: "] {
        assert_eq!(fixture.script(begun).await, "", "{begun:?}");
    }
    // 52: a body that never ends
    let answer = fixture.script("POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n12").await;
    assert_eq!(statuses(&answer), ["408"]);
    assert!(answer.contains(r#"{"code":14,"#) && answer.contains("connection: close"), "{answer}");
    // A connection that stays idle after an answer
    let answer = fixture.script("GET /a HTTP/1.1\r\nHost: a\r\n\r\n").await;
    assert_eq!(statuses(&answer), ["200"]);
    assert!(fixture.is_healthy().await);
}

#[tokio::test]
async fn a_waiting_request_is_not_an_idle_connection() {
    let fixture = Fixture::start(short_deadlines()).await;
    let mut stream = fixture.connect().await;
    stream.write_all(b"GET /wait HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
    fixture.echo.entered.notified().await;
    // A second client reaches its idle deadline, which is as long as that of the first one.
    assert_eq!(statuses(&fixture.script("GET /a HTTP/1.1\r\nHost: a\r\n\r\n").await), ["200"]);
    fixture.echo.leave.notify_one();
    assert!(read_until(&mut stream, "}").await.contains("/wait"));
}

#[tokio::test]
async fn a_client_that_does_not_read_its_answer_is_disconnected() {
    let fixture = Fixture::start(short_deadlines()).await;
    let mut stream = fixture.connect().await;
    stream.write_all(b"GET /large HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
    fixture.echo.entered.notified().await;
    let stop = fixture.stop.clone();
    // The listener can only finish this quickly if the connection is closed.
    stop.cancel();
    timeout(Duration::from_secs(4), fixture.task).await.expect_in_time().unwrap();
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest).await;
    assert!(rest.len() < 64 * 1024 * 1024);
}

#[tokio::test]
async fn paths_are_never_normalized() {
    let fixture = Fixture::start(Limits::default()).await;
    for path in
        ["/a/../healthz", "//healthz", "/%68ealthz", "/healthz%00", "/Healthz", "/healthz/", "/./healthz"]
    {
        let answer =
            fixture.script(format!("GET {path}?q HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")).await;
        assert!(answer.contains(&format!(r#""path":"{path}","query":"q""#)), "{path} got {answer}");
    }
}

#[tokio::test]
async fn pipelined_requests_are_answered_in_order_up_to_a_depth() {
    let fixture = Fixture::start(Limits::default()).await;
    let answer = fixture
        .script(
            "GET /1 HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nPOST\
             POST /2 HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}",
        )
        .await;
    assert_eq!(statuses(&answer), ["200", "200"]);
    let (first, second) = (answer.find(r#""path":"/1""#).unwrap(), answer.find(r#""path":"/2""#).unwrap());
    assert!(first < second && answer.contains(r#""body":4"#), "{answer}");
    let answer = fixture.script("GET /a HTTP/1.1\r\nHost: a\r\n\r\n".repeat(20)).await;
    let expected: Vec<&str> = std::iter::repeat_n("200", 16).chain(["429"]).collect();
    assert_eq!(statuses(&answer), expected);
}

#[tokio::test]
async fn a_rejected_request_gets_no_100_continue() {
    let fixture = Fixture::start(Limits::default()).await;
    for (headers, expected) in [
        ("Content-Length: 99999999", vec!["413"]),
        ("Content-Length: 2\r\nContent-Encoding: gzip", vec!["415"]),
        ("Content-Length: 2\r\nX-Stamp: \u{e4}", vec!["400"]),
        ("Content-Length: 2\r\nConnection: close", vec!["100", "200"]),
    ] {
        let script = format!("POST /a HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n{headers}\r\n\r\n{{}}");
        let answer = fixture.script(script).await;
        assert_eq!(statuses(&answer), expected, "{headers}");
    }
}

#[tokio::test]
async fn encoded_bodies_are_rejected() {
    let fixture = Fixture::start(Limits::default()).await;
    for (coding, expected) in [("gzip", "415"), ("br", "415"), ("deflate, gzip", "415"), ("identity", "200")]
    {
        let script = format!(
            "POST /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Encoding: {coding}\r\n\
             Content-Length: 2\r\n\r\n{{}}"
        );
        assert_eq!(statuses(&fixture.script(script).await), [expected], "{coding}");
    }
}

#[tokio::test]
async fn stamps_are_passed_on_and_repeated_ones_are_marked() {
    let fixture = Fixture::start(Limits::default()).await;
    for (headers, expected) in [
        ("", r#""stamp":"absent""#),
        ("X-Stamp: abc\r\n", r#""stamp":"abc""#),
        ("x-stamp:  abc  \r\n", r#""stamp":"abc""#),
        ("X-Stamp: abc\r\nX-Stamp: abc\r\n", r#""stamp":"repeated""#),
        ("X-Stamp: abc\r\nX-Stamp: def\r\n", r#""stamp":"repeated""#),
    ] {
        let answer = fixture
            .script(format!("POST /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n{headers}\r\n"))
            .await;
        assert!(answer.contains(expected), "{headers:?} got {answer}");
    }
}

#[tokio::test]
async fn answers_have_the_headers_that_clients_compare() {
    let fixture = Fixture::start(Limits::default()).await;
    for (path, status, cache) in [
        ("/a", "200", None),
        ("/missing", "404", None),
        ("/wrong", "501", None),
        ("/cached", "200", Some("no-cache")),
    ] {
        let answer =
            fixture.script(format!("POST {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")).await;
        assert_eq!(statuses(&answer), [status]);
        assert!(answer.contains("\r\ncontent-type: application/json\r\n"), "{answer}");
        assert!(answer.contains("\r\naccess-control-allow-origin: *\r\n"), "{answer}");
        assert_eq!(answer.contains("cache-control: no-cache"), cache.is_some());
    }
    let missing = fixture.script("GET /missing HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").await;
    assert!(missing.ends_with(r#"{"code":5,"message":"Not Found","details":[]}"#));
    let wrong = fixture.script("GET /wrong HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").await;
    assert!(wrong.ends_with(r#"{"code":12,"message":"Method Not Allowed","details":[]}"#));
    let preflight = fixture
        .script(
            "OPTIONS /public/v1/submit/sign_raw_payload HTTP/1.1\r\nHost: a\r\nOrigin: https://b\r\n\
             Access-Control-Request-Method: POST\r\nConnection: close\r\n\r\n",
        )
        .await;
    assert_eq!(statuses(&preflight), ["204"]);
    for header in [
        "access-control-allow-methods: POST, OPTIONS\r\n",
        "access-control-max-age: 86400\r\n",
        "access-control-allow-headers: Content-Type, X-Client-Version, X-Stamp, X-Stamp-Webauthn, \
         X-Stamp-Attested, X-Session, X-Auth-Proxy-Config-ID, X-Captcha-Token\r\n",
    ] {
        assert!(preflight.contains(header), "{header} is missing in {preflight}");
    }
}

#[tokio::test]
async fn own_routes_report_health_and_metrics() {
    let fixture = Fixture::start(Limits::default()).await;
    let get = async |path: &str| {
        fixture.script(format!("GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")).await
    };
    assert!(get("/healthz").await.ends_with(r#"{"status":"ok"}"#));
    for (readiness, problem) in [
        (Readiness::Starting, "starting"),
        (Readiness::StoreFull, "the file system of the store is full"),
        (Readiness::StoreFailed, "the store failed and is being reopened"),
        (Readiness::DatabaseFailed, "the database of the store cannot be reached or used"),
        (Readiness::GuardFailed, "the guard file of the store cannot be written"),
        (Readiness::Stopping, "stopping"),
    ] {
        fixture.readiness.set(readiness);
        let answer = get("/readyz").await;
        assert_eq!(statuses(&answer), ["503"]);
        assert!(answer.contains(&format!("\"Not ready: {problem}\"")), "{answer}");
    }
    fixture.readiness.set(Readiness::Ready);
    assert_eq!(statuses(&get("/readyz").await), ["200"]);
    let metrics = get("/metrics").await;
    assert!(metrics.contains(r#"quorate_requests_total{operation="healthz",class="2xx"} 1"#), "{metrics}");
    let wrong = fixture.script("POST /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").await;
    assert_eq!(statuses(&wrong), ["501"]);
    assert_eq!(fixture.calls(), 0);
}

#[tokio::test]
async fn rate_limits_apply_per_address() {
    let fixture = Fixture::start(Limits { requests_per_second: Some(2), ..Limits::default() }).await;
    let answer = fixture.script("POST /a HTTP/1.1\r\nHost: a\r\n\r\n".repeat(3) + "\n").await;
    assert_eq!(statuses(&answer), ["200", "200", "429", "400"]);
    assert!(answer.contains(r#""turnkeyErrorCode":"RATE_LIMIT_EXCEEDED"}"#));
    assert!(fixture.is_healthy().await, "health checks are not limited");
}

#[tokio::test]
async fn idle_connections_are_closed_for_new_ones() {
    let fixture = Fixture::start(Limits { connections: 20, ..Limits::default() }).await;
    let mut idle = Vec::new();
    for _ in 0..60 {
        let mut stream = fixture.connect().await;
        stream.write_all(b"GET /a HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
        read_until(&mut stream, "}").await;
        idle.push(stream);
    }
    assert!(fixture.is_healthy().await);
    assert_eq!(read_all(&mut idle[0]).await, "", "the oldest is closed");
    let newest = idle.last_mut().unwrap();
    newest.write_all(b"GET /b HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
    assert!(read_until(newest, "}").await.contains("/b"), "the newest is open");
}

#[tokio::test]
async fn stopping_completes_accepted_requests() {
    let fixture = Fixture::start(Limits::default()).await;
    let mut waiting = fixture.connect().await;
    waiting.write_all(b"GET /wait HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
    fixture.echo.entered.notified().await;
    let mut idle = fixture.connect().await;
    idle.write_all(b"GET /a HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
    read_until(&mut idle, "}").await;
    let mut feed = fixture.connect().await;
    feed.write_all(b"GET /events HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
    let first = read_until(&mut feed, "data: {}\n\n").await;
    assert!(first.contains("content-type: text/event-stream\r\n"), "{first}");
    fixture.stop.cancel();
    assert_eq!(read_all(&mut idle).await, "");
    assert!(read_all(&mut feed).await.ends_with("0\r\n\r\n"), "the feed ends with its last chunk");
    assert!(TcpStream::connect(fixture.address).await.is_err(), "no connection is accepted anymore");
    fixture.echo.leave.notify_one();
    assert!(read_all(&mut waiting).await.contains(r#""path":"/wait""#));
    timeout(TIMEOUT, fixture.task).await.expect_in_time().unwrap();
}

#[tokio::test]
async fn stopping_has_a_deadline() {
    let fixture = Fixture::start(Limits { drain: Duration::from_millis(100), ..short_deadlines() }).await;
    let mut waiting = fixture.connect().await;
    waiting.write_all(b"GET /wait HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
    fixture.echo.entered.notified().await;
    fixture.stop.cancel();
    timeout(TIMEOUT, fixture.task).await.expect_in_time().unwrap();
    assert_eq!(read_all(&mut waiting).await, "");
}

#[tokio::test(flavor = "multi_thread")]
async fn http2_is_served_without_prior_agreement() {
    let fixture = Fixture::start(Limits::default()).await;
    let io = TokioIo::new(fixture.connect().await);
    let (mut sender, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), io).await.unwrap();
    tokio::spawn(connection);
    for (body, expected) in [(vec![b'x'; 100_000], r#""body":100000"#), (Vec::new(), r#""body":0"#)] {
        let request = http::Request::post("http://a/p?q")
            .header("x-stamp", "s")
            .body(Full::new(Bytes::from(body)))
            .unwrap();
        let answer = sender.send_request(request).await.unwrap();
        assert_eq!(answer.headers()["content-type"], "application/json");
        let text = answer.into_body().collect().await.unwrap().to_bytes();
        let text = String::from_utf8_lossy(&text);
        assert!(text.contains(r#""path":"/p","query":"q""#) && text.contains(expected), "{text}");
    }
    let large =
        http::Request::post("http://a/p").body(Full::new(Bytes::from(vec![0; BODY_BYTES + 1]))).unwrap();
    assert_eq!(sender.send_request(large).await.unwrap().status(), 413);
}

#[tokio::test]
async fn http2_names_one_host() {
    let fixture = Fixture::start(Limits::default()).await;
    let io = TokioIo::new(fixture.connect().await);
    let (mut sender, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), io).await.unwrap();
    tokio::spawn(connection);
    for (authority, host, expected) in [
        ("localhost", None, 200),
        ("localhost", Some("localhost"), 200),
        ("localhost", Some("LOCALHOST:80"), 200),
        ("localhost:8787", Some("localhost:8787"), 200),
        ("localhost", Some("evil.example"), 400),
        ("localhost:8787", Some("localhost"), 400),
        ("localhost", Some("user@localhost"), 400),
        ("localhost", Some(""), 400),
    ] {
        let mut request = http::Request::post(format!("http://{authority}/p"));
        if let Some(host) = host {
            request = request.header("host", host);
        }
        let answer = sender.send_request(request.body(Full::new(Bytes::new())).unwrap()).await.unwrap();
        assert_eq!(answer.status(), expected, "{authority} {host:?}");
    }
}

/// Returns one HTTP/2 frame (RFC 9113 §4.1).
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// GET, http, `/`, authority `a`, by the static table (RFC 7541 appendix A).
const GET_ROOT: &[u8] = &[0x82, 0x86, 0x84, 0x41, 0x01, b'a'];

#[tokio::test]
async fn http2_floods_close_the_connection() {
    let fixture = Fixture::start(Limits::default()).await;
    let begin = [PREFACE, &frame(4, 0, 0, &[])].concat();
    let mut resets = begin.clone();
    for number in 0..10_000_u32 {
        let stream = number * 2 + 1;
        resets.extend(frame(1, 0x4, stream, GET_ROOT));
        resets.extend(frame(3, 0, stream, &[0, 0, 0, 8]));
    }
    let mut continuations = [begin, frame(1, 0, 1, GET_ROOT)].concat();
    for _ in 0..64 {
        continuations.extend(frame(9, 0, 1, &[0x00; 16 * 1024]));
    }
    for (name, script) in [("resets", resets), ("continuations", continuations)] {
        let mut stream = fixture.connect().await;
        let _ = stream.write_all(&script).await;
        let mut answer = Vec::new();
        let _ = timeout(TIMEOUT, stream.read_to_end(&mut answer)).await.expect_in_time();
        assert!(answer.len() < 1024 * 1024, "{name}");
        assert!(fixture.is_healthy().await, "{name}");
    }
}

#[tokio::test]
async fn tls_is_served_and_its_handshake_has_a_deadline() {
    let certified = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (certificate, key) = (folder.path().join("certificate.pem"), folder.path().join("key.pem"));
    std::fs::write(&certificate, certified.cert.pem()).unwrap();
    std::fs::write(&key, certified.signing_key.serialize_pem()).unwrap();
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o640)).unwrap();
    let open = tls::acceptor(&certificate, &key).err().unwrap().to_string();
    assert!(open.contains("is accessible to other users (mode 0640)"), "{open}");
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).unwrap();
    assert!(tls::acceptor(&key, &key).is_err());
    assert!(tls::acceptor(&certificate, &certificate).is_err());
    assert!(tls::acceptor(&folder.path().join("none"), &key).is_err());
    let acceptor = tls::acceptor(&certificate, &key).unwrap();
    let fixture = Fixture::start_with(short_deadlines(), Some(acceptor), RequestLimits::default()).await;

    // 67: no handshake bytes; plain HTTP instead of a handshake; TLS 1.1
    assert_eq!(fixture.script("").await, "");
    assert!(!fixture.script("GET / HTTP/1.1\r\nHost: a\r\n\r\n").await.contains("HTTP/1.1"));
    let old_hello: &[u8] = b"\x16\x03\x02\x00\x2f\x01\x00\x00\x2b\x03\x02";
    let old_hello = [old_hello, &[7; 32], b"\x00\x00\x04\x00\x2f\x00\x35\x01\x00"].concat();
    let alert = {
        let mut stream = fixture.connect().await;
        stream.write_all(&old_hello).await.unwrap();
        let mut answer = Vec::new();
        let _ = timeout(TIMEOUT, stream.read_to_end(&mut answer)).await.expect_in_time();
        answer
    };
    assert_eq!(alert.first(), Some(&0x15), "an alert record");

    let mut roots = rustls::RootCertStore::empty();
    roots.add(certified.cert.der().clone()).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let connector = tokio_rustls::TlsConnector::from(Arc::new(config));
    let mut stream =
        connector.connect("localhost".try_into().unwrap(), fixture.connect().await).await.unwrap();
    stream.write_all(b"POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}").await.unwrap();
    assert!(read_until(&mut stream, "}").await.contains(r#""body":2"#));
}

#[tokio::test]
async fn http_1_0_and_leading_empty_lines_are_served() {
    let fixture = Fixture::start(Limits::default()).await;
    let old = fixture.script("GET /a HTTP/1.0\r\n\r\n").await;
    assert!(old.starts_with("HTTP/1.0 200 OK\r\n"), "{old}");
    let padded = fixture.script("\r\n\r\nGET /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").await;
    assert_eq!(statuses(&padded), ["200"]);
}

#[tokio::test]
async fn a_head_sent_in_single_bytes_is_served() {
    let fixture = Fixture::start(Limits::default()).await;
    let mut stream = fixture.connect().await;
    stream.set_nodelay(true).unwrap();
    for byte in
        b"POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}GET /b HTTP/1.1\r\nHost: a\r\n\r\n"
    {
        stream.write_all(&[*byte]).await.unwrap();
        tokio::task::yield_now().await;
    }
    let answer = read_until(&mut stream, r#""path":"/b""#).await;
    assert_eq!(statuses(&answer), ["200", "200"]);
}
