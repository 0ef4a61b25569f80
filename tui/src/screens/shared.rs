//! What all screens share: the connection, the user, and the organization with its activities.

use std::sync::Arc;

use quorate_common::console::{ActivityRow, DaemonStatus, OrganizationDetail};
use quorate_common::ids::OrganizationId;

use super::activity_list::ActivityList;
use super::filter::Filter;
use super::inbox::Inbox;
use crate::ballot::ActivityRequest;
use crate::book::Book;
use crate::doctor::Finding;
use crate::journal::Journal;
use crate::kinds::Sent;
use crate::known_keys::KnownKeys;
use crate::link::LinkError;
use crate::policies::ResolvedNames;
use crate::proof::{DraftContext, Evidence, Record, Review, Viewer};
use crate::session::Identity;
use crate::text::duration;

/// Maximum age of data for decisions, in milliseconds.
const OLD_MILLIS: u64 = 10_000;

/// State of the connection.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum LinkState {
    /// The first connection attempt is running.
    Starting,
    Live,
    Lost {
        error: LinkError,
        /// Time when the connection was lost, in milliseconds since the Unix epoch.
        since: u64,
        /// Time of the next attempt, in milliseconds since the Unix epoch.
        retry: u64,
    },
    /// The daemon cannot be used; holds the reason.
    Refused(String),
}

pub(crate) struct Shared {
    /// Terminal size in columns and rows.
    pub(crate) size: (u16, u16),
    /// Current time, in milliseconds since the Unix epoch.
    pub(crate) now: u64,
    /// User and key of the console.
    pub(crate) identity: Identity,
    /// Whether the key was unlocked and signs without a passphrase.
    pub(crate) is_unlocked: bool,
    pub(crate) link: LinkState,
    /// Time of the last message from the daemon, in milliseconds since the Unix epoch.
    pub(crate) last_contact: u64,
    pub(crate) daemon: Option<DaemonStatus>,
    /// Whether the daemon runs on this host, if that is known.
    pub(crate) is_same_host: Option<bool>,
    /// Organization whose approvals are shown.
    pub(crate) organization_id: Option<OrganizationId>,
    pub(crate) organization: Option<Arc<OrganizationDetail>>,
    /// Whether that organization no longer exists.
    pub(crate) is_missing: bool,
    /// Viewer within that organization.
    pub(crate) viewer: Viewer,
    /// Why user and key do not match the organization, if so.
    pub(crate) mismatch: Option<String>,
    pub(crate) known_keys: KnownKeys,
    pub(crate) book: Book,
    /// Findings about the files and the socket of this console.
    pub(crate) findings: Vec<Finding>,
    /// Transfers that the user approved before, as the journal contains them.
    pub(crate) own_transfers: Vec<Sent>,
    /// The journal of decisions, once it was read, or why it cannot be read.
    pub(crate) journal: Option<Result<Journal, String>>,
    /// All waiting activities.
    pub(crate) inbox: Inbox,
    /// The filter with which the open review was chosen; what comes next is one of its rows.
    pub(crate) within: Filter,
    /// The newest activities of any status, as far as they were loaded.
    pub(crate) activities: ActivityList,
}

impl Shared {
    pub(crate) fn new(identity: Identity, known_keys: KnownKeys, size: (u16, u16), now: u64) -> Self {
        Self {
            size,
            now,
            organization_id: identity.viewer.organization,
            viewer: identity.viewer.clone(),
            identity,
            is_unlocked: false,
            link: LinkState::Starting,
            last_contact: now,
            daemon: None,
            is_same_host: None,
            organization: None,
            is_missing: false,
            mismatch: None,
            known_keys,
            book: Book::EMPTY,
            findings: Vec::new(),
            own_transfers: Vec::new(),
            journal: None,
            inbox: Inbox::default(),
            within: Filter::default(),
            activities: ActivityList::default(),
        }
    }

    /// Returns whether this is another organization than the one that is shown.
    pub(crate) fn is_elsewhere(&self, organization: OrganizationId) -> bool {
        self.organization_id != Some(organization)
    }

    /// Returns whether these activities are of the organization that is shown.
    pub(crate) fn is_shown(&self, activities: &[ActivityRow]) -> bool {
        activities.first().is_none_or(|row| !self.is_elsewhere(row.activity.organization_id))
    }

