//! HTTP/1.1 client for the local socket, or for the public API at a URL. At the socket, each request has a connection of its
//! own, so that no connection state survives a restart of the daemon. At a URL, connections are used again.

use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use interprocess::local_socket::GenericFilePath;
use interprocess::local_socket::tokio::{Stream as Socket, prelude::*};
use quorate_common::api_error::ApiError;
use quorate_common::console::activity_log::LogCheckpoint;
use quorate_common::console::{
    ActivityLocation, ActivityPage, ActivityRow, DaemonStatus, Health, OrganizationDetail, PAGE_LIMIT,
    PROTOCOL, RemoteStatus, ReviewRecord, Signer,
};
use quorate_common::ids::{ActivityId, OrganizationId};
use quorate_common::stamp::Stamp;
use serde::de::DeserializeOwned;

use super::connection::{Connection, answered, collect, lost, sent};
use super::error::{LinkError, Result};
use super::escape::escaped;
use super::paging::Lists;
use super::remote::{Reader, Remote, RemoteUrl, Stream, VIEW, viewed};
use super::tls::Trust;
use super::versions::Versions;
use crate::files::{self, SocketFile};
use crate::text::clean;
use crate::witness::{Compared, Witness};

/// Time limit of one request.
const REQUEST_SECONDS: u64 = 30;

/// Where a daemon is.
#[derive(Debug, Clone)]
enum Endpoint {
    Socket(PathBuf),
    Remote(Arc<Remote>),
}

/// A client for one daemon.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    endpoint: Endpoint,
    /// The lists that are read page by page.
    pub(super) lists: Arc<Lists>,
    /// The versions of organizations that are known.
    pub(super) versions: Arc<Versions>,
    /// What is known of activity logs.
    witness: Arc<Witness>,
}

impl Client {
    /// Creates a client for the socket at this path without connecting.
    pub(crate) fn new(socket: PathBuf) -> Self {
        Self::at(Endpoint::Socket(socket))
    }

    /// Creates a client for the daemon at a URL without connecting. `reader` stamps requests that read, for the selected
    /// organization.
    ///
    /// # Errors
    /// If the file of certificate authorities cannot be used.
    pub(crate) fn remote(
        url: RemoteUrl,
        trust: &Trust,
        organization: Option<OrganizationId>,
        reader: Option<Arc<dyn Reader>>,
    ) -> Result<Self> {
        let remote = Remote::new(url, trust, organization, reader)?;
        Ok(Self::at(Endpoint::Remote(Arc::new(remote))))
    }

    fn at(endpoint: Endpoint) -> Self {
        Self { endpoint, lists: Arc::default(), versions: Arc::default(), witness: Arc::default() }
    }

    /// Compares what the daemon states of its activity log with what is known.
    pub(crate) fn with_witness(self, witness: Witness) -> Self {
        Self { witness: Arc::new(witness), ..self }
    }

    /// Returns the path of the socket, or the URL, as it is shown.
    pub(crate) fn address(&self) -> String {
        match &self.endpoint {
            Endpoint::Socket(path) => clean(&path.display().to_string()),
            Endpoint::Remote(remote) => clean(&remote.url.to_string()),
        }
    }

    /// Returns the daemon at a URL; `None` for a local socket.
    pub(super) fn at_url(&self) -> Option<&Remote> {
        match &self.endpoint {
            Endpoint::Socket(_) => None,
            Endpoint::Remote(remote) => Some(remote),
        }
    }

    /// Returns the organization whose data a remote daemon states.
    pub(super) fn own_organization(&self) -> Result<OrganizationId> {
        self.at_url().ok_or(LinkError::Unselected)?.organization()
    }

    /// Returns whether the daemon is at a URL.
    pub(crate) fn is_remote(&self) -> bool {
        self.at_url().is_some()
    }

    /// Unlocks the key that stamps requests to read, if a daemon at a URL needs it. A person may be prompted.
    pub(crate) async fn unlock(&self) -> Result<()> {
        if let Some(remote) = self.at_url() {
            remote.open();
            remote.query("/console/v1/status").await?;
        }
        Ok(())
    }

    /// Locks the key that stamps requests to read. Nothing is read at a URL until [`Self::unlock`] is called.
    pub(crate) fn lock(&self) {
        if let Some(remote) = self.at_url() {
            remote.lock();
        }
    }

