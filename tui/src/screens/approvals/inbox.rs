//! Everything that waits, as compact rows in order. It is read once, page by page; after that only what changed is read
//! again. Full records are kept of nothing here.

use std::collections::{BTreeSet, HashMap, HashSet};

use quorate_common::console::{ActivityRow, WaitingRule};
use quorate_common::fingerprint::Fingerprint;
use quorate_common::ids::{ActivityId, OrganizationId};

use crate::app::Effect;
use crate::cli::{needs, waits_for_viewer};
use crate::kinds::Level;
use crate::link::Order;
use crate::proof::{Review, Sibling, Siblings, of_siblings};
use crate::text::cut;

use super::tally_of_marks;

/// Longest text that a row keeps of one thing, in columns.
const TEXT_LIMIT: usize = 400;
/// Flags that a row keeps in words.
const FLAG_LIMIT: usize = 8;
/// Most changed activities that are read in one request.
const ASK_LIMIT: usize = 100;
/// The least pause between two readings of everything, and how many times as long as the reading itself it is.
const PAUSE_MILLIS: u64 = 2_000;
const PAUSE_TIMES: u64 = 4;

/// An activity of the list.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    /// Activity.
    pub(crate) id: ActivityId,
    /// As computed here; absent where nothing hashes to it.
    pub(crate) fingerprint: Option<Fingerprint>,
    /// When it was recorded, milliseconds since 1970.
    pub(crate) created: u64,
    /// Worst level of all flags.
    pub(crate) risk: Level,
    /// What people call the kind.
    pub(crate) title: String,
    /// What changes, in a few words.
    pub(crate) brief: String,
    /// Who proposed it: a name, or `you`.
    pub(crate) proposer: String,
    /// Approvals so far.
    pub(crate) votes: String,
    /// When the oldest counted approval expires.
    pub(crate) expires: Option<u64>,
    /// Whether all votes have expired.
    pub(crate) has_expired: bool,
    /// Whether the viewer's approval counts.
    pub(crate) is_mine: bool,
    /// Whether a check failed.
    pub(crate) is_blocked: bool,
    /// Sentence, proof and votes, with their labels.
    pub(crate) preview: Vec<(&'static str, String)>,
    /// Flags in words that do not depend on other activities.
    pub(crate) flags: Vec<String>,
    /// Flags in words that do.
    pub(crate) shared_flags: Vec<String>,
    /// Worst level of the flags that do not depend on other activities.
    own_risk: Level,
    activity_type: String,
    sibling: Sibling,
}

impl Row {
    fn of(review: &Review, sibling: Sibling) -> Self {
        let short = |text: &str| cut(text, TEXT_LIMIT);
        let first = review.votes.iter().find(|vote| vote.proposes);
        let proposer = match first {
            Some(vote) if Some(vote.user) == review.viewer.user => "you".to_owned(),
            Some(vote) => short(&vote.name),
            None => "?".to_owned(),
        };
        let mut flags: Vec<String> =
            review.flags.iter().take(FLAG_LIMIT).map(|flag| format!("[!] {}", short(&flag.text))).collect();
        if review.flags.len() > FLAG_LIMIT {
            flags.push(format!("[!] and {} more", review.flags.len().saturating_sub(FLAG_LIMIT)));
        }
        Self {
            id: review.activity.id,
            fingerprint: review.proposal.as_ref().map(|proposal| proposal.fingerprint),
            created: review.activity.created_at.millis(),
            risk: review.risk,
            title: review.title.clone(),
            brief: short(&review.brief),
            proposer,
            votes: votes(review),
            expires: review.tally.lapses_at,
            has_expired: review.votes.iter().all(|vote| vote.flaw.is_none() && vote.lapsed),
            is_mine: waits_for_viewer(review),
            is_blocked: review.blocked(),
            preview: vec![
                ("", short(&review.sentence)),
                ("proof", short(&tally_of_marks(review))),
                ("needs", short(&needs(review))),
            ],
            flags,
            shared_flags: Vec::new(),
            own_risk: review.risk,
            activity_type: review.activity.activity_type.clone(),
            sibling,
        }
    }

    fn rate(&mut self, siblings: &Siblings) {
        let proposer = self.sibling.proposer;
        let shared = proposer
            .map(|proposer| of_siblings(siblings, &self.activity_type, proposer, self.id, self.created))
            .unwrap_or_default();
        self.risk = shared.iter().map(|flag| flag.level).fold(self.own_risk, Level::max);
        self.shared_flags = shared.into_iter().map(|flag| format!("[!] {}", flag.text)).collect();
    }

