//! The activities that were loaded, as compact rows in the order of reading. Full records are not kept.

use std::collections::BTreeSet;

use quorate_common::activity::{Selection, Status};
use quorate_common::console::{ActivityRow, HistoryPage};
use quorate_common::fingerprint::Fingerprint;
use quorate_common::ids::{ActivityId, OrganizationId, UserId};
use quorate_common::wire::Timestamp;

use crate::kinds::{ReviewContext, of_type};
use crate::link::History;
use crate::proof::{Record, outline};
use crate::screens::overlay::{Entry, Overlay};
use crate::screens::shared::Shared;
use crate::text::{clean, cut, imitations};

/// Maximum width of a text in a row, in columns.
const TEXT_LIMIT: usize = 200;
/// Maximum number of rows that are kept.
pub(super) const ROWS: usize = 20_000;

/// An activity as one row.
pub(super) struct Line {
    pub(super) id: ActivityId,
    fingerprint: Fingerprint,
    /// Time when it was recorded, in milliseconds since the Unix epoch.
    pub(super) created: u64,
    pub(super) status: Status,
    pub(super) title: String,
    /// Short description of the change.
    pub(super) what: String,
    pub(super) proposer: String,
    /// Approvals, and rejections if there are any.
    pub(super) votes: String,
}

impl Line {
    fn of(row: ActivityRow, shared: &Shared, doubtful: &BTreeSet<UserId>) -> Option<Self> {
        let organization = shared.organization.as_ref()?;
        let kind = &row.activity.activity_type;
        let name = || clean(kind.trim_start_matches("ACTIVITY_TYPE_"));
        let title = of_type(kind).map_or_else(name, |(kind, _)| kind.title.to_owned());
        let proposer = row.activity.votes.first().map(|vote| vote.user_id).map(|id| {
            let name = ReviewContext::of(organization).user_name(&id.to_string());
            if doubtful.contains(&id) { format!("[!] {name}") } else { name }
        });
        let count = |wanted| row.activity.votes.iter().filter(|vote| vote.selection == wanted).count();
        let votes = match (count(Selection::Approved), count(Selection::Rejected)) {
            (yes, 0) => yes.to_string(),
            (yes, no) => format!("{yes}, {no} rejected"),
        };
        let (id, status, fingerprint) = (row.activity.id, row.activity.status, row.activity.fingerprint);
        let created = row.activity.created_at.millis();
        let what = cut(&outline(&Record::of_row(row, organization), &shared.book), TEXT_LIMIT);
        let proposer = cut(&proposer.unwrap_or_else(|| "?".to_owned()), TEXT_LIMIT);
        Some(Self { id, fingerprint, created, status, title, what, proposer, votes })
    }

    /// Offers the ids of the activity.
    pub(super) fn copies(&self, organization: OrganizationId) -> Overlay {
        Overlay::copy_of_activity(self.id, Some(self.fingerprint.to_string()), organization)
    }

    /// Returns the entry of the palette.
    pub(super) fn entry(&self) -> Entry {
        Entry::of_activity(self.id, &self.fingerprint.hex(), &self.title, &self.what)
    }
}

/// What is read: the organization and the request.
pub(super) type Requested = (OrganizationId, History);

#[derive(Default)]
pub(super) struct List {
    pub(super) lines: Vec<Line>,
    /// Cursor of the next page, if there is one.
    pub(super) next: Option<String>,
    /// Time of the last activity that was compared with the filter, in milliseconds since the Unix epoch.
    pub(super) reached: Option<u64>,
    pub(super) requested: Option<Requested>,
    /// Number of the reading. Pages of earlier ones are ignored.
    pub(super) generation: u64,
    pub(super) is_reading: bool,
    pub(super) is_loaded: bool,
}

impl List {
    /// Drops everything and begins another reading.
    pub(super) fn restart(&mut self, requested: Option<Requested>) {
        *self = Self { requested, generation: self.generation.saturating_add(1), ..Self::default() };
    }

    /// Returns whether no further page is read.
    pub(super) const fn is_whole(&self) -> bool {
        self.is_loaded && self.next.is_none()
    }

    /// Applies a page. The first page replaces the rows that it overlaps and keeps the later ones.
    pub(super) fn apply(&mut self, shared: &Shared, after: Option<&str>, page: &HistoryPage) {
        self.is_reading = false;
        let users = shared.organization.iter().flat_map(|organization| &organization.users);
        let doubtful = imitations(users.map(|user| (user.user_id, user.user_name.as_str())));
        let lines = page.activities.iter().cloned().filter_map(|row| Line::of(row, shared, &doubtful));
        let lines: Vec<Line> = lines.collect();
        if after.is_none() {
            let last = lines.last().map(|line| line.id);
            let at = self.lines.iter().position(|line| Some(line.id) == last);
            let later = at.map(|at| self.lines.drain(..).skip(at.saturating_add(1)).collect::<Vec<_>>());
            if later.is_none() {
                (self.next, self.reached) = (page.next.clone(), page.reached.as_ref().map(Timestamp::millis));
            }
            self.lines = lines;
            self.lines.extend(later.unwrap_or_default());
        } else if self.next.as_deref() == after {
            self.lines.extend(lines);
            (self.next, self.reached) = (page.next.clone(), page.reached.as_ref().map(Timestamp::millis));
        }
        self.is_loaded = true;
    }
}
