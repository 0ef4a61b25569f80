//! HTTP/1.1 client for the local socket, or for the public API at a URL. At the socket, each request has a connection of its
//! own, so that no connection state survives a restart of the daemon. At a URL, connections are used again.

use std::fmt::Write as _;

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
use quorate_common::activity::Status;
use quorate_common::api_error::ApiError;
use quorate_common::console::{
    AccountPage, ActivityLocation, ActivityPage, ActivityRow, DaemonStatus, Health, HistoryPage, InboxPage,
    MessagePage, OrganizationDetail, OrganizationPage, PAGE_LIMIT, PROTOCOL, ParkedPage, RemoteStatus,
    ReviewRecord, Signer,
};
use quorate_common::ids::{ActivityId, MessageEventId, OrganizationId, WalletAccountId, WalletId};
use quorate_common::stamp::Stamp;
use serde::de::DeserializeOwned;

use super::connection::{Connection, answered, collect, lost, sent};
use super::error::{LinkError, Result};
use super::escape::escaped;
use super::history::History;
use super::remote::{Reader, Remote, RemoteUrl, Stream, VIEW, viewed};
use super::tls::Trust;
use crate::text::clean;

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
}

impl Client {
    /// Creates a client for the socket at this path without connecting.
    pub(crate) fn new(socket: PathBuf) -> Self {
        Self { endpoint: Endpoint::Socket(socket) }
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
        Ok(Self { endpoint: Endpoint::Remote(Arc::new(remote)) })
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

    /// Queries a page of organizations: top-level organizations, or the children of `parent`.
    pub(crate) async fn organizations(
        &self,
        parent: Option<OrganizationId>,
        after: Option<OrganizationId>,
    ) -> Result<OrganizationPage> {
        if let (Some(remote), None) = (self.at_url(), parent) {
            // Users see no organization beside their own.
            let own = self.organization(remote.organization()?).await?;
            return Ok(OrganizationPage { organizations: vec![own.head], next: None });
        }
        let parent = parent.map_or_else(String::new, |id| format!("&parent={id}"));
        let after = after.map_or_else(String::new, |id| format!("&after={id}"));
        self.read(&format!("/console/v1/organizations?limit={PAGE_LIMIT}{parent}{after}")).await
    }

    /// Queries a page of the sub-organizations with a user who has this verified mail address or phone number.
    pub(crate) async fn with_contact(
        &self,
        parent: OrganizationId,
        contact: &str,
        after: Option<OrganizationId>,
    ) -> Result<OrganizationPage> {
        let after = after.map_or_else(String::new, |id| format!("&after={id}"));
        let contact = escaped(contact);
        self.read(&format!(
            "/console/v1/organizations?limit={PAGE_LIMIT}&parent={parent}&contact={contact}{after}"
        ))
        .await
    }

    pub(crate) async fn organization(&self, id: OrganizationId) -> Result<OrganizationDetail> {
        let organization: OrganizationDetail = self.read(&format!("/console/v1/organizations/{id}")).await?;
        if organization.head.organization_id == id {
            return Ok(organization);
        }
        Err(LinkError::Unreadable("the daemon stated another organization".to_owned()))
    }

    /// Queries a page of parked webhook deliveries after a cursor of an earlier page.
    pub(crate) async fn parked(&self, after: Option<&str>) -> Result<ParkedPage> {
        let after = after.map_or_else(String::new, |cursor| format!("&after={}", escaped(cursor)));
        self.read(&format!("/console/v1/outbox/parked?limit={PAGE_LIMIT}{after}")).await
    }

    /// Queries a page of the events of messages, newest first.
    pub(crate) async fn messages(
        &self,
        id: OrganizationId,
        after: Option<MessageEventId>,
    ) -> Result<MessagePage> {
        let after = after.map_or_else(String::new, |id| format!("&after={id}"));
        self.read(&format!("/console/v1/organizations/{id}/messages?limit={PAGE_LIMIT}{after}")).await
    }

    /// Queries the signer with this name or id.
    pub(crate) async fn signer(&self, id: OrganizationId, name: &str) -> Result<Signer> {
        self.read(&format!("/console/v1/organizations/{id}/signer?name={}", escaped(name))).await
    }

    /// Queries a page of accounts of a wallet.
    pub(crate) async fn accounts(
        &self,
        id: OrganizationId,
        wallet: WalletId,
        after: Option<WalletAccountId>,
    ) -> Result<AccountPage> {
        let after = after.map_or_else(String::new, |id| format!("&after={id}"));
        self.read(&format!(
            "/console/v1/organizations/{id}/wallets/{wallet}/accounts?limit={PAGE_LIMIT}{after}"
        ))
        .await
    }

    /// Queries a page of activities, newest first.
    pub(crate) async fn activities(
        &self,
        id: OrganizationId,
        statuses: &[Status],
        types: &[String],
        after: Option<ActivityId>,
        limit: usize,
    ) -> Result<ActivityPage> {
        let mut path =
            format!("/console/v1/organizations/{id}/activities?limit={}", limit.clamp(1, PAGE_LIMIT));
        let names: Vec<String> = statuses
            .iter()
            .filter_map(|status| Some(serde_json::to_value(status).ok()?.as_str()?.to_owned()))
            .collect();
        for (name, values) in [("status", &names[..]), ("type", types)] {
            if !values.is_empty() {
                let _ = write!(path, "&{name}={}", values.join(","));
            }
        }
        if let Some(after) = after {
            let _ = write!(path, "&after={after}");
        }
        self.read(&path).await
    }

    /// Queries the newest activities, page by page, up to a number of them.
    pub(crate) async fn newest(
        &self,
        id: OrganizationId,
        statuses: &[Status],
        types: &[String],
        limit: usize,
    ) -> Result<Vec<ActivityRow>> {
        let (mut rows, mut after) = (Vec::new(), None);
        while rows.len() < limit {
            let page = self.activities(id, statuses, types, after, limit.saturating_sub(rows.len())).await?;
            rows.extend(page.activities);
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        Ok(rows)
    }

    /// Queries a page of activities that wait for votes, newest first. The next cursor must be older than
    /// `after`, so that reading ends whatever the daemon answers.
    pub(crate) async fn waiting(
        &self,
        id: OrganizationId,
        after: Option<ActivityId>,
    ) -> Result<ActivityPage> {
        let page = self.activities(id, &Status::WAITING, &[], after, PAGE_LIMIT).await?;
        match (after, page.next) {
            (Some(after), Some(next)) if next >= after => {
                Err(LinkError::Unreadable("the list of waiting activities does not advance".to_owned()))
            }
            _ => Ok(page),
        }
    }

    /// Queries a page of the activities of an organization after a cursor of an earlier page.
    pub(crate) async fn history(
        &self,
        id: OrganizationId,
        request: &History,
        after: Option<&str>,
        limit: usize,
    ) -> Result<HistoryPage> {
        let from = after.map_or_else(String::new, |cursor| format!("&after={}", escaped(cursor)));
        let limit = limit.clamp(1, PAGE_LIMIT);
        let parameters = request.parameters();
        let page: HistoryPage = self
            .read(&format!("/console/v1/organizations/{id}/history?limit={limit}{parameters}{from}"))
            .await?;
        if page.next.is_some() && page.next.as_deref() == after {
            return Err(LinkError::Unreadable("the list of activities does not advance".to_owned()));
        }
        Ok(page)
    }

    /// Queries a page of what waits in an organization and in its sub-organizations. The next cursor must be greater than
    /// `after`, so that reading ends whatever the daemon answers.
    pub(crate) async fn inbox(&self, id: OrganizationId, after: Option<&str>) -> Result<InboxPage> {
        let from = after.map_or_else(String::new, |cursor| format!("&after={}", escaped(cursor)));
        let page: InboxPage =
            self.read(&format!("/console/v1/organizations/{id}/inbox?limit={PAGE_LIMIT}{from}")).await?;
        match (after, &page.next) {
            (Some(after), Some(next)) if next.as_str() <= after => {
                Err(LinkError::Unreadable("the list of waiting activities does not advance".to_owned()))
            }
            _ => Ok(page),
        }
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
        self.read(&format!("/console/v1/organizations/{id}/activities/{reference}")).await
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
        match (serde_json::from_slice::<ApiError>(bytes), self.at_url()) {
            (Ok(mut error), _) => {
                error.message = clean(&error.message);
                LinkError::Api(error)
            }
            (Err(_), Some(remote)) => not_daemon(remote, &format!("status {status}")),
            (Err(_), None) => LinkError::Unreadable(format!("status {status} without an error body")),
        }
    }

    pub(super) async fn read<T: DeserializeOwned>(&self, path: &str) -> Result<T> {
        let unreadable = |error: serde_json::Error| LinkError::Unreadable(error.to_string());
        let Some(remote) = self.at_url() else {
            let bytes = self.call(get(path)).await.map_err(LinkError::of_route)?;
            return serde_json::from_slice(&bytes).map_err(unreadable);
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
        serde_json::from_value(answer).map_err(unreadable)
    }

    /// Sends a request on a connection of its own, and returns the body of the answer.
    pub(super) async fn call(&self, request: http::Result<Request<Full<Bytes>>>) -> Result<Bytes> {
        let request = request.map_err(|error| LinkError::Unreadable(error.to_string()))?;
        // Boxed, because every command contains it.
        self.within(Box::pin(async { answered(&mut self.connect().await?, request).await })).await
    }

    /// Sends a request to read at a URL, on a connection of an earlier one or on a new one. The server may close a connection
    /// at any time; what it did not answer is then sent again.
    async fn view(&self, remote: &Remote, request: http::Result<Request<Full<Bytes>>>) -> Result<Bytes> {
        let request = request.map_err(|error| LinkError::Unreadable(error.to_string()))?;
        let answer = async {
            if let Some(mut connection) = remote.idle.take()
                && let Ok(answer) = answered(&mut connection, request.clone()).await
            {
                remote.idle.keep(connection);
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
        let connected = Socket::connect(name).await.map_err(|error| match error.kind() {
            ErrorKind::PermissionDenied => LinkError::Forbidden(shown()),
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
