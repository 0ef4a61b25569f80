//! The review of one activity: a frozen copy in sections, rendered from the signed bytes. What was on screen is noted
//! after it was drawn: nothing is approved before each of its flags was there.

use std::collections::BTreeSet;

use quorate_common::console::{ActivityRow, WaitingRule};
use ratatui::layout::Rect;

use super::overlay::Overlay;
use super::{decide, moved, policies};
use crate::app::{Effect, Model, body};
use crate::ballot::Choice;
use crate::canvas::{Canvas, Line, above};
use crate::cli::replayed;
use crate::keymap::Action;
use crate::kinds::{Flag, Level, count};
use crate::link::Order;
use crate::policies::{Looked, changed, replay as judge_again};
use crate::proof::{Challenge, Review, status_word};
use crate::text::{clean, clock, duration};
use crate::theme::Theme;

mod sections;

use sections::{Row, SECTIONS, rows};

/// The daemon takes bytes for an hour; a draft is asked for well before that.
const DRAFT_MILLIS: u64 = 10 * 60 * 1000;
/// Lines about activities that would come out otherwise.
const REPLAYED: usize = 20;

/// An open review.
pub(crate) struct State {
    /// The frozen copy.
    pub(crate) review: Review,
    scroll: usize,
    /// Rows that were on screen at this width.
    rows_seen: BTreeSet<usize>,
    columns: usize,
    /// Scroll and height that were looked at last.
    looked: Option<(usize, usize)>,
    /// Sections of which every row was on screen.
    pub(crate) seen: BTreeSet<usize>,
    /// Flags of which every row was on screen.
    seen_flags: Vec<Flag>,
    /// Whether what was not on screen yet stands above what is.
    unseen_above: bool,
    /// What changed since the copy was taken.
    pub(crate) changed: Option<String>,
    /// Which activities of late would come out otherwise, if it changes policies; lines.
    replay: Vec<String>,
    /// That it was decided meanwhile.
    pub(crate) closed: Option<String>,
    /// Whether the next record replaces the copy.
    pub(crate) wants_fresh: bool,
}

impl State {
    /// Opens a review of a row of a list; the record is read at once and replaces this copy.
    pub(crate) fn new(review: Review) -> Self {
        Self {
            review,
            scroll: 0,
            rows_seen: BTreeSet::new(),
            columns: 0,
            looked: None,
            seen: BTreeSet::new(),
            seen_flags: Vec::new(),
            unseen_above: false,
            changed: None,
            replay: Vec::new(),
            closed: None,
            wants_fresh: true,
        }
    }

    /// Opens the review of something that is only thought of.
    pub(crate) fn draft(review: Review) -> Self {
        Self { wants_fresh: false, ..Self::new(review) }
    }

    /// Opens a review of a record that was just read.
    pub(crate) fn fresh(review: Review) -> Self {
        Self { wants_fresh: false, ..Self::new(review) }
    }

    /// Takes in a fresh copy. Whatever is not on screen as it was must be looked at again.
    pub(crate) fn replace(&mut self, fresh: Review) {
        if difference(&self.review, &fresh).is_some() {
            self.unsee();
        }
        if self.review.flags != fresh.flags {
            self.rows_seen.clear();
            self.seen.clear();
        }
        self.looked = None;
        self.review = fresh;
        self.changed = None;
        self.wants_fresh = false;
    }

    fn unsee(&mut self) {
        self.seen.clear();
        self.seen_flags.clear();
        self.rows_seen.clear();
        self.looked = None;
    }

    /// What of the review must be on screen before it is approved and was not, with the key that shows it.
    fn unseen(&self) -> Option<String> {
        let flags = self.review.flags.iter().filter(|flag| !self.seen_flags.contains(flag)).count();
        let sections = SECTIONS.len().saturating_sub(self.seen.len());
        let what = match flags {
            0 if self.review.risk < Level::High || sections == 0 => return None,
            0 => count(sections, "section"),
            flags => count(flags, "flag"),
        };
        let key = if self.unseen_above { "PgUp" } else { "PgDn" };
        Some(format!("{what} not seen yet: {key}"))
    }

