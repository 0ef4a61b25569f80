//! The answers of a gateway, and the outcomes that follow from them.

#![allow(clippy::unwrap_used, reason = "tests")]

use quorate_common::bounded::Phone;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::*;

/// Sends one SMS to a gateway that gives this answer. Returns the outcome, and the head of the request.
async fn send(answer: &'static str) -> (Outcome, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/cgi-bin/sendsms", listener.local_addr().unwrap());
    let served = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut received = Vec::new();
        while !received.ends_with(b"\r\n\r\n") {
            received.push(stream.read_u8().await.unwrap());
        }
        stream.write_all(answer.as_bytes()).await.unwrap();
        String::from_utf8(received).unwrap()
    });
    let gateway = Gateway::new(Preset::Kannel, GatewayUrl::parse(&url, "").unwrap());
    let dialler = Dialler::new(ReceiverPolicy::unrestricted());
    let channel =
        SmsChannel { dialler, settings: SmsSettings { gateway, secret: None, prefixes: Vec::new() } };
    let sms = Sms::new(Phone::parse("+4915112345678".to_owned()).unwrap(), "a b".to_owned(), 0);
    (channel.send(&[], &sms).await.outcome, served.await.unwrap())
}

#[tokio::test]
async fn the_status_determines_the_outcome() {
    for (answer, expected) in [
        ("HTTP/1.1 202 Accepted\r\nContent-Length: 25\r\n\r\n0: Accepted for delivery\n", Outcome::Accepted),
        ("HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\n{}", Outcome::Accepted),
        ("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n", Outcome::Rejected),
        ("HTTP/1.1 422 Unprocessable Content\r\nContent-Length: 0\r\n\r\n", Outcome::Rejected),
        // Not about this SMS: a busy gateway, a wrong password, a wrong URL.
        ("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n", Outcome::Failed),
        ("HTTP/1.1 429 Too Many Requests\r\nContent-Length: 0\r\n\r\n", Outcome::Failed),
        ("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n", Outcome::Failed),
        ("HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n", Outcome::Unavailable),
        ("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", Outcome::Failed),
        ("HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n", Outcome::Failed),
        ("", Outcome::Failed),
    ] {
        let (outcome, head) = send(answer).await;
        assert_eq!(outcome, expected, "{answer}");
        assert!(head.starts_with("GET /cgi-bin/sendsms?username=&password=&from=&to=%2B49151"), "{head}");
        assert!(head.contains("host: 127.0.0.1:") && head.contains("connection: close"), "{head}");
    }
}
