//! All activities that wait in the organization and in its sub-organizations, as compact, sorted rows. They are read
//! once, page by page; afterwards only changed activities are read again. Full records are not kept.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use quorate_common::console::{ActivityRow, OrganizationDetail};
use quorate_common::ids::{ActivityId, OrganizationId, UserId};

use super::authority::Authority;
use super::inbox_row::Row;
use crate::kinds::Level;
use crate::link::{INBOX_LIMIT, InboxEnd, Order};
use crate::proof::{Review, Sibling, Siblings};
use crate::text::imitations;

/// Maximum number of changed activities per request.
const REQUEST_LIMIT: usize = 100;
/// Pause between two readings of everything: at least this many milliseconds, and this many times as long as
/// the reading took.
const PAUSE_MILLIS: u64 = 2_000;
const PAUSE_FACTOR: u64 = 4;

/// Describes how many activities were decided or closed.
pub(crate) fn closed(count: usize) -> String {
    format!("{count} decided or closed")
}

/// A running reading of all waiting activities.
#[derive(Debug)]
struct Reading {
    since: u64,
    /// Activities that the reading has found.
    ids: HashSet<ActivityId>,
    /// Activities that changed since the reading began; they are read separately.
    changed: HashSet<ActivityId>,
    /// Number of waiting activities that the daemon stated.
    stated: Option<u64>,
}

impl Reading {
    /// Returns how many activities the daemon counted that it did not list, and that did not change meanwhile.
    fn unlisted(&self) -> usize {
        let stated = self.stated.and_then(|stated| usize::try_from(stated).ok()).unwrap_or_default();
        stated.saturating_sub(self.ids.union(&self.changed).count())
    }
}

/// A page of a reading of everything.
pub(crate) struct Page {
    /// Number of the reading.
    pub(crate) reading: u64,
    /// Where the reading ended, if this is its last page.
    pub(crate) end: Option<InboxEnd>,
    /// Number of waiting activities, if the page states it.
    pub(crate) waiting: Option<u64>,
}

/// All activities that wait in an organization and in its sub-organizations.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    rows: Vec<Row>,
    /// The data about the rows of each organization that flags depend on.
    siblings: BTreeMap<OrganizationId, Siblings>,
    none: Siblings,
    /// Digests over what decides votes in the organizations that were read.
    authorities: BTreeMap<OrganizationId, Authority>,
    /// The users of these organizations whose names may imitate others.
    imitations: BTreeMap<OrganizationId, BTreeSet<UserId>>,
    /// Number of the current or last reading.
    generation: u64,
    reading: Option<Reading>,
    /// Where the last completed reading ended; `None` if none was completed yet.
    end: Option<InboxEnd>,
    /// Whether an activity was left out because the list was full.
    leaves_out: bool,
    /// Organization whose inbox this is.
    own: Option<OrganizationId>,
    /// Number of waiting activities that the daemon states.
    total: Option<u64>,
    /// Number of activities that the daemon counted in the last completed reading, but did not list.
    unlisted: usize,
    /// Whether everything must be read again, and the earliest time for it.
    needs_reading: bool,
    not_before: u64,
    /// Changed activities that must be read, and whether some are being read.
    changed: BTreeSet<(OrganizationId, ActivityId)>,
    is_requesting: bool,
    /// Activities that appeared after the first complete reading, and when.
    fresh: HashMap<ActivityId, u64>,
}

impl Inbox {
    /// Returns the sorted rows.
    pub(crate) fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Returns the data about the rows of an organization that flags depend on.
    pub(crate) fn siblings(&self, organization: OrganizationId) -> &Siblings {
        self.siblings.get(&organization).unwrap_or(&self.none)
    }

    /// Returns whether the rows are of several organizations.
    pub(crate) fn has_several(&self) -> bool {
        self.siblings.len() > 1
    }

    /// Returns whether a page of this reading is still wanted.
    pub(crate) fn is_current(&self, reading: u64) -> bool {
        reading == self.generation && self.reading.is_some()
    }

    /// Returns whether rows of this organization are in the list.
    pub(crate) fn contains(&self, organization: OrganizationId) -> bool {
        self.siblings.contains_key(&organization)
    }