    /// Returns what a screen shows while it has no data.
    pub(crate) fn loading(&self, what: &str) -> String {
        match (&self.link, self.organization_id) {
            (LinkState::Live, None) => {
                "No organization is chosen: o lists the organizations of this daemon.".to_owned()
            }
            (LinkState::Lost { .. } | LinkState::Refused(_), _) => {
                format!("Not connected: {what} cannot be read.")
            }
            _ => format!("Loading {what}."),
        }
    }

    /// Returns whether a passphrase must be entered to sign.
    pub(crate) const fn needs_passphrase(&self) -> bool {
        self.identity.needs_passphrase && !self.is_unlocked
    }

    /// Returns the age of the data if it is too old for decisions.
    pub(crate) fn data_age(&self) -> Option<u64> {
        let age = self.now.saturating_sub(self.last_contact);
        (age > OLD_MILLIS || matches!(self.link, LinkState::Lost { .. } | LinkState::Refused(_)))
            .then_some(age)
    }

    /// Returns whether the daemon is at a URL.
    pub(crate) fn is_remote(&self) -> bool {
        self.identity.socket.starts_with("http")
    }

    /// Returns the state of the connection for the header.
    pub(crate) fn link_text(&self) -> String {
        match &self.link {
            LinkState::Starting => "starting".to_owned(),
            LinkState::Refused(_) => "REFUSED".to_owned(),
            LinkState::Lost { .. } => "DISCONNECTED".to_owned(),
            LinkState::Live => match self.data_age() {
                Some(age) => format!("OLD {}", duration(age)),
                None if self.is_remote() => format!("live, {}", self.identity.transport),
                None => "live".to_owned(),
            },
        }
    }

    /// Returns why decisions are disabled, if so.
    pub(crate) fn decisions_disabled(&self) -> Option<String> {
        match &self.link {
            LinkState::Live => {
                let old = self.data_age().map(|age| format!("data is {} old", duration(age)));
                old.or_else(|| self.mismatch.clone())
            }
            LinkState::Starting => Some("not connected yet".to_owned()),
            LinkState::Lost { .. } => Some("disconnected".to_owned()),
            LinkState::Refused(reason) => Some(reason.clone()),
        }
    }

    /// Returns whether a deny policy that cannot be evaluated denies.
    pub(crate) fn is_strict(&self) -> bool {
        self.daemon.as_ref().is_some_and(|daemon| daemon.strict_deny_errors)
    }

    /// Examines a record.
    pub(crate) fn examine(&self, record: &Record, reference: Option<&str>) -> Review {
        let viewer = self.identity.viewer_below(&record.organization);
        Review::of(&Evidence {
            record,
            siblings: self.inbox.siblings(record.row.activity.organization_id),
            known_keys: &self.known_keys,
            book: &self.book,
            viewer: &viewer,
            now: self.now,
            reference,
        })
    }

    /// Reviews a drafted request that names no signer with the current state, see [`Self::review_draft`].
    pub(crate) fn review_request(&self, request: &ActivityRequest) -> Result<Review, String> {
        self.review_draft(request, &ResolvedNames::new())
    }

    /// Reviews a drafted request with the current state. Accounts, keys and contracts that it names were looked up
    /// before.
    ///
    /// # Errors
    ///
    /// Returns why it cannot be reviewed: the organization is not loaded, no key is selected, or the viewer
    /// cannot propose.
    pub(crate) fn review_draft(
        &self,
        request: &ActivityRequest,
        signers: &ResolvedNames,
    ) -> Result<Review, String> {
        let unread = || "the organization is not loaded yet".to_owned();
        let organization = self.organization.as_ref().ok_or_else(unread)?;
        let no_key = || self.viewer.no_signer(organization);
        let context = DraftContext {
            organization,
            viewer: &self.viewer,
            public_key: self.identity.public_key.as_deref().ok_or_else(no_key)?,
            known_keys: &self.known_keys,
            book: &self.book,
            signers,
            strict_deny_errors: self.is_strict(),
            now: self.now,
        };
        Review::of_request(request, &context)
    }
}