    /// Whether it stands above the others until they are sorted again.
    fn order(&self, fresh: &HashMap<ActivityId, u64>) -> impl Ord + use<> {
        let announced = fresh.get(&self.id).filter(|_| self.risk == Level::High).copied();
        (std::cmp::Reverse(announced), std::cmp::Reverse(self.risk), self.created, self.id)
    }
}

/// How many were decided or closed, in words.
pub(crate) fn closed(count: usize) -> String {
    format!("{count} decided or closed")
}

/// `1 of 3`; where a policy decides there is no such number.
fn votes(review: &Review) -> String {
    match review.tally.rule {
        Some(WaitingRule::Policy) => format!("{} so far", review.tally.has()),
        _ => format!("{} of {}", review.tally.has(), review.tally.needed),
    }
}

/// A reading of everything that is under way.
#[derive(Debug)]
struct Reading {
    since: u64,
    /// What it has found.
    found: HashSet<ActivityId>,
    /// What changed since it began, which is read by itself.
    changed: HashSet<ActivityId>,
}

/// Everything that waits in one organization.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    rows: Vec<Row>,
    siblings: Siblings,
    /// Which reading of everything the pages belong to.
    generation: u64,
    reading: Option<Reading>,
    /// Whether everything was read once.
    is_complete: bool,
    /// How many wait, as the daemon counts them.
    total: Option<u64>,
    /// Whether everything must be read again, and not before when.
    again: bool,
    not_before: u64,
    /// Changed activities that are to be read, and whether some are being read.
    changed: BTreeSet<ActivityId>,
    is_asking: bool,
    /// What came in after everything was read once, and when.
    fresh: HashMap<ActivityId, u64>,
}

impl Inbox {
    /// The rows in order.
    pub(crate) fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// What flags need to know of all of them.
    pub(crate) fn siblings(&self) -> &Siblings {
        &self.siblings
    }

    /// Whether all that waits was read at least once.
    pub(crate) const fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// How many wait, as far as that is known.
    pub(crate) fn total(&self) -> usize {
        let stated = self.total.and_then(|total| usize::try_from(total).ok()).unwrap_or_default();
        if self.is_complete { self.rows.len() } else { stated.max(self.rows.len()) }
    }

    /// How many HIGH ones came in since the list was sorted and were not opened yet.
    pub(crate) fn announced(&self) -> usize {
        let is_high = |row: &&Row| row.risk == Level::High && self.fresh.contains_key(&row.id);
        self.rows.iter().filter(is_high).count()
    }

    /// Whether the row came in since the list was sorted and was not opened yet.
    pub(crate) fn is_fresh(&self, row: &Row) -> bool {
        self.fresh.contains_key(&row.id)
    }

    /// Everything has to be read again; at once if nothing else is being read, and it was not just done.
    pub(crate) const fn want(&mut self) {
        self.again = true;
    }

    /// Begins to read everything, whatever was being read before.
    pub(crate) fn begin(&mut self, organization: OrganizationId, now: u64) -> Effect {
        self.generation = self.generation.saturating_add(1);
        self.again = false;
        (self.changed, self.is_asking) = (BTreeSet::new(), false);
        self.reading = Some(Reading { since: now, found: HashSet::new(), changed: HashSet::new() });
        Effect::Order(Order::Inbox(organization, self.generation))
    }

    /// Notes that an activity changed.
    pub(crate) fn note(&mut self, id: ActivityId) {
        self.changed.insert(id);
        if let Some(reading) = &mut self.reading {
            reading.changed.insert(id);
        }
    }

    /// Takes an activity out that does not wait any more. Returns whether it was there.
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

    /// What has to be read now.
    pub(crate) fn orders(&mut self, organization: OrganizationId, now: u64) -> Vec<Effect> {
        if self.again && self.reading.is_none() && now >= self.not_before {
            return vec![self.begin(organization, now)];
        }
        if self.is_asking || self.changed.is_empty() {
            return Vec::new();
        }
        self.is_asking = true;
        let asked: Vec<ActivityId> = self.changed.iter().rev().take(ASK_LIMIT).copied().collect();
        self.changed.retain(|id| !asked.contains(id));
        vec![Effect::Order(Order::Rows(organization, asked))]
    }

    /// Nothing is being read any more: the connection broke, or a request failed. Everything is to be read again.
    pub(crate) fn stop(&mut self, now: u64) {
        (self.reading, self.is_asking, self.again) = (None, false, true);
        self.not_before = now.saturating_add(PAUSE_MILLIS);
    }

