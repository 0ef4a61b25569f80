//! A decision in progress, in a panel below the review: challenge, key, hold, re-read, send, receipt. It
//! cannot be completed by Enter alone, a held key, a paste or keys typed ahead. Keys that arrive together
//! count as typed: only what the terminal marks as pasted is a paste.

use quorate_common::activity::Activity;
use quorate_common::console::ReviewRecord;
use quorate_common::stamp::Stamp;
use tui_input::Input;
use zeroize::Zeroizing;

use super::{edit, policies, review};
use crate::app::{Effect, JournalLine, Model};
use crate::ballot::{self, Ballot, Choice, Outcome};
use crate::cli::outcome_text;
use crate::keymap::Key;
use crate::link::{LinkError, Order};
use crate::proof::{Challenge, status_word};
use crate::text::clock;

mod panel;

pub(crate) use panel::{draw, height};

/// The challenge field opens after this time without any key, in milliseconds.
const QUIET_MILLIS: u64 = 1000;
/// An Enter within this time is a key repeat and does not close a receipt, in milliseconds.
const REPEAT_MILLIS: u64 = 80;
/// How long a signed vote can be cancelled with Esc before it is sent, in milliseconds.
const HOLD_MILLIS: u64 = 3000;
/// Maximum length of an answer and of a passphrase, in characters.
const ANSWER_LIMIT: usize = 64;
const PASSPHRASE_LIMIT: usize = 512;

/// Focus within the challenge. Enter has an effect on the last two only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Focus {
    Field,
    Note,
    Cancel,
    Send,
}

enum Step {
    /// Keys are discarded until none was pressed for a while.
    Quiet {
        since: u64,
    },
    Challenge {
        typed: String,
        focus: Focus,
        wrong: bool,
    },
    Key {
        passphrase: Zeroizing<String>,
        error: Option<String>,
    },
    Signing,
    Hold {
        stamp: Box<Stamp>,
        until: u64,
    },
    Reread {
        stamp: Box<Stamp>,
    },
    Sending {
        stamp: Box<Stamp>,
    },
    Receipt {
        lines: Vec<String>,
        success: bool,
    },
}

/// A decision in progress.
pub(crate) struct Decide {
    choice: Choice,
    ballot: Ballot,
    challenge: Challenge,
    note: Input,
    step: Step,
    last: Option<Key>,
    /// First row of the panel that is shown.
    scroll: usize,
}

impl Decide {
    /// Returns the time-dependent text on screen.
    pub(crate) fn pulse(&self, now: u64) -> String {
        match &self.step {
            Step::Hold { until, .. } => format!("hold {}", until.saturating_sub(now).div_ceil(1000)),
            _ => String::new(),
        }
    }

    fn finish(&mut self, success: bool, text: String) {
        self.step = Step::Receipt { lines: vec![text], success };
        self.scroll = 0;
    }
}

/// Starts a decision on the open review: a vote, or the proposal of a draft.
pub(crate) fn begin(model: &mut Model, choice: Choice) {
    let Some(open) = &model.review else { return };
    let review = &open.review;
    let challenge = if choice == Choice::Reject { Challenge::Yes } else { review.challenge() };
    let vote = || {
        let (organization, fingerprint) = review.vote_target()?;
        Ok(Ballot::vote(choice == Choice::Approve, organization, fingerprint, model.now))
    };
    let ballot: Result<Ballot, String> =
        review.draft.as_ref().map_or_else(vote, |draft| Ok(draft.ballot.clone()));
    let ballot = match ballot {
        Ok(ballot) => ballot,
        Err(error) => {
            model.notice = error;
            return;
        }
    };
    model.decide = Some(Decide {
        choice,
        ballot,
        challenge,
        note: Input::default(),
        step: Step::Quiet { since: model.now },
        last: None,
        scroll: 0,
    });
}

/// Handles a key; `gap` is the time since the previous one, in milliseconds.
pub(crate) fn press(model: &mut Model, key: Key, gap: u64) -> Vec<Effect> {
    let now = model.now;
    let needs_passphrase = model.identity.needs_passphrase;
    let Some(decide) = &mut model.decide else { return Vec::new() };
    let is_repeat = decide.last == Some(key) && gap < REPEAT_MILLIS;
    decide.last = Some(key);
    if key == Key::Esc {
        return escape(model);
    }
    if let (Key::PageUp | Key::PageDown, false) = (key, matches!(decide.step, Step::Quiet { .. })) {
        panel::scroll(model, key == Key::PageDown);
        return Vec::new();
    }
    // The effect of a key shows at the top.
    decide.scroll = 0;
    match &mut decide.step {
        Step::Quiet { since } => *since = now,
        Step::Challenge { .. } => {
            if passes_challenge(decide, key) {
                return after_challenge(decide, needs_passphrase);
            }
        }
        Step::Key { passphrase, error } => match key {
            Key::Char(letter) if passphrase.chars().count() < PASSPHRASE_LIMIT => passphrase.push(letter),
            Key::Backspace => {
                passphrase.pop();
            }
            Key::Enter if !passphrase.is_empty() => {
                *error = None;
                let given = std::mem::take(passphrase);
                decide.step = Step::Signing;
                return vec![Effect::Sign { passphrase: given, message: decide.ballot.message.clone() }];
            }
            _ => {}
        },
        Step::Receipt { .. } if key == Key::Enter && !is_repeat => return escape(model),
        Step::Signing
        | Step::Hold { .. }
        | Step::Reread { .. }
        | Step::Sending { .. }
        | Step::Receipt { .. } => {}
    }
    Vec::new()
}

