//! The keys of a review, and how answers and time change it.

use quorate_common::activity::Activity;
use quorate_common::console::{ActivityRow, OrganizationDetail, ReviewRecord};
use quorate_common::stamp::Stamp;
use ratatui::layout::Rect;

use super::sections::rows;
use super::state::State;
use crate::ballot::{Choice, Unconfirmed};
use crate::keymap::{Action, BACK, COPY, Command, EXPORT, Key, command, moved};
use crate::link::{CastError, Confirmation, Order, Result};
use crate::output::file_text;
use crate::policies::{self, ResolvedNames, changed};
use crate::proof::{Bundle, Record, Review, difference, json, replay_lines, state_text};
use crate::screens::decide::{Decide, Pressed};
use crate::screens::overlay::Overlay;
use crate::screens::receipt::Next;
use crate::screens::request::{Effect, Request};
use crate::screens::shared::Shared;
use crate::text::clock;
use crate::theme::Theme;

/// Maximum age of a draft's bytes, in milliseconds. The daemon accepts bytes that are up to one hour old.
const DRAFT_MILLIS: u64 = 10 * 60 * 1000;
/// Maximum number of lines about activities with a different outcome.
const REPLAY_LIMIT: usize = 20;

const APPROVE: Action = Action::OfScreen("approve");
const REJECT: Action = Action::OfScreen("reject");
const RAW: Action = Action::OfScreen("raw");
const PROOF: Action = Action::OfScreen("proof");
const REVEAL: Action = Action::OfScreen("reveal");
const COMPARE: Action = Action::OfScreen("compare");

const NEXT: Command = command(Action::PageDown, &[Key::Char(' ')], "Next", "Scroll down one screen");

/// The commands in the review of an activity.
pub(crate) static COMMANDS: [Command; 10] = [
    command(APPROVE, &[Key::Char('a')], "Approve...", "Approve the activity; a challenge follows")
        .cli("quorate approve REF --expect-sha256 HASH"),
    command(REJECT, &[Key::Char('x')], "Reject...", "Reject the activity; a single rejection is final")
        .cli("quorate reject REF"),
    NEXT,
    command(RAW, &[Key::Char('d')], "Raw bytes", "Show the bytes that the proposer signed")
        .cli("quorate review REF --json"),
    command(PROOF, &[Key::Char('v')], "Proof", "Show every check and every signed vote")
        .cli("quorate review REF"),
    command(COMPARE, &[Key::Char('c')], "Compare", "Compare with a fingerprint or file of another source")
        .cli("quorate proof compare FILE OTHER"),
    command(
        REVEAL,
        &[Key::Char('*')],
        "",
        "Show or mask codes, card numbers and bundles in the raw bytes and the proof",
    ),
    COPY,
    EXPORT,
    BACK,
];

/// The commands in the review of an activity that has ended: a key that decides states why it cannot.
static ENDED_COMMANDS: [Command; 10] = {
    let mut commands = COMMANDS;
    (commands[0].label, commands[1].label) = ("", "");
    commands
};

/// The commands in the review of a draft.
static DRAFT_COMMANDS: [Command; 7] = [
    command(APPROVE, &[Key::Char('a')], "Propose...", "Propose the activity; a challenge follows")
        .cli("quorate propose TYPE"),
    NEXT,
    command(RAW, &[Key::Char('d')], "Raw bytes", "Show the bytes that you would sign"),
    command(PROOF, &[Key::Char('v')], "Proof", "Show every check; a draft has no votes yet"),
    COPY,
    EXPORT.cli("quorate propose TYPE --dry-run --json"),
    BACK,
];

/// The commands of each kind of review.
pub(crate) static ALL: [&[Command]; 3] = [&COMMANDS, &ENDED_COMMANDS, &DRAFT_COMMANDS];

/// Returns whether an action begins a decision.
pub(crate) fn decides(action: Action) -> bool {
    action == APPROVE || action == REJECT
}

