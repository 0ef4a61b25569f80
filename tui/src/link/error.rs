//! Why a request to the daemon failed, in sentences for people.

use quorate_common::api_error::{ApiError, Code};
use quorate_common::console::PROTOCOL;
use quorate_common::ids::OrganizationId;

use crate::ballot::Unconfirmed;
use crate::text::clean;
use crate::witness::WitnessError;

/// Message of the daemon for a path that it does not have. Missing items have messages of their own.
const NO_ROUTE: &str = "Not Found";
/// Description of a daemon without the requested path.
const WITHOUT_ROUTE: &str = "it does not have what this console reads: install matching versions of both";
/// The first HTTP status of errors of the server (RFC 9110 §15.6).
const SERVER_ERROR: u16 = 500;

/// Why a request failed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub(crate) enum LinkError {
    /// Nothing listens on the socket.
    #[error("no daemon listens at {0}")]
    Down(String),
    /// The path is not that of a socket.
    #[error("{0} is not a socket: name the socket of the daemon, or a URL with --url")]
    NotSocket(String),
    /// This host cannot connect to the URL, for a reason that does not show whether a daemon listens.
    #[error("cannot connect to {url}: {reason}")]
    Unreachable { url: String, reason: String },
    /// This user may not open the socket.
    #[error("permission denied: only the daemon's user and its configured group may open {0}")]
    Forbidden(String),
    /// The connection broke or timed out. It is unknown whether the daemon handled the request.
    #[error("the connection to the daemon was lost: {0}")]
    Lost(String),
    /// The daemon answered with an API error.
    #[error("{}", api_error_text(.0))]
    Api(ApiError),
    /// The response does not match the protocol.
    #[error("invalid answer from the daemon: {}", clean(.0))]
    Unreadable(String),
    /// The daemon stated a newer version of the organization before.
    #[error(
        "the daemon states version {stated} of organization {organization}, but stated version {known} before: what it \
         states is out of date and was not used. If an operator restored a backup, start the console again"
    )]
    Older { organization: OrganizationId, stated: u64, known: u64 },
    /// The daemon contradicts the activity log that is known, or what is known cannot be read.
    #[error(transparent)]
    Witness(#[from] WitnessError),
    /// The daemon uses another protocol version.
    #[error(
        "the daemon uses console protocol {daemon}, this console uses {PROTOCOL}: install matching versions"
    )]
    Protocol { daemon: u32 },
    /// Nothing vouches for the key of the server, or something else does than the user expects. Contains the reason.
    #[error("{0}")]
    Untrusted(String),
    /// Something else than a daemon answered at this URL.
    #[error(
        "{url} does not answer as a daemon of Quorate does ({answer}): check the URL, and what a proxy before it changes"
    )]
    NotDaemon { url: String, answer: String },
    /// The clocks of this host and of the daemon differ too much.
    #[error(
        "the clocks of this host and of the daemon differ, and stamped requests are valid for a minute: compare `date -u` \
         with another clock and set that of this host, or ask the operator to set that of the daemon"
    )]
    Clock,
    /// Only operators may read this.
    #[error("not available with --url: only the local socket of the daemon answers this, on its host")]
    LocalOnly,
    /// A remote daemon answers for an organization, which is not known.
    #[error("a daemon at a URL needs the id of your organization: --organization ID, or in config.toml")]
    Unselected,
    /// A remote daemon answers stamped requests only, and no key is selected.
    #[error("a daemon at a URL needs your key also to read: --key KEY, or in config.toml")]
    Unstamped,
    /// The key does not stamp. Contains the reason.
    #[error("cannot stamp a request to read: {}", clean(.0))]
    Stamp(String),
}

/// The result of a request to the daemon.
pub(crate) type Result<T, E = LinkError> = std::result::Result<T, E>;

impl LinkError {
    /// Returns whether the same bytes may be sent again.
    pub(crate) fn is_transport(&self) -> bool {
        matches!(self, Self::Down(_) | Self::Unreachable { .. } | Self::Lost(_))
    }

    /// Returns what a user can do about the error, where its message does not state it.
    pub(crate) fn advice(&self) -> Option<&'static str> {
        match self {
            Self::Down(place) if place.starts_with("http") => {
                Some("check the URL and the network, and ask the operator whether the daemon runs")
            }
            Self::Down(_) => Some(
                "start the daemon with `quorated serve`, try one with `quorate dev`, or name its socket with --socket PATH",
            ),
            _ => None,
        }
    }

    /// Returns what is known of a vote or proposal that failed in this way.
    pub(crate) fn of_vote(&self) -> Unconfirmed {
        match self {
            // After an error of the server it is unknown how far it came.
            Self::Api(error) if error.code.http_status() < SERVER_ERROR => Unconfirmed::Refused,
            Self::Api(_) | Self::Lost(_) | Self::NotDaemon { .. } | Self::Unreadable(_) => {
                Unconfirmed::NoAnswer
            }
            _ => Unconfirmed::Unsent,
        }
    }

    /// Returns whether the daemon examined the vote or proposal, and would answer the same bytes in the same way.
    pub(crate) fn is_final(&self) -> bool {
        self.of_vote() == Unconfirmed::Refused && !self.is_limit()
    }

    /// Returns whether the requested item does not exist.
    pub(crate) fn is_missing(&self) -> bool {
        matches!(self, Self::Api(error) if error.code == Code::NotFound)
    }

    /// Distinguishes a daemon without the requested path from one without the requested item.
    pub(super) fn of_route(self) -> Self {
        match self {
            Self::Api(error) if error.code == Code::NotFound && error.message == NO_ROUTE => {
                Self::Unreadable(WITHOUT_ROUTE.to_owned())
            }
            other => other,
        }
    }

    /// Returns whether the daemon does not have the requested path.
    pub(super) fn is_without_route(&self) -> bool {
        matches!(self, Self::Unreadable(text) if text == WITHOUT_ROUTE)
    }

    /// Distinguishes a request that was stamped by a clock that differs from that of the daemon.
    pub(super) fn of_clock(self) -> Self {
        match self {
            Self::Api(error) if error.message.contains("`validUntilMs`") => Self::Clock,
            other => other,
        }
    }

    /// Returns whether the daemon, or a proxy before it, limits how much this client may request.
    pub(crate) fn is_limit(&self) -> bool {
        matches!(self, Self::Api(error) if error.code == Code::ResourceExhausted)
    }

    pub(crate) fn is_sealed(&self) -> bool {
        matches!(self, Self::Api(error) if error.code == Code::Unavailable && error.message.contains("sealed"))
    }
}

/// Formats an API error. All its texts come from the daemon and are cleaned.
fn api_error_text(error: &ApiError) -> String {
    let code = error.turnkey_error_code.as_ref().map(|code| format!(", {code}")).unwrap_or_default();
    clean(&format!("{} ({:?}{code})", error.message, error.code))
}