    /// Why the viewer may not begin to approve, if so.
    pub(crate) fn approve_refusal(&self) -> Option<String> {
        if let Some(closed) = &self.closed {
            return Some(closed.clone());
        }
        if let Some(changed) = &self.changed {
            return Some(format!("changed since: {changed}; r takes it in"));
        }
        if let Some(refusal) = self.review.approve_refusal() {
            return Some(refusal);
        }
        self.unseen()
    }
}

/// Asks for what a change of policies is judged by.
pub(crate) fn wants_replay(review: &Review) -> Option<Effect> {
    let proposal = review.proposal.as_ref()?;
    changed(&review.organization, &proposal.activity_type, &proposal.parameters)?;
    Some(Effect::Order(Order::Recent(review.activity.organization_id)))
}

/// Judges the activities of late again, with the policies as the activity would leave them.
pub(crate) fn replay(model: &mut Model, rows: &[ActivityRow], looked: &Looked) {
    let strict = model.daemon.as_ref().is_some_and(|daemon| daemon.strict_deny_errors);
    let now = model.now;
    let Some(open) = &mut model.review else { return };
    let Some(proposal) = &open.review.proposal else { return };
    let organization = &open.review.organization;
    let policies = changed(organization, &proposal.activity_type, &proposal.parameters);
    let Some(policies) = policies else { return };
    let replay = judge_again(organization, policies, strict, rows, looked, now);
    let mut lines = replayed(&replay, organization);
    if let Some(more) = lines.len().checked_sub(REPLAYED).filter(|more| *more > 0) {
        lines.truncate(REPLAYED);
        lines.push(format!("and {more} more: quorate policy diff lists all of them"));
    }
    if lines != open.replay {
        // There is more to look at than before.
        open.replay = lines;
        open.unsee();
    }
}

/// What of a review differs from a newer one, in words: whatever would make the shown copy a wrong one.
pub(crate) fn difference(shown: &Review, fresh: &Review) -> Option<String> {
    let bytes = |review: &Review| review.proposal.as_ref().map(|proposal| proposal.message.clone());
    if bytes(shown) != bytes(fresh) || shown.activity.fingerprint != fresh.activity.fingerprint {
        return Some("the signed bytes".to_owned());
    }
    if shown.activity.intent != fresh.activity.intent
        || shown.activity.activity_type != fresh.activity.activity_type
    {
        return Some("the daemon's intent".to_owned());
    }
    if shown.activity.status != fresh.activity.status {
        return Some(format!("it is now {}", status_word(fresh.activity.status)));
    }
    if shown.activity.votes != fresh.activity.votes {
        let old = shown.votes.len();
        let new: Vec<String> = fresh
            .votes
            .iter()
            .skip(old)
            .map(|vote| format!("{} voted {}", vote.name, clock(vote.cast)))
            .collect();
        return Some(if new.is_empty() { "the votes".to_owned() } else { new.join(", ") });
    }
    if shown.tally.rule != fresh.tally.rule
        || shown.tally.needed != fresh.tally.needed
        || shown.tally.counted != fresh.tally.counted
    {
        return Some("the rule or the tally".to_owned());
    }
    if told(shown) != told(fresh) {
        return Some("the state of the organization".to_owned());
    }
    (shown.blocked() != fresh.blocked()).then(|| "the outcome of a check".to_owned())
}

/// What a review tells of the state of the organization, without what only the passing time changes. Other changes of the
/// organization do not matter to the decision.
fn told(review: &Review) -> impl PartialEq {
    let flags: Vec<_> = review.flags.iter().map(|flag| (flag.name, flag.level)).collect();
    let Review { sentence, fields, facts, changes, leftover, asker, .. } = review.clone();
    (sentence, fields, facts, changes, leftover, asker, flags)
}

