//! A proxy between console and daemon that delays answers as a distant daemon does: requests pass at once, and each answer
//! waits until the test lets it through. So a test can count round trips, and nothing depends on the speed of the machine.

use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use bytes::Bytes;
use http_body_util::BodyExt;
use http_body_util::combinators::UnsyncBoxBody;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::UnixListener;
use tokio::sync::watch;

use crate::daemon::POLL_INTERVAL;
use crate::http::{Listener, TIMEOUT};

type Body = UnsyncBoxBody<Bytes, hyper::Error>;

/// A running proxy. Answers pass until it is closed.
pub struct SlowProxy {
    socket: PathBuf,
    shared: Arc<Shared>,
}

struct Shared {
    /// Paths of all requests so far.
    requests: Mutex<Vec<String>>,
    /// Number of requests whose answers may pass.
    released: watch::Sender<usize>,
}

impl SlowProxy {
    /// Listens in `folder` and forwards to `daemon`.
    pub fn start(folder: &Path, daemon: Listener) -> Self {
        let socket = folder.join("slow.sock");
        let listener = UnixListener::bind(&socket).expect("a free path");
        let shared = Shared { requests: Mutex::default(), released: watch::Sender::new(usize::MAX) };
        let shared = Arc::new(shared);
        tokio::spawn(accept(listener, daemon, Arc::clone(&shared)));
        Self { socket, shared }
    }

    /// Returns the path of the proxy's socket.
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// Holds the answers to all requests from now on, and forgets the earlier requests.
    pub fn close(&self) {
        let mut requests = self.shared.requests();
        requests.clear();
        self.shared.released.send_replace(0);
    }

    /// Lets the answers to the requests so far pass: one round trip has passed.
    pub fn pass(&self) {
        let count = self.shared.requests().len();
        self.shared.released.send_replace(count);
    }

    /// Lets all answers pass.
    pub fn open(&self) {
        self.shared.released.send_replace(usize::MAX);
    }

    /// Waits until each of these texts occurs in the path of a request since the proxy was closed.
    pub async fn until_requested(&self, parts: &[&str]) {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            let requests = self.shared.requests().clone();
            let is_there = |part: &&str| requests.iter().any(|path| path.contains(*part));
            if parts.iter().all(is_there) {
                return;
            }
            assert!(Instant::now() < deadline, "{parts:?} were not requested: {requests:#?}");
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }
}

impl Shared {
    fn requests(&self) -> std::sync::MutexGuard<'_, Vec<String>> {
        self.requests.lock().expect("no holder panicked")
    }
}

async fn accept(listener: UnixListener, daemon: Listener, shared: Arc<Shared>) {
    while let Ok((stream, _)) = listener.accept().await {
        let (daemon, shared) = (daemon.clone(), Arc::clone(&shared));
        let service = service_fn(move |request| forward(request, daemon.clone(), Arc::clone(&shared)));
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
    }
}

async fn forward(
    request: Request<Incoming>,
    daemon: Listener,
    shared: Arc<Shared>,
) -> Result<Response<Body>, Infallible> {
    let number = {
        let mut requests = shared.requests();
        requests.push(request.uri().to_string());
        requests.len()
    };
    let mut released = shared.released.subscribe();
    let (head, body) = request.into_parts();
    let body = body.collect().await.expect("the console sends whole requests").to_bytes();
    let answer = daemon.connect().await.expect("the daemon listens").forward(head, body).await;
    // The test ends the program while answers are held.
    let _ = released.wait_for(|released| *released >= number).await;
    Ok(answer.expect("the daemon answers").map(BodyExt::boxed_unsync))
}
