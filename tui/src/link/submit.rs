//! Sends a vote. When the answer is lost the same bytes go again: the daemon knows them by their
//! fingerprint, so they count once.

use std::time::Duration;

use quorate_common::activity::Activity;
use quorate_common::stamp::Stamp;
use serde::Deserialize;

use super::{Client, LinkFlaw};
use crate::ballot::Ballot;

/// How often the same bytes are sent before giving up.
const ATTEMPTS: u32 = 6;
const PAUSE_MILLIS: u64 = 250;

#[derive(Deserialize)]
struct Submitted {
    activity: Activity,
}

/// Sends the ballot until there is an answer, and returns the activity of the answer.
pub(crate) async fn submit(client: &Client, ballot: &Ballot, stamp: &Stamp) -> Result<Activity, LinkFlaw> {
    let header = stamp.header();
    let mut last = LinkFlaw::Lost("not sent".to_owned());
    for attempt in 0..ATTEMPTS {
        if attempt > 0 {
            tokio::time::sleep(Duration::from_millis(PAUSE_MILLIS << attempt)).await;
        }
        match client.post(ballot.path, &ballot.message, &header).await {
            Ok(bytes) => {
                let submitted: Submitted = serde_json::from_slice(&bytes)
                    .map_err(|error| LinkFlaw::Unreadable(error.to_string()))?;
                return Ok(submitted.activity);
            }
            Err(flaw) if flaw.is_transport() => last = flaw,
            Err(flaw) => return Err(flaw),
        }
    }
    Err(last)
}
