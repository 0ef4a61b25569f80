//! The review of one activity: a frozen copy in sections, rendered from the signed bytes. It records what was
//! drawn, and an activity can be approved only after all its flags were on screen.

use std::collections::BTreeSet;

use quorate_common::console::{ActivityRow, WaitingRule};
use ratatui::layout::Rect;

use super::overlay::Overlay;
use super::{decide, moved, policies};
use crate::app::{Effect, Model, body};
use crate::ballot::Choice;
use crate::canvas::{Canvas, Line, above};
use crate::cli::replay_lines;
use crate::keymap::Action;
use crate::kinds::{Flag, Level, count};
use crate::link::Order;
use crate::policies::{ResolvedNames, changed, replay as evaluate_again};
use crate::proof::{Challenge, Review, status_word};
use crate::text::{clean, clock, duration};
use crate::theme::Theme;

mod sections;

use sections::{Row, SECTIONS, rows};

/// Maximum age of a draft's bytes, in milliseconds. The daemon accepts bytes that are up to one hour old.
const DRAFT_MILLIS: u64 = 10 * 60 * 1000;
/// Maximum number of lines about activities with a different outcome.
const REPLAY_LIMIT: usize = 20;

/// An open review.
pub(crate) struct State {
    /// The frozen copy.
    pub(crate) review: Review,
    scroll: usize,
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
    replay: Vec<String>,
    /// Set once the activity was decided elsewhere; holds the text for the status row.
    pub(crate) closed: Option<String>,
    /// Whether the next record replaces the copy.
    pub(crate) wants_fresh: bool,
}

impl State {
    /// Opens a review of a list row. The record is loaded at once and replaces this copy.
    pub(crate) fn new(review: Review) -> Self {
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
            closed: None,
            wants_fresh: true,
        }
    }

    /// Opens the review of a draft.
    pub(crate) fn draft(review: Review) -> Self {
        Self { wants_fresh: false, ..Self::new(review) }
    }

    /// Opens a review of a record that was just loaded.
    pub(crate) fn fresh(review: Review) -> Self {
        Self { wants_fresh: false, ..Self::new(review) }
    }

    /// Replaces the copy. Changed parts must be looked at again before an approval.
    pub(crate) fn replace(&mut self, fresh: Review) {
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
    pub(crate) fn approve_refusal(&self) -> Option<String> {
        if let Some(closed) = &self.closed {
            return Some(closed.clone());
        }
        if let Some(changed) = &self.changed {
            return Some(format!("changed since: {changed}; r reloads"));
        }
        if let Some(error) = self.review.approve_refusal() {
            return Some(error);
        }
        self.unseen()
    }
}

/// Requests the recent activities if the review changes policies.
pub(crate) fn replay_order(review: &Review) -> Option<Effect> {
    let proposal = review.proposal.as_ref()?;
    changed(&review.organization, &proposal.activity_type, &proposal.parameters)?;
    Some(Effect::Order(Order::Recent(review.activity.organization_id)))
}

/// Evaluates the recent activities again with the policies as the activity would leave them.
pub(crate) fn replay(model: &mut Model, rows: &[ActivityRow], looked: &ResolvedNames) {
    let strict = model.daemon.as_ref().is_some_and(|daemon| daemon.strict_deny_errors);
    let now = model.now;
    let Some(open) = &mut model.review else { return };
    let Some(proposal) = &open.review.proposal else { return };
    let organization = &open.review.organization;
    let policies = changed(organization, &proposal.activity_type, &proposal.parameters);
    let Some(policies) = policies else { return };
    let replay = evaluate_again(organization, policies, strict, rows, looked, now);
    let mut lines = replay_lines(&replay, organization);
    if let Some(more) = lines.len().checked_sub(REPLAY_LIMIT).filter(|more| *more > 0) {
        lines.truncate(REPLAY_LIMIT);
        lines.push(format!("and {more} more: quorate policy diff lists all of them"));
    }
    if lines != open.replay {
        // The new lines must be looked at.
        open.replay = lines;
        open.reset_seen();
    }
}

/// Describes a difference between the shown review and a newer one that makes the shown copy outdated.
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
    if visible_state(shown) != visible_state(fresh) {
        return Some("the state of the organization".to_owned());
    }
    (shown.blocked() != fresh.blocked()).then(|| "the outcome of a check".to_owned())
}

