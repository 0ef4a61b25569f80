//! Submits a vote or proposal. If the answer is lost, the same bytes are sent again. The daemon identifies
//! them by their fingerprint, so they count once.

use std::time::Duration;

use quorate_common::activity::Activity;
use quorate_common::ids::OrganizationId;
use quorate_common::stamp::Stamp;
use serde::Deserialize;

use super::client::Client;
use super::error::{LinkError, Result};
use crate::ballot::{Ballot, Choice};

/// How often the same bytes are sent before giving up.
const ATTEMPTS: u32 = 6;
const PAUSE_MILLIS: u64 = 250;

#[derive(Deserialize)]
struct Submitted {
    activity: Activity,
}

/// Sends a vote or proposal and returns its target activity. The daemon answers a rejection with the vote's own
/// activity, so the target is read again.
pub(crate) async fn cast(
    client: &Client,
    id: OrganizationId,
    ballot: &Ballot,
    stamp: &Stamp,
) -> Result<Activity> {
    let activity = submit(client, ballot, stamp).await?;
    match ballot.choice {
        Choice::Approve | Choice::Propose => Ok(activity),
        Choice::Reject => match client.record(id, &ballot.fingerprint.to_string()).await {
            Ok(record) => Ok(record.row.activity),
            // The rejection was answered, so no error may read as if it was refused.
            Err(error) => Err(LinkError::Lost(format!("the activity cannot be read again: {error}"))),
        },
    }
}

/// Sends the body until an answer arrives, and returns the activity of the answer.
async fn submit(client: &Client, ballot: &Ballot, stamp: &Stamp) -> Result<Activity> {
    let mut last = LinkError::Lost("not sent".to_owned());
    for attempt in 0..ATTEMPTS {
        if attempt > 0 {
            tokio::time::sleep(Duration::from_millis(PAUSE_MILLIS << attempt)).await;
        }
        match client.post(ballot.path, &ballot.message, stamp).await {
            Ok(bytes) => {
                let submitted: Submitted = serde_json::from_slice(&bytes)
                    .map_err(|error| LinkError::Unreadable(error.to_string()))?;
                return Ok(submitted.activity);
            }
            // A later attempt that reaches nobody, or that is not examined, does not change that an earlier one may have
            // arrived.
            Err(error) if attempt > 0 && matches!(last, LinkError::Lost(_)) && !error.is_final() => {}
            Err(error) if error.is_transport() => last = error,
            Err(error) => return Err(error),
        }
    }
    Err(last)
}