    /// Sorts again: what came in since is no longer above the others.
    pub(crate) fn sort(&mut self) {
        self.fresh.clear();
        self.arrange();
    }

    /// Notes that an activity was opened, so that it is no news any more.
    pub(crate) fn open(&mut self, id: ActivityId) {
        self.fresh.remove(&id);
    }

    /// Takes a page of a reading of everything. Returns what is new, in words.
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
            reading.found.insert(row.activity.id);
            if !reading.changed.contains(&row.activity.id) {
                rows.push(Row::of(&review, sibling));
            }
        }
        let before = self.rows.len();
        let new = self.merge(rows);
        let mut gone: usize = 0;
        if is_last && let Some(reading) = self.reading.take() {
            let is_there = |row: &Row| reading.found.contains(&row.id) || reading.changed.contains(&row.id);
            self.rows.retain(is_there);
            gone = before.saturating_add(new.len()).saturating_sub(self.rows.len());
            let pause = now.saturating_sub(reading.since).saturating_mul(PAUSE_TIMES).max(PAUSE_MILLIS);
            self.not_before = now.saturating_add(pause);
        }
        let was_complete = self.is_complete;
        self.is_complete = self.is_complete || is_last;
        self.settle(if was_complete { &new } else { &[] }, gone, now)
    }

    /// Takes changed activities, of those that were asked for. Returns what is new, in words.
    pub(crate) fn rows_read(
        &mut self,
        asked: &[ActivityId],
        reviews: impl Iterator<Item = (Review, ActivityRow)>,
        now: u64,
    ) -> Option<String> {
        self.is_asking = false;
        let rows: Vec<Row> =
            reviews.filter_map(|(review, row)| Some(Row::of(&review, Sibling::of(&row.activity)?))).collect();
        let before = self.rows.len();
        let waits = |id: &ActivityId| rows.iter().any(|row| row.id == *id);
        self.rows.retain(|row| !asked.contains(&row.id) || waits(&row.id));
        let gone = before.saturating_sub(self.rows.len());
        // While the first reading is under way its own pages may not have come to these yet.
        let is_new = |row: &Row| match &self.reading {
            Some(reading) if !self.is_complete => row.created >= reading.since,
            _ => true,
        };
        let candidates: Vec<ActivityId> = rows.iter().filter(|row| is_new(row)).map(|row| row.id).collect();
        let mut new = self.merge(rows);
        new.retain(|id| candidates.contains(id));
        self.settle(&new, gone, now)
    }

    /// Puts rows in their place. Returns those that were not there before.
    fn merge(&mut self, rows: Vec<Row>) -> Vec<ActivityId> {
        let places: HashMap<ActivityId, usize> =
            self.rows.iter().enumerate().map(|(place, row)| (row.id, place)).collect();
        let mut new = Vec::new();
        for row in rows {
            if let Some(known) = places.get(&row.id).and_then(|place| self.rows.get_mut(*place)) {
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

    /// Brings the rows into order and tells what happened.
    fn settle(&mut self, new: &[ActivityId], gone: usize, now: u64) -> Option<String> {
        if gone > 0 {
            self.rate();
        }
        self.fresh.extend(new.iter().map(|id| (*id, now)));
        if !self.fresh.is_empty() {
            let there: HashSet<ActivityId> = self.rows.iter().map(|row| row.id).collect();
            self.fresh.retain(|id, _| there.contains(id));
        }
        self.arrange();
        let mut rows = self.rows.iter().filter(|row| new.contains(&row.id));
        let told = |row: &Row| {
            let high = if row.risk == Level::High { " HIGH" } else { "" };
            format!("new{high}: {}: {}", row.title, row.brief)
        };
        match (new.len(), gone) {
            (0, 0) => None,
            (0, gone) => Some(closed(gone)),
            (1, _) => rows.next().map(told),
            (count, _) => match rows.find(|row| row.risk == Level::High) {
                Some(row) => Some(format!("{}; {count} new in all", told(row))),
                None => Some(format!("{count} new")),
            },
        }
    }

    /// Forgets everything: the organization is gone.
    pub(crate) fn clear(&mut self) {
        let generation = self.generation;
        *self = Self { generation, is_complete: true, ..Self::default() };
    }

    /// Number of the reading that is under way or was the last.
    #[cfg(test)]
    pub(crate) const fn generation(&self) -> u64 {
        self.generation
    }
}