/// Returns the parts of a review that depend on the organization and not on the passing time. Other changes
/// of the organization do not affect the decision.
fn visible_state(review: &Review) -> impl PartialEq {
    let flags: Vec<_> = review.flags.iter().map(|flag| (flag.name, flag.level)).collect();
    let Review { sentence, fields, facts, changes, unknown_members, proposer, .. } = review.clone();
    (sentence, fields, facts, changes, unknown_members, proposer, flags)
}

/// Loads the record of the open review again.
pub(crate) fn reread(model: &Model) -> Vec<Effect> {
    let order = |open: &State| {
        let activity = &open.review.activity;
        Effect::Order(Order::Record(activity.organization_id, activity.id.to_string()))
    };
    let recorded = model.review.as_ref().filter(|open| open.review.draft.is_none());
    recorded.map(order).into_iter().collect()
}

/// Reviews a draft again if the organization changed. A draft with a decision in progress stays as it is
/// shown.
pub(crate) fn refresh_draft(model: &mut Model) -> Vec<Effect> {
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
    let request = draft.request.clone();
    match policies::review_request(model, &request) {
        Ok(fresh) => {
            let effects = replay_order(&fresh).into_iter().collect();
            model.review = Some(State::draft(fresh));
            effects
        }
        Err(error) => {
            model.notice = error;
            Vec::new()
        }
    }
}

/// Starts the proposal of a draft. If its bytes are too old, they are rebuilt and must be reviewed first.
fn propose(model: &mut Model) {
    let Some(open) = &model.review else { return };
    if model.now.saturating_sub(open.review.reviewed_at) < DRAFT_MILLIS {
        decide::begin(model, Choice::Propose);
        return;
    }
    let request = open.review.draft.as_ref().map(|draft| draft.request.clone());
    if let Some(fresh) = request.and_then(|request| policies::review_request(model, &request).ok()) {
        "the draft was too old: it has a new time and fingerprint; review it, then press a again"
            .clone_into(&mut model.notice);
        if let Some(open) = &mut model.review {
            open.replace(fresh);
        }
    }
}

/// Returns the verb of the action that signs an approval: a draft is proposed.
const fn approval_verb(open: &State) -> &'static str {
    if open.review.draft.is_some() { "propose" } else { "approve" }
}

/// Returns why an action of the review is disabled, if so.
fn disabled_reason(model: &Model, wanted: Action) -> Option<String> {
    let open = model.review.as_ref()?;
    let decisions_disabled = model.decisions_disabled();
    match wanted {
        Action::Approve => {
            let verb = approval_verb(open);
            decisions_disabled
                .or_else(|| open.approve_refusal())
                .map(|error| format!("cannot {verb}: {error}"))
        }
        Action::Reject => {
            let error =
                decisions_disabled.or_else(|| open.closed.clone()).or_else(|| open.review.reject_refusal());
            error.map(|error| format!("cannot reject: {error}"))
        }
        _ => None,
    }
}

/// Clears the notice about a disabled action once the reason no longer applies.
pub(crate) fn clear_outdated_notice(model: &mut Model) {
    let wanted = match model.notice.split_once(": ") {
        Some(("cannot approve" | "cannot propose", _)) => Action::Approve,
        Some(("cannot reject", _)) => Action::Reject,
        _ => return,
    };
    if disabled_reason(model, wanted).as_ref() != Some(&model.notice) {
        model.notice.clear();
    }
}

