//! Clients without a valid stamp cost the daemon little memory and do not delay other clients.

use std::fs;
use std::io::ErrorKind;
use std::net::SocketAddr;

use hyper::Method;
use quorate_tests::caller::Caller;
use quorate_tests::daemon::{Daemon, Options};
use quorate_tests::http::Reply;
use quorate_tests::keys::Key;
use quorate_tests::requests::CREATE_WALLET;
use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinSet;

const LARGEST_BODY: usize = 4 << 20;
/// Limit of the daemon's memory growth, in KiB: 60 MB.
const GROWTH_KIB: u64 = 60_000_000 / 1024;
const WHOAMI: &str = "/public/v1/query/whoami";
const CREATE: &str = "/public/v1/submit/create_wallet";

/// Returns a body of the maximum size. Parsed into a tree, it takes a hundred times as much memory.
fn expensive(organization: &str) -> Vec<u8> {
    let front = format!(r#"{{"organizationId":"{organization}","unknown":[{{"a":0}}"#);
    let item = r#",{"a":0}"#;
    let count = (LARGEST_BODY - front.len() - 2) / item.len();
    format!("{front}{}]}}", item.repeat(count)).into_bytes()
}

/// Returns a size from the kernel's status file of the daemon, in KiB.
fn kibibytes(daemon: &Daemon, name: &str) -> u64 {
    let path = format!("/proc/{}/status", daemon.process_id().as_raw_nonzero());
    let text = fs::read_to_string(path).expect("the daemon runs");
    let line = text.lines().find(|line| line.starts_with(name)).expect("the kernel reports it");
    line.split_whitespace().nth(1).and_then(|size| size.parse().ok()).expect("a size")
}

/// Asserts that the daemon's memory stays within the limit during an operation.
async fn assert_bounded_growth(daemon: &Daemon, what: &str, operation: impl Future<Output = ()>) {
    let resident = kibibytes(daemon, "VmRSS:");
    let process = daemon.process_id().as_raw_nonzero();
    // Resets the peak (proc(5)).
    fs::write(format!("/proc/{process}/clear_refs"), "5").expect("the daemon belongs to this user");
    operation.await;
    let growth = kibibytes(daemon, "VmHWM:").saturating_sub(resident);
    assert!(growth < GROWTH_KIB, "{what}: the daemon grew from {resident} KiB by {growth} KiB");
}

/// Sends a body with a stamp over the given bytes, which may differ.
async fn send(caller: &Caller, path: &str, body: &[u8], stamped: &[u8]) -> Reply {
    caller.call(Method::POST, path, &[("x-stamp", &caller.key().stamp(stamped))], body).await
}

#[tokio::test]
async fn large_anonymous_bodies_cost_little_memory() {
    let daemon = Daemon::start(Options::quorum(1, 1)).await;
    let root = daemon.root(0);
    root.fetch("whoami", json!({})).await;
    let body = expensive(root.organization());
    for path in [WHOAMI, CREATE] {
        assert_bounded_growth(&daemon, "unknown keys", async {
            let mut clients = JoinSet::new();
            for number in 0..16 {
                let client = root.with_key(&Key::named(&format!("anonymous {number}")));
                let body = body.clone();
                clients.spawn(async move { send(&client, path, &body, &body).await });
            }
            for reply in clients.join_all().await {
                assert_eq!(reply.status, 401, "{}", reply.status);
                reply.expect_error(401, 16, "PUBLIC_KEY_NOT_FOUND");
            }
        })
        .await;
        assert_bounded_growth(&daemon, "wrong signatures", async {
            let mut clients = JoinSet::new();
            for _ in 0..16 {
                let (root, body) = (root.clone(), body.clone());
                clients.spawn(async move { send(&root, path, &body, b"other bytes").await });
            }
            for reply in clients.join_all().await {
                reply.expect_error(401, 16, "SIGNATURE_INVALID");
            }
        })
        .await;
    }
    assert_bounded_growth(&daemon, "a user", async {
        send(&root, WHOAMI, &body, &body).await.success();
    })
    .await;
}

#[tokio::test]
async fn stamps_are_verified_before_bodies_are_parsed() {
    let daemon = Daemon::start(Options::quorum(1, 1)).await;
    let root = daemon.root(0);
    let client = root.with_key(&Key::named("anonymous"));
    let doubled = format!(r#"{{"organizationId":"{}","other":{{"a":1,"a":2}}}}"#, root.organization());
    let doubled = doubled.as_bytes();
    let bare = async |header: Option<&str>, path: &str, body: &[u8]| {
        let headers: Vec<_> = header.map(|value| ("x-stamp", value)).into_iter().collect();
        root.call(Method::POST, path, &headers, body).await
    };
    for path in [WHOAMI, CREATE] {
        bare(None, path, b"not json").await.expect_error(401, 16, "SIGNATURE_MISSING");
        bare(None, path, &vec![b' '; LARGEST_BODY]).await.expect_error(401, 16, "SIGNATURE_MISSING");
        let message = bare(Some("!!!"), path, b"not json").await.expect_error(401, 16, "*");
        assert_eq!(message, "malformed activity stamp");
        let message = send(&client, path, b"not json", b"").await.expect_error(400, 3, "");
        assert_eq!(message, "bad request body");
        send(&client, path, b"{}", b"").await.expect_error(400, 3, "*");
        send(&client, path, doubled, doubled).await.expect_error(401, 16, "PUBLIC_KEY_NOT_FOUND");
        send(&root, path, doubled, b"other bytes").await.expect_error(401, 16, "SIGNATURE_INVALID");
        send(&root, path, doubled, doubled).await.expect_error(400, 3, "");
    }
    let session = root.call(Method::POST, CREATE, &[("x-session", "any")], &vec![b' '; LARGEST_BODY]).await;
    let message = session.expect_error(401, 16, "SIGNATURE_MISSING");
    assert!(message.starts_with("cannot authenticate public API activity request"), "{message}");
    root.completed(CREATE_WALLET, &quorate_tests::requests::wallet("after")).await;
}

/// Connects as the client 127.0.0.2.
async fn connect_from_another_address(address: SocketAddr) -> TcpStream {
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.bind("127.0.0.2:0".parse().expect("an address")).expect("every loopback address is available");
    socket.connect(address).await.expect("the daemon listens")
}

#[tokio::test]
async fn incomplete_bodies_delay_no_other_client() {
    let daemon = Daemon::start(Options::quorum(1, 1)).await;
    let root = daemon.root(0);
    let stamp = root.key().stamp(b"");
    let head = format!(
        "POST {WHOAMI} HTTP/1.1\r\nhost: x\r\nx-stamp: {stamp}\r\ncontent-length: {LARGEST_BODY}\r\n\r\n"
    );
    let begun = [head.as_bytes(), &vec![b' '; 100_000]].concat();
    let mut slow = Vec::new();
    for _ in 0..80 {
        let mut stream = connect_from_another_address(daemon.address()).await;
        stream.write_all(&begun).await.expect("the system buffers it");
        slow.push(stream);
    }
    let padding = "x".repeat(200_000);
    for _ in 0..20 {
        root.fetch("whoami", json!({ "padding": padding })).await;
    }
    for stream in &slow {
        let read = stream.try_read(&mut [0; 1]).map_err(|error| error.kind());
        assert_eq!(read, Err(ErrorKind::WouldBlock), "no deadline has passed");
    }
}
