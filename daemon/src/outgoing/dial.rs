//! Sends requests to receivers that may be hostile. It connects only to checked addresses, follows no redirects, and
//! uses bounded time and memory.
//!
//! There are no proxies, no cookies and no persistent connections.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, CONNECTION, CONTENT_TYPE, HOST, HeaderName, HeaderValue, USER_AGENT};
use http::{Request, StatusCode};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use rustls_platform_verifier::BuilderVerifierExt;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_rustls::TlsConnector;
use url::Host;

use super::lookup::Lookups;
use super::receiver::{OutgoingUrl, ReceiverPolicy};

/// Deadline of a delivery, from name resolution to the status of the answer.
const DEADLINE: Duration = Duration::from_secs(10);
/// Deadline of one attempt to connect, before the next address is tried.
const CONNECT: Duration = Duration::from_secs(3);
/// Maximum number of addresses of one name. Names with more are rejected, because each address must be
/// checked.
const ADDRESSES: usize = 32;
/// Maximum number of bytes of an answer that are read and discarded.
const ANSWER_BYTES: usize = 8 * 1024;
/// Maximum time for reading the body of an answer. The outcome is already known from its status.
const ANSWER_TIME: Duration = Duration::from_secs(1);
/// Maximum size of the head of an answer, in bytes.
const ANSWER_HEAD_BYTES: usize = 16 * 1024;

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const AGENT: HeaderValue = HeaderValue::from_static("Quorate-Webhook/1");
const READER: HeaderValue = HeaderValue::from_static("Quorate/1");
const CLOSE: HeaderValue = HeaderValue::from_static("close");

const NO_ROOTS: &str = "no trusted certificate roots";
const NO_TLS: &str = "TLS failed";
const NO_CONNECTION: &str = "cannot connect";
const UNRESOLVED: &str = "name does not resolve";
/// Outcome of a request that is not answered before its deadline.
const SLOW: Outcome = Outcome::Silent("no answer in time");
/// Reasons for which there is no connection.
const UNCONNECTED: [&str; 4] = [NO_ROOTS, NO_TLS, NO_CONNECTION, UNRESOLVED];

