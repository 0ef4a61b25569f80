//! All waiting activities as compact, sorted rows. They are read once, page by page; afterwards only changed
//! activities are read again. Full records are not kept.

use std::collections::{BTreeSet, HashMap, HashSet};

use quorate_common::console::ActivityRow;
use quorate_common::ids::{ActivityId, OrganizationId};

use super::inbox_row::Row;
use crate::kinds::Level;
use crate::link::Order;
use crate::proof::{Review, Sibling, Siblings};

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
}

/// All waiting activities of one organization.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    rows: Vec<Row>,
    siblings: Siblings,
    /// Number of the current or last reading.
    generation: u64,
    reading: Option<Reading>,
    /// Whether a reading was completed at least once.
    is_complete: bool,
    /// Number of waiting activities that the daemon states.
    total: Option<u64>,
    /// Whether everything must be read again, and the earliest time for it.
    needs_reading: bool,
    not_before: u64,
    /// Changed activities that must be read, and whether some are being read.
    changed: BTreeSet<ActivityId>,
    is_requesting: bool,
    /// Activities that appeared after the first complete reading, and when.
    fresh: HashMap<ActivityId, u64>,
}

impl Inbox {
    /// Returns the sorted rows.
    pub(crate) fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Returns the data about all rows that flags depend on.
    pub(crate) fn siblings(&self) -> &Siblings {
        &self.siblings
    }

    /// Returns whether all waiting activities were read at least once.
    pub(crate) const fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Returns whether anything was loaded.
    pub(crate) fn is_read(&self) -> bool {
        self.is_complete || !self.rows.is_empty()
    }

    /// Returns the number of waiting activities, as far as it is known.
    pub(crate) fn total(&self) -> usize {
        let stated = self.total.and_then(|total| usize::try_from(total).ok()).unwrap_or_default();
        if self.is_complete { self.rows.len() } else { stated.max(self.rows.len()) }
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
        self.needs_reading = false;
        (self.changed, self.is_requesting) = (BTreeSet::new(), false);
        self.reading = Some(Reading { since: now, ids: HashSet::new(), changed: HashSet::new() });
        Order::Inbox(organization, self.generation)
    }

    /// Records that an activity changed.
    pub(crate) fn mark_changed(&mut self, id: ActivityId) {
        self.changed.insert(id);
        if let Some(reading) = &mut self.reading {
            reading.changed.insert(id);
        }
    }

    /// Removes an activity that no longer waits. Returns whether the list contained it.
    pub(crate) fn close(&mut self, id: ActivityId) -> bool {
        if let Some(reading) = &mut self.reading {
            reading.changed.insert(id);
        }
        self.changed.remove(&id);
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
        if self.is_requesting || self.changed.is_empty() {
            return None;
        }
        self.is_requesting = true;
        let requested: Vec<ActivityId> = self.changed.iter().rev().take(REQUEST_LIMIT).copied().collect();
        self.changed.retain(|id| !requested.contains(id));
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
        (generation, is_last): (u64, bool),
        waiting: Option<u64>,
        reviews: impl Iterator<Item = (Review, ActivityRow)>,
        now: u64,
    ) -> Option<String> {
        if generation != self.generation {
            return None;
        }
        let reading = self.reading.as_mut()?;
        self.total = waiting.or(self.total);
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
        if is_last && let Some(reading) = self.reading.take() {
            let is_there = |row: &Row| reading.ids.contains(&row.id) || reading.changed.contains(&row.id);
            self.rows.retain(is_there);
            removed = before.saturating_add(new.len()).saturating_sub(self.rows.len());
            let pause = now.saturating_sub(reading.since).saturating_mul(PAUSE_FACTOR).max(PAUSE_MILLIS);
            self.not_before = now.saturating_add(pause);
        }
        let was_complete = self.is_complete;
        self.is_complete = self.is_complete || is_last;
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
            Some(reading) if !self.is_complete => row.created >= reading.since,
            _ => true,
        };
        let candidates: Vec<ActivityId> = rows.iter().filter(|row| is_new(row)).map(|row| row.id).collect();
        let mut new = self.merge(rows);
        new.retain(|id| candidates.contains(id));
        self.finish(&new, removed, now)
    }

    /// Inserts or replaces rows. Returns the ids of inserted rows.
    fn merge(&mut self, rows: Vec<Row>) -> Vec<ActivityId> {
        let positions: HashMap<ActivityId, usize> =
            self.rows.iter().enumerate().map(|(position, row)| (row.id, position)).collect();
        let mut new = Vec::new();
        for row in rows {
            if let Some(known) = positions.get(&row.id).and_then(|position| self.rows.get_mut(*position)) {
                *known = row;
            } else {
                new.push(row.id);
                self.rows.push(row);
            }
        }
        self.rate();
        new
    }

    fn rate(&mut self) {
        self.siblings = self.rows.iter().map(|row| row.sibling.clone()).collect();
        self.rows.iter_mut().for_each(|row| row.rate(&self.siblings));
    }

    fn arrange(&mut self) {
        let fresh = &self.fresh;
        self.rows.sort_by_cached_key(|row| row.order(fresh));
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
        *self = Self { generation, is_complete: true, ..Self::default() };
    }

    /// Returns the number of the current or last reading.
    #[cfg(test)]
    pub(crate) const fn generation(&self) -> u64 {
        self.generation
    }
}
