//! A webhook receiver on loopback with configurable answers, which records all deliveries.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::{Body, Frame, Incoming};
use hyper::header::HeaderMap;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpListener;

use crate::daemon::POLL_INTERVAL;
use crate::http::TIMEOUT;

/// Answer of the receiver to a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// This status.
    Status(u16),
    /// Reads the request and never answers.
    Never,
    /// Status 200 after a delay.
    Slowly(Duration),
    /// Reads the request and resets the connection.
    Reset,
    /// Status 200 and an endless body.
    Endless,
    /// A redirect to itself.
    Redirect,
}

impl Answer {
    /// Returns whether a sender may believe that the delivery was accepted.
    pub fn is_accepted(self) -> bool {
        matches!(self, Self::Status(200) | Self::Slowly(_) | Self::Endless)
    }
}

/// The body of an answer: empty or endless.
struct Content {
    is_endless: bool,
}

impl Body for Content {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        let frame = || Ok(Frame::data(Bytes::from_static(&[b'x'; 4096])));
        Poll::Ready(self.is_endless.then(frame))
    }
}

/// A received delivery.
#[derive(Debug, Clone)]
pub struct Delivery {
    /// Path and query.
    pub target: String,
    /// Headers.
    pub headers: HeaderMap,
    /// Body; a text if it is not JSON.
    pub body: Value,
    /// Answer of the receiver.
    pub answer: Answer,
}

struct State {
    answer: Answer,
    deliveries: Vec<Delivery>,
}

/// A running receiver.
#[derive(Clone)]
pub struct Receiver {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
}

impl Receiver {
    /// Starts a receiver that answers 200.
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("a bound address");
        let state = Arc::new(Mutex::new(State { answer: Answer::Status(200), deliveries: Vec::new() }));
        tokio::spawn(accept(listener, Arc::clone(&state)));
        Self { address, state }
    }

    /// Returns the URL of a path on this receiver.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Sets the answer to later deliveries.
    pub fn answer(&self, answer: Answer) {
        self.state.lock().expect("no holder panicked").answer = answer;
    }

    /// Returns all deliveries, in order.
    pub fn deliveries(&self) -> Vec<Delivery> {
        self.state.lock().expect("no holder panicked").deliveries.clone()
    }

    /// Waits until the deliveries fulfil a condition.
    pub async fn until(&self, what: &str, condition: impl Fn(&[Delivery]) -> bool) -> Vec<Delivery> {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            let deliveries = self.deliveries();
            if condition(&deliveries) {
                return deliveries;
            }
            assert!(Instant::now() < deadline, "not delivered in time: {what}; received: {deliveries:#?}");
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }
}

async fn accept(listener: TcpListener, state: Arc<Mutex<State>>) {
    while let Ok((stream, _)) = listener.accept().await {
        if state.lock().expect("no holder panicked").answer == Answer::Reset {
            stream.set_zero_linger().expect("an open connection");
        }
        let state = Arc::clone(&state);
        let service = service_fn(move |request| receive(request, Arc::clone(&state)));
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
    }
}

async fn receive(
    request: Request<Incoming>,
    state: Arc<Mutex<State>>,
) -> Result<Response<Content>, io::Error> {
    let (head, body) = request.into_parts();
    let bytes = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    let answer = {
        let mut state = state.lock().expect("no holder panicked");
        let answer = state.answer;
        state.deliveries.push(Delivery {
            target: head.uri.to_string(),
            headers: head.headers,
            body: serde_json::from_slice(&bytes)
                .unwrap_or_else(|_| String::from_utf8_lossy(&bytes).into_owned().into()),
            answer,
        });
        answer
    };
    let response = |status: u16, is_endless| {
        let location = head.uri.to_string();
        let response = Response::builder().status(status).header("location", location);
        Ok(response.body(Content { is_endless }).expect("a response"))
    };
    match answer {
        Answer::Status(status) => response(status, false),
        Answer::Redirect => response(307, false),
        Answer::Endless => response(200, true),
        Answer::Slowly(time) => {
            tokio::time::sleep(time).await;
            response(200, false)
        }
        // The connection is closed without an answer.
        Answer::Reset => Err(io::Error::other("reset")),
        Answer::Never => std::future::pending().await,
    }
}
