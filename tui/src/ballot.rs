//! A vote: the exact bytes that are signed, and what the daemon's answer proves about it. Pure.

use quorate_common::activity::{Activity, Selection, Status};
use quorate_common::fingerprint::Fingerprint;
use quorate_common::ids::{OrganizationId, UserId};
use quorate_common::stamp::Stamp;

/// Yes or no.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Choice {
    /// Yes.
    Approve,
    /// No.
    Reject,
}

impl Choice {
    /// The public route.
    pub(crate) const fn path(self) -> &'static str {
        match self {
            Self::Approve => "/public/v1/submit/approve_activity",
            Self::Reject => "/public/v1/submit/reject_activity",
        }
    }

    /// The type of the vote's own activity.
    pub(crate) const fn activity_type(self) -> &'static str {
        match self {
            Self::Approve => "ACTIVITY_TYPE_APPROVE_ACTIVITY",
            Self::Reject => "ACTIVITY_TYPE_REJECT_ACTIVITY",
        }
    }

    /// The word on screen and in the journal.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Approve => "approve",
            Self::Reject => "reject",
        }
    }
}

/// A vote ready to be signed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ballot {
    /// Yes or no.
    pub(crate) choice: Choice,
    /// The fingerprint voted on, computed by this console.
    pub(crate) fingerprint: Fingerprint,
    /// The exact body.
    pub(crate) message: String,
}

impl Ballot {
    /// Writes the body. Nothing in it needs escaping: a number, an id and hex.
    pub(crate) fn new(
        choice: Choice,
        organization: OrganizationId,
        fingerprint: Fingerprint,
        now: u64,
    ) -> Self {
        let message = format!(
            "{{\"type\":\"{}\",\"timestampMs\":\"{now}\",\"organizationId\":\"{organization}\",\"parameters\":{{\"fingerprint\":\"{fingerprint}\"}}}}",
            choice.activity_type()
        );
        Self { choice, fingerprint, message }
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
        Choice::Approve => Selection::Approved,
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
        let ballot = Ballot::new(Choice::Approve, organization, fingerprint, 1_795_253_055_120);
        assert_eq!(
            ballot.message,
            format!(
                r#"{{"type":"ACTIVITY_TYPE_APPROVE_ACTIVITY","timestampMs":"1795253055120","organizationId":"{organization}","parameters":{{"fingerprint":"sha256:2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"}}}}"#
            )
        );
    }
}
