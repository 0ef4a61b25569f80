//! An open review: the frozen copy, what was on screen of it, and what changed since.

use std::collections::BTreeSet;

use quorate_common::activity::Activity;
use tui_input::Input;

use super::sections::{Row, SECTIONS, rows};
use crate::ballot::Choice;
use crate::kinds::{Flag, Level, count};
use crate::link::Order;
use crate::proof::{Past, Record, Review, difference};
use crate::screens::decide::Decide;
use crate::screens::shared::Shared;
use crate::theme::Theme;

/// An open review.
pub(crate) struct State {
    /// The frozen copy.
    pub(crate) review: Review,
    pub(super) scroll: usize,
    /// Rows that were on screen at the current width.
    rows_seen: BTreeSet<usize>,
    columns: usize,
    /// Scroll position and height of the last recorded drawing.
    last_drawn: Option<(usize, usize)>,
    /// Sections of which every row was on screen.
    pub(crate) seen: BTreeSet<usize>,
    /// Flags of which every row was on screen.
    seen_flags: Vec<Flag>,
    /// Whether rows that were not on screen yet are above the visible ones.
    unseen_above: bool,
    /// What changed since the copy was taken.
    pub(crate) changed: Option<String>,
    /// For a change of policies: the recent activities that would have a different outcome, as lines.
    pub(super) replay: Vec<String>,
    /// Earlier transfers to the recipients of a transaction, once they are known.
    past: Option<Past>,
    /// Set once the activity was decided elsewhere; holds the text for the status row.
    pub(crate) closed: Option<String>,
    /// Whether the next record replaces the copy.
    pub(crate) wants_fresh: bool,
    /// Decision in progress, if any. Its panel is below the review.
    pub(crate) decide: Option<Decide>,
    /// Note of a rejection that was not sent, for the next one.
    pub(super) note: Input,
    /// What the fingerprint was compared with last. It stays until the review is left.
    pub(crate) comparison: Input,
    /// Whether the raw bytes and the proof show sensitive members.
    pub(super) reveals: bool,
}

impl State {
    /// Opens a review. `wants_fresh` means that it is of a list row, which the next record replaces.
    pub(crate) fn new(review: Review, wants_fresh: bool) -> Self {
        Self {
            review,
            scroll: 0,
            rows_seen: BTreeSet::new(),
            columns: 0,
            last_drawn: None,
            seen: BTreeSet::new(),
            seen_flags: Vec::new(),
            unseen_above: false,
            changed: None,
            replay: Vec::new(),
            past: None,
            closed: None,
            wants_fresh,
            decide: None,
            note: Input::default(),
            comparison: Input::default(),
            reveals: false,
        }
    }

    /// Replaces the copy. Changed parts must be looked at again before an approval.
    pub(crate) fn replace(&mut self, mut fresh: Review) {
        if let Some(past) = &self.past {
            fresh.compare_with(past);
        }
        if difference(&self.review, &fresh).is_some() {
            self.reset_seen();
        }
        if self.review.flags != fresh.flags {
            self.rows_seen.clear();
            self.seen.clear();
        }
        self.last_drawn = None;
        self.review = fresh;
        self.changed = None;
        self.wants_fresh = false;
    }

    fn reset_seen(&mut self) {
        self.seen.clear();
        self.seen_flags.clear();
        self.rows_seen.clear();
        self.last_drawn = None;
    }

    /// Returns whether the activity has ended, so that nothing is decided here.
    pub(crate) const fn has_ended(&self) -> bool {
        self.closed.is_some() || self.review.ended.is_some()
    }

    /// Returns what must still be on screen before an approval, with the key that shows it.
    fn unseen(&self) -> Option<String> {
        let flags = self.review.flags.iter().filter(|flag| !self.seen_flags.contains(flag)).count();
        let sections = SECTIONS.len().saturating_sub(self.seen.len());
        let what = match flags {
            0 if self.review.risk < Level::High || sections == 0 => return None,
            0 => count(sections, "section"),
            flags => count(flags, "flag"),
        };
        let key = if self.unseen_above { "PgUp" } else { "PgDn" };
        Some(format!("{what} unseen: {key}"))
    }