/// Handles Esc. It cancels the decision unless the vote is already being sent.
fn escape(model: &mut Model) -> Vec<Effect> {
    let Some(decide) = &model.decide else { return Vec::new() };
    match decide.step {
        Step::Sending { .. } => {
            "it is already being sent and cannot be cancelled".clone_into(&mut model.notice);
            return Vec::new();
        }
        Step::Receipt { .. } => {}
        _ => "cancelled: nothing was sent".clone_into(&mut model.notice),
    }
    if matches!(decide.step, Step::Receipt { success: true, .. }) && decide.choice == Choice::Propose {
        // The draft is an activity now.
        model.review = None;
        policies::discard_draft(model);
    }
    model.decide = None;
    if let Some(open) = &mut model.review {
        open.wants_fresh = true;
    }
    review::reread(model)
}

/// Handles a key in the challenge. Returns whether the answer is correct and the decision continues.
fn passes_challenge(decide: &mut Decide, key: Key) -> bool {
    let has_note = decide.choice == Choice::Reject;
    let expected = match &decide.challenge {
        Challenge::Yes => "y".to_owned(),
        Challenge::LastFour(answer) => answer.clone(),
        Challenge::Value(danger) => danger.answer.clone(),
    };
    let Step::Challenge { typed, focus, wrong } = &mut decide.step else { return false };
    match (key, *focus) {
        (Key::Tab | Key::BackTab, at) => {
            *focus = match at {
                Focus::Field if has_note => Focus::Note,
                Focus::Field | Focus::Note => Focus::Send,
                Focus::Send => Focus::Cancel,
                Focus::Cancel => Focus::Field,
            };
        }
        (Key::Enter, Focus::Send) if *typed == expected => return true,
        (Key::Enter, Focus::Send) => {
            typed.clear();
            *wrong = true;
            *focus = Focus::Field;
        }
        (Key::Enter, Focus::Field) if expected != "y" && !typed.is_empty() => {
            if *typed == expected {
                return true;
            }
            typed.clear();
            *wrong = true;
        }
        (Key::Char(letter), Focus::Field) if typed.chars().count() < ANSWER_LIMIT => {
            *wrong = false;
            typed.push(letter);
        }
        (Key::Backspace, Focus::Field) => {
            typed.pop();
        }
        (key, Focus::Note) => edit(&mut decide.note, key),
        _ => {}
    }
    false
}

fn after_challenge(decide: &mut Decide, needs_passphrase: bool) -> Vec<Effect> {
    if needs_passphrase {
        decide.step = Step::Key { passphrase: Zeroizing::new(String::new()), error: None };
        return Vec::new();
    }
    decide.step = Step::Signing;
    vec![Effect::Sign { passphrase: Zeroizing::new(String::new()), message: decide.ballot.message.clone() }]
}

/// Applies the result of signing. A wrong passphrase can be entered again.
pub(crate) fn signed(model: &mut Model, result: Result<Stamp, String>) -> Vec<Effect> {
    let now = model.now;
    let needs_passphrase = model.identity.needs_passphrase;
    let Some(decide) = &mut model.decide else { return Vec::new() };
    if !matches!(decide.step, Step::Signing) {
        return Vec::new();
    }
    match result {
        Ok(stamp) => {
            decide.step = Step::Hold { stamp: Box::new(stamp), until: now.saturating_add(HOLD_MILLIS) }
        }
        Err(error) if needs_passphrase => {
            decide.step = Step::Key { passphrase: Zeroizing::new(String::new()), error: Some(error) }
        }
        Err(error) => decide.finish(false, format!("Nothing was sent: {error}")),
    }
    Vec::new()
}

