//! A waiting activity as one compact row.

use std::collections::HashMap;

use quorate_common::activity::Status;
use quorate_common::console::WaitingRule;
use quorate_common::fingerprint::Fingerprint;
use quorate_common::ids::{ActivityId, OrganizationId, UserId};

use super::filter::Filter;
use crate::kinds::Level;
use crate::proof::{Review, Sibling, Siblings, needs, of_siblings, tally_of_marks};
use crate::text::{clean, cut};

/// Maximum width of a text in a row, in columns.
const TEXT_LIMIT: usize = 400;
/// Maximum number of flags that a row keeps as text.
const FLAG_LIMIT: usize = 8;
/// A row of the inbox.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    pub(crate) id: ActivityId,
    /// Organization that the activity acts on, and its name.
    pub(crate) organization: OrganizationId,
    pub(crate) organization_name: String,
    /// Fingerprint computed by this console; absent if no recorded bytes match it.
    pub(crate) fingerprint: Option<Fingerprint>,
    /// Time when the activity was recorded, in milliseconds since the Unix epoch.
    pub(crate) created: u64,
    /// Highest level of all flags.
    pub(crate) risk: Level,
    /// Title of the activity's kind.
    pub(crate) title: String,
    /// Short description of the change.
    pub(crate) brief: String,
    /// Name of the proposer, or `you`.
    pub(crate) proposer: String,
    /// Approvals so far.
    pub(crate) votes: String,
    /// Time when the oldest counted approval expires, in milliseconds since the Unix epoch.
    pub(crate) expires: Option<u64>,
    /// Whether all votes have expired.
    pub(crate) has_expired: bool,
    /// Whether the viewer's approval counts.
    pub(crate) is_mine: bool,
    pub(crate) is_blocked: bool,
    /// Description, proof and votes, with their labels.
    pub(crate) preview: Vec<(&'static str, String)>,
    /// Flags that do not depend on other activities.
    pub(crate) flags: Vec<String>,
    /// Flags that depend on other activities.
    pub(crate) shared_flags: Vec<String>,
    /// Highest level of the flags that do not depend on other activities.
    own_risk: Level,
    activity_type: String,
    pub(super) sibling: Sibling,
}

impl Row {
    pub(super) fn of(review: &Review, sibling: Sibling) -> Self {
        let short = |text: &str| cut(text, TEXT_LIMIT);
        let first = review.votes.iter().find(|vote| vote.proposes);
        let proposer = match first {
            Some(vote) if Some(vote.user) == review.viewer.user => "you".to_owned(),
            Some(vote) => short(&vote.name),
            None => "?".to_owned(),
        };
        let mut flags: Vec<String> =
            review.flags.iter().take(FLAG_LIMIT).map(|flag| format!("[!] {}", short(&flag.text))).collect();
        if review.flags.len() > FLAG_LIMIT {
            flags.push(format!("[!] and {} more", review.flags.len().saturating_sub(FLAG_LIMIT)));
        }
        Self {
            id: review.activity.id,
            organization: review.activity.organization_id,
            organization_name: short(&clean(&review.organization.head.organization_name)),
            fingerprint: review.proposal.as_ref().map(|proposal| proposal.fingerprint),
            created: review.activity.created_at.millis(),
            risk: review.risk,
            title: review.title.clone(),
            brief: short(&review.brief),
            proposer,
            votes: votes(review),
            expires: review.tally.expires_at,
            has_expired: review.votes.iter().all(|vote| vote.error.is_none() && vote.expired),
            is_mine: review.waits_for_viewer(),
            is_blocked: review.blocked(),
            preview: vec![
                ("", short(&review.sentence)),
                ("proof", short(&tally_of_marks(review))),
                ("needs", short(&needs(review))),
            ],
            flags,
            shared_flags: Vec::new(),
            own_risk: review.risk,
            activity_type: review.activity.activity_type.clone(),
            sibling,
        }
    }

    /// Returns the proposer, as the daemon states.
    pub(super) const fn proposer_id(&self) -> Option<UserId> {
        self.sibling.proposer
    }

    /// Sets the flags that depend on the other activities.
    pub(super) fn rate(&mut self, siblings: &Siblings) {
        let proposer = self.sibling.proposer;
        let shared = proposer
            .map(|proposer| of_siblings(siblings, &self.activity_type, proposer, self.id, self.created))
            .unwrap_or_default();
        self.risk = shared.iter().map(|flag| flag.level).fold(self.own_risk, Level::max);
        self.shared_flags = shared.into_iter().map(|flag| format!("[!] {}", flag.text)).collect();
    }

    /// Returns the sort key. New rows with risk HIGH come first until the list is sorted again. Of the same risk, what waits
    /// for the viewer comes first, then rows of the organization itself: anybody may have a sub-organization, and propose
    /// what is HIGH there. The oldest of them come first.
    pub(super) fn order(
        &self,
        own: Option<OrganizationId>,
        fresh: &HashMap<ActivityId, u64>,
    ) -> impl Ord + use<> {
        let is_below = own != Some(self.organization);
        let announced = fresh.get(&self.id).filter(|_| self.risk == Level::High).copied();
        let rank = std::cmp::Reverse((announced.is_some(), self.risk));
        (rank, !self.is_mine, is_below, std::cmp::Reverse(announced), self.created, self.id)
    }

    /// Returns whether a filter admits the row.
    pub(crate) fn is_admitted(&self, filter: &Filter) -> bool {
        if filter.is_empty() {
            return true;
        }
        let fingerprint = self.fingerprint.map(|one| one.to_string()).unwrap_or_default();
        let digits = fingerprint.rsplit(':').next().unwrap_or_default();
        let text = format!(
            "{} {} {} {} {}",
            self.risk.word(),
            self.title,
            self.brief,
            self.proposer,
            self.organization_name
        );
        filter.admits(&text, &[&self.id.to_string(), &self.organization.to_string(), &fingerprint, digits])
    }
}

/// Returns the approvals: `1 of 3`, or only their number if a policy decides.
fn votes(review: &Review) -> String {
    match review.tally.rule {
        _ if review.tally.resumes_with.is_some() => "again".to_owned(),
        _ if review.activity.status == Status::AuthenticatorsNeeded => "MFA".to_owned(),
        Some(WaitingRule::Policy) => format!("{} so far", review.tally.has()),
        _ => format!("{} of {}", review.tally.has(), review.tally.needed),
    }
}
