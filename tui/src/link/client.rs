//! HTTP/1.1 over the local socket. One connection per request: on this transport it costs next to nothing
//! and leaves no state that a restart of the daemon could spoil.

use std::fmt::Write as _;

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, StatusCode};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use interprocess::local_socket::GenericFilePath;
use interprocess::local_socket::tokio::{Stream, prelude::*};
use quorate_common::activity::Status;
use quorate_common::console::{
    AccountPage, ActivityPage, ActivityRow, DaemonStatus, OrganizationDetail, OrganizationPage, PAGE_LIMIT,
    PROTOCOL, ParkedPage, ReviewRecord, Signer,
};
use quorate_common::fault::{Code, Fault};
use quorate_common::ids::{ActivityId, OrganizationId, WalletAccountId, WalletId};
use serde::de::DeserializeOwned;

use crate::text::clean;

/// Largest answer that is read.
const ANSWER_LIMIT: usize = 64 * 1024 * 1024;
/// How long one request may take.
const REQUEST_SECONDS: u64 = 30;

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub(crate) enum LinkFlaw {
    /// Nobody listens.
    #[error("no daemon listens at {0}")]
    Down(String),
    /// The socket may not be opened by this user.
    #[error("you may not open {0}: the daemon's user and its configured group may")]
    Forbidden(String),
    /// The connection broke or took too long; whether the daemon acted is not known.
    #[error("the answer was lost: {0}")]
    Lost(String),
    /// The daemon refused.
    #[error("{}", refused(.0))]
    Refused(Fault),
    /// The answer is not what the protocol says.
    #[error("the daemon's answer cannot be read: {}", clean(.0))]
    Unreadable(String),
    /// The daemon speaks another version.
    #[error("the daemon speaks console protocol {daemon}, this console {PROTOCOL}")]
    Protocol {
        /// The daemon's version.
        daemon: u32,
    },
}

impl LinkFlaw {
    /// Whether the same bytes may be sent again.
    pub(crate) fn is_transport(&self) -> bool {
        matches!(self, Self::Down(_) | Self::Lost(_))
    }

    /// Whether what was asked for is not there.
    pub(crate) fn is_missing(&self) -> bool {
        matches!(self, Self::Refused(fault) if fault.code == Code::NotFound)
    }

    /// Whether the daemon is sealed.
    pub(crate) fn is_sealed(&self) -> bool {
        matches!(self, Self::Refused(fault) if fault.code == Code::Unavailable && fault.message.contains("sealed"))
    }
}

/// Dials one socket.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    socket: PathBuf,
}

impl Client {
    /// Of the socket at this path; nothing is dialled yet.
    pub(crate) fn new(socket: PathBuf) -> Self {
        Self { socket }
    }

    /// The path.
    pub(crate) fn socket(&self) -> &Path {
        &self.socket
    }

    /// The daemon itself. Refuses another protocol version.
    pub(crate) async fn status(&self) -> Result<DaemonStatus, LinkFlaw> {
        // The number is read first: another version may differ in everything else.
        let value: serde_json::Value = self.read("/console/v1/status").await?;
        let daemon = value.get("protocol").and_then(serde_json::Value::as_u64).unwrap_or(0);
        if daemon != u64::from(PROTOCOL) {
            return Err(LinkFlaw::Protocol { daemon: u32::try_from(daemon).unwrap_or(u32::MAX) });
        }
        serde_json::from_value(value).map_err(|error| LinkFlaw::Unreadable(error.to_string()))
    }

    /// A page of organizations: top-level ones, or children.
    pub(crate) async fn organizations(
        &self,
        parent: Option<OrganizationId>,
        after: Option<OrganizationId>,
    ) -> Result<OrganizationPage, LinkFlaw> {
        let parent = parent.map_or_else(String::new, |id| format!("&parent={id}"));
        let after = after.map_or_else(String::new, |id| format!("&after={id}"));
        self.read(&format!("/console/v1/organizations?limit={PAGE_LIMIT}{parent}{after}")).await
    }

    /// An organization.
    pub(crate) async fn organization(&self, id: OrganizationId) -> Result<OrganizationDetail, LinkFlaw> {
        self.read(&format!("/console/v1/organizations/{id}")).await
    }

