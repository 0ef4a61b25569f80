//! The dialler against receivers with various kinds of behaviour.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::*;

impl Dialler {
    /// Creates a dialler whose lookups have these answers, one after the other.
    pub(crate) fn with_answers(policy: ReceiverPolicy, answers: &[&[&str]]) -> Self {
        let parse = |text: &&str| text.parse().unwrap();
        let answers = answers.iter().map(|answer| answer.iter().map(parse).collect()).collect();
        Self { names: Names::Changing(Arc::new(std::sync::Mutex::new(answers))), ..Self::new(policy) }
    }
}

/// Behaviour of a receiver after it has read the request.
#[derive(Clone, Copy)]
enum Behavior {
    Answers(&'static str),
    /// Reads and sends nothing.
    Silent,
    /// Closes without an answer.
    Closes,
    /// Sends an endless body.
    Floods,
    /// Sends an endless head.
    FloodsHead,
    /// Sends endless interim answers.
    Dawdles,
}

/// Listens on loopback. The task returns the received request and the number of bytes sent.
async fn receiver(behavior: Behavior) -> (SocketAddr, JoinHandle<(String, usize)>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let task = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut received = Vec::new();
        while !received.ends_with(b"{\"a\":1}") {
            let mut part = [0; 1024];
            let count = stream.read(&mut part).await.unwrap_or(0);
            if count == 0 {
                break;
            }
            received.extend(part.iter().take(count));
        }
        let sent = behave(&mut stream, behavior).await;
        (String::from_utf8_lossy(&received).into_owned(), sent)
    });
    (address, task)
}

async fn behave(stream: &mut TcpStream, behavior: Behavior) -> usize {
    let (head, endless): (&[u8], &[u8]) = match behavior {
        Behavior::Answers(answer) => (answer.as_bytes(), b""),
        Behavior::Closes => (b"", b""),
        Behavior::Silent => {
            let mut rest = Vec::new();
            let _ = stream.read_to_end(&mut rest).await;
            return 0;
        }
        Behavior::Floods => (b"HTTP/1.1 200 OK\r\nContent-Length: 10737418240\r\n\r\n", &[b'x'; 16 * 1024]),
        Behavior::FloodsHead => {
            (b"HTTP/1.1 200 OK\r\n", b"X: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\r\n")
        }
        Behavior::Dawdles => (b"", b"HTTP/1.1 103 Early Hints\r\n\r\n"),
    };
    let _ = stream.write_all(head).await;
    let mut sent = head.len();
    while !endless.is_empty() && stream.write_all(endless).await.is_ok() {
        sent += endless.len();
    }
    sent
}

fn dialler(policy: ReceiverPolicy) -> Dialler {
    Dialler { deadline: Duration::from_millis(500), ..Dialler::new(policy) }
}

async fn post(dialler: &Dialler, url: &str) -> Outcome {
    let url = OutgoingUrl::check(url, &dialler.policy).unwrap();
    let headers = [("X-Turnkey-Event-Id", "evt_123".to_owned())];
    let posting = dialler.post(&url, &headers, Bytes::from_static(b"{\"a\":1}"));
    timeout(Duration::from_secs(20), posting).await.unwrap_or_else(|_| panic!("no outcome in time"))
}

async fn check(behavior: Behavior, expected: Outcome) -> (String, usize) {
    let (address, task) = receiver(behavior).await;
    assert_eq!(post(&dialler(ReceiverPolicy::dev()), &format!("http://{address}/hook?a=b")).await, expected);
    task.await.unwrap()
}