/// Reads the record of the open review again.
pub(crate) fn reread(model: &Model) -> Vec<Effect> {
    let order = |open: &State| {
        let activity = &open.review.activity;
        Effect::Order(Order::Record(activity.organization_id, activity.id.to_string()))
    };
    let recorded = model.review.as_ref().filter(|open| open.review.draft.is_none());
    recorded.map(order).into_iter().collect()
}

/// Looks again at what is only thought of, when the organization has changed. What is being decided stays as it is shown.
pub(crate) fn rethink(model: &mut Model) -> Vec<Effect> {
    let version = model.organization.as_ref().map(|organization| organization.head.version);
    let Some(open) = &mut model.review else { return Vec::new() };
    let Some(draft) = &open.review.draft else { return Vec::new() };
    if version == Some(open.review.organization.head.version) {
        return Vec::new();
    }
    if model.decide.is_some() {
        open.changed = Some("the organization".to_owned());
        return Vec::new();
    }
    let wish = draft.wish.clone();
    match policies::thought(model, &wish) {
        Ok(fresh) => {
            let effects = wants_replay(&fresh).into_iter().collect();
            model.review = Some(State::draft(fresh));
            effects
        }
        Err(refusal) => {
            model.notice = refusal;
            Vec::new()
        }
    }
}

/// Begins to propose what is thought of. Bytes that grew old are made anew, and their fingerprint is looked at first.
fn propose(model: &mut Model) {
    let Some(open) = &model.review else { return };
    if model.now.saturating_sub(open.review.taken_at) < DRAFT_MILLIS {
        decide::begin(model, Choice::Propose);
        return;
    }
    let wish = open.review.draft.as_ref().map(|draft| draft.wish.clone());
    if let Some(fresh) = wish.and_then(|wish| policies::thought(model, &wish).ok()) {
        "the draft grew old: its bytes have a new time and fingerprint; look, then a again"
            .clone_into(&mut model.notice);
        if let Some(open) = &mut model.review {
            open.replace(fresh);
        }
    }
}

/// Why a key of the review is off, if so.
fn off(model: &Model, wanted: Action) -> Option<String> {
    let open = model.review.as_ref()?;
    let standstill = model.standstill();
    match wanted {
        Action::Approve => {
            standstill.or_else(|| open.approve_refusal()).map(|refusal| format!("a is off: {refusal}"))
        }
        Action::Reject => {
            let refusal = standstill.or_else(|| open.closed.clone()).or_else(|| open.review.reject_refusal());
            refusal.map(|refusal| format!("x is off: {refusal}"))
        }
        _ => None,
    }
}

/// Removes the line that says why a key is off once it says so no longer.
pub(crate) fn recheck(model: &mut Model) {
    let wanted = match model.notice.split_once(" is off: ") {
        Some(("a", _)) => Action::Approve,
        Some(("x", _)) => Action::Reject,
        _ => return,
    };
    if off(model, wanted).as_ref() != Some(&model.notice) {
        model.notice.clear();
    }
}

/// Keys of this screen.
pub(crate) fn perform(model: &mut Model, wanted: Action) -> Vec<Effect> {
    let (_, viewport) = regions(model, body(model));
    let columns = usize::from(viewport.width);
    if let Some(refusal) = off(model, wanted) {
        model.notice = refusal;
        return Vec::new();
    }
    let Some(open) = &mut model.review else { return Vec::new() };
    match wanted {
        Action::Back => {
            model.review = None;
            model.decide = None;
        }
        Action::Approve if open.review.draft.is_some() => propose(model),
        Action::Approve => decide::begin(model, Choice::Approve),
        Action::Reject => decide::begin(model, Choice::Reject),
        Action::Raw => model.overlays.push(Overlay::raw(&open.review)),
        Action::Proof => model.overlays.push(Overlay::proof(&open.review)),
        Action::Copy => model.overlays.push(Overlay::copy_of_review(&open.review)),
        Action::Export => return vec![export(&open.review)],
        Action::Compare => model.overlays.push(Overlay::compare(&open.review)),
        wanted => {
            let all = rows(&open.review, &open.replay, columns, model.now, Theme::new(false)).len();
            // The last row counts what is below; one row of the page before stays.
            let page = usize::from(viewport.height).saturating_sub(2);
            let last = all.saturating_sub(usize::from(viewport.height));
            open.scroll = moved(open.scroll, all, page, wanted).min(last);
        }
    }
    Vec::new()
}

