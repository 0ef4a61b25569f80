//! `quorate watch`: prints one line for each change of an organization and of its sub-organizations, as it happens. Reads
//! only.

use std::collections::HashMap;
use std::time::Duration;

use quorate_common::console::{Change, Event, OrganizationHead};
use quorate_common::ids::OrganizationId;
use quorate_policy::request::kind_of;
use serde_json::{Value, json};

use crate::clock::now_millis;
use crate::failure::Result;
use crate::link::{self, Client, Events, LinkError};
use crate::output::{self, Answer, extended};
use crate::proof::status_word;
use crate::session::Session;
use crate::text::{clean, rfc3339};

/// Pause before the first attempt to connect again, which doubles up to the last.
const RETRY_FIRST_SECONDS: u64 = 1;
const RETRY_LAST_SECONDS: u64 = 30;
/// Maximum number of organizations that are known. Then they are read again.
const KNOWN: usize = 10_000;

/// The organizations whose changes are printed.
struct Watched {
    /// The selected one, with its sub-organizations; all without one.
    only: Option<OrganizationId>,
    /// The organizations that were read: the name of each one that is watched.
    known: HashMap<OrganizationId, Option<String>>,
}

impl Watched {
    /// Returns the name of an organization if its changes are printed. It may be new if the organization `is_changed`. A
    /// deleted organization has the name that was read before.
    async fn name(
        &mut self,
        client: &Client,
        id: OrganizationId,
        is_changed: bool,
    ) -> link::Result<Option<String>> {
        let known = self.known.get(&id).cloned();
        if let Some(name) = known.clone().filter(|name| name.is_none() || !is_changed) {
            return Ok(name);
        }
        let head = match client.organization(id).await {
            Ok(organization) => Some(organization.head),
            Err(error) if error.is_missing() => return Ok(known.flatten()),
            Err(error) => return Err(error),
        };
        let is_watched = |head: &OrganizationHead| {
            self.only.is_none_or(|only| only == id || head.parent_organization_id == Some(only))
        };
        let name = head.filter(is_watched).map(|head| head.organization_name);
        if self.known.len() >= KNOWN {
            self.known.clear();
        }
        self.known.insert(id, name.clone());
        Ok(name)
    }
}

/// Prints changes until `limit` of them were printed: those of the selected organization and of its sub-organizations, or
/// of all.
pub(super) async fn run(session: &Session, limit: Option<u64>) -> Result<Answer> {
    session.check_context().await?;
    let identity = &session.identity;
    let is_selected = identity.viewer.organization.is_some() || identity.organization_name.is_some();
    let only = if is_selected { Some(session.organization_id().await?) } else { None };
    let mut watched = Watched { only, known: HashMap::new() };
    let (mut printed, mut token, mut pause) = (0_u64, None, RETRY_FIRST_SECONDS);
    let mut events = session.client.events(None).await?;
    loop {
        match events.next().await {
            // A first connection always begins with this: nothing was read before.
            Ok(event) if token.is_none() && event.change == Change::Reset => token = Some(event.token),
            Ok(event) => {
                match line(&session.client, &mut watched, &event).await {
                    Ok(Some((data, text))) => {
                        output::now(&data, &text);
                        printed = printed.saturating_add(1);
                    }
                    Ok(None) => {}
                    Err(error) => {
                        // The event arrives again.
                        events = again(session, token.as_deref(), error, &mut pause).await?;
                        continue;
                    }
                }
                pause = RETRY_FIRST_SECONDS;
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

/// Returns an event for scripts and as a line, unless it is of an organization that is not watched.
async fn line(
    client: &Client,
    watched: &mut Watched,
    event: &Event,
) -> link::Result<Option<(Value, String)>> {
    let now = now_millis();
    let at = rfc3339(now);
    let (organization, what, is_changed) = match &event.change {
        Change::Activity { organization_id, .. } => (*organization_id, "ACTIVITY", false),
        Change::Organization { organization_id, .. } => (*organization_id, "ORGANIZATION", true),
        Change::Reset => {
            let text =
                format!("{at}  reset      earlier events are no longer available: read everything again\n");
            return Ok(Some((json!({"what": "RESET", "receivedAtMillis": now, "token": event.token}), text)));
        }
    };
    let Some(name) = watched.name(client, organization, is_changed).await? else { return Ok(None) };
    // The line states the organization unless it is the selected one.
    let of_other = if watched.only == Some(organization) {
        String::new()
    } else {
        format!("  in {} {organization}", clean(&name))
    };
    let data = json!({"what": what, "receivedAtMillis": now, "token": event.token,
        "organizationId": organization, "organizationName": name});
    Ok(Some(match &event.change {
        Change::Activity { activity_id, status, .. } => {
            // The line also helps if the activity cannot be read now.
            let read = client.named(organization, &[*activity_id]).await.unwrap_or_default();
            let activity_type = read.first().map(|row| row.activity.activity_type.clone());
            let kind = activity_type.as_deref().map_or("-", kind_of);
            let text =
                format!("{at}  {:<9}  {activity_id}  {}{of_other}\n", status_word(*status), clean(kind));
            let members = [
                ("activityId", json!(activity_id)),
                ("status", json!(status)),
                ("type", json!(activity_type)),
            ];
            (extended(data, members), text)
        }
        Change::Organization { version, .. } => {
            let text =
                format!("{at}  changed    organization {organization} {}, version {version}\n", clean(&name));
            (extended(data, [("version", json!(version))]), text)
        }
        Change::Reset => return Ok(None),
    }))
}
