//! A daemon at a URL. Every request is stamped by the key of the user, and answered with what this user may read.

use std::io::ErrorKind;
use std::net::IpAddr;
use std::sync::Arc;

use http::Uri;
use quorate_common::console::{DaemonStatus, REMOTE_CHILDREN, REMOTE_STATUS, RemoteStatus};
use quorate_common::ids::OrganizationId;
use quorate_common::stamp::Stamp;
use quorate_common::wire::Timestamp;
use rustls::pki_types::ServerName;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use url::{Host, Url};

use super::connection::Idle;
use super::error::{LinkError, Result};
use super::tls::{Tls, Trust};
use crate::clock::now_millis;
use crate::text::clean;

/// Path of the query that answers what the console shows.
pub(super) const VIEW: &str = "/public/v1/query/get_console_view";
/// Time for which a stamped request to read is valid, in milliseconds.
const VALID_MILLIS: u64 = 60_000;
/// Prefix of the paths of the local socket.
const CONSOLE: &str = "/console/v1/";

/// A connection to a daemon.
pub(super) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// Stamps the requests that read.
pub(crate) trait Reader: Send + Sync {
    /// Returns the stamp of a body.
    ///
    /// # Errors
    /// The reason for which the key cannot stamp it.
    fn stamp(&self, body: &str) -> Result<Stamp, String>;

    /// Locks the key. It does not stamp until [`Self::open`] is called.
    fn lock(&self);

    /// Lets the key stamp again, which may prompt a person.
    fn open(&self);
}

/// The URL of a daemon: https, or http to this host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RemoteUrl(Url);

impl std::str::FromStr for RemoteUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // It may contain a password, which no message repeats.
        let url = Url::parse(text).map_err(|error| format!("not a URL: {error}"))?;
        let is_bare = url.username().is_empty() && url.password().is_none();
        if !is_bare || url.query().is_some() || url.fragment().is_some() {
            return Err("a URL of a daemon has no user, password, query or fragment".to_owned());
        }
        let shown = clean(text);
        match (url.scheme(), url.host()) {
            ("https", Some(_)) => Ok(Self(url)),
            ("http", Some(host)) if is_loopback(&host) => Ok(Self(url)),
            ("http", Some(_)) => Err(format!(
                "{shown}: http is for this host only, since anybody between could read and change it: use https"
            )),
            _ => Err(format!("{shown}: expected a URL that begins with https://")),
        }
    }
}

impl std::fmt::Display for RemoteUrl {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.0.as_str().trim_end_matches('/'))
    }
}

impl RemoteUrl {
    /// Returns whether connections to it use TLS.
    pub(crate) fn has_tls(&self) -> bool {
        self.0.scheme() == "https"
    }
}

fn is_loopback(host: &Host<&str>) -> bool {
    match host {
        Host::Domain(name) => *name == "localhost",
        Host::Ipv4(address) => address.is_loopback(),
        Host::Ipv6(address) => address.is_loopback(),
    }
}

/// A daemon at a URL, read by one user.
pub(super) struct Remote {
    pub(super) url: RemoteUrl,
    tls: Option<Tls>,
    /// The organization that the user selected, whose data includes the status of the daemon.
    organization: Option<OrganizationId>,
    reader: Option<Arc<dyn Reader>>,
    pub(super) idle: Idle,
}

impl std::fmt::Debug for Remote {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("Remote").field(&self.url).finish()
    }
}

impl Remote {
    pub(super) fn new(
        url: RemoteUrl,
        trust: &Trust,
        organization: Option<OrganizationId>,
        reader: Option<Arc<dyn Reader>>,
    ) -> Result<Self> {
        let tls = url.has_tls().then(|| Tls::new(trust)).transpose()?;
        Ok(Self { url, tls, organization, reader, idle: Idle::default() })
    }

    /// Locks the key that stamps requests to read.
    pub(super) fn lock(&self) {
        if let Some(reader) = &self.reader {
            reader.lock();
        }
    }

    /// Lets the key stamp requests to read again.
    pub(super) fn open(&self) {
        if let Some(reader) = &self.reader {
            reader.open();
        }
    }

    /// Returns the selected organization.
    ///
    /// # Errors
    /// If none is selected by its id.
    pub(super) fn organization(&self) -> Result<OrganizationId> {
        self.organization.ok_or(LinkError::Unselected)
    }

