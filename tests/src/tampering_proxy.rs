//! A tampering proxy between console or browser and daemon: it forwards all requests and changes the answers.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};

use crate::http::Listener;

/// Member of a changed answer that becomes its HTTP status.
const STATUS: &str = "$status";
/// Member of a changed answer that never arrives, on a connection that stays open.
const HELD: &str = "$held";

/// Changes the JSON of an answer. An answer that becomes null is lost with its connection.
pub(crate) type Tamper = dyn Fn(&mut Value) + Send + Sync;
type Body = UnsyncBoxBody<Bytes, hyper::Error>;

/// Returns an API error with this gRPC code as an answer with this HTTP status.
pub fn api_error(code: u8, status: u16) -> Value {
    json!({"code": code, "message": "no permission", "details": [], STATUS: status})
}

/// Returns an answer that never arrives.
pub fn held() -> Value {
    json!({HELD: true})
}

/// Returns whether an answer is that to a vote or proposal.
pub fn is_of_vote(answer: &Value) -> bool {
    answer.as_object().is_some_and(|members| members.len() == 1 && members.contains_key("activity"))
}

/// A running tampering proxy.
pub struct TamperingProxy {
    socket: PathBuf,
}

impl TamperingProxy {
    /// Listens in `folder` and forwards to `daemon`.
    pub fn start(
        folder: &Path,
        daemon: Listener,
        tamper: impl Fn(&mut Value) + Send + Sync + 'static,
    ) -> Self {
        let socket = folder.join("proxy.sock");
        let listener = UnixListener::bind(&socket).expect("a free path");
        tokio::spawn(accept(listener, daemon, Arc::new(tamper)));
        Self { socket }
    }

    /// Returns the path of the proxy's socket.
    pub fn socket(&self) -> &Path {
        &self.socket
    }
}

async fn accept(listener: UnixListener, daemon: Listener, tamper: Arc<Tamper>) {
    while let Ok((stream, _)) = listener.accept().await {
        serve(stream, daemon.clone(), Arc::clone(&tamper));
    }
}

pub(crate) fn serve(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    daemon: Listener,
    tamper: Arc<Tamper>,
) {
    let service = service_fn(move |request| forward(request, daemon.clone(), Arc::clone(&tamper)));
    tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
}

/// Listens on a free port of this machine for browsers, forwards to `daemon`, and returns the port.
pub async fn start_on_port(daemon: Listener, tamper: impl Fn(&mut Value) + Send + Sync + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let port = listener.local_addr().expect("an address").port();
    let tamper: Arc<Tamper> = Arc::new(tamper);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            serve(stream, daemon.clone(), Arc::clone(&tamper));
        }
    });
    port
}

async fn forward(
    request: Request<Incoming>,
    daemon: Listener,
    tamper: Arc<Tamper>,
) -> io::Result<Response<Body>> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.expect("the console sends whole requests").to_bytes();
    let answer = daemon
        .connect()
        .await
        .expect("the daemon listens")
        .forward(head, body)
        .await
        .expect("the daemon answers");
    let (mut head, body) = answer.into_parts();
    let is_stream = head
        .headers
        .get("content-type")
        .is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
    if is_stream {
        return Ok(Response::from_parts(head, body.boxed_unsync()));
    }
    let bytes = body.collect().await.expect("the daemon sends whole answers").to_bytes();
    let changed = match serde_json::from_slice(&bytes) {
        Ok(mut value) => {
            tamper(&mut value);
            if value.is_null() {
                return Err(io::Error::other("the answer is lost"));
            }
            if value.get(HELD).is_some() {
                return std::future::pending().await;
            }
            let status = value.as_object_mut().and_then(|members| members.remove(STATUS)?.as_u64());
            if let Some(status) = status {
                let status = u16::try_from(status).expect("a status");
                head.status = StatusCode::from_u16(status).expect("a status");
            }
            Bytes::from(value.to_string())
        }
        Err(_) => bytes,
    };
    head.headers.remove("content-length");
    let body = Full::new(changed).map_err(|never| match never {});
    Ok(Response::from_parts(head, body.boxed_unsync()))
}

/// Changes every intent in an answer, at any depth. The bytes that users stamped stay unchanged.
pub fn each_intent(value: &mut Value, tamper: &dyn Fn(&mut Value)) {
    each_member(value, "intent", tamper);
}

/// Changes every member of this name in an answer, at any depth.
pub fn each_member(value: &mut Value, wanted: &str, tamper: &dyn Fn(&mut Value)) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                if name == wanted {
                    tamper(member);
                } else {
                    each_member(member, wanted, tamper);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| each_member(item, wanted, tamper)),
        _ => {}
    }
}

/// Makes the payload of every signature look harmless.
pub fn harmless_payloads(answer: &mut Value) {
    each_intent(answer, &|intent| {
        if let Some(parameters) = intent.get_mut("signRawPayloadIntentV2") {
            parameters["payload"] = "something harmless".into();
        }
    });
}
