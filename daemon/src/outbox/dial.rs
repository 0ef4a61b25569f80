//! Posts to a receiver that may be hostile: every address is checked, the checked one is dialled, nothing
//! is followed, and neither time nor memory can be taken from us.
//!
//! No proxy, no redirect, no cookie, no kept connection.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONNECTION, CONTENT_TYPE, HOST, HeaderName, HeaderValue, USER_AGENT};
use http::{Request, StatusCode};
use http_body_util::{BodyExt, Full};
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

use super::receiver::{ReceiverPolicy, WebhookUrl};

/// All of a delivery, from the name to the last byte of the answer.
const DEADLINE: Duration = Duration::from_secs(10);
/// One attempt to connect; the next address gets its turn behind it.
const CONNECT: Duration = Duration::from_secs(3);
/// Addresses of one name that are looked at. More are refused, since each one must be checked.
const ADDRESSES: usize = 32;
/// How much of an answer is read before it is dropped.
const ANSWER_BYTES: usize = 8 * 1024;
/// How long the body of an answer is read. Its status has come by then, so nothing depends on it.
const ANSWER_TIME: Duration = Duration::from_secs(1);
/// Largest head of an answer.
const ANSWER_HEAD_BYTES: usize = 16 * 1024;

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const AGENT: HeaderValue = HeaderValue::from_static("Quorate-Webhook/1");
const CLOSE: HeaderValue = HeaderValue::from_static("close");

