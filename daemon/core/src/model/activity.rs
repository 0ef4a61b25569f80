//! The stored form of an activity.

use quorate_common::activity::{Selection, Status};
use quorate_common::api_error::ApiError;
use quorate_common::fingerprint::Fingerprint;
use quorate_common::ids::{ActivityId, OrganizationId, UserId, VoteId};
use quorate_common::stamp::Scheme;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{AttestedProof, Millis};
use crate::evaluation::Evaluation;

/// A vote: the stamped request of the voter, byte for byte unless parts of it are masked.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VoteRecord {
    /// Id.
    pub id: VoteId,
    /// User who voted.
    pub user: UserId,
    /// Name of the voter at the time of the vote, for use after the user is deleted.
    #[serde(default)]
    pub user_name: String,
    /// Whether the vote approves or rejects.
    pub selection: Selection,
    /// Body of the request.
    pub message: String,
    /// Public key of the stamp.
    pub public_key: String,
    /// Scheme of the stamp.
    pub scheme: Scheme,
    /// Signature of the stamp.
    pub signature: String,
    /// What the token of an attested stamp proved; `None` for other stamps, and for attested ones of earlier versions,
    /// which prove nothing.
    pub attestation: Option<AttestedProof>,
    /// Time at which the vote was cast.
    pub created: Millis,
    /// Outcome of each policy at the time of the vote; empty if no policy was evaluated.
    #[serde(default)]
    pub evaluations: Vec<Evaluation>,
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
    /// Current status.
    pub status: Status,
    /// `intent` of the wire: an object with one member.
    pub intent: Box<RawValue>,
    /// `result` of the wire: an object with one member once the activity is completed, and empty before.
    pub result: Box<RawValue>,
    /// Proposer, in the organization acted upon.
    pub proposer: UserId,
    /// Votes, in the order they were cast.
    pub votes: Vec<VoteRecord>,
    /// Fingerprint of the proposal.
    pub fingerprint: Fingerprint,
    /// Error with which the activity failed or was denied.
    pub failure: Option<ApiError>,
    /// Time of submission.
    pub created: Millis,
    /// Time of the last change.
    pub updated: Millis,
}

impl ActivityRecord {
    /// Sets the outcomes of policies at the last vote.
    pub fn set_evaluations(&mut self, evaluations: Vec<Evaluation>) {
        if let Some(vote) = self.votes.last_mut() {
            vote.evaluations = evaluations;
        }
    }

    /// Returns the body of the proposal: the message of the first vote, which is the proposer's.
    pub fn proposal(&self) -> Option<&str> {
        self.votes.first().map(|vote| vote.message.as_str())
    }
}