impl State {
    pub(crate) fn commands(&self) -> &'static [Command] {
        match &self.review.draft {
            Some(_) => &DRAFT_COMMANDS,
            None if self.has_ended() => &ENDED_COMMANDS,
            None => &COMMANDS,
        }
    }

    /// Performs an action; `body` is where the review is drawn.
    pub(crate) fn perform(&mut self, shared: &Shared, wanted: Action, body: Rect) -> Vec<Request> {
        if let Some(error) = self.disabled_reason(shared, wanted) {
            return vec![Request::Disabled(wanted, error)];
        }
        vec![match wanted {
            Action::Back => Request::Close,
            APPROVE if self.review.draft.is_some() => return self.propose(shared),
            APPROVE => return self.begin(Choice::Approve, shared.now),
            REJECT => return self.begin(Choice::Reject, shared.now),
            RAW => Request::Overlay(Overlay::raw(&self.review, self.reveals)),
            PROOF => Request::Overlay(Overlay::proof(&self.review, self.reveals)),
            REVEAL => {
                self.reveals = !self.reveals;
                let state = if self.reveals { "shown" } else { "masked" };
                Request::Notice(format!(
                    "raw bytes and proof: sensitive members are {state}; never in copies and exports"
                ))
            }
            COMPARE => Request::Overlay(Overlay::compare(&self.review, self.comparison.clone())),
            Action::Copy => Request::Overlay(Overlay::copy_of_review(&self.review)),
            Action::Export => export(&self.review, shared).into(),
            wanted => {
                let (columns, height) = self.viewport(shared, body);
                let all = rows(&self.review, &self.replay, columns, shared.now, Theme::uncoloured()).len();
                // The last row shows how many are below; one row of the previous page stays visible.
                let at = moved(self.scroll, all, height.saturating_sub(2), wanted);
                self.scroll = at.min(all.saturating_sub(height));
                return Vec::new();
            }
        }]
    }

    /// Returns why an action is disabled, if so.
    pub(crate) fn disabled_reason(&self, shared: &Shared, wanted: Action) -> Option<String> {
        let (verb, reason) = match wanted {
            APPROVE => (self.approval_verb(), self.approval_error()),
            REJECT => ("reject", self.closed.clone().or_else(|| self.review.rejection_error())),
            _ => return None,
        };
        shared.decisions_disabled().or(reason).map(|error| format!("cannot {verb}: {error}"))
    }

    fn begin(&mut self, choice: Choice, now: u64) -> Vec<Request> {
        match Decide::new(&self.review, choice, now) {
            Ok(mut decide) => {
                if choice == Choice::Reject {
                    decide.note = std::mem::take(&mut self.note);
                }
                self.decide = Some(decide);
            }
            Err(error) => return vec![Request::Notice(error)],
        }
        Vec::new()
    }

    /// Starts the proposal of a draft. If its bytes are too old, they are rebuilt and must be reviewed first.
    fn propose(&mut self, shared: &Shared) -> Vec<Request> {
        if shared.now.saturating_sub(self.review.reviewed_at) < DRAFT_MILLIS {
            return self.begin(Choice::Propose, shared.now);
        }
        let draft = self.review.draft.as_ref();
        let Some(Ok(fresh)) = draft.map(|draft| shared.review_draft(&draft.request, &draft.signers)) else {
            return Vec::new();
        };
        self.replace(fresh);
        let text = "the draft was too old: it has a new time and fingerprint; review it, then press a again";
        vec![Request::Notice(text.to_owned())]
    }

    /// Handles a key while a decision is in progress; `gap` is the time since the previous one, in milliseconds.
    pub(crate) fn press(&mut self, shared: &Shared, key: Key, gap: u64, body: Rect) -> Vec<Request> {
        if matches!(key, Key::PageUp | Key::PageDown) && self.scroll_panel(shared, key, body) {
            return Vec::new();
        }
        let Some(decide) = &mut self.decide else { return Vec::new() };
        match decide.press(key, gap, shared.now, shared.needs_passphrase()) {
            Pressed::Nothing => Vec::new(),
            Pressed::Sign(effect) => vec![effect.into()],
            Pressed::Closed => self.leave(),
            Pressed::Next => self.open_next(shared),
        }
    }

    /// Scrolls the panel of a decision by one page. Returns whether it can be scrolled now.
    pub(crate) fn scroll_panel(&mut self, shared: &Shared, key: Key, body: Rect) -> bool {
        let scrolled = self.panel(shared).map(|panel| panel.scrolled(body, key == Key::PageDown));
        let decide = self.decide.as_mut().filter(|decide| !decide.discards_keys());
        let (Some(decide), Some(scrolled)) = (decide, scrolled) else { return false };
        decide.scroll = scrolled;
        true
    }

    /// Opens the review of what waits next, in place of this one.
    fn open_next(&self, shared: &Shared) -> Vec<Request> {
        let next = Next::after(self.review.activity.id, shared);
        next.row.map(Request::open).map_or_else(Vec::new, |open| vec![Request::Close, open])
    }

    /// Cancels or closes the decision, unless the vote is already being sent.
    fn leave(&mut self) -> Vec<Request> {
        let Some(decide) = &self.decide else { return Vec::new() };
        if decide.is_sending() {
            let text = "it is already being sent and cannot be cancelled";
            return vec![Request::Notice(text.to_owned())];
        }
        if decide.is_proposed() {
            return vec![Request::Proposed];
        }
        let mut requests = Vec::new();
        if decide.is_signing() {
            requests.push(Effect::CancelSignature.into());
        }
        let has_note = !decide.is_sent() && !decide.note.value().is_empty();
        if !decide.is_finished() {
            let kept = if has_note { "; x brings the note back" } else { "" };
            requests.push(Request::Notice(format!("cancelled: nothing was sent{kept}")));
        }
        if has_note {
            self.note = decide.note.clone();
        }
        self.decide = None;
        self.wants_fresh = true;
        requests.extend(self.reread().map(Request::from));
        requests
    }

    /// Inserts pasted text where a passphrase is entered. Returns whether it was.
    pub(crate) fn paste(&mut self, text: &str) -> bool {
        self.decide.as_mut().is_some_and(|decide| decide.paste(text))
    }

    /// Applies the result of signing.
    pub(crate) fn signed(&mut self, shared: &Shared, message: &str, result: Result<Stamp, String>) {
        // A decision that was cancelled while its key signed must not affect the next one.
        if let Some(decide) = self.decide.as_mut().filter(|decide| decide.ballot.message == message) {
            decide.signed(result, shared.now, shared.needs_passphrase());
        }
    }

    /// Advances a decision with time, or stops it if the review is outdated.
    pub(crate) fn advance(&mut self, shared: &Shared) -> Option<Effect> {
        let decide = self.decide.as_mut()?;
        let changed = || self.changed.as_ref().map(|changed| format!("changed since the review: {changed}"));
        let reason = self.closed.clone().or_else(changed).or_else(|| shared.decisions_disabled());
        match reason.filter(|_| !decide.is_sending() && !decide.is_finished()) {
            Some(reason) => {
                decide.stop(&reason);
                None
            }
            None => decide.advance(&self.review, shared.now),
        }
    }

    /// Compares the record directly before sending. The vote is sent only if the record is what was shown.
    pub(crate) fn preflight(&mut self, shared: &Shared, result: Result<Box<ReviewRecord>>) -> Option<Effect> {
        let id = self.review.activity.id.to_string();
        let difference = match result {
            Ok(record) => difference(&self.review, &self.examine(shared, &Record::from(*record), &id))
                .map(|changed| format!("changed since the review: {changed}")),
            Err(error) => Some(format!("the record cannot be loaded again: {error}")),
        };
        self.decide.as_mut()?.preflight(&self.review, difference, shared.now)
    }

    /// Ends a decision that is not sent, because the journal cannot be written.
    pub(crate) fn unsent(&mut self, error: &str) {
        if let Some(decide) = self.decide.as_mut().filter(|decide| decide.is_sending()) {
            decide.stop(&format!("the journal cannot be written: {error}"));
        }
    }

    /// Applies the daemon's answer to the vote or proposal.
    pub(crate) fn answered(
        &mut self,
        shared: &Shared,
        result: &Result<Box<Confirmation>, Box<CastError>>,
    ) -> Vec<Request> {
        let user = self.review.viewer.user.or(shared.viewer.user);
        let is_sent = match result {
            Ok(_) => true,
            Err(error) => !matches!(error.fate, Unconfirmed::Unsent | Unconfirmed::Refused),
        };
        if let Some(draft) = &mut self.review.draft {
            draft.is_sent = is_sent;
        }
        let decide = self.decide.as_mut();
        let entry = decide.and_then(|decide| decide.answered(&self.review, result, user));
        let Some((entry, is_decided)) = entry else { return Vec::new() };
        self.wants_fresh = true;
        if let Some(target) = result.as_ref().ok().filter(|_| is_decided) {
            // The record may have been deleted with its organization.
            self.closed.get_or_insert_with(|| closed(&target.activity, &self.review.organization));
        }
        let journal = entry.map(|entry| Request::from(Effect::Journal(Box::new(entry))));
        journal.into_iter().chain(self.reread().map(Request::from)).collect()
    }

    /// Compares the review with the proof bundle in a file.
    pub(crate) fn compared(&self, shared: &Shared, path: &str, file: Result<Vec<u8>, String>) -> Overlay {
        let other = file.and_then(|bytes| Bundle::read(&bytes).map_err(|error| error.to_string()));
        let other = other.map(|other| {
            let is_blocked = shared.examine(&other.record(), None).blocked();
            (other, is_blocked)
        });
        Overlay::compared(&bundle(&self.review, shared), path, other)
    }

    /// Returns the order that loads the record again.
    pub(crate) fn reread(&self) -> Option<Order> {
        let activity = &self.review.activity;
        let is_recorded = self.review.draft.is_none();
        is_recorded.then(|| Order::Record(activity.organization_id, activity.id.to_string()))
    }

    /// Returns the order that reads the recent activities if the review changes policies.
    fn read_recent(&self) -> Option<Order> {
        let proposal = self.review.proposal.as_ref().filter(|_| self.review.ended.is_none())?;
        changed(&self.review.organization, &proposal.activity_type, &proposal.parameters)?;
        Some(Order::Recent(self.review.activity.organization_id))
    }

    /// Returns the orders that read what an opened review needs in addition to its record.
    pub(crate) fn reads(&self) -> Vec<Order> {
        self.read_recent().into_iter().chain(self.read_past()).collect()
    }

    /// Evaluates the recent activities again with the policies as the activity would leave them.
    pub(crate) fn replay(&mut self, shared: &Shared, rows: &[ActivityRow], resolved: &ResolvedNames) {
        let Some(proposal) = &self.review.proposal else { return };
        let organization = &self.review.organization;
        let Some(policies) = changed(organization, &proposal.activity_type, &proposal.parameters) else {
            return;
        };
        let strict = shared.is_strict();
        let replay = policies::replay(organization, policies, strict, rows, resolved, shared.now);
        let mut lines = replay_lines(&replay, organization);
        if let Some(more) = lines.len().checked_sub(REPLAY_LIMIT).filter(|more| *more > 0) {
            lines.truncate(REPLAY_LIMIT);
            lines.push(format!("and {more} more: quorate policy diff lists all of them"));
        }
        self.set_replay(lines);
    }

    /// Applies a new record of the reviewed activity.
    pub(crate) fn apply_record(&mut self, shared: &Shared, record: &Record, reference: &str) -> Vec<Order> {
        let fresh = self.examine(shared, record, reference);
        let is_closed = !self.review.activity.status.is_terminal() && fresh.activity.status.is_terminal();
        let end = is_closed.then(|| closed(&fresh.activity, &fresh.organization));
        let mut orders = Vec::new();
        if self.wants_fresh {
            self.replace(fresh);
            orders = self.reads();
        } else {
            self.changed = difference(&self.review, &fresh);
        }
        self.closed = end.or_else(|| self.closed.take());
        orders
    }

    /// Reviews a draft again if the organization changed. A draft with a decision in progress stays as it is
    /// shown.
    pub(crate) fn refresh_draft(
        &mut self,
        shared: &Shared,
        organization: &OrganizationDetail,
    ) -> Option<Request> {
        let draft = self.review.draft.as_ref()?;
        if organization.head.version == self.review.organization.head.version {
            return None;
        }
        if self.decide.is_some() {
            self.changed = Some("the organization".to_owned());
            return None;
        }
        Some(match shared.review_draft(&draft.request, &draft.signers) {
            Ok(fresh) => Request::Review(Box::new(fresh)),
            Err(error) => Request::Notice(error),
        })
    }
}

/// Returns when and how an activity ended, as the daemon states.
fn closed(activity: &Activity, organization: &OrganizationDetail) -> String {
    format!("CLOSED at {}: {}", clock(activity.updated_at.millis()), state_text(activity, organization))
}

/// Writes the review of a draft, or the proof bundle of an activity.
fn export(review: &Review, shared: &Shared) -> Effect {
    let (name, value) = match review.draft {
        Some(_) => ("quorate-draft.json".to_owned(), json(review)),
        None => (format!("quorate-proof-{}.json", review.activity.id), bundle(review, shared).json()),
    };
    Effect::Export { name, text: file_text(&value) }
}

fn bundle(review: &Review, shared: &Shared) -> Bundle {
    Bundle::of(review, &shared.known_keys, shared.now)
}
