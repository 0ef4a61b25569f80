//! What a review is made from: the daemon's record, and what this console knows itself.

use std::sync::Arc;

use quorate_common::console::activity_log::LogEntry;
use quorate_common::console::{ActivityRow, OrganizationDetail, ReviewRecord, RuleInputs};
use quorate_common::ids::{OrganizationId, UserId};

use super::siblings::Siblings;
use crate::book::Book;
use crate::known_keys::KnownKeys;
use crate::text::quoted;

/// Error text for an action that needs a user and a key.
const NO_SIGNER: &str = "no user and key are selected: name them with --user and --key or in \
                                    config.toml; `quorate key add` creates a key";
/// Error text for an action that needs a pinned organization.
const NO_ORGANIZATION: &str = "no organization is pinned: name it with --organization ID or in config.toml";

/// The person who reviews, and the organization that the console is pinned to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Viewer {
    /// The pinned organization, or a sub-organization of it.
    pub(crate) organization: Option<OrganizationId>,
    /// The user who would vote.
    pub(crate) user: Option<UserId>,
    /// How that organization was pinned.
    pub(crate) pinned_by: PinnedBy,
    /// Whether the daemon is at a URL, perhaps on another host.
    pub(crate) is_remote: bool,
    /// What was selected to sign with, as in `key "mira"`, also if it belongs to no user of the organization.
    pub(crate) selected: Option<String>,
    /// The name that was given in place of the id of the organization.
    pub(crate) organization_name: Option<String>,
}

impl Viewer {
    /// Returns why nobody is selected who could sign in an organization.
    pub(crate) fn no_signer(&self, organization: &OrganizationDetail) -> String {
        let head = &organization.head;
        match &self.selected {
            Some(selected) => format!(
                "{selected} belongs to no user of organization {} ({}): only its own users vote and propose there",
                quoted(&head.organization_name),
                head.organization_id
            ),
            None => NO_SIGNER.to_owned(),
        }
    }

    /// Returns why no organization is pinned. The id of the organization that was named is that which the daemon states.
    pub(crate) fn no_organization(&self, organization: &OrganizationDetail) -> String {
        let head = &organization.head;
        let Some(name) = &self.organization_name else { return NO_ORGANIZATION.to_owned() };
        let is_named = name.rsplit('/').next() == Some(head.organization_name.as_str());
        let id = match head.parent_organization_id {
            Some(parent) if !is_named => parent,
            _ => head.organization_id,
        };
        format!(
            "{} is a name, and only the daemon states its id; votes and proposals are signed for an id: compare {id}, \
             then name it with --organization {id}",
            quoted(name)
        )
    }
}

/// How an organization was pinned.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum PinnedBy {
    /// By its id, which the user stated.
    #[default]
    Id,
    /// By its name, which the user chose in the list of the daemon. Only the daemon states that the id has this name.
    Name,
    /// As a sub-organization of the pinned one. Only the daemon states that it is one.
    Parent,
}

/// The daemon's record of one activity. Many records share one organization.
#[derive(Debug, Clone)]
pub(crate) struct Record {
    pub(crate) row: ActivityRow,
    pub(crate) organization: Arc<OrganizationDetail>,
    /// What the daemon states about the decision; absent for a row of a list.
    pub(crate) rule_inputs: Option<RuleInputs>,
    /// The activity in the activity log; absent for a row of a list.
    pub(crate) log: Option<LogEntry>,
    /// Whether the record is that of a proof bundle, and not what the daemon states now.
    pub(crate) is_exported: bool,
}

impl Record {
    /// Returns the record of a row of a list.
    pub(crate) fn of_row(row: ActivityRow, organization: &Arc<OrganizationDetail>) -> Self {
        Self { row, organization: Arc::clone(organization), rule_inputs: None, log: None, is_exported: false }
    }
}

impl From<ReviewRecord> for Record {
    fn from(record: ReviewRecord) -> Self {
        let ReviewRecord { row, organization, rule_inputs, log } = record;
        Self { row, organization: Arc::new(organization), rule_inputs, log, is_exported: false }
    }
}

/// The input of a review.
pub(crate) struct Evidence<'a> {
    pub(crate) record: &'a Record,
    /// Other waiting activities of the organization, as far as they are known.
    pub(crate) siblings: &'a Siblings,
    /// Keys, names and root quorums that were seen before (trust on first use).
    pub(crate) known_keys: &'a KnownKeys,
    /// The viewer's own address book.
    pub(crate) book: &'a Book,
    pub(crate) viewer: &'a Viewer,
    /// Current time in milliseconds since the Unix epoch.
    pub(crate) now: u64,
    /// The id or fingerprint that the viewer requested, if any.
    pub(crate) reference: Option<&'a str>,
}