/// Advances the decision with time.
pub(crate) fn advance(model: &mut Model) -> Vec<Effect> {
    let now = model.now;
    let decisions_disabled = model.decisions_disabled();
    let changed = model.review.as_ref().and_then(|open| {
        open.closed
            .clone()
            .or_else(|| open.changed.clone().map(|changed| format!("changed since the review: {changed}")))
    });
    let Some(decide) = &mut model.decide else { return Vec::new() };
    let before_sending = !matches!(decide.step, Step::Sending { .. } | Step::Receipt { .. });
    if let Some(reason) = changed.or(decisions_disabled).filter(|_| before_sending) {
        decide.finish(false, format!("Nothing was sent: {reason}. Esc closes; r reloads the review."));
        return Vec::new();
    }
    match &decide.step {
        Step::Quiet { since } if now.saturating_sub(*since) >= QUIET_MILLIS => {
            decide.step = Step::Challenge { typed: String::new(), focus: Focus::Field, wrong: false };
            model.dirty = true;
        }
        Step::Hold { stamp, until } if now >= *until => {
            let stamp = stamp.clone();
            if let Some(open) = model.review.as_ref().filter(|_| decide.choice == Choice::Propose) {
                // There is no record to re-read yet, and a change of the organization would have stopped the
                // proposal.
                let organization = open.review.activity.organization_id;
                decide.step = Step::Sending { stamp: stamp.clone() };
                model.dirty = true;
                return vec![Effect::Order(Order::Cast(
                    organization,
                    Box::new((decide.ballot.clone(), *stamp)),
                ))];
            }
            decide.step = Step::Reread { stamp };
            let activity = model
                .review
                .as_ref()
                .map(|open| (open.review.activity.organization_id, open.review.activity.id.to_string()));
            model.dirty = true;
            return activity
                .map(|(organization, id)| Effect::Order(Order::Preflight(organization, id)))
                .into_iter()
                .collect();
        }
        _ => {}
    }
    Vec::new()
}

/// Compares the record directly before sending. The vote is sent only if the record is what was shown.
pub(crate) fn preflight(model: &mut Model, result: &Result<Box<ReviewRecord>, LinkError>) -> Vec<Effect> {
    let Some(open) = &model.review else { return Vec::new() };
    let id = open.review.activity.id.to_string();
    let difference = match result {
        Ok(record) => {
            let fresh = model.examine(record, Some(&id));
            review::difference(&open.review, &fresh)
                .map(|changed| format!("changed since the review: {changed}"))
        }
        Err(error) => Some(format!("the record cannot be loaded again: {error}")),
    };
    let organization = open.review.activity.organization_id;
    let Some(decide) = &mut model.decide else { return Vec::new() };
    let Step::Reread { stamp } = &decide.step else { return Vec::new() };
    let stamp = stamp.clone();
    if let Some(difference) = difference {
        decide.finish(false, format!("Nothing was sent: {difference}. Esc closes; r reloads the review."));
        return Vec::new();
    }
    decide.step = Step::Sending { stamp: stamp.clone() };
    vec![Effect::Order(Order::Cast(organization, Box::new((decide.ballot.clone(), *stamp))))]
}

/// Applies the daemon's answer to the vote. The receipt distinguishes recorded, waiting, executed and failed.
pub(crate) fn apply_answer(model: &mut Model, result: Result<Box<Activity>, LinkError>) -> Vec<Effect> {
    let Some(open) = &model.review else { return Vec::new() };
    let user = model.viewer.user.or(open.review.viewer.user);
    let Some(decide) = &mut model.decide else { return Vec::new() };
    let Step::Sending { stamp } = &decide.step else { return Vec::new() };
    let note = Some(decide.note.value().to_owned()).filter(|note| !note.is_empty());
    let line = |activity, outcome: &'static str| JournalLine {
        activity,
        organization: open.review.activity.organization_id,
        version: open.review.organization.head.version,
        sentence: open.review.sentence.clone(),
        outcome,
        note: note.clone(),
    };
    let ballot = decide.ballot.clone();
    let mut closed = None;
    let activity = match (&result, decide.choice) {
        (Ok(target), Choice::Propose) => target.id,
        _ => open.review.activity.id,
    };
    let what = if decide.choice == Choice::Propose { "Proposal" } else { "Vote" };
    let (success, text, outcome) = match result {
        Ok(target) if user.is_some_and(|user| ballot::is_recorded(&target, &ballot, user, stamp)) => {
            let outcome = Outcome::of(target.status);
            if outcome != Outcome::Waiting {
                closed = Some(format!("CLOSED at {}: {}", clock(model.now), status_word(target.status)));
            }
            let success = outcome != Outcome::Failed;
            (
                success,
                format!(
                    "{what} recorded; the record contains your signature [v]. {}",
                    outcome_text(&target, &open.review)
                ),
                outcome.word(),
            )
        }
        Ok(_) => (
            false,
            format!(
                "[x] Sent, but the daemon's record does not contain this {} with your signature.",
                what.to_lowercase()
            ),
            "not in the record",
        ),
        Err(error) if error.is_transport() => (
            false,
            format!(
                "[!] Sent, but there was no answer: {error}. The same bytes were sent several times and count once; check the record."
            ),
            "no answer",
        ),
        Err(error) => {
            (false, format!("[!] The daemon refused it: {error}. Nothing was recorded."), "refused")
        }
    };
    let effect = Effect::Journal(Box::new((line(activity, outcome), ballot)));
    decide.finish(success, text);
    if let Some(open) = &mut model.review {
        open.wants_fresh = true;
        // The record may have been deleted with its organization.
        open.closed = open.closed.take().or(closed);
    }
    let mut effects = vec![effect];
    effects.extend(review::reread(model));
    effects
}