    /// Returns the organization of an activity in the list.
    pub(crate) fn organization_of(&self, id: ActivityId) -> Option<OrganizationId> {
        self.rows.iter().find(|row| row.id == id).map(|row| row.organization)
    }

    /// Returns whether the name of the proposer may imitate that of another user.
    pub(crate) fn is_imitation(&self, row: &Row) -> bool {
        let of_one = self.imitations.get(&row.organization);
        row.proposer_id().is_some_and(|user| of_one.is_some_and(|users| users.contains(&user)))
    }

    /// Returns whether the daemon still indexes what waits, so that something may be missing.
    pub(crate) fn is_indexing(&self) -> bool {
        self.end == Some(InboxEnd::Indexed)
    }

    /// Returns whether activities of sub-organizations are missing, because the list is full.
    pub(crate) fn is_full(&self) -> bool {
        self.leaves_out || self.end == Some(InboxEnd::Limit)
    }

    /// Returns how many activities wait as the daemon states, but are not in its list.
    pub(crate) const fn unlisted(&self) -> usize {
        self.unlisted
    }

    /// Records the state of an organization. If it differs from the known one in what decides votes, its activities must
    /// be read again.
    pub(crate) fn learn(&mut self, organization: &OrganizationDetail) {
        let id = organization.head.organization_id;
        let authority = Authority::of(organization);
        let before = self.authorities.insert(id, authority);
        if before != Some(authority) {
            let names = organization.users.iter().map(|user| (user.user_id, user.user_name.as_str()));
            self.imitations.insert(id, imitations(names));
        }
        if before.is_some_and(|before| before != authority) {
            self.changed
                .extend(self.rows.iter().filter(|row| row.organization == id).map(|row| (id, row.id)));
        }
    }

    /// Removes an organization that no longer exists. Returns how many of its activities were in the list.
    pub(crate) fn forget(&mut self, organization: OrganizationId) -> usize {
        self.is_requesting = false;
        self.authorities.remove(&organization);
        self.imitations.remove(&organization);
        self.changed.retain(|(of, _)| *of != organization);
        let before = self.rows.len();
        self.rows.retain(|row| row.organization != organization);
        self.rate();
        before.saturating_sub(self.rows.len())
    }

    /// Drops everything, because another organization was chosen.
    pub(crate) fn reset(&mut self) {
        *self = Self { generation: self.generation.saturating_add(1), ..Self::default() };
    }

    /// Returns whether a reading of all waiting activities was completed.
    pub(crate) fn is_complete(&self) -> bool {
        self.end.is_some()
    }

    /// Returns whether anything was loaded.
    pub(crate) fn is_read(&self) -> bool {
        self.is_complete() || !self.rows.is_empty()
    }

    /// Returns the number of waiting activities, as far as it is known.
    pub(crate) fn total(&self) -> usize {
        let stated = self.total.and_then(|total| usize::try_from(total).ok()).unwrap_or_default();
        if self.is_complete() { self.rows.len() } else { stated.max(self.rows.len()) }
    }

    /// Returns how many new HIGH activities were neither sorted in nor opened yet.
    pub(crate) fn announced(&self) -> usize {
        let is_high = |row: &&Row| row.risk == Level::High && self.fresh.contains_key(&row.id);
        self.rows.iter().filter(is_high).count()
    }

    /// Returns the newest activity of risk HIGH that was neither sorted in nor opened yet.
    pub(crate) fn newest_high(&self) -> Option<&Row> {
        let is_high = |row: &&Row| row.risk == Level::High && self.fresh.contains_key(&row.id);
        self.rows.iter().filter(is_high).max_by_key(|row| self.fresh.get(&row.id))
    }

    /// Returns whether the row is new: neither sorted in nor opened yet.
    pub(crate) fn is_fresh(&self, row: &Row) -> bool {
        self.fresh.contains_key(&row.id)
    }

    /// Requests another reading of everything. It starts when no other reading runs and the pause is over.
    pub(crate) const fn request_reading(&mut self) {
        self.needs_reading = true;
    }