fn export(review: &Review) -> Effect {
    let name = match review.draft {
        Some(_) => "draft".to_owned(),
        None => review.activity.id.to_string(),
    };
    let text = format!("{:#}\n", crate::proof::json(review));
    Effect::Export { name: format!("quorate-{name}.json"), text }
}

/// Notes what of the review was just drawn.
pub(crate) fn look(model: &mut Model) {
    if !model.overlays.is_empty() || model.review.is_none() {
        return;
    }
    let (_, viewport) = regions(model, body(model));
    let (columns, height) = (usize::from(viewport.width), usize::from(viewport.height));
    let now = model.now;
    let Some(open) = &mut model.review else { return };
    if open.columns == columns && open.looked == Some((open.scroll, height)) {
        return;
    }
    if open.columns != columns {
        open.columns = columns;
        open.rows_seen.clear();
    }
    let rows = rows(&open.review, &open.replay, columns, now, Theme::new(false));
    // As it was drawn: the last row only counts what is below when not everything fits.
    let scroll = open.scroll.min(rows.len().saturating_sub(height));
    let cut_off = rows.len() > scroll.saturating_add(height);
    let shown = if cut_off { height.saturating_sub(1) } else { height };
    open.scroll = scroll;
    open.looked = Some((scroll, height));
    open.rows_seen.extend(scroll..scroll.saturating_add(shown).min(rows.len()));
    let is_seen = |of: &dyn Fn(&Row) -> bool| {
        rows.iter().enumerate().filter(|(_, row)| of(row)).all(|(at, _)| open.rows_seen.contains(&at))
    };
    let sections = (1..=SECTIONS.len()).filter(|section| is_seen(&|row| row.section == *section));
    let flags = open.review.flags.iter().enumerate().filter(|(at, _)| is_seen(&|row| row.flag == Some(*at)));
    let (sections, flags): (Vec<usize>, Vec<Flag>) =
        (sections.collect(), flags.map(|(_, flag)| flag.clone()).collect());
    open.seen.extend(sections);
    let unseen: Vec<Flag> = flags.into_iter().filter(|flag| !open.seen_flags.contains(flag)).collect();
    open.seen_flags.extend(unseen);
    let wanted = |(at, row): &(usize, &Row)| {
        let is_known = row.flag.is_some_and(|flag| {
            open.review.flags.get(flag).is_some_and(|flag| open.seen_flags.contains(flag))
        });
        let matters = row.flag.is_some() || open.review.risk == Level::High;
        matters && !is_known && !open.rows_seen.contains(at)
    };
    open.unseen_above = rows.iter().enumerate().find(wanted).is_some_and(|(at, _)| at < scroll);
    model.dirty = true;
}

/// The status row, and where the sections are shown, given what a decision takes below.
fn regions(model: &Model, body: Rect) -> (Rect, Rect) {
    let panel = decide::height(model, body);
    let (upper, _) = above(body, body.height.saturating_sub(panel));
    let (status, rest) = above(upper, 1.min(upper.height));
    let foot = if upper.height >= 8 { 2 } else { 1 };
    (status, above(rest, rest.height.saturating_sub(foot)).0)
}