/// Outcome of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The receiver accepted it, with this status.
    Delivered(u16),
    /// The receiver rejected it permanently, with this status.
    Final(u16),
    /// The daemon does not deliver it, for this reason.
    NotAllowed(&'static str),
    /// The receiver failed, with this status; a later attempt may succeed.
    Failed(u16),
    /// The receiver did not answer, for this reason; a later attempt may succeed.
    Silent(&'static str),
}

impl Outcome {
    /// Returns whether there was no connection, so that the receiver saw nothing of the request.
    pub fn is_unconnected(&self) -> bool {
        matches!(self, Self::Silent(reason) if UNCONNECTED.contains(reason))
    }
}

/// Sends requests. Cheap to clone.
#[derive(Clone)]
pub struct Dialler {
    policy: Arc<ReceiverPolicy>,
    tls: Option<TlsConnector>,
    deadline: Duration,
    names: Names,
}

/// Source of the addresses of names.
#[derive(Clone)]
enum Names {
    System(Lookups),
    #[cfg(test)]
    Fixed(Vec<IpAddr>),
    /// Each lookup has the next answer.
    #[cfg(test)]
    Changing(Arc<std::sync::Mutex<std::collections::VecDeque<Vec<IpAddr>>>>),
}

impl Dialler {
    /// Creates a dialler that verifies certificates against the roots of the system. Without roots, the
    /// daemon still starts, but each request to an https receiver fails.
    pub fn new(policy: ReceiverPolicy) -> Self {
        let tls = tls_connector();
        if let Err(error) = &tls {
            tracing::warn!(%error, "requests to other services cannot use https");
        }
        Self {
            policy: Arc::new(policy),
            tls: tls.ok(),
            deadline: DEADLINE,
            names: Names::System(Lookups::of_system()),
        }
    }

    /// Returns the policy that receivers are checked against.
    pub fn policy(&self) -> &ReceiverPolicy {
        &self.policy
    }

    /// Posts a JSON body once. The outcome depends only on the status line of the answer.
    pub async fn post(&self, url: &OutgoingUrl, headers: &[(&str, String)], body: Bytes) -> Outcome {
        let request = match request(url, headers, body) {
            Ok(request) => request,
            Err(reason) => return Outcome::NotAllowed(reason),
        };
        self.call(url, request).await.map_or_else(|outcome| outcome, outcome_of)
    }

    /// Sends a request once and returns the status of the answer. Adds the headers that all requests have.
    ///
    /// # Errors
    /// Returns the outcome of a request without an answer.
    pub async fn call(
        &self,
        url: &OutgoingUrl,
        request: Request<Full<Bytes>>,
    ) -> Result<StatusCode, Outcome> {
        let until = Instant::now() + self.deadline;
        let answer = timeout_at(until, self.exchange(url, request)).await;
        let answer = answer.unwrap_or(Err(SLOW))?;
        // Read the body, so that a well-behaved receiver can send it completely. Its contents are ignored.
        let _ = timeout(ANSWER_TIME, drop_body(answer.body)).await;
        Ok(answer.status)
    }

    /// Gets a document of at most `limit` bytes until `deadline`. Redirects are not followed.
    ///
    /// # Errors
    /// Returns the outcome of a request without a complete answer of status 200.
    pub async fn get(&self, url: &OutgoingUrl, limit: usize, deadline: Instant) -> Result<Bytes, Outcome> {
        let mut request = Request::new(Full::default());
        *request.uri_mut() = url.target.clone().into();
        self.document(url, request, limit, deadline).await
    }

    /// Sends a request once, until `deadline`, and returns the document of at most `limit` bytes that answers it. Adds
    /// the headers that all requests have. Redirects are not followed.
    ///
    /// # Errors
    /// Returns the outcome of a request without a complete answer of status 200.
    pub async fn document(
        &self,
        url: &OutgoingUrl,
        request: Request<Full<Bytes>>,
        limit: usize,
        deadline: Instant,
    ) -> Result<Bytes, Outcome> {
        let reading = async {
            let Answer { status, body: (body, _connection) } = self.exchange(url, reader(request)).await?;
            if status == StatusCode::OK {
                whole(body, limit).await
            } else {
                Err(Outcome::Final(status.as_u16()))
            }
        };
        timeout_at(deadline, reading).await.unwrap_or(Err(SLOW))
    }

    /// Sends a request as [`Self::document`], and returns the answer of any status. The body of an error may be cut to
    /// nothing: the status alone is an answer.
    ///
    /// # Errors
    /// Returns the outcome of a request without an answer, or without a complete one of status 200.
    pub async fn answer(
        &self,
        url: &OutgoingUrl,
        request: Request<Full<Bytes>>,
        limit: usize,
        deadline: Instant,
    ) -> Result<(StatusCode, Bytes), Outcome> {
        let reading = async {
            let Answer { status, body: (body, _connection) } = self.exchange(url, reader(request)).await?;
            if status == StatusCode::OK {
                return Ok((status, whole(body, limit).await?));
            }
            let error = timeout(ANSWER_TIME, whole(body, ANSWER_BYTES)).await;
            Ok((status, error.ok().and_then(Result::ok).unwrap_or_default()))
        };
        timeout_at(deadline, reading).await.unwrap_or(Err(SLOW))
    }

    async fn exchange(
        &self,
        url: &OutgoingUrl,
        mut request: Request<Full<Bytes>>,
    ) -> Result<Answer, Outcome> {
        let host = HeaderValue::from_str(&url.authority);
        let host = host.map_err(|_| Outcome::NotAllowed("host is not a valid header value"))?;
        request.headers_mut().insert(HOST, host);
        request.headers_mut().insert(CONNECTION, CLOSE);
        let stream = self.connect(url).await?;
        if !url.is_tls {
            return send(stream, request).await;
        }
        let tls = self.tls.as_ref().ok_or(Outcome::Silent(NO_ROOTS))?;
        let name = server_name(&url.host).ok_or(Outcome::NotAllowed("host is not valid in a certificate"))?;
        let stream = tls.connect(name, stream).await.map_err(|_| Outcome::Silent(NO_TLS))?;
        send(stream, request).await
    }

    /// Connects to a checked address. A name is rejected if any of its addresses is not allowed.
    async fn connect(&self, url: &OutgoingUrl) -> Result<TcpStream, Outcome> {
        let addresses = self.addresses(url).await?;
        if addresses.len() > ADDRESSES || !addresses.iter().all(|address| self.policy.permits(*address)) {
            return Err(Outcome::NotAllowed("address is not allowed"));
        }
        for address in addresses {
            let address = SocketAddr::new(address, url.port);
            if let Ok(Ok(stream)) = timeout(CONNECT, TcpStream::connect(address)).await {
                // An error is harmless: this only tunes the connection.
                let _ = stream.set_nodelay(true);
                return Ok(stream);
            }
        }
        Err(Outcome::Silent(NO_CONNECTION))
    }

    async fn addresses(&self, url: &OutgoingUrl) -> Result<Vec<IpAddr>, Outcome> {
        let name = match &url.host {
            Host::Ipv4(address) => return Ok(vec![IpAddr::V4(*address)]),
            Host::Ipv6(address) => return Ok(vec![IpAddr::V6(*address)]),
            Host::Domain(name) => name,
        };
        match &self.names {
            Names::System(lookups) => lookups.addresses(name).await.map_err(|_| Outcome::Silent(UNRESOLVED)),
            #[cfg(test)]
            Names::Fixed(addresses) => Ok(addresses.clone()),
            #[cfg(test)]
            Names::Changing(answers) => {
                let mut answers = answers.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                answers.pop_front().ok_or(Outcome::Silent("name does not resolve"))
            }
        }
    }
}

fn tls_connector() -> Result<TlsConnector, rustls::Error> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_platform_verifier()?
        .with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}

