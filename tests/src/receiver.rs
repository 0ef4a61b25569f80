//! A webhook receiver on loopback that does as it is told and remembers what came.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::HeaderMap;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpListener;

use crate::daemon::GLANCE;
use crate::http::PATIENCE;

/// How the receiver answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// With this status.
    Status(u16),
    /// Reads the request and says nothing.
    Never,
}

/// A delivery as it came.
#[derive(Debug, Clone)]
pub struct Delivery {
    /// Path and query.
    pub target: String,
    /// Headers.
    pub headers: HeaderMap,
    /// Body.
    pub body: Value,
    /// How it was answered.
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
    /// Starts to listen, answering 200.
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("a bound address");
        let state = Arc::new(Mutex::new(State { answer: Answer::Status(200), deliveries: Vec::new() }));
        tokio::spawn(accept(listener, Arc::clone(&state)));
        Self { address, state }
    }

    /// The URL of a path here.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Answers so from now on.
    pub fn answer(&self, answer: Answer) {
        self.state.lock().expect("no holder panicked").answer = answer;
    }

    /// Everything that came, in order.
    pub fn deliveries(&self) -> Vec<Delivery> {
        self.state.lock().expect("no holder panicked").deliveries.clone()
    }

    /// Waits until what came fulfils a condition.
    pub async fn until(&self, what: &str, condition: impl Fn(&[Delivery]) -> bool) -> Vec<Delivery> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let deliveries = self.deliveries();
            if condition(&deliveries) {
                return deliveries;
            }
            assert!(Instant::now() < deadline, "not delivered in time: {what}; came: {deliveries:#?}");
            tokio::time::sleep(GLANCE).await;
        }
    }
}

async fn accept(listener: TcpListener, state: Arc<Mutex<State>>) {
    while let Ok((stream, _)) = listener.accept().await {
        let state = Arc::clone(&state);
        let service = service_fn(move |request| receive(request, Arc::clone(&state)));
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
    }
}

async fn receive(
    request: Request<Incoming>,
    state: Arc<Mutex<State>>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let (head, body) = request.into_parts();
    let bytes = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    let answer = {
        let mut state = state.lock().expect("no holder panicked");
        let answer = state.answer;
        state.deliveries.push(Delivery {
            target: head.uri.to_string(),
            headers: head.headers,
            body: serde_json::from_slice(&bytes).unwrap_or_default(),
            answer,
        });
        answer
    };
    match answer {
        Answer::Status(status) => {
            Ok(Response::builder().status(status).body(Full::default()).expect("a response"))
        }
        Answer::Never => std::future::pending().await,
    }
}
