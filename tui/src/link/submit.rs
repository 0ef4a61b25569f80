//! Submits a vote or proposal. If the answer is lost, the same bytes are sent again. The daemon identifies
//! them by their fingerprint, so they count once. Nobody signs an error, so the activity is read again after one.

use std::time::Duration;

use quorate_common::activity::Activity;
use quorate_common::console::ReviewRecord;
use quorate_common::ids::{OrganizationId, UserId};
use quorate_common::stamp::Stamp;
use serde::Deserialize;

use super::client::Client;
use super::error::{LinkError, Result};
use crate::ballot::{Ballot, Choice, Unconfirmed, is_recorded};

/// How often the same bytes are sent before giving up.
const ATTEMPTS: u32 = 6;
const PAUSE_MILLIS: u64 = 250;
/// Time limit of reading the activity again after an error.
const READ_SECONDS: u64 = 10;

/// The activity after a vote or proposal, as the daemon states it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Confirmation {
    pub(crate) activity: Activity,
    /// The error that was answered although the record, which was read afterwards, contains the vote or proposal.
    pub(crate) despite: Option<LinkError>,
}

impl From<Activity> for Confirmation {
    fn from(activity: Activity) -> Self {
        Self { activity, despite: None }
    }
}

/// A vote or proposal that is not recorded as far as is known.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CastError {
    /// Why no answer confirms it.
    pub(crate) error: LinkError,
    /// With which error the daemon refused the same bytes after the answer to an earlier attempt was lost. The earlier one may
    /// itself have caused it, for example if it deleted the key that signed the vote.
    pub(crate) later: Option<LinkError>,
    pub(crate) fate: Unconfirmed,
    pub(crate) record: Reread,
}

/// What reading the activity again after an error has yielded.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Reread {
    /// It was not read: nothing was sent, or the daemon behind the local socket refused it.
    Unneeded,
    Failed(LinkError),
    /// The record does not contain the vote or proposal.
    Without,
}

impl From<LinkError> for CastError {
    fn from(error: LinkError) -> Self {
        Self { fate: error.of_vote(), error, later: None, record: Reread::Unneeded }
    }
}

impl CastError {
    fn unanswered(error: LinkError, later: Option<LinkError>) -> Self {
        Self { error, later, fate: Unconfirmed::NoAnswer, record: Reread::Unneeded }
    }

    /// Returns what is known of it in one sentence without a full stop; `noun` is what was sent.
    pub(crate) fn text(&self, noun: &str) -> String {
        let (error, noun) = (&self.error, noun.to_lowercase());
        match (self.fate, &self.record) {
            (Unconfirmed::Unsent, _) => error.to_string(),
            (Unconfirmed::Refused, Reread::Unneeded) => {
                format!("the daemon refused the {noun}: {error}; nothing was recorded")
            }
            (Unconfirmed::Refused, Reread::Without) => format!(
                "the daemon answered that it refused the {noun}: {error}; the record, read again, does not contain it; \
                 a copy that was kept on the way may still count within an hour"
            ),
            (Unconfirmed::Refused, Reread::Failed(unread)) => format!(
                "the daemon answered that it refused the {noun}: {error}; check the activity, which cannot be read again now: \
                 {unread}"
            ),
            (Unconfirmed::NoAnswer | Unconfirmed::NotInRecord, _) => {
                let later = self.later.as_ref().map_or_else(String::new, |later| {
                    format!("; sent again, the {noun} was refused, which may be an effect of the first one: {later}")
                });
                format!(
                    "{error}{later}; the {noun} was sent and may still count within an hour: check the activity, and reject \
                     it if in doubt"
                )
            }
        }
    }
}

/// Sends a vote or proposal of a user and returns its target activity. The daemon answers a rejection with the vote's own
/// activity, so the target is read again.
pub(crate) async fn cast(
    client: &Client,
    (id, user): (OrganizationId, Option<UserId>),
    ballot: &Ballot,
    stamp: &Stamp,
) -> Result<Confirmation, CastError> {
    let error = match (submit(client, ballot, stamp).await, ballot.choice) {
        (Ok(activity), Choice::Approve | Choice::Propose) => return Ok(activity.into()),
        (Ok(_), Choice::Reject) => {
            // The rejection was answered, so no error may read as if it was refused.
            let unread = |error| LinkError::Lost(format!("the activity cannot be read again: {error}"));
            return match read_again(client, id, ballot).await {
                Ok(record) => Ok(record.row.activity.into()),
                Err(error) => Err(CastError::unanswered(unread(error), None)),
            };
        }
        (Err(error), _) => error,
    };
    let is_final = error.fate == Unconfirmed::Refused && !client.is_remote();
    if is_final || error.fate == Unconfirmed::Unsent {
        return Err(error);
    }
    let holds = |record: &ReviewRecord| {
        user.is_some_and(|user| is_recorded(&record.row.activity, ballot, user, stamp))
    };
    Err(match read_again(client, id, ballot).await {
        Ok(record) if holds(&record) => {
            let is_answer = !matches!(error.error, LinkError::Lost(_));
            let despite = is_answer.then_some(error.error);
            return Ok(Confirmation { activity: record.row.activity, despite });
        }
        Ok(_) => CastError { record: Reread::Without, ..error },
        Err(missing) if missing.is_missing() => CastError { record: Reread::Without, ..error },
        Err(unread) => CastError { record: Reread::Failed(unread), ..error },
    })
}

/// Reads the target of a vote or proposal.
async fn read_again(client: &Client, id: OrganizationId, ballot: &Ballot) -> Result<ReviewRecord> {
    let fingerprint = ballot.fingerprint.to_string();
    let read = tokio::time::timeout(Duration::from_secs(READ_SECONDS), client.record(id, &fingerprint));
    let late = || LinkError::Lost(format!("no answer within {READ_SECONDS} s"));
    read.await.unwrap_or_else(|_| Err(late()))
}

/// Sends the body until an answer arrives, and returns the activity of the answer.
async fn submit(client: &Client, ballot: &Ballot, stamp: &Stamp) -> Result<Activity, CastError> {
    let mut last = LinkError::Lost("not sent".to_owned());
    for attempt in 0..ATTEMPTS {
        if attempt > 0 {
            tokio::time::sleep(Duration::from_millis(PAUSE_MILLIS << attempt)).await;
        }
        let may_have_arrived = attempt > 0 && matches!(last, LinkError::Lost(_));
        match client.post(ballot.path, &ballot.message, stamp).await {
            Ok(bytes) => {
                let submitted: Submitted = serde_json::from_slice(&bytes)
                    .map_err(|error| LinkError::Unreadable(error.to_string()))?;
                return Ok(submitted.activity);
            }
            // The vote may have changed who may send it. The same bytes get the same answer again.
            Err(later) if may_have_arrived && later.is_final() => {
                return Err(CastError::unanswered(last, Some(later)));
            }
            // A later attempt that reaches nobody, or that is not examined, does not change that an earlier one may have
            // arrived.
            Err(_) if may_have_arrived => {}
            Err(error) if error.is_transport() => last = error,
            Err(error) => return Err(error.into()),
        }
    }
    Err(last.into())
}

#[derive(Deserialize)]
struct Submitted {
    activity: Activity,
}
