//! An activity as it is stored.

use quorate_common::activity::{Selection, Status};
use quorate_common::fault::Fault;
use quorate_common::fingerprint::Fingerprint;
use quorate_common::ids::{ActivityId, OrganizationId, PolicyId, UserId, VoteId};
use quorate_common::stamp::Scheme;
use quorate_common::wire;
use quorate_policy::decide::PolicyOutcome;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::record::{Record, from_json};
use super::{Millis, packed};
use crate::refusal::Corrupt;

/// A vote: the stamped request of the voter, byte for byte.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VoteRecord {
    /// Id.
    pub id: VoteId,
    /// Voter.
    pub user: UserId,
    /// Name of the voter at the time, for when the user is gone.
    #[serde(default)]
    pub user_name: String,
    /// Yes or no.
    pub selection: Selection,
    /// Raw body of the request.
    pub message: String,
    /// Public key of the stamp.
    pub public_key: String,
    /// Scheme of the stamp.
    pub scheme: Scheme,
    /// Signature of the stamp.
    pub signature: String,
    /// Cast at.
    pub created: Millis,
    /// What each policy said then; nothing where none was asked.
    #[serde(default)]
    pub evaluations: Vec<Evaluation>,
}

/// What a policy said when a vote was cast.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evaluation {
    /// The policy.
    pub policy: PolicyId,
    /// What it said.
    pub outcome: PolicyOutcome,
}

impl Evaluation {
    /// As answers show it.
    pub fn wire(&self) -> wire::PolicyOutcome {
        wire::PolicyOutcome { policy_id: self.policy, outcome: self.outcome.wire_name().to_owned() }
    }
}

/// An activity.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ActivityRecord {
    /// Id.
    pub id: ActivityId,
    /// Organization acted upon.
    pub organization: OrganizationId,
    /// Number of the type on the wire.
    pub number: u16,
    /// Where it stands.
    pub status: Status,
    /// The wire's `intent`: one member.
    pub intent: Box<RawValue>,
    /// The wire's `result`: one member once completed, before that none.
    pub result: Box<RawValue>,
    /// Who asked. In the organization acted upon, unless a parent's user looked it up.
    pub proposer: UserId,
    /// Votes in the order they were cast.
    pub votes: Vec<VoteRecord>,
    /// Fingerprint of the proposal.
    pub fingerprint: Fingerprint,
    /// Why it failed or was denied.
    pub failure: Option<Fault>,
    /// Submitted at.
    pub created: Millis,
    /// Last changed at.
    pub updated: Millis,
}

impl Record for ActivityRecord {
    const NOUN: &'static str = "activity";
    const VERSION: u8 = 3;

    fn encode(&self) -> Result<Vec<u8>, Corrupt> {
        let messages = self.votes.iter().map(|vote| vote.message.len()).sum::<usize>();
        // Room for all but failures, so that it does not grow step by step.
        let mut bytes =
            Vec::with_capacity(messages.saturating_add(self.result.get().len()).saturating_add(1024));
        bytes.push(Self::VERSION);
        packed::pack(self, bytes)
    }

    fn decode(bytes: &[u8]) -> Result<Self, Corrupt> {
        match bytes.split_first() {
            Some((3, packed)) => packed::unpack(packed, true),
            Some((2, packed)) => packed::unpack(packed, false),
            Some((1, json)) => from_json(json),
            _ => Err(Corrupt::Record(Self::NOUN)),
        }
    }
}

impl ActivityRecord {
    /// Notes what policies said when the last vote was cast.
    pub fn evaluated(&mut self, evaluations: Vec<Evaluation>) {
        if let Some(vote) = self.votes.last_mut() {
            vote.evaluations = evaluations;
        }
    }

    /// The body of the proposal: the message of the first vote, which is the proposer's.
    pub fn proposal(&self) -> Option<&str> {
        self.votes.first().map(|vote| vote.message.as_str())
    }
}
