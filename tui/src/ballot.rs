//! Votes and proposals: the exact bytes to sign, and the check that the daemon recorded them. Pure functions
//! only.

use quorate_common::activity::{Activity, Selection, Status};
use quorate_common::fingerprint::Fingerprint;
use quorate_common::ids::{ActivityId, OrganizationId, UserId};
use quorate_common::stamp::Stamp;
use serde_json::{Value, json};

/// What the user does with an activity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Choice {
    Approve,
    Reject,
    /// Proposes the activity, which includes the proposer's approval.
    Propose,
}

impl Choice {
    /// Returns what is sent, at the start of a sentence.
    pub(crate) const fn noun(self) -> &'static str {
        match self {
            Self::Approve | Self::Reject => "Vote",
            Self::Propose => "Proposal",
        }
    }

    /// Returns the word for the screen and the journal.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Approve => "approve",
            Self::Reject => "reject",
            Self::Propose => "propose",
        }
    }
}

/// A request body that is ready to be signed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ballot {
    pub(crate) choice: Choice,
    /// Public API route that receives the body.
    pub(crate) path: &'static str,
    /// Fingerprint of the activity, computed by this console.
    pub(crate) fingerprint: Fingerprint,
    /// Exact bytes to sign.
    pub(crate) message: String,
}

/// An activity to propose.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ActivityRequest {
    pub(crate) activity_type: &'static str,
    /// Public API route for this activity type.
    pub(crate) path: &'static str,
    pub(crate) parameters: Value,
}

impl Ballot {
    /// Builds a vote on an activity. The body needs no JSON escaping: it contains only a number, an id and
    /// hex digits.
    pub(crate) fn vote(
        is_approval: bool,
        organization: OrganizationId,
        fingerprint: Fingerprint,
        now: u64,
    ) -> Self {
        let (choice, path, activity_type) = if is_approval {
            (Choice::Approve, "/public/v1/submit/approve_activity", "ACTIVITY_TYPE_APPROVE_ACTIVITY")
        } else {
            (Choice::Reject, "/public/v1/submit/reject_activity", "ACTIVITY_TYPE_REJECT_ACTIVITY")
        };
        let message = format!(
            "{{\"type\":\"{activity_type}\",\"timestampMs\":\"{now}\",\"organizationId\":\"{organization}\",\"parameters\":{{\"fingerprint\":\"{fingerprint}\"}}}}",
        );
        Self { choice, path, fingerprint, message }
    }

    /// Builds a proposal.
    pub(crate) fn proposal(request: &ActivityRequest, organization: OrganizationId, now: u64) -> Self {
        let ActivityRequest { activity_type, path, parameters } = request;
        let body = json!({"type": activity_type, "timestampMs": now.to_string(), "organizationId": organization,
            "parameters": parameters});
        let message = body.to_string();
        Self { choice: Choice::Propose, path, fingerprint: Fingerprint::of(message.as_bytes()), message }
    }
}

/// State of the activity after a vote or proposal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The vote is recorded; other approvals are missing.
    Waiting,
    Executed,
    /// The activity was executed and failed.
    Failed,
    Rejected,
}

impl Outcome {
    /// Maps an activity status to its outcome.
    pub(crate) const fn of(status: Status) -> Self {
        match status {
            Status::Completed => Self::Executed,
            Status::Failed => Self::Failed,
            Status::Rejected => Self::Rejected,
            Status::Created | Status::Pending | Status::ConsensusNeeded | Status::AuthenticatorsNeeded => {
                Self::Waiting
            }
        }
    }

    /// Returns the word for the screen and for JSON.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Executed => "executed",
            Self::Failed => "failed",
            Self::Rejected => "rejected",
        }
    }
}

/// What is known of a vote or proposal that the record does not contain as far as is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unconfirmed {
    /// Nothing was sent.
    Unsent,
    /// The daemon refused it.
    Refused,
    /// It was sent, and no answer of the daemon states what became of it. It may still count.
    NoAnswer,
    /// The daemon answered with a record that does not contain it.
    NotInRecord,
}

impl Unconfirmed {
    /// Returns the word for the journal.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Unsent => "not sent",
            Self::Refused => "refused",
            Self::NoAnswer => "no answer",
            Self::NotInRecord => "not in the record",
        }
    }
}

/// Returns what is known of a vote or proposal whose answer is not awaited any more.
pub(crate) fn unanswered(ballot: &Ballot, activity: ActivityId) -> String {
    let target = match ballot.choice {
        Choice::Approve | Choice::Reject => activity.to_string(),
        // The daemon has not stated its id yet.
        Choice::Propose => ballot.fingerprint.to_string(),
    };
    format!(
        "the {} may have been sent, and no answer has arrived; it may still count within an hour: check the activity \
         {target}, and reject it if in doubt",
        ballot.choice.noun().to_lowercase()
    )
}

/// Returns whether the record contains this vote: same user, selection, message, signature and public key.
pub(crate) fn is_recorded(record: &Activity, ballot: &Ballot, user: UserId, stamp: &Stamp) -> bool {
    let selection = match ballot.choice {
        Choice::Approve | Choice::Propose => Selection::Approved,
        Choice::Reject => Selection::Rejected,
    };
    record.fingerprint == ballot.fingerprint
        && record.votes.iter().any(|vote| {
            vote.user_id == user
                && vote.selection == selection
                && vote.message == ballot.message
                && vote.signature.eq_ignore_ascii_case(&stamp.signature)
                && vote.public_key.eq_ignore_ascii_case(&stamp.public_key)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vote_body_has_the_wire_format() {
        let fingerprint = Fingerprint::of(b"x");
        let organization = OrganizationId::from_bytes([7; 16]);
        let ballot = Ballot::vote(true, organization, fingerprint, 1_795_253_055_120);
        assert_eq!(
            ballot.message,
            format!(
                r#"{{"type":"ACTIVITY_TYPE_APPROVE_ACTIVITY","timestampMs":"1795253055120","organizationId":"{organization}","parameters":{{"fingerprint":"sha256:2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"}}}}"#
            )
        );
    }
}
