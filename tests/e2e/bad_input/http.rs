//! Requests that are rejected before their body is read: paths, methods, sizes, framing, slow clients.

use std::net::SocketAddr;

use hyper::Method;
use quorate_tests::daemon::Daemon;
use quorate_tests::http::TIMEOUT;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::{daemon, good, state};

const LARGEST_BODY: usize = 4 << 20;

#[tokio::test]
async fn rejects_unknown_paths_and_methods() {
    let (daemon, _) = daemon().await;
    let root = daemon.root(0);
    let before = state(&root).await;
    let body = json!({ "organizationId": root.organization() }).to_string();
    for path in [
        "/",
        "/public",
        "/public/v1/query/",
        "/public/v1/query/no_such_query",
        "/public/v1/query/WHOAMI",
        "/public/v1/query/whoami/",
        "/public/v1/query//whoami",
        "//public/v1/query/whoami",
        "/public/v1/query/../query/whoami",
        "/public/v1/query/%77hoami",
        "/public/v1/submit/whoami",
        "/public/v1/submit/no_such_submit",
        "/public/v2/query/whoami",
        "/console/v1/status",
        "/console/v1/organizations",
    ] {
        let reply = root.send(path, body.as_bytes()).await;
        assert_eq!(reply.status, 404, "{reply}");
        assert_eq!(reply.json(), json!({ "code": 5, "message": "Not Found", "details": [] }), "{reply}");
    }
    for method in [Method::GET, Method::PUT, Method::DELETE, Method::PATCH, Method::TRACE] {
        let reply = root.call(method, "/public/v1/query/whoami", &[], b"").await;
        assert_eq!(reply.status, 501, "{reply}");
        assert_eq!(
            reply.json(),
            json!({ "code": 12, "message": "Method Not Allowed", "details": [] }),
            "{reply}"
        );
    }
    assert_eq!(state(&root).await, before, "nothing has changed");
}

/// Sends a head, then as much of a body as the daemon accepts, and returns the answer.
async fn flood(address: SocketAddr, head: &str, chunk: &[u8], count: usize) -> String {
    let mut stream = TcpStream::connect(address).await.expect("the daemon listens");
    stream.write_all(head.as_bytes()).await.expect("the head is sent");
    let (mut reading, mut writing) = stream.split();
    let write = async {
        for _ in 0..count {
            if writing.write_all(chunk).await.is_err() {
                break;
            }
        }
        std::future::pending::<()>().await;
    };
    let mut answer = vec![0; 4096];
    let read = timeout(TIMEOUT, reading.read(&mut answer));
    let count = tokio::select! {
        () = write => 0,
        count = read => count.expect("the daemon answers in time").expect("an answer before the connection ends"),
    };
    String::from_utf8_lossy(&answer[..count]).into_owned()
}

fn head(daemon: &Daemon, stamp: &str, more: &str) -> String {
    let host = daemon.address();
    format!(
        "POST /public/v1/submit/create_wallet HTTP/1.1\r\nhost: {host}\r\nx-stamp: {stamp}\r\n{more}\r\n\r\n"
    )
}