    /// A page of what is parked in the outbox, behind a cursor of an earlier page.
    pub(crate) async fn parked(&self, after: Option<&str>) -> Result<ParkedPage, LinkFlaw> {
        let after = after.map_or_else(String::new, |cursor| format!("&after={}", escaped(cursor)));
        self.read(&format!("/console/v1/outbox/parked?limit={PAGE_LIMIT}{after}")).await
    }

    /// What signs under a name, or has it for its id.
    pub(crate) async fn signer(&self, id: OrganizationId, name: &str) -> Result<Signer, LinkFlaw> {
        self.read(&format!("/console/v1/organizations/{id}/signer?name={}", escaped(name))).await
    }

    /// A page of accounts of a wallet.
    pub(crate) async fn accounts(
        &self,
        id: OrganizationId,
        wallet: WalletId,
        after: Option<WalletAccountId>,
    ) -> Result<AccountPage, LinkFlaw> {
        let after = after.map_or_else(String::new, |id| format!("&after={id}"));
        self.read(&format!(
            "/console/v1/organizations/{id}/wallets/{wallet}/accounts?limit={PAGE_LIMIT}{after}"
        ))
        .await
    }

    /// A page of activities, newest first.
    pub(crate) async fn activities(
        &self,
        id: OrganizationId,
        statuses: &[Status],
        types: &[String],
        after: Option<ActivityId>,
        limit: usize,
    ) -> Result<ActivityPage, LinkFlaw> {
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

    /// A page of what waits for votes, newest first. The cursor of the next page is older than `after`, so that the list
    /// comes to an end whatever the daemon answers.
    pub(crate) async fn waiting(
        &self,
        id: OrganizationId,
        after: Option<ActivityId>,
    ) -> Result<ActivityPage, LinkFlaw> {
        let page = self.activities(id, &[Status::ConsensusNeeded], &[], after, PAGE_LIMIT).await?;
        match (after, page.next) {
            (Some(after), Some(next)) if next >= after => {
                Err(LinkFlaw::Unreadable("the list of what waits does not go on".to_owned()))
            }
            _ => Ok(page),
        }
    }

    /// These activities, in any order; those that are not there are left out.
    pub(crate) async fn named(
        &self,
        id: OrganizationId,
        ids: &[ActivityId],
    ) -> Result<Vec<ActivityRow>, LinkFlaw> {
        let mut rows: Vec<ActivityRow> = Vec::new();
        let mut left = ids.to_vec();
        while !left.is_empty() {
            let asked: Vec<String> = left.iter().take(PAGE_LIMIT).map(ToString::to_string).collect();
            let path = format!("/console/v1/organizations/{id}/activities?id={}", asked.join(","));
            let page: ActivityPage = self.read(&path).await?;
            let is_asked = |row: &ActivityRow| left.iter().take(PAGE_LIMIT).any(|id| *id == row.activity.id);
            let found: Vec<ActivityRow> = page.activities.into_iter().filter(is_asked).collect();
            // A page may end before all that were asked for; the daemon answers the newest first.
            let is_answered = |id: &ActivityId| page.next.is_none_or(|next| *id >= next);
            let before = left.len();
            let (asked, rest) = left.split_at(left.len().min(PAGE_LIMIT));
            left = asked.iter().filter(|id| !is_answered(id)).chain(rest).copied().collect();
            rows.extend(found);
            if left.len() == before {
                return Err(LinkFlaw::Unreadable("none of the activities asked for was answered".to_owned()));
            }
        }
        Ok(rows)
    }

    /// Everything about one activity, named by id or fingerprint.
    pub(crate) async fn record(&self, id: OrganizationId, reference: &str) -> Result<ReviewRecord, LinkFlaw> {
        self.read(&format!("/console/v1/organizations/{id}/activities/{reference}")).await
    }

    /// Sends a stamped body to a public route and returns the answer's bytes.
    pub(crate) async fn post(&self, path: &str, body: &str, stamp: &str) -> Result<Bytes, LinkFlaw> {
        let request = Request::builder()
            .method(Method::POST)
            .uri(path)
            .header("host", "localhost")
            .header("content-type", "application/json")
            .header(quorate_common::stamp::HEADER, stamp)
            .body(Full::new(Bytes::copy_from_slice(body.as_bytes())));
        self.call(request).await
    }

    /// Opens a route and hands out the body as it arrives.
    pub(super) async fn open(&self, path: &str) -> Result<Incoming, LinkFlaw> {
        let (status, body) = self.exchange(get(path)).await?;
        if status == StatusCode::OK {
            return Ok(body);
        }
        Err(refusal(status, &collect(body).await?))
    }

    async fn read<T: DeserializeOwned>(&self, path: &str) -> Result<T, LinkFlaw> {
        let bytes = self.call(get(path)).await?;
        serde_json::from_slice(&bytes).map_err(|error| LinkFlaw::Unreadable(error.to_string()))
    }

    async fn call(&self, request: http::Result<Request<Full<Bytes>>>) -> Result<Bytes, LinkFlaw> {
        let answer = async {
            let (status, body) = self.exchange(request).await?;
            let bytes = collect(body).await?;
            if status.is_success() { Ok(bytes) } else { Err(refusal(status, &bytes)) }
        };
        tokio::time::timeout(Duration::from_secs(REQUEST_SECONDS), answer)
            .await
            .unwrap_or_else(|_| Err(LinkFlaw::Lost(format!("nothing came within {REQUEST_SECONDS} s"))))
    }

    async fn exchange(
        &self,
        request: http::Result<Request<Full<Bytes>>>,
    ) -> Result<(StatusCode, Incoming), LinkFlaw> {
        let request = request.map_err(|error| LinkFlaw::Unreadable(error.to_string()))?;
        let stream = self.dial().await?;
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
            .await
            .map_err(|error| lost(&error))?;
        tokio::spawn(async move {
            // Whatever ends the connection is seen by the request itself.
            let _ = connection.await;
        });
        let response = sender.send_request(request).await.map_err(|error| lost(&error))?;
        Ok((response.status(), response.into_body()))
    }

    async fn dial(&self) -> Result<Stream, LinkFlaw> {
        let shown = || clean(&self.socket.display().to_string());
        let name =
            self.socket.as_path().to_fs_name::<GenericFilePath>().map_err(|_| LinkFlaw::Down(shown()))?;
        Stream::connect(name).await.map_err(|error| match error.kind() {
            ErrorKind::PermissionDenied => LinkFlaw::Forbidden(shown()),
            _ => LinkFlaw::Down(shown()),
        })
    }
}

fn get(path: &str) -> http::Result<Request<Full<Bytes>>> {
    Request::builder().uri(path).header("host", "localhost").body(Full::default())
}

async fn collect(body: Incoming) -> Result<Bytes, LinkFlaw> {
    let whole = Limited::new(body, ANSWER_LIMIT).collect().await;
    whole.map(http_body_util::Collected::to_bytes).map_err(|error| LinkFlaw::Lost(error.to_string()))
}

fn refusal(status: StatusCode, bytes: &[u8]) -> LinkFlaw {
    match serde_json::from_slice::<Fault>(bytes) {
        Ok(mut fault) => {
            fault.message = clean(&fault.message);
            LinkFlaw::Refused(fault)
        }
        Err(_) => LinkFlaw::Unreadable(format!("status {status} without a fault")),
    }
}

/// All texts of a refusal are the daemon's.
fn refused(fault: &Fault) -> String {
    let code = fault.turnkey_error_code.as_ref().map(|code| format!(", {code}")).unwrap_or_default();
    clean(&format!("{} ({:?}{code})", fault.message, fault.code))
}

fn lost(error: &hyper::Error) -> LinkFlaw {
    LinkFlaw::Lost(error.to_string())
}

/// A text within a query: whatever is not plain is percent-encoded (RFC 3986 §2.1).
pub(super) fn escaped(text: &str) -> String {
    text.bytes()
        .map(|byte| {
            if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
                char::from(byte).to_string()
            } else {
                format!("%{byte:02X}")
            }
        })
        .collect()
}