    /// Queries the daemon's status. Fails if the daemon uses another protocol version.
    pub(crate) async fn status(&self) -> Result<DaemonStatus> {
        // The version is checked first because another version may differ in everything else.
        let value: serde_json::Value = self.read("/console/v1/status").await?;
        let daemon = value.get("protocol").and_then(serde_json::Value::as_u64).unwrap_or(0);
        if daemon != u64::from(PROTOCOL) {
            return Err(LinkError::Protocol { daemon: u32::try_from(daemon).unwrap_or(u32::MAX) });
        }
        let unreadable = |error: serde_json::Error| LinkError::Unreadable(error.to_string());
        if let Some(remote) = self.at_url() {
            let status: RemoteStatus = serde_json::from_value(value).map_err(unreadable)?;
            return Ok(remote.status(status));
        }
        serde_json::from_value(value).map_err(unreadable)
    }

    /// Queries the version of the organization that is selected at a remote daemon.
    pub(super) async fn version(&self) -> Result<u64> {
        let status: RemoteStatus = self.read("/console/v1/status").await?;
        Ok(status.organization_version)
    }

    /// Queries the figures of the daemon.
    pub(crate) async fn health(&self) -> Result<Health> {
        self.read("/console/v1/health").await
    }

    pub(crate) async fn organization(&self, id: OrganizationId) -> Result<OrganizationDetail> {
        let sent = self.versions.now();
        // Both at once: over a slow connection nothing waits for a second round trip.
        let path = format!("/console/v1/organizations/{id}");
        let (organization, compared) = tokio::join!(self.read(&path), self.compare_log(id));
        let organization: OrganizationDetail = organization?;
        compared?;
        if organization.head.organization_id != id {
            return Err(LinkError::Unreadable("the daemon stated another organization".to_owned()));
        }
        self.versions.check(sent, &organization.head)?;
        Ok(organization)
    }

    /// Queries the signer with this name or id.
    pub(crate) async fn signer(&self, id: OrganizationId, name: &str) -> Result<Signer> {
        self.read(&format!("/console/v1/organizations/{id}/signer?name={}", escaped(name))).await
    }

    /// Queries these activities, in any order. Activities that do not exist are omitted.
    pub(crate) async fn named(&self, id: OrganizationId, ids: &[ActivityId]) -> Result<Vec<ActivityRow>> {
        let mut rows: Vec<ActivityRow> = Vec::new();
        let mut remaining = ids.to_vec();
        while !remaining.is_empty() {
            let requested: Vec<String> = remaining.iter().take(PAGE_LIMIT).map(ToString::to_string).collect();
            let path = format!("/console/v1/organizations/{id}/activities?id={}", requested.join(","));
            let page: ActivityPage = self.read(&path).await?;
            let is_requested =
                |row: &ActivityRow| remaining.iter().take(PAGE_LIMIT).any(|id| *id == row.activity.id);
            let received: Vec<ActivityRow> = page.activities.into_iter().filter(is_requested).collect();
            // A page may end before all requested activities; the daemon answers the newest first.
            let is_answered = |id: &ActivityId| page.next.is_none_or(|next| *id >= next);
            let before = remaining.len();
            let (requested, rest) = remaining.split_at(remaining.len().min(PAGE_LIMIT));
            remaining = requested.iter().filter(|id| !is_answered(id)).chain(rest).copied().collect();
            rows.extend(received);
            if remaining.len() == before {
                return Err(LinkError::Unreadable(
                    "the answer contains none of the requested activities".to_owned(),
                ));
            }
        }
        Ok(rows)
    }

    /// Queries the full record of one activity, by id or fingerprint.
    pub(crate) async fn record(&self, id: OrganizationId, reference: &str) -> Result<ReviewRecord> {
        let sent = self.versions.now();
        let mut comparison = self.witness.begin(id).await?;
        loop {
            let from = comparison.known_size();
            let path = format!("/console/v1/organizations/{id}/activities/{reference}?from={from}");
            let record: ReviewRecord = self.read(&path).await?;
            let stated = record.log.as_ref().map(|entry| &entry.checkpoint);
            if comparison.compare(stated)? == Compared::Done {
                self.versions.check(sent, &record.organization.head)?;
                return Ok(record);
            }
        }
    }