#[tokio::test]
async fn rejects_oversized_bodies() {
    let (daemon, _) = daemon().await;
    let root = daemon.root(0);
    let before = state(&root).await;
    let stamp = root.key().stamp(good(&root).to_string().as_bytes());
    let block = vec![b' '; 64 << 10];
    let declared = head(&daemon, &stamp, &format!("content-length: {}", LARGEST_BODY + 1));
    let answer = flood(daemon.address(), &declared, &block, LARGEST_BODY / block.len()).await;
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
    let huge = head(&daemon, &stamp, "content-length: 999999999999");
    let answer = flood(daemon.address(), &huge, &block, 1).await;
    assert!(answer.starts_with("HTTP/1.1 413 "), "rejected before it is read: {answer}");
    let chunked = head(&daemon, &stamp, "transfer-encoding: chunked");
    let chunk = [format!("{:x}\r\n", block.len()).as_bytes(), &block, b"\r\n"].concat();
    let answer = flood(daemon.address(), &chunked, &chunk, LARGEST_BODY / block.len() + 1).await;
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
    assert!(answer.contains(r#""code":8"#), "{answer}");

    let mut padded = good(&root).to_string().into_bytes();
    padded.resize(LARGEST_BODY, b' ');
    root.send("/public/v1/submit/create_users", &padded).await.expect_error(400, 3, "*");
    assert_eq!(state(&root).await, before, "nothing has changed");
}

#[tokio::test]
async fn slow_bodies_time_out_without_delaying_others() {
    let (daemon, _) = daemon().await;
    let root = daemon.root(0);
    let before = state(&root).await;
    let body = good(&root).to_string();
    let stamp = root.key().stamp(body.as_bytes());
    let head = head(&daemon, &stamp, &format!("content-length: {}", body.len()));
    let half = &body.as_bytes()[..body.len() / 2];
    let slow = flood(daemon.address(), &head, half, 1);
    let (answer, others) = tokio::join!(slow, async {
        for _ in 0..20 {
            root.fetch("whoami", json!({})).await;
        }
    });
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
    assert_eq!(others, (), "other clients are served meanwhile");
    assert_eq!(state(&root).await, before, "nothing has changed");
}

#[tokio::test]
async fn incomplete_heads_time_out() {
    let (daemon, _) = daemon().await;
    let mut stream = TcpStream::connect(daemon.address()).await.expect("the daemon listens");
    stream.write_all(b"POST /public/v1/query/whoami HTTP/1.1\r\nhost: x\r\n").await.expect("sent");
    let mut answer = Vec::new();
    timeout(TIMEOUT, stream.read_to_end(&mut answer))
        .await
        .expect("closed in time")
        .expect("closed without an error");
    let answer = String::from_utf8_lossy(&answer);
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 408 "), "{answer}");
}

#[tokio::test]
async fn rejects_ambiguous_framing() {
    let (daemon, _) = daemon().await;
    let root = daemon.root(0);
    let before = state(&root).await;
    let body = good(&root).to_string();
    let stamp = root.key().stamp(body.as_bytes());
    let length = body.len();
    let line = "POST /public/v1/submit/create_wallet HTTP/1.1";
    let request = |line: &str, headers: &[&str], body: &str| {
        format!("{line}\r\n{}\r\nconnection: close\r\n\r\n{body}", headers.join("\r\n"))
    };
    let host = "host: localhost";
    let stamp = format!("x-stamp: {stamp}");
    let sized = format!("content-length: {length}");
    let chunks = format!("{length:x}\r\n{body}\r\n0\r\n\r\n");
    let rows = [
        ("length and chunks", request(line, &[host, &stamp, &sized, "transfer-encoding: chunked"], &chunks)),
        ("two lengths", request(line, &[host, &stamp, &sized, "content-length: 1"], &body)),
        ("a length twice", request(line, &[host, &stamp, &sized, &sized], &body)),
        ("a bad chunk", request(line, &[host, &stamp, "transfer-encoding: chunked"], &format!("0x{chunks}"))),
        ("unknown coding", request(line, &[host, &stamp, "transfer-encoding: gzip"], &body)),
        ("no host", request(line, &[&stamp, &sized], &body)),
        ("two hosts", request(line, &[host, "host: other", &stamp, &sized], &body)),
        (
            "absolute target",
            request(&line.replace("/public", "http://other/public"), &[host, &stamp, &sized], &body),
        ),
        ("a space before the colon", request(line, &[host, &stamp, "content-length : 1"], &body)),
        ("bare line feeds", request(line, &[host, &stamp, &sized], &body).replace("\r\n", "\n")),
        ("gzip", request(line, &[host, &stamp, &sized, "content-encoding: gzip"], &body)),
    ];
    for (name, sent) in rows {
        let answer = daemon.http().exchange(sent.as_bytes()).await;
        let is_rejected =
            ["HTTP/1.1 400 ", "HTTP/1.1 415 ", "HTTP/1.1 404 "].iter().any(|line| answer.starts_with(line));
        assert!(is_rejected, "{name}: {answer}");
    }
    let long = format!("x-long: {}", "a".repeat(64 << 10));
    let answer = daemon.http().exchange(request(line, &[host, &long, &sized], &body).as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 431 "), "{answer}");
    assert_eq!(state(&root).await, before, "nothing has changed");
}

#[tokio::test]
async fn pipelined_requests_are_answered_in_order() {
    let (daemon, _) = daemon().await;
    let root = daemon.root(0);
    let body = json!({ "organizationId": root.organization() }).to_string();
    let stamp = root.key().stamp(body.as_bytes());
    let request = |path: &str, more: &str| {
        let length = body.len();
        format!(
            "POST {path} HTTP/1.1\r\nhost: x\r\nx-stamp: {stamp}\r\ncontent-length: {length}\r\n{more}\r\n{body}"
        )
    };
    let sent = [
        request("/public/v1/query/whoami", ""),
        "GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n".to_owned(),
        request("/public/v1/query/no_such_query", ""),
        request("/public/v1/query/whoami", "connection: close\r\n"),
    ];
    let answer = daemon.http().exchange(sent.concat().as_bytes()).await;
    let lines: Vec<&str> = answer.split("HTTP/1.1 ").skip(1).map(|one| &one[..3]).collect();
    assert_eq!(lines, ["200", "200", "404", "200"], "{answer}");

    // A body is skipped even where none is expected, and never parsed as a request.
    let hidden = request("/public/v1/query/whoami", "");
    let length = hidden.len();
    let carrier = format!(
        "GET /healthz HTTP/1.1\r\nhost: x\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{hidden}"
    );
    let answer = daemon.http().exchange(carrier.as_bytes()).await;
    assert_eq!(answer.matches("HTTP/1.1 ").count(), 1, "{answer}");
}
