//! `quorate watch`: prints one line for each change, as it happens. Reads only.

use std::time::Duration;

use quorate_common::console::{Change, Event};
use quorate_common::ids::OrganizationId;
use quorate_policy::request::kind_of;
use serde_json::{Value, json};

use crate::clock::now_millis;
use crate::failure::Result;
use crate::link::{Events, LinkError};
use crate::output::{self, Answer};
use crate::proof::status_word;
use crate::session::Session;
use crate::text::{clean, rfc3339};

/// Pause before the first attempt to connect again, which doubles up to the last.
const RETRY_FIRST_SECONDS: u64 = 1;
const RETRY_LAST_SECONDS: u64 = 30;

/// Prints changes until `limit` of them were printed. Without a selected organization, prints those of all.
pub(super) async fn run(session: &Session, limit: Option<u64>) -> Result<Answer> {
    session.check_context().await?;
    let identity = &session.identity;
    let is_selected = identity.viewer.organization.is_some() || identity.organization_name.is_some();
    let only = if is_selected { Some(session.organization_id().await?) } else { None };
    let (mut printed, mut token, mut pause) = (0_u64, None, RETRY_FIRST_SECONDS);
    let mut events = session.client.events(None).await?;
    loop {
        match events.next().await {
            // A first connection always begins with this: nothing was read before.
            Ok(event) if token.is_none() && event.change == Change::Reset => token = Some(event.token),
            Ok(event) => {
                pause = RETRY_FIRST_SECONDS;
                if let Some((data, text)) = line(session, only, &event).await {
                    output::now(&data, &text);
                    printed = printed.saturating_add(1);
                }
                token = Some(event.token);
                if limit.is_some_and(|limit| printed >= limit) {
                    return Ok(Answer::nothing());
                }
            }
            Err(error) => {
                events = again(session, token.as_deref(), error, &mut pause).await?;
            }
        }
    }
}

/// Connects again after the connection was lost, as often as it takes. No event in between is lost: the daemon states if it
/// no longer has them.
async fn again(
    session: &Session,
    token: Option<&str>,
    mut error: LinkError,
    pause: &mut u64,
) -> Result<Events> {
    loop {
        if !error.is_transport() {
            return Err(error.into());
        }
        output::warn(&format!("{error}; connecting again in {pause} s"));
        tokio::time::sleep(Duration::from_secs(*pause)).await;
        *pause = pause.saturating_mul(2).min(RETRY_LAST_SECONDS);
        match session.client.events(token).await {
            Ok(events) => return Ok(events),
            Err(failed) => error = failed,
        }
    }
}

/// Returns an event for scripts and as a line, unless it is of another organization.
async fn line(session: &Session, only: Option<OrganizationId>, event: &Event) -> Option<(Value, String)> {
    let now = now_millis();
    let at = rfc3339(now);
    match &event.change {
        Change::Activity { organization_id, activity_id, status, .. } => {
            only.is_none_or(|only| only == *organization_id).then_some(())?;
            // The line also helps if the activity cannot be read now.
            let read = session.client.named(*organization_id, &[*activity_id]).await.unwrap_or_default();
            let activity_type = read.first().map(|row| row.activity.activity_type.clone());
            let kind = activity_type.as_deref().map_or("-", kind_of);
            let text = format!("{at}  {:<9}  {activity_id}  {}\n", status_word(*status), clean(kind));
            let data = json!({"what": "ACTIVITY", "receivedAtMillis": now, "token": event.token,
                "organizationId": organization_id, "activityId": activity_id, "status": status, "type": activity_type});
            Some((data, text))
        }
        Change::Organization { organization_id, version } => {
            only.is_none_or(|only| only == *organization_id).then_some(())?;
            let text = format!("{at}  changed    organization {organization_id}, version {version}\n");
            let data = json!({"what": "ORGANIZATION", "receivedAtMillis": now, "token": event.token,
                "organizationId": organization_id, "version": version});
            Some((data, text))
        }
        Change::Reset => {
            let text =
                format!("{at}  reset      earlier events are no longer available: read everything again\n");
            Some((json!({"what": "RESET", "receivedAtMillis": now, "token": event.token}), text))
        }
    }
}