fn server_name(host: &Host<String>) -> Option<ServerName<'static>> {
    match host {
        Host::Domain(name) => ServerName::try_from(name.trim_end_matches('.').to_owned()).ok(),
        Host::Ipv4(address) => Some(ServerName::from(IpAddr::V4(*address))),
        Host::Ipv6(address) => Some(ServerName::from(IpAddr::V6(*address))),
    }
}

fn request(
    url: &OutgoingUrl,
    headers: &[(&str, String)],
    body: Bytes,
) -> Result<Request<Full<Bytes>>, &'static str> {
    let mut request = Request::new(Full::new(body));
    *request.method_mut() = http::Method::POST;
    *request.uri_mut() = url.target.clone().into();
    let lines = request.headers_mut();
    lines.insert(CONTENT_TYPE, JSON);
    lines.insert(USER_AGENT, AGENT);
    for (name, value) in headers {
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| "invalid header name")?;
        lines.append(name, HeaderValue::from_str(value).map_err(|_| "invalid header value")?);
    }
    Ok(request)
}

/// Head of an answer, and its body while it is being received.
struct Answer {
    status: StatusCode,
    body: (Incoming, Connection),
}

/// The task that drives a connection; dropping the handle aborts the task.
struct Connection(tokio::task::JoinHandle<()>);

impl Drop for Connection {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn send<Io>(stream: Io, request: Request<Full<Bytes>>) -> Result<Answer, Outcome>
where
    Io: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let broken = |_| Outcome::Silent("connection failed");
    let (mut sender, connection) = http1::Builder::new()
        .max_buf_size(ANSWER_HEAD_BYTES)
        .handshake(TokioIo::new(stream))
        .await
        .map_err(broken)?;
    let connection = Connection(tokio::spawn(async move {
        // An error of the connection is also an error of the sender.
        let _ = connection.await;
    }));
    let answer = sender.send_request(request).await.map_err(broken)?;
    Ok(Answer { status: answer.status(), body: (answer.into_body(), connection) })
}

/// Adds the headers of a request for a document.
fn reader(mut request: Request<Full<Bytes>>) -> Request<Full<Bytes>> {
    request.headers_mut().insert(ACCEPT, JSON);
    request.headers_mut().insert(USER_AGENT, READER);
    request
}

/// Reads a body of at most `limit` bytes.
async fn whole(body: Incoming, limit: usize) -> Result<Bytes, Outcome> {
    let body = Limited::new(body, limit).collect().await;
    Ok(body.map_err(|_| Outcome::Silent("no complete answer of a permitted size"))?.to_bytes())
}

async fn drop_body((mut body, connection): (Incoming, Connection)) {
    let mut left = ANSWER_BYTES;
    while let Some(Ok(frame)) = body.frame().await {
        let length = frame.data_ref().map_or(0, Bytes::len);
        left = left.saturating_sub(length);
        if left == 0 {
            break;
        }
    }
    drop(connection);
}

/// Returns the outcome of a status. Server errors are temporary; all other errors are permanent.
fn outcome_of(status: StatusCode) -> Outcome {
    match status.as_u16() {
        code @ 200..300 => Outcome::Delivered(code),
        code @ 500..600 => Outcome::Failed(code),
        code => Outcome::Final(code),
    }
}

#[cfg(test)]
mod tests;