    /// Starts a new reading of everything and drops a running one.
    pub(crate) fn start_reading(&mut self, organization: OrganizationId, now: u64) -> Order {
        self.generation = self.generation.saturating_add(1);
        (self.needs_reading, self.leaves_out, self.own) = (false, false, Some(organization));
        (self.changed, self.is_requesting) = (BTreeSet::new(), false);
        self.reading =
            Some(Reading { since: now, ids: HashSet::new(), changed: HashSet::new(), stated: None });
        Order::Inbox(organization, self.generation)
    }

    /// Records that an activity changed.
    pub(crate) fn mark_changed(&mut self, organization: OrganizationId, id: ActivityId) {
        self.changed.insert((organization, id));
        if let Some(reading) = &mut self.reading {
            reading.changed.insert(id);
        }
    }

    /// Removes an activity that no longer waits. Returns whether the list contained it.
    pub(crate) fn close(&mut self, id: ActivityId) -> bool {
        if let Some(reading) = &mut self.reading {
            reading.changed.insert(id);
        }
        self.changed.retain(|(_, changed)| *changed != id);
        self.fresh.remove(&id);
        let before = self.rows.len();
        self.rows.retain(|row| row.id != id);
        self.rows.len() < before
    }

    /// Returns the order for what must be read now.
    pub(crate) fn order(&mut self, organization: OrganizationId, now: u64) -> Option<Order> {
        if self.needs_reading && self.reading.is_none() && now >= self.not_before {
            return Some(self.start_reading(organization, now));
        }
        if self.is_requesting {
            return None;
        }
        let organization = self.changed.last()?.0;
        self.is_requesting = true;
        let of_one = self.changed.iter().rev().take_while(|(of, _)| *of == organization);
        let requested: Vec<ActivityId> = of_one.take(REQUEST_LIMIT).map(|(_, id)| *id).collect();
        self.changed.retain(|(_, id)| !requested.contains(id));
        Some(Order::Rows(organization, requested))
    }

    /// Stops the running reading after a lost connection or a failed request. Everything must be read again.
    pub(crate) fn abort_reading(&mut self, now: u64) {
        (self.reading, self.is_requesting, self.needs_reading) = (None, false, true);
        self.not_before = now.saturating_add(PAUSE_MILLIS);
    }

    /// Sorts the list; new rows no longer come first.
    pub(crate) fn sort(&mut self) {
        self.fresh.clear();
        self.arrange();
    }

    /// Records that an activity was opened and is no longer new.
    pub(crate) fn open(&mut self, id: ActivityId) {
        self.fresh.remove(&id);
    }

    /// Applies a page of a reading of everything. Returns a notice about new and closed activities.
    pub(crate) fn page(
        &mut self,
        page: &Page,
        reviews: impl Iterator<Item = (Review, ActivityRow)>,
        now: u64,
    ) -> Option<String> {
        if page.reading != self.generation {
            return None;
        }
        let reading = self.reading.as_mut()?;
        self.total = page.waiting.or(self.total);
        reading.stated = reading.stated.or(page.waiting);
        let mut rows = Vec::new();
        for (review, row) in reviews {
            let Some(sibling) = Sibling::of(&row.activity) else { continue };
            reading.ids.insert(row.activity.id);
            if !reading.changed.contains(&row.activity.id) {
                rows.push(Row::of(&review, sibling));
            }
        }
        let before = self.rows.len();
        let new = self.merge(rows);
        let mut removed: usize = 0;
        if page.end.is_some()
            && let Some(reading) = self.reading.take()
        {
            let is_there = |row: &Row| reading.ids.contains(&row.id) || reading.changed.contains(&row.id);
            self.rows.retain(is_there);
            self.unlisted = if page.end == Some(InboxEnd::Everything) { reading.unlisted() } else { 0 };
            removed = before.saturating_add(new.len()).saturating_sub(self.rows.len());
            let pause = now.saturating_sub(reading.since).saturating_mul(PAUSE_FACTOR).max(PAUSE_MILLIS);
            self.not_before = now.saturating_add(pause);
        }
        let was_complete = self.is_complete();
        self.end = page.end.or(self.end);
        self.needs_reading |= page.end == Some(InboxEnd::Indexed);
        self.finish(if was_complete { &new } else { &[] }, removed, now)
    }