    /// Queries the newest checkpoint of the activity log, with the proof that it begins with this number of entries.
    pub(crate) async fn checkpoint(&self, id: OrganizationId, from: u64) -> Result<LogCheckpoint> {
        self.read(&format!("/console/v1/organizations/{id}/checkpoint?from={from}")).await
    }

    /// Compares the activity log of an organization with what is known, unless that was just done.
    async fn compare_log(&self, id: OrganizationId) -> Result<()> {
        let mut comparison = self.witness.begin(id).await?;
        while comparison.is_due() {
            let stated = match self.checkpoint(id, comparison.known_size()).await {
                Ok(stated) => Some(stated),
                // A daemon of an earlier version has no log.
                Err(error) if error.is_without_route() => None,
                Err(error) => return Err(error),
            };
            if comparison.compare(stated.as_ref())? == Compared::Done {
                break;
            }
        }
        Ok(())
    }

    /// Queries the organization of an activity: this one, or one of its sub-organizations.
    pub(crate) async fn location(&self, id: OrganizationId, reference: &str) -> Result<OrganizationId> {
        let path = format!("/console/v1/organizations/{id}/activities/{reference}/location");
        let location: ActivityLocation = self.read(&path).await?;
        Ok(location.organization_id)
    }

    /// Sends a stamped body to a public route and returns the response body. It has a connection of its own, so that an
    /// error states whether it was sent.
    pub(crate) async fn post(&self, path: &str, body: &str, stamp: &Stamp) -> Result<Bytes> {
        self.call(self.stamped(path, body, stamp)?).await
    }

    fn stamped(&self, path: &str, body: &str, stamp: &Stamp) -> Result<http::Result<Request<Full<Bytes>>>> {
        let (target, host) = match self.at_url() {
            None => (path.to_owned(), "localhost".to_owned()),
            Some(remote) => (remote.target(path)?.to_string(), remote.authority()),
        };
        Ok(Request::builder()
            .method(Method::POST)
            .uri(target)
            .header("host", host)
            .header("content-type", "application/json")
            .header(stamp.header_name(), stamp.header())
            .body(Full::new(Bytes::copy_from_slice(body.as_bytes()))))
    }

    /// Posts to a route of the local socket that has an effect. It is never sent twice.
    pub(super) async fn act<T: DeserializeOwned>(&self, path: &str, body: Vec<u8>) -> Result<T> {
        if self.is_remote() {
            return Err(LinkError::LocalOnly);
        }
        let request = Request::builder().method(Method::POST).uri(path).header("host", "localhost");
        let bytes =
            self.call(request.body(Full::new(Bytes::from(body)))).await.map_err(LinkError::of_route)?;
        serde_json::from_slice(&bytes).map_err(|error| LinkError::Unreadable(error.to_string()))
    }

    /// Opens a route and returns its body as a stream.
    pub(super) async fn open(&self, path: &str) -> Result<Incoming> {
        let request = get(path).map_err(|error| LinkError::Unreadable(error.to_string()))?;
        let (status, body) = sent(&mut self.connect().await?, request).await?;
        if status == StatusCode::OK {
            return Ok(body);
        }
        Err(self.error(status, &collect(body).await?))
    }

    fn error(&self, status: StatusCode, bytes: &[u8]) -> LinkError {
        let error = serde_json::from_slice::<ApiError>(bytes).ok();
        // A daemon never answers an error of the server with a code of another status.
        let is_consistent =
            |error: &ApiError| !status.is_server_error() || error.code.http_status() == status.as_u16();
        match (error.filter(is_consistent), self.at_url()) {
            (Some(mut error), _) => {
                error.message = clean(&error.message);
                LinkError::Api(error)
            }
            (None, Some(remote)) => not_daemon(remote, &format!("status {status}")),
            (None, None) => LinkError::Unreadable(format!("status {status} without an error body")),
        }
    }

    pub(super) async fn read<T: DeserializeOwned>(&self, path: &str) -> Result<T> {
        Ok(self.read_sized(path).await?.0)
    }

