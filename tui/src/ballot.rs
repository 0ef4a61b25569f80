//! A vote or a proposal: the exact bytes that are signed, and what the daemon's answer proves about it. Pure.

use quorate_common::activity::{Activity, Selection, Status};
use quorate_common::fingerprint::Fingerprint;
use quorate_common::ids::{OrganizationId, UserId};
use quorate_common::stamp::Stamp;
use serde_json::{Value, json};

/// What is done with an activity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Choice {
    /// Yes.
    Approve,
    /// No.
    Reject,
    /// It is asked for, which is a yes of whoever asks.
    Propose,
}

impl Choice {
    /// The word on screen and in the journal.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Approve => "approve",
            Self::Reject => "reject",
            Self::Propose => "propose",
        }
    }
}

/// A body ready to be signed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ballot {
    /// What it does.
    pub(crate) choice: Choice,
    /// The public route that it goes to.
    pub(crate) path: &'static str,
    /// The fingerprint of the activity, computed by this console.
    pub(crate) fingerprint: Fingerprint,
    /// The exact body.
    pub(crate) message: String,
}

/// Something to ask for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Wish {
    /// `ACTIVITY_TYPE_*`.
    pub(crate) activity_type: &'static str,
    /// The public route.
    pub(crate) path: &'static str,
    /// The parameters.
    pub(crate) parameters: Value,
}

impl Ballot {
    /// A vote on an activity. Nothing in its body needs escaping: a number, an id and hex.
    pub(crate) fn vote(
        is_yes: bool,
        organization: OrganizationId,
        fingerprint: Fingerprint,
        now: u64,
    ) -> Self {
        let (choice, path, activity_type) = if is_yes {
            (Choice::Approve, "/public/v1/submit/approve_activity", "ACTIVITY_TYPE_APPROVE_ACTIVITY")
        } else {
            (Choice::Reject, "/public/v1/submit/reject_activity", "ACTIVITY_TYPE_REJECT_ACTIVITY")
        };
        let message = format!(
            "{{\"type\":\"{activity_type}\",\"timestampMs\":\"{now}\",\"organizationId\":\"{organization}\",\"parameters\":{{\"fingerprint\":\"{fingerprint}\"}}}}",
        );
        Self { choice, path, fingerprint, message }
    }

    /// A proposal.
    pub(crate) fn proposal(wish: &Wish, organization: OrganizationId, now: u64) -> Self {
        let Wish { activity_type, path, parameters } = wish;
        let body = json!({"type": activity_type, "timestampMs": now.to_string(), "organizationId": organization,
            "parameters": parameters});
        let message = body.to_string();
        Self { choice: Choice::Propose, path, fingerprint: Fingerprint::of(message.as_bytes()), message }
    }
}

/// What became of the activity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The vote is recorded; others must still agree.
    Waiting,
    /// It was executed.
    Executed,
    /// It was executed and failed.
    Failed,
    /// It is rejected.
    Rejected,
}

impl Outcome {
    /// Of a status.
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

    /// The word on screen and in JSON.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Executed => "executed",
            Self::Failed => "failed",
            Self::Rejected => "rejected",
        }
    }
}

/// Whether the record holds this vote, with these bytes and this signature, by this user.
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
    fn body_is_what_the_service_reads() {
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