/// Handles the keys of this screen.
pub(crate) fn perform(model: &mut Model, wanted: Action) -> Vec<Effect> {
    let (_, viewport) = regions(model, body(model));
    let columns = usize::from(viewport.width);
    if let Some(error) = disabled_reason(model, wanted) {
        model.notice = error;
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
            // The last row shows how many are below; one row of the previous page stays visible.
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

/// Records which rows of the review were just drawn.
pub(crate) fn record_drawn(model: &mut Model) {
    if !model.overlays.is_empty() || model.review.is_none() {
        return;
    }
    let (_, viewport) = regions(model, body(model));
    let (columns, height) = (usize::from(viewport.width), usize::from(viewport.height));
    let now = model.now;
    let Some(open) = &mut model.review else { return };
    if open.columns == columns && open.last_drawn == Some((open.scroll, height)) {
        return;
    }
    if open.columns != columns {
        open.columns = columns;
        open.rows_seen.clear();
    }
    let rows = rows(&open.review, &open.replay, columns, now, Theme::new(false));
    // Matches the drawing: if not everything fits, the last row only shows how many are below.
    let scroll = open.scroll.min(rows.len().saturating_sub(height));
    let cut_off = rows.len() > scroll.saturating_add(height);
    let shown = if cut_off { height.saturating_sub(1) } else { height };
    open.scroll = scroll;
    open.last_drawn = Some((scroll, height));
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

/// Returns the areas of the status row and of the sections, above the panel of a decision.
fn regions(model: &Model, body: Rect) -> (Rect, Rect) {
    let panel = decide::height(model, body);
    let (upper, _) = above(body, body.height.saturating_sub(panel));
    let (status, rest) = above(upper, 1.min(upper.height));
    let foot = if upper.height >= 8 { 2 } else { 1 };
    (status, above(rest, rest.height.saturating_sub(foot)).0)
}

/// Draws the review, with the panel of a decision below it.
pub(crate) fn draw(model: &Model, canvas: &mut Canvas<'_>, body: Rect) {
    let Some(open) = &model.review else { return };
    let (status, viewport) = regions(model, body);
    let review = &open.review;
    let tally_text = if open.closed.is_some() { String::new() } else { format!("| {}", tally_text(review)) };
    let head = format!(" {} RISK {tally_text}", review.risk.word());
    let state = open.closed.clone().unwrap_or_else(|| expiry_text(review, model.now));
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
        Some(changed) => format!("[!] changed since: {changed} (r reloads)"),
        None => format!("frozen copy taken {}, no change since", clock(review.reviewed_at)),
    };
    canvas.row(
        foot,
        0,
        &format!(" sections seen: {} of {} | {copy}", seen.join(" "), SECTIONS.len()),
        Theme::plain(),
    );
    let hint = match open.approve_refusal() {
        Some(error) => format!(" cannot {}: {error}", approval_verb(open)),
        None => format!(
            " to {}, type {}{}; you then have 3 s to cancel",
            if review.draft.is_some() { "propose" } else { "approve" },
            challenge_text(review),
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

fn challenge_text(review: &Review) -> String {
    match review.challenge() {
        Challenge::Yes => "y".to_owned(),
        Challenge::LastFour(_) => "the last four characters of the fingerprint".to_owned(),
        Challenge::Value(danger) => danger.prompt,
    }
}

/// Returns the tally and the effect of the viewer's approval: `1 of 3 votes [s]; after yours 1 more needed`.
pub(crate) fn tally_text(review: &Review) -> String {
    let tally = &review.tally;
    let has = tally.has();
    let base = format!("{has} of {} votes [s]", tally.needed);
    match tally.rule {
        None if review.draft.is_some() => "a draft".to_owned(),
        None => status_word(review.activity.status).to_owned(),
        Some(WaitingRule::Policy) => format!("{}; a policy decides how many are needed", count(has, "vote")),
        Some(WaitingRule::RootQuorum) if review.approve_refusal().is_some() => base,
        Some(WaitingRule::RootQuorum) => match tally.short_by().saturating_sub(1) {
            0 => format!("{base}; yours EXECUTES it at once"),
            missing => format!("{base}; after yours {missing} more needed"),
        },
    }
}

fn expiry_text(review: &Review, now: u64) -> String {
    match review.tally.expires_at {
        Some(at) if review.tally.rule.is_some() => {
            format!("votes expire in {}", duration(at.saturating_sub(now)))
        }
        _ if review.tally.rule.is_some()
            && review.votes.iter().all(|vote| vote.error.is_none() && vote.expired) =>
        {
            "all votes have expired; it stays open".to_owned()
        }
        _ if review.tally.rule.is_some() => "no valid votes; it stays open".to_owned(),
        _ if review.draft.is_some() => "nothing was sent".to_owned(),
        _ => format!("decided {}", clock(review.activity.updated_at.millis())),
    }
}