    /// Returns the value of the header `Host`.
    pub(super) fn authority(&self) -> String {
        let host = self.url.0.host_str().unwrap_or_default();
        self.url.0.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
    }

    /// Returns the target of a path of the public API.
    pub(super) fn target(&self, path: &str) -> Result<Uri> {
        let prefix = self.url.0.path().trim_end_matches('/');
        format!("{prefix}{path}").parse().map_err(|_| LinkError::Unreadable("invalid path".to_owned()))
    }

    /// Connects, and verifies the key of the server.
    pub(super) async fn dial(&self) -> Result<Box<dyn Stream>> {
        let down = || LinkError::Down(self.url.to_string());
        let host = self.url.0.host().ok_or_else(down)?;
        let port = self.url.0.port_or_known_default().ok_or_else(down)?;
        let name = match &host {
            Host::Domain(name) => (*name).to_owned(),
            Host::Ipv4(address) => address.to_string(),
            Host::Ipv6(address) => address.to_string(),
        };
        let stream = TcpStream::connect((name.as_str(), port)).await;
        let stream = stream.map_err(|error| self.unconnected(&error))?;
        // Requests are single small writes.
        let _ = stream.set_nodelay(true);
        let Some(tls) = &self.tls else { return Ok(Box::new(stream)) };
        let server = match host {
            Host::Domain(name) => ServerName::try_from(name.to_owned()).map_err(|_| down())?,
            Host::Ipv4(address) => ServerName::from(IpAddr::V4(address)),
            Host::Ipv6(address) => ServerName::from(IpAddr::V6(address)),
        };
        let connected = tls.connector.connect(server, stream).await;
        Ok(Box::new(connected.map_err(|error| tls.failure(&self.authority(), &error))?))
    }

    /// Returns why this host cannot connect.
    fn unconnected(&self, error: &std::io::Error) -> LinkError {
        let reason = match error.kind() {
            ErrorKind::ConnectionRefused => return LinkError::Down(self.url.to_string()),
            ErrorKind::AddrNotAvailable => {
                "this host has no free local port or no address for it; close other connections and try again"
                    .to_owned()
            }
            ErrorKind::TimedOut => "nothing answers at this address".to_owned(),
            ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable => {
                "this host has no route to it: check the network".to_owned()
            }
            // The system states its own causes, such as a name that cannot be resolved.
            _ => clean(&error.to_string()),
        };
        LinkError::Unreachable { url: self.url.to_string(), reason }
    }

    /// Returns the stamped query that reads a path of the local socket: body and stamp.
    ///
    /// # Errors
    /// If only the local socket answers the path, no organization is selected, or there is no stamp.
    pub(super) async fn query(&self, path: &str) -> Result<(String, Stamp)> {
        let (organization, path) = self.view(path)?;
        let valid = now_millis().saturating_add(VALID_MILLIS);
        let body = json!({"organizationId": organization, "path": path, "validUntilMs": valid}).to_string();
        let reader = Arc::clone(self.reader.as_ref().ok_or(LinkError::Unstamped)?);
        // A key may ask a person.
        let stamped = tokio::task::spawn_blocking(move || {
            let stamp = reader.stamp(&body);
            stamp.map(|stamp| (body, stamp))
        });
        stamped.await.map_err(|error| LinkError::Stamp(error.to_string()))?.map_err(LinkError::Stamp)
    }

    /// Returns the organization and the path below it that a path of the local socket reads.
    fn view(&self, path: &str) -> Result<(OrganizationId, String)> {
        let rest = path.strip_prefix(CONSOLE).unwrap_or(path);
        if rest == "status" {
            return Ok((self.organization()?, REMOTE_STATUS.to_owned()));
        }
        if let Some(parameters) = rest.strip_prefix("organizations?") {
            let parent = parameters.split('&').find_map(|pair| pair.strip_prefix("parent="));
            let parent = parent.and_then(|id| id.parse().ok()).ok_or(LinkError::LocalOnly)?;
            return Ok((parent, format!("{REMOTE_CHILDREN}?{parameters}")));
        }
        let below = rest.strip_prefix("organizations/").ok_or(LinkError::LocalOnly)?;
        let end = below.find(['/', '?']).unwrap_or(below.len());
        let (id, rest) = below.split_at(end);
        let id = id.parse().map_err(|_| LinkError::LocalOnly)?;
        let rest = rest.strip_prefix('/').unwrap_or(rest);
        if rest.split(['/', '?']).next() == Some("webhooks") {
            return Err(LinkError::LocalOnly);
        }
        Ok((id, rest.to_owned()))
    }