    /// Returns why the viewer cannot start an approval, if so.
    pub(crate) fn approval_error(&self) -> Option<String> {
        if let Some(closed) = &self.closed {
            return Some(closed.clone());
        }
        if let Some(changed) = &self.changed {
            return Some(format!("changed since: {changed}; r reloads"));
        }
        if let Some(error) = self.review.approval_error() {
            return Some(error);
        }
        if self.past.is_none() && self.review.has_past() {
            return Some("earlier transfers are not loaded yet".to_owned());
        }
        self.unseen()
    }

    /// Shows the recent activities that would have a different outcome, as lines that must be looked at.
    pub(super) fn set_replay(&mut self, lines: Vec<String>) {
        if lines != self.replay {
            self.replay = lines;
            self.reset_seen();
        }
    }

    /// Returns the order that reads earlier transfers to the recipients of a transaction, unless they are known.
    pub(crate) fn read_past(&self) -> Option<Order> {
        let Activity { id, organization_id, .. } = &self.review.activity;
        let is_needed = self.past.is_none() && self.review.has_past();
        is_needed.then(|| Order::Transfers(*organization_id, *id, self.review.recipients()))
    }

    /// Compares the transaction with earlier transfers. What they change must be looked at again.
    pub(crate) fn set_past(&mut self, past: Past) {
        let mut fresh = self.review.clone();
        fresh.compare_with(&past);
        self.past = Some(past);
        if fresh.transfer != self.review.transfer || fresh.flags != self.review.flags {
            self.rows_seen.clear();
            self.seen.clear();
            self.last_drawn = None;
            // An approval in progress is about what was shown before. A rejection is right whatever was paid earlier.
            if self.decide.as_ref().is_some_and(|decide| decide.choice != Choice::Reject) {
                self.changed = Some("earlier transfers were loaded".to_owned());
            }
        }
        self.review = fresh;
    }

    /// Examines a record of the reviewed activity as the copy was examined, with the same earlier transfers.
    pub(super) fn examine(&self, shared: &Shared, record: &Record, reference: &str) -> Review {
        let mut review = shared.examine(record, Some(reference));
        if let Some(past) = &self.past {
            review.compare_with(past);
        }
        review
    }

    /// Records which rows were just drawn in an area of this size. Returns whether that changed anything.
    pub(crate) fn record_drawn(&mut self, (columns, height): (usize, usize), now: u64) -> bool {
        if self.columns == columns && self.last_drawn == Some((self.scroll, height)) {
            return false;
        }
        if self.columns != columns {
            self.columns = columns;
            self.rows_seen.clear();
        }
        let rows = rows(&self.review, &self.replay, columns, now, Theme::uncoloured());
        // Matches the drawing: if not everything fits, the last row only shows how many are below.
        let scroll = self.scroll.min(rows.len().saturating_sub(height));
        let cut_off = rows.len() > scroll.saturating_add(height);
        let shown = if cut_off { height.saturating_sub(1) } else { height };
        self.scroll = scroll;
        self.last_drawn = Some((scroll, height));
        self.rows_seen.extend(scroll..scroll.saturating_add(shown).min(rows.len()));
        let is_seen = |of: &dyn Fn(&Row) -> bool| {
            rows.iter().enumerate().filter(|(_, row)| of(row)).all(|(at, _)| self.rows_seen.contains(&at))
        };
        let sections = (1..=SECTIONS.len()).filter(|section| is_seen(&|row| row.section == *section));
        let flags =
            self.review.flags.iter().enumerate().filter(|(at, _)| is_seen(&|row| row.flag == Some(*at)));
        let (sections, flags): (Vec<usize>, Vec<Flag>) =
            (sections.collect(), flags.map(|(_, flag)| flag.clone()).collect());
        self.seen.extend(sections);
        let unseen: Vec<Flag> = flags.into_iter().filter(|flag| !self.seen_flags.contains(flag)).collect();
        self.seen_flags.extend(unseen);
        let wanted = |(at, row): &(usize, &Row)| {
            let is_known = row.flag.is_some_and(|flag| {
                self.review.flags.get(flag).is_some_and(|flag| self.seen_flags.contains(flag))
            });
            let matters = row.flag.is_some() || self.review.risk == Level::High;
            matters && !is_known && !self.rows_seen.contains(at)
        };
        self.unseen_above = rows.iter().enumerate().find(wanted).is_some_and(|(at, _)| at < scroll);
        true
    }
}