#[tokio::test]
async fn the_status_determines_the_outcome() {
    for (answer, expected) in [
        ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", Outcome::Delivered(200)),
        ("HTTP/1.1 204 No Content\r\n\r\n", Outcome::Delivered(204)),
        ("HTTP/1.0 202 Accepted\r\n\r\n", Outcome::Delivered(202)),
        ("HTTP/1.1 304 Not Modified\r\n\r\n", Outcome::Final(304)),
        ("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n", Outcome::Final(400)),
        ("HTTP/1.1 429 Too Many Requests\r\nContent-Length: 0\r\n\r\n", Outcome::Final(429)),
        ("HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n", Outcome::Failed(500)),
        ("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n", Outcome::Failed(503)),
        ("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\ncut", Outcome::Delivered(200)),
        ("SSH-2.0-OpenSSH\r\n", Outcome::Silent("connection failed")),
        ("", Outcome::Silent("connection failed")),
    ] {
        check(Behavior::Answers(answer), expected).await;
    }
    check(Behavior::Closes, Outcome::Silent("connection failed")).await;
}

#[tokio::test]
async fn the_request_has_the_headers_that_receivers_verify() {
    let (received, _) =
        check(Behavior::Answers("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), Outcome::Delivered(200))
            .await;
    let lower = received.to_ascii_lowercase();
    assert!(received.starts_with("POST /hook?a=b HTTP/1.1\r\n"), "{received}");
    for line in [
        "content-type: application/json\r\n",
        "x-turnkey-event-id: evt_123\r\n",
        "host: 127.0.0.1:",
        "content-length: 7\r\n",
    ] {
        assert!(lower.contains(line), "{line} is missing in {received}");
    }
    assert!(received.ends_with("\r\n\r\n{\"a\":1}"));
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let (target, target_task) = receiver(Behavior::Answers("HTTP/1.1 200 OK\r\n\r\n")).await;
    for status in [301, 302, 303, 307, 308] {
        let answer =
            format!("HTTP/1.1 {status} Moved\r\nLocation: http://{target}/\r\nContent-Length: 0\r\n\r\n");
        check(Behavior::Answers(answer.leak()), Outcome::Final(status)).await;
    }
    assert!(!target_task.is_finished(), "the target was not called");
    target_task.abort();
}

#[tokio::test]
async fn hostile_receivers_use_little_memory_and_time() {
    check(Behavior::Silent, Outcome::Silent("no answer in time")).await;
    check(Behavior::Dawdles, Outcome::Silent("no answer in time")).await;
    check(Behavior::FloodsHead, Outcome::Silent("connection failed")).await;
    let (_, sent) = check(Behavior::Floods, Outcome::Delivered(200)).await;
    // The kernel buffers some data; the dialler itself reads little.
    assert!(sent < 64 * 1024 * 1024, "{sent} bytes were taken");
}

#[tokio::test]
async fn names_are_checked_by_their_addresses() {
    let (address, task) = receiver(Behavior::Answers("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")).await;
    let url = format!("http://receiver.example:{}/", address.port());
    let named = |addresses: &[&str], networks: &[&str]| {
        let allow_networks = networks.iter().map(|network| network.parse().unwrap()).collect();
        let addresses = addresses.iter().map(|address| address.parse().unwrap()).collect();
        Dialler {
            names: Names::Fixed(addresses),
            ..dialler(ReceiverPolicy { allow_networks, allow_http: true })
        }
    };
    let not_allowed = Outcome::NotAllowed("address is not allowed");
    for (addresses, networks) in [
        (vec!["127.0.0.1"], vec![]),
        (vec!["8.8.8.8", "127.0.0.1"], vec![]),
        (vec!["169.254.169.254"], vec!["127.0.0.0/8"]),
        (vec!["127.0.0.1", "10.0.0.1"], vec!["127.0.0.0/8"]),
        (vec!["::ffff:127.0.0.1"], vec!["127.0.0.0/8"]),
    ] {
        assert_eq!(post(&named(&addresses, &networks), &url).await, not_allowed, "{addresses:?}");
    }
    assert_eq!(post(&named(&["127.0.0.1"], &["127.0.0.0/8"]), &url).await, Outcome::Delivered(200));
    assert!(task.await.unwrap().0.contains("host: receiver.example:"));
}

/// A name is looked up once for each request, and the checked address is the one that is connected to. An answer that
/// changes between check and connection (DNS rebinding) therefore changes nothing.
#[tokio::test]
async fn a_name_that_changes_its_address_reaches_no_address_unchecked() {
    let (address, task) = receiver(Behavior::Answers("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")).await;
    let url = format!("http://receiver.example:{}/", address.port());
    let policy = ReceiverPolicy { allow_networks: vec!["127.0.0.0/8".parse().unwrap()], allow_http: true };
    let not_allowed = Outcome::NotAllowed("address is not allowed");
    let dialler = Dialler::with_answers(
        policy,
        &[
            &["10.0.0.1"],
            &["127.0.0.1"],
            &["169.254.169.254"],
            &["::ffff:169.254.169.254"],
            &["::ffff:127.0.0.1"],
            &["64:ff9b::a9fe:a9fe"],
            &["127.0.0.1", "fd00:ec2::254"],
        ],
    );
    assert_eq!(post(&dialler, &url).await, not_allowed);
    assert_eq!(post(&dialler, &url).await, Outcome::Delivered(200));
    assert!(task.await.unwrap().0.contains("host: receiver.example:"));
    for _ in 0..5 {
        assert_eq!(post(&dialler, &url).await, not_allowed);
    }
    // Seven requests used up seven answers.
    assert_eq!(post(&dialler, &url).await, Outcome::Silent("name does not resolve"));
}

#[tokio::test]
async fn connection_and_certificate_errors_are_retried() {
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let dialler = dialler(ReceiverPolicy::dev());
    assert_eq!(post(&dialler, &format!("http://{closed}/")).await, Outcome::Silent("cannot connect"));
    let (address, task) = receiver(Behavior::Closes).await;
    let without_roots = Dialler { tls: None, ..dialler.clone() };
    assert_eq!(
        post(&without_roots, &format!("https://{address}/")).await,
        Outcome::Silent("no trusted certificate roots")
    );
    task.abort();
}

#[tokio::test]
async fn certificates_are_verified_by_name() {
    let certified = rcgen::generate_simple_self_signed(vec!["receiver.example".to_owned()]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (certificate, key) = (folder.path().join("certificate.pem"), folder.path().join("key.pem"));
    std::fs::write(&certificate, certified.cert.pem()).unwrap();
    crate::private_file::create(&key, certified.signing_key.serialize_pem().as_bytes()).unwrap();
    let acceptor = crate::http::tls::acceptor(&certificate, &key).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let Ok(mut stream) = acceptor.accept(stream).await else {
                continue;
            };
            let mut request = [0; 4096];
            let _ = stream.read(&mut request).await;
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await;
            let _ = stream.shutdown().await;
        }
    });
    let mut roots = rustls::RootCertStore::empty();
    roots.add(certified.cert.der().clone()).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let trusting = Dialler {
        tls: Some(TlsConnector::from(Arc::new(config))),
        names: Names::Fixed(vec!["127.0.0.1".parse().unwrap()]),
        deadline: Duration::from_secs(5),
        ..dialler(ReceiverPolicy::dev())
    };
    let at = |name: &str| format!("https://{name}:{port}/");
    assert_eq!(post(&trusting, &at("receiver.example")).await, Outcome::Delivered(200));
    assert_eq!(post(&trusting, &at("other.example")).await, Outcome::Silent("TLS failed"));
    let untrusting = Dialler { names: trusting.names.clone(), ..dialler(ReceiverPolicy::dev()) };
    let outcome = post(&untrusting, &at("receiver.example")).await;
    assert!(matches!(outcome, Outcome::Silent("TLS failed" | "no trusted certificate roots")), "{outcome:?}");
}

#[tokio::test]
async fn headers_with_line_breaks_are_rejected() {
    let dialler = dialler(ReceiverPolicy::dev());
    let url = OutgoingUrl::check("http://127.0.0.1:9/", &dialler.policy).unwrap();
    for header in [("X-Event", "a\r\nX-Other: b".to_owned()), ("X Event", "a".to_owned())] {
        let outcome = dialler.post(&url, std::slice::from_ref(&header), Bytes::new()).await;
        assert!(matches!(outcome, Outcome::NotAllowed(_)), "{header:?}");
    }
}
