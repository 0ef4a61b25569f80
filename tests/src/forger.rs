//! A liar between console and daemon: a socket that passes everything on, and changes what answers say.

use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::UnixListener;

use crate::http::Door;

/// Changes an answer.
type Forgery = dyn Fn(&mut Value) + Send + Sync;
type Body = UnsyncBoxBody<Bytes, hyper::Error>;

/// A running liar.
pub struct Forger {
    socket: PathBuf,
}

impl Forger {
    /// Starts to listen in `folder` and passes on to `door`.
    pub fn start(folder: &Path, door: Door, forgery: impl Fn(&mut Value) + Send + Sync + 'static) -> Self {
        let socket = folder.join("forger.sock");
        let listener = UnixListener::bind(&socket).expect("a free path");
        tokio::spawn(accept(listener, door, Arc::new(forgery)));
        Self { socket }
    }

    /// Path of the socket.
    pub fn socket(&self) -> &Path {
        &self.socket
    }
}

async fn accept(listener: UnixListener, door: Door, forgery: Arc<Forgery>) {
    while let Ok((stream, _)) = listener.accept().await {
        let (door, forgery) = (door.clone(), Arc::clone(&forgery));
        let service = service_fn(move |request| pass(request, door.clone(), Arc::clone(&forgery)));
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
    }
}

async fn pass(
    request: Request<Incoming>,
    door: Door,
    forgery: Arc<Forgery>,
) -> Result<Response<Body>, Infallible> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.expect("the console sends whole requests").to_bytes();
    let answer =
        door.connect().await.expect("the daemon listens").pass(head, body).await.expect("the daemon answers");
    let (mut head, body) = answer.into_parts();
    let is_stream = head
        .headers
        .get("content-type")
        .is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
    if is_stream {
        return Ok(Response::from_parts(head, body.boxed_unsync()));
    }
    let bytes = body.collect().await.expect("the daemon sends whole answers").to_bytes();
    let forged = match serde_json::from_slice(&bytes) {
        Ok(mut value) => {
            forgery(&mut value);
            Bytes::from(value.to_string())
        }
        Err(_) => bytes,
    };
    head.headers.remove("content-length");
    let body = Full::new(forged).map_err(|never| match never {});
    Ok(Response::from_parts(head, body.boxed_unsync()))
}

/// Changes every intent in an answer, however deep. The bytes that people signed stay as they are.
pub fn each_intent(value: &mut Value, forgery: &dyn Fn(&mut Value)) {
    each_member(value, "intent", forgery);
}

/// Changes every member of this name in an answer, however deep.
pub fn each_member(value: &mut Value, wanted: &str, forgery: &dyn Fn(&mut Value)) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                if name == wanted {
                    forgery(member);
                } else {
                    each_member(member, wanted, forgery);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| each_member(item, wanted, forgery)),
        _ => {}
    }
}

/// A lie that makes the payload of every signature look harmless.
pub fn harmless_payloads(answer: &mut Value) {
    each_intent(answer, &|intent| {
        if let Some(parameters) = intent.get_mut("signRawPayloadIntentV2") {
            parameters["payload"] = "something harmless".into();
        }
    });
}