/// Draws the review, and the decision docked below it.
pub(crate) fn draw(model: &Model, canvas: &mut Canvas<'_>, body: Rect) {
    let Some(open) = &model.review else { return };
    let (status, viewport) = regions(model, body);
    let review = &open.review;
    let standing = if open.closed.is_some() { String::new() } else { format!("| {}", standing(review)) };
    let head = format!(" {} RISK {standing}", review.risk.word());
    let state = open.closed.clone().unwrap_or_else(|| lapse(review, model.now));
    let state = if status.width < 60 { String::new() } else { format!("{state} ") };
    canvas.split(status, 0, &head, &state, Theme::selected());
    let all: Vec<Line> = rows(review, &open.replay, usize::from(viewport.width), model.now, canvas.theme)
        .into_iter()
        .map(|row| row.line)
        .collect();
    canvas.lines(viewport, &all, open.scroll.min(all.len().saturating_sub(usize::from(viewport.height))));
    let panel = decide::height(model, body);
    let end = body.bottom().saturating_sub(panel);
    let foot = Rect { y: viewport.bottom(), height: end.saturating_sub(viewport.bottom()), ..body };
    let seen: Vec<String> = open.seen.iter().map(ToString::to_string).collect();
    let copy = match &open.changed {
        None if review.draft.is_some() => "a draft: nothing was sent".to_owned(),
        Some(changed) => format!("[!] changed since: {changed} (r to take in)"),
        None => format!("frozen copy taken {}, no change since", clock(review.taken_at)),
    };
    canvas.row(
        foot,
        0,
        &format!(" sections seen: {} of {} | {copy}", seen.join(" "), SECTIONS.len()),
        Theme::plain(),
    );
    let hint = match open.approve_refusal() {
        Some(refusal) => format!(" a is off: {refusal}"),
        None => format!(
            " to {} you will type {}{}, then have 3 s to call it back",
            if review.draft.is_some() { "propose it (a)" } else { "approve" },
            asked(review),
            unlocking(model)
        ),
    };
    canvas.row(foot, 1, &hint, Theme::plain());
    decide::draw(model, canvas, Rect { y: end, height: panel, ..body });
}

fn unlocking(model: &Model) -> String {
    match (&model.identity.key_name, model.identity.needs_passphrase) {
        (Some(name), true) => format!(", unlock {}", clean(name)),
        _ => String::new(),
    }
}

fn asked(review: &Review) -> String {
    match review.challenge() {
        Challenge::Yes => "y".to_owned(),
        Challenge::LastFour(_) => "the last four of the fingerprint".to_owned(),
        Challenge::Value(danger) => danger.prompt,
    }
}

/// `has 1 of 3, yours makes 2, then 1 short`.
pub(crate) fn standing(review: &Review) -> String {
    let tally = &review.tally;
    let has = tally.has();
    let base = format!("has {has} of {} [s]", tally.needed);
    match tally.rule {
        None if review.draft.is_some() => "a draft".to_owned(),
        None => status_word(review.activity.status).to_owned(),
        Some(WaitingRule::Policy) => format!("has {has}; a policy decides how many are needed"),
        Some(WaitingRule::RootQuorum) if review.approve_refusal().is_some() => base,
        Some(WaitingRule::RootQuorum) => match tally.short_by().saturating_sub(1) {
            0 => format!("{base}, yours COMPLETES it: it runs at once"),
            short => format!("{base}, yours makes {}, then {short} short", has.saturating_add(1)),
        },
    }
}

fn lapse(review: &Review, now: u64) -> String {
    match review.tally.lapses_at {
        Some(at) if review.tally.rule.is_some() => {
            format!("votes expire in {}", duration(at.saturating_sub(now)))
        }
        _ if review.tally.rule.is_some()
            && review.votes.iter().all(|vote| vote.flaw.is_none() && vote.lapsed) =>
        {
            "all votes have expired; it stays open".to_owned()
        }
        _ if review.tally.rule.is_some() => "no vote counts here; it stays open".to_owned(),
        _ if review.draft.is_some() => "nothing was sent".to_owned(),
        _ => format!("decided {}", clock(review.activity.updated_at.millis())),
    }
}
