//! The changes at a daemon at a URL, which has no change feed for users: the version of the organization is queried again
//! and again, and the newest activities are compared if it changed.

use std::collections::BTreeMap;
use std::time::Duration;

use quorate_common::activity::Status;
use quorate_common::console::{ActivityRow, Change, Event, PAGE_LIMIT};
use quorate_common::ids::{ActivityId, OrganizationId};
use tokio::time::Instant;

use super::client::Client;
use super::error::Result;

/// Interval between two queries.
const INTERVAL: Duration = Duration::from_secs(2);
/// Interval at which everything is read again, also in sub-organizations, whose versions are not queried.
const EVERYTHING: Duration = Duration::from_secs(30);

/// An item of the feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Item {
    Event(Event),
    /// The daemon is alive.
    Alive,
}

/// What is known of an activity.
type Seen = (Status, usize);

/// Queries a daemon again and again.
pub(super) struct Poll {
    client: Client,
    organization: OrganizationId,
    version: u64,
    activities: BTreeMap<ActivityId, Seen>,
    read: Instant,
    /// Whether changes may have been missed, because an earlier connection was lost.
    has_gap: bool,
}

impl Poll {
    /// Reads the present state. `after` is the token of the last event of an earlier connection.
    pub(super) async fn start(client: &Client, after: Option<&str>) -> Result<Self> {
        let organization = client.own_organization()?;
        let (version, rows) = tokio::join!(client.version(), newest(client, organization));
        Ok(Self {
            client: client.clone(),
            organization,
            version: version?,
            activities: rows?.iter().map(seen).collect(),
            read: Instant::now(),
            has_gap: after.is_some(),
        })
    }

    /// Waits, and returns what changed.
    pub(super) async fn next(&mut self) -> Result<Vec<Item>> {
        if std::mem::take(&mut self.has_gap) {
            return Ok(vec![Item::Alive, self.event(Change::Reset)]);
        }
        tokio::time::sleep(INTERVAL).await;
        let version = self.client.version().await?;
        let mut items = vec![Item::Alive];
        if version != self.version {
            let rows = newest(&self.client, self.organization).await?;
            self.version = version;
            let changed = rows.iter().filter(|row| {
                let (id, now) = seen(row);
                self.activities.get(&id) != Some(&now)
            });
            let events: Vec<Item> = changed.map(|row| self.event(activity(row))).collect();
            items.extend(events);
            let organization_id = self.organization;
            items.push(self.event(Change::Organization { organization_id, version }));
            self.activities = rows.iter().map(seen).collect();
        }
        Ok(items)
    }

    /// Returns whether it is time to read everything again.
    pub(super) fn is_due(&mut self) -> bool {
        let is_due = self.read.elapsed() >= EVERYTHING;
        if is_due {
            self.read = Instant::now();
        }
        is_due
    }

    pub(super) fn event(&self, change: Change) -> Item {
        Item::Event(Event { token: self.version.to_string(), change })
    }
}

async fn newest(client: &Client, id: OrganizationId) -> Result<Vec<ActivityRow>> {
    Ok(client.activities(id, &[], &[], None, PAGE_LIMIT).await?.activities)
}

fn seen(row: &ActivityRow) -> (ActivityId, Seen) {
    (row.activity.id, (row.activity.status, row.activity.votes.len()))
}

fn activity(row: &ActivityRow) -> Change {
    Change::Activity {
        organization_id: row.activity.organization_id,
        activity_id: row.activity.id,
        status: row.activity.status,
        parent_organization_id: None,
    }
}