    /// Applies changed activities that were requested. Returns a notice about new and closed activities.
    pub(crate) fn rows_read(
        &mut self,
        requested: &[ActivityId],
        reviews: impl Iterator<Item = (Review, ActivityRow)>,
        now: u64,
    ) -> Option<String> {
        self.is_requesting = false;
        let rows: Vec<Row> =
            reviews.filter_map(|(review, row)| Some(Row::of(&review, Sibling::of(&row.activity)?))).collect();
        let before = self.rows.len();
        let waits = |id: &ActivityId| rows.iter().any(|row| row.id == *id);
        self.rows.retain(|row| !requested.contains(&row.id) || waits(&row.id));
        let removed = before.saturating_sub(self.rows.len());
        // During the first reading an older activity may be on a page that was not read yet.
        let is_new = |row: &Row| match &self.reading {
            Some(reading) if !self.is_complete() => row.created >= reading.since,
            _ => true,
        };
        let candidates: Vec<ActivityId> = rows.iter().filter(|row| is_new(row)).map(|row| row.id).collect();
        let mut new = self.merge(rows);
        new.retain(|id| candidates.contains(id));
        self.finish(&new, removed, now)
    }

    /// Inserts or replaces rows. Activities of sub-organizations beyond the limit are left out. Returns the ids of inserted
    /// rows.
    fn merge(&mut self, rows: Vec<Row>) -> Vec<ActivityId> {
        let positions: HashMap<ActivityId, usize> =
            self.rows.iter().enumerate().map(|(position, row)| (row.id, position)).collect();
        let mut new = Vec::new();
        for row in rows {
            if let Some(known) = positions.get(&row.id).and_then(|position| self.rows.get_mut(*position)) {
                *known = row;
            } else if self.rows.len() >= INBOX_LIMIT && self.own != Some(row.organization) {
                self.leaves_out = true;
            } else {
                new.push(row.id);
                self.rows.push(row);
            }
        }
        self.rate();
        new
    }

    fn rate(&mut self) {
        let mut by_organization: BTreeMap<OrganizationId, Vec<Sibling>> = BTreeMap::new();
        for row in &self.rows {
            by_organization.entry(row.organization).or_default().push(row.sibling.clone());
        }
        let of_one = |(id, siblings): (_, Vec<Sibling>)| (id, siblings.into_iter().collect());
        self.siblings = by_organization.into_iter().map(of_one).collect();
        for row in &mut self.rows {
            row.rate(self.siblings.get(&row.organization).unwrap_or(&self.none));
        }
    }

    fn arrange(&mut self) {
        let (own, fresh) = (self.own, &self.fresh);
        self.rows.sort_by_cached_key(|row| row.order(own, fresh));
    }

    /// Sorts the rows and returns a notice about new and closed activities.
    fn finish(&mut self, new: &[ActivityId], removed: usize, now: u64) -> Option<String> {
        if removed > 0 {
            self.rate();
        }
        self.fresh.extend(new.iter().map(|id| (*id, now)));
        if !self.fresh.is_empty() {
            let there: HashSet<ActivityId> = self.rows.iter().map(|row| row.id).collect();
            self.fresh.retain(|id, _| there.contains(id));
        }
        self.arrange();
        let mut rows = self.rows.iter().filter(|row| new.contains(&row.id));
        let announcement = |row: &Row| {
            let high = if row.risk == Level::High { " HIGH" } else { "" };
            format!("new{high}: {}: {}", row.title, row.brief)
        };
        match (new.len(), removed) {
            (0, 0) => None,
            (0, removed) => Some(closed(removed)),
            (1, _) => rows.next().map(announcement),
            (count, _) => match rows.find(|row| row.risk == Level::High) {
                Some(row) => Some(format!("{}; {count} new in all", announcement(row))),
                None => Some(format!("{count} new")),
            },
        }
    }

    /// Removes all rows because the organization no longer exists.
    pub(crate) fn clear(&mut self) {
        let generation = self.generation;
        *self = Self { generation, end: Some(InboxEnd::Everything), own: self.own, ..Self::default() };
    }

    /// Returns the number of the current or last reading.
    #[cfg(test)]
    pub(crate) const fn generation(&self) -> u64 {
        self.generation
    }
}