    /// Queries a path. Also returns the length of the answer in bytes.
    pub(super) async fn read_sized<T: DeserializeOwned>(&self, path: &str) -> Result<(T, usize)> {
        let unreadable = |error: serde_json::Error| LinkError::Unreadable(error.to_string());
        let Some(remote) = self.at_url() else {
            let bytes = self.call(get(path)).await.map_err(LinkError::of_route)?;
            return Ok((serde_json::from_slice(&bytes).map_err(unreadable)?, bytes.len()));
        };
        let (body, stamp) = match remote.query(path).await {
            Ok(query) => query,
            Err(error) => {
                // Whether the server is trusted does not depend on what is missing, and its pin helps newcomers.
                if matches!(error, LinkError::Unselected | LinkError::Unstamped) {
                    drop(remote.dial().await?);
                }
                return Err(error);
            }
        };
        let answered = self.view(remote, self.stamped(VIEW, &body, &stamp)?).await;
        let bytes = answered.map_err(|error| error.of_route().of_clock())?;
        let answer = serde_json::from_slice(&bytes).ok().and_then(viewed);
        let answer = answer.ok_or_else(|| not_daemon(remote, "an answer without what was queried"))?;
        Ok((serde_json::from_value(answer).map_err(unreadable)?, bytes.len()))
    }

    /// Sends a request on a connection of its own, and returns the body of the answer.
    pub(super) async fn call(&self, request: http::Result<Request<Full<Bytes>>>) -> Result<Bytes> {
        let request = request.map_err(|error| LinkError::Unreadable(error.to_string()))?;
        // Boxed, because every command contains it.
        self.within(Box::pin(async { answered(&mut self.connect().await?, request).await })).await
    }

    /// Sends a request to read at a URL, on a connection of an earlier one or on a new one. The server may close a connection
    /// at any time, and what is between may drop it without a word; what was not answered is then sent again.
    async fn view(&self, remote: &Remote, request: http::Result<Request<Full<Bytes>>>) -> Result<Bytes> {
        let request = request.map_err(|error| LinkError::Unreadable(error.to_string()))?;
        let answer = async {
            if let Some(answer) = remote.idle.answer(&request).await {
                return Ok(answer);
            }
            let mut connection = self.connect().await?;
            let answer = answered(&mut connection, request).await?;
            remote.idle.keep(connection);
            Ok(answer)
        };
        self.within(Box::pin(answer)).await
    }

    /// Returns the body of a successful answer that arrives in time.
    async fn within(&self, answer: impl Future<Output = Result<(StatusCode, Bytes)>>) -> Result<Bytes> {
        let late = || LinkError::Lost(format!("no answer within {REQUEST_SECONDS} s"));
        let answer = tokio::time::timeout(Duration::from_secs(REQUEST_SECONDS), answer).await;
        let (status, bytes) = answer.map_err(|_| late())??;
        if status.is_success() { Ok(bytes) } else { Err(self.error(status, &bytes)) }
    }

    async fn connect(&self) -> Result<Connection> {
        let stream = self.dial().await?;
        let (sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
            .await
            .map_err(|error| lost(&error))?;
        tokio::spawn(async move {
            // The request itself reports how the connection ended.
            let _ = connection.await;
        });
        Ok(sender)
    }

    async fn dial(&self) -> Result<Box<dyn Stream>> {
        let path = match &self.endpoint {
            Endpoint::Socket(path) => path.as_path(),
            Endpoint::Remote(remote) => return remote.dial().await,
        };
        let shown = || clean(&path.display().to_string());
        let name = path.to_fs_name::<GenericFilePath>().map_err(|_| LinkError::Down(shown()))?;
        let is_url =
            || path.components().any(|part| ["http:", "https:"].iter().any(|name| part.as_os_str() == *name));
        let is_other = || is_url() || matches!(files::socket(path), Ok(SocketFile::Other));
        let connected = Socket::connect(name).await.map_err(|error| match error.kind() {
            ErrorKind::PermissionDenied => LinkError::Forbidden(shown()),
            _ if is_other() => LinkError::NotSocket(shown()),
            _ => LinkError::Down(shown()),
        });
        Ok(Box::new(connected?))
    }
}

fn get(path: &str) -> http::Result<Request<Full<Bytes>>> {
    Request::builder().uri(path).header("host", "localhost").body(Full::default())
}

fn not_daemon(remote: &Remote, answer: &str) -> LinkError {
    LinkError::NotDaemon { url: clean(&remote.url.to_string()), answer: answer.to_owned() }
}