/// What became of a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The receiver took it; its status.
    Delivered(u16),
    /// The receiver refused it, and would again; its status.
    Final(u16),
    /// We refused to deliver it, and would again.
    Refused(&'static str),
    /// The receiver answered that it failed; it may succeed later.
    Failed(u16),
    /// The receiver did not answer; it may later.
    Silent(&'static str),
}

/// Delivers webhooks. Cheap to clone.
#[derive(Clone)]
pub struct Dialler {
    policy: Arc<ReceiverPolicy>,
    tls: Option<TlsConnector>,
    deadline: Duration,
    names: Names,
}

/// Where addresses of names come from.
#[derive(Clone)]
enum Names {
    System,
    #[cfg(test)]
    Fixed(Vec<IpAddr>),
}

impl Dialler {
    /// Certificates are verified against the roots of the system. Without any, https receivers cannot be
    /// reached, which each delivery tells; the daemon starts all the same.
    pub fn new(policy: ReceiverPolicy) -> Self {
        let tls = tls_connector();
        if let Err(error) = &tls {
            tracing::warn!(%error, "webhooks cannot use https");
        }
        Self { policy: Arc::new(policy), tls: tls.ok(), deadline: DEADLINE, names: Names::System }
    }

    /// The policy that receivers are checked against.
    pub fn policy(&self) -> &ReceiverPolicy {
        &self.policy
    }

    /// Posts a JSON body once. The outcome depends on nothing but the status line of the answer.
    pub async fn post(&self, url: &WebhookUrl, headers: &[(&str, String)], body: Bytes) -> Outcome {
        let request = match request(url, headers, body) {
            Ok(request) => request,
            Err(reason) => return Outcome::Refused(reason),
        };
        let until = Instant::now() + self.deadline;
        let answer = match timeout_at(until, self.exchange(url, request)).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(outcome)) => return outcome,
            Err(_) => return Outcome::Silent("no answer in time"),
        };
        let outcome = judge(answer.status);
        // Read so that a well-behaved receiver sees its answer taken. What it says changes nothing.
        let _ = timeout(ANSWER_TIME, drop_body(answer.body)).await;
        outcome
    }

    async fn exchange(&self, url: &WebhookUrl, request: Request<Full<Bytes>>) -> Result<Answer, Outcome> {
        let stream = self.connect(url).await?;
        if !url.is_tls {
            return converse(stream, request).await;
        }
        let tls = self.tls.as_ref().ok_or(Outcome::Silent("no trusted certificate roots"))?;
        let name = server_name(&url.host).ok_or(Outcome::Refused("host cannot have a certificate"))?;
        let stream = tls.connect(name, stream).await.map_err(|_| Outcome::Silent("TLS failed"))?;
        converse(stream, request).await
    }

    /// Connects to an address that was checked; a name with any address that is not allowed is refused.
    async fn connect(&self, url: &WebhookUrl) -> Result<TcpStream, Outcome> {
        let addresses = self.addresses(url).await?;
        if addresses.len() > ADDRESSES || !addresses.iter().all(|address| self.policy.permits(*address)) {
            return Err(Outcome::Refused("address is not allowed"));
        }
        for address in addresses {
            let place = SocketAddr::new(address, url.port);
            if let Ok(Ok(stream)) = timeout(CONNECT, TcpStream::connect(place)).await {
                // Only tunes.
                let _ = stream.set_nodelay(true);
                return Ok(stream);
            }
        }
        Err(Outcome::Silent("cannot connect"))
    }

    async fn addresses(&self, url: &WebhookUrl) -> Result<Vec<IpAddr>, Outcome> {
        let name = match &url.host {
            Host::Ipv4(address) => return Ok(vec![IpAddr::V4(*address)]),
            Host::Ipv6(address) => return Ok(vec![IpAddr::V6(*address)]),
            Host::Domain(name) => name,
        };
        match &self.names {
            Names::System => {
                let unresolved = Outcome::Silent("name does not resolve");
                let found = tokio::net::lookup_host((name.as_str(), url.port)).await;
                let addresses: Vec<IpAddr> = found.map_err(|_| unresolved)?.map(|found| found.ip()).collect();
                if addresses.is_empty() { Err(unresolved) } else { Ok(addresses) }
            }
            #[cfg(test)]
            Names::Fixed(addresses) => Ok(addresses.clone()),
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
    url: &WebhookUrl,
    headers: &[(&str, String)],
    body: Bytes,
) -> Result<Request<Full<Bytes>>, &'static str> {
    let mut request = Request::new(Full::new(body));
    *request.method_mut() = http::Method::POST;
    *request.uri_mut() = url.target.clone().into();
    let lines = request.headers_mut();
    lines.insert(HOST, HeaderValue::from_str(&url.authority).map_err(|_| "host is no header value")?);
    lines.insert(CONTENT_TYPE, JSON);
    lines.insert(USER_AGENT, AGENT);
    lines.insert(CONNECTION, CLOSE);
    for (name, value) in headers {
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| "header has no valid name")?;
        lines.append(name, HeaderValue::from_str(value).map_err(|_| "header has no valid value")?);
    }
    Ok(request)
}

/// Head of an answer, and its body while it still comes in.
struct Answer {
    status: StatusCode,
    body: (Incoming, Connection),
}

/// The task that drives a connection; it ends when this is dropped.
struct Connection(tokio::task::JoinHandle<()>);

impl Drop for Connection {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn converse<Io>(stream: Io, request: Request<Full<Bytes>>) -> Result<Answer, Outcome>
where
    Io: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let broken = |_| Outcome::Silent("connection broke");
    let (mut sender, connection) = http1::Builder::new()
        .max_buf_size(ANSWER_HEAD_BYTES)
        .handshake(TokioIo::new(stream))
        .await
        .map_err(broken)?;
    let connection = Connection(tokio::spawn(async move {
        // Its failure is the sender's failure.
        let _ = connection.await;
    }));
    let answer = sender.send_request(request).await.map_err(broken)?;
    Ok(Answer { status: answer.status(), body: (answer.into_body(), connection) })
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

/// Server errors pass; everything else that is no success is the receiver's last word.
fn judge(status: StatusCode) -> Outcome {
    match status.as_u16() {
        code @ 200..300 => Outcome::Delivered(code),
        code @ 500..600 => Outcome::Failed(code),
        code => Outcome::Final(code),
    }
}

#[cfg(test)]
mod tests;