    /// Returns the status of the daemon as far as users may know it.
    pub(super) fn status(&self, status: RemoteStatus) -> DaemonStatus {
        DaemonStatus {
            protocol: status.protocol,
            version: status.version,
            mode: status.mode,
            started_at: Timestamp::from_millis(0),
            now_millis: status.now_millis,
            process_id: 0,
            base_url: Some(self.url.to_string()),
            quorum_public_key: status.quorum_public_key,
            keys_locked: true,
            strict_deny_errors: status.strict_deny_errors,
            sealing_key: None,
            awaits_release: false,
            last_backup: None,
            journal: None,
            log: None,
            engine: None,
            store: None,
        }
    }
}

/// Returns the part of an answer that the console reads.
pub(super) fn viewed(mut answer: Value) -> Option<Value> {
    answer.get_mut("view").map(Value::take)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use std::str::FromStr;

    use super::super::tls::Pin;
    use super::*;

    const PIN: &str = "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";

    #[test]
    fn plain_http_is_for_this_host_only() {
        for good in [
            "https://q.example",
            "https://q.example:8443/api/",
            "http://127.0.0.1:9",
            "http://localhost:1",
            "http://[::1]:2",
        ] {
            assert!(good.parse::<RemoteUrl>().is_ok(), "{good}");
        }
        for bad in [
            "http://q.example",
            "http://10.0.0.1",
            "http://127.0.0.1.example",
            "ftp://q.example",
            "q.example",
            "https://a:hidden@q.example",
            "http://a:hidden@q.example",
            "https://a:hidden@q.example:x",
            "https://q.example?x",
            "https://q.example#x",
            "unix:///run/q",
        ] {
            let error = bad.parse::<RemoteUrl>().unwrap_err();
            assert!(!error.contains("hidden"), "{error}");
        }
    }

    #[test]
    fn a_host_that_cannot_connect_is_not_a_missing_daemon() {
        let url = "https://127.0.0.1:1".parse().unwrap();
        let remote = Remote::new(url, &Trust::Pinned(Pin::from_str(PIN).unwrap()), None, None).unwrap();
        let text = |kind: ErrorKind| remote.unconnected(&kind.into()).to_string();
        assert_eq!(text(ErrorKind::ConnectionRefused), "no daemon listens at https://127.0.0.1:1");
        for (kind, words) in [
            (ErrorKind::AddrNotAvailable, "no free local port"),
            (ErrorKind::NetworkUnreachable, "no route"),
            (ErrorKind::TimedOut, "nothing answers"),
        ] {
            let text = text(kind);
            assert!(
                text.starts_with("cannot connect to https://127.0.0.1:1: ") && text.contains(words),
                "{text}"
            );
        }
    }

    #[test]
    fn only_what_users_may_read_becomes_a_query() {
        let id = OrganizationId::from_bytes([7; 16]);
        let url = "http://127.0.0.1:1".parse().unwrap();
        let remote = Remote::new(url, &Trust::System, Some(id), None).unwrap();
        let view = |path: &str| remote.view(&format!("{CONSOLE}{path}"));
        assert_eq!(view("status").unwrap(), (id, "status".to_owned()));
        assert_eq!(view(&format!("organizations/{id}")).unwrap(), (id, String::new()));
        assert_eq!(
            view(&format!("organizations/{id}/inbox?limit=2")).unwrap(),
            (id, "inbox?limit=2".to_owned())
        );
        assert_eq!(view(&format!("organizations?limit=2&parent={id}")).unwrap().0, id);
        let webhooks =
            [format!("organizations/{id}/webhooks"), format!("organizations/{id}/webhooks/feature/test")];
        for path in ["health", "organizations?limit=2", "outbox/parked?limit=1", "catalog"]
            .map(str::to_owned)
            .iter()
            .chain(&webhooks)
        {
            assert_eq!(view(path), Err(LinkError::LocalOnly), "{path}");
        }
    }

    #[test]
    fn pins_are_digests() {
        assert_eq!(PIN.parse::<Pin>().unwrap().to_string(), PIN);
        for bad in ["", "sha256/", "sha256/AAAA", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="] {
            assert!(bad.parse::<Pin>().is_err(), "{bad}");
        }
    }
}
