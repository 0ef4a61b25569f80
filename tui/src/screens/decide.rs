//! A decision under way, docked below the facts: challenge, key, hold, re-read, send, receipt. Enter alone, a held
//! key, a paste or keys typed ahead never get through it. Keys that arrive together are typed keys: only what the
//! terminal marks as pasted is a paste.

use quorate_common::activity::Activity;
use quorate_common::console::ReviewRecord;
use quorate_common::stamp::Stamp;
use tui_input::Input;
use zeroize::Zeroizing;

use super::{edit, policies, review};
use crate::app::{Effect, JournalLine, Model};
use crate::ballot::{self, Ballot, Choice, Outcome};
use crate::cli::outlook;
use crate::keymap::Key;
use crate::link::{LinkFlaw, Order};
use crate::proof::{Challenge, status_word};
use crate::text::clock;

mod panel;

pub(crate) use panel::{draw, height};

/// The field opens after this long without any key.
const QUIET_MILLIS: u64 = 1000;
/// Enter again within this was held, not pressed: it closes no receipt.
const REPEAT_MILLIS: u64 = 80;
/// How long a signed vote waits for Esc.
const HOLD_MILLIS: u64 = 3000;
/// Longest answer and passphrase, in characters.
const ANSWER_LIMIT: usize = 64;
const PASSPHRASE_LIMIT: usize = 512;

/// Where the cursor is within the challenge. Enter does something on the last two only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Focus {
    Field,
    Note,
    Cancel,
    Send,
}

enum Step {
    /// Keys are thrown away until there was none for a while.
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
        flaw: Option<String>,
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
    Over {
        lines: Vec<String>,
        good: bool,
    },
}

/// A decision under way.
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
    /// What of the passing time is on screen.
    pub(crate) fn pulse(&self, now: u64) -> String {
        match &self.step {
            Step::Hold { until, .. } => format!("hold {}", until.saturating_sub(now).div_ceil(1000)),
            _ => String::new(),
        }
    }

    fn over(&mut self, good: bool, text: String) {
        self.step = Step::Over { lines: vec![text], good };
        self.scroll = 0;
    }
}

/// Begins a decision on the open review: a vote, or the proposal that it is a draft of.
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
        Err(refusal) => {
            model.notice = refusal;
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

/// Takes a key; `gap` is the time since the one before.
pub(crate) fn press(model: &mut Model, key: Key, gap: u64) -> Vec<Effect> {
    let now = model.now;
    let needs_passphrase = model.identity.needs_passphrase;
    let Some(decide) = &mut model.decide else { return Vec::new() };
    let repeated = decide.last == Some(key) && gap < REPEAT_MILLIS;
    decide.last = Some(key);
    if key == Key::Esc {
        return escape(model);
    }
    if let (Key::PageUp | Key::PageDown, false) = (key, matches!(decide.step, Step::Quiet { .. })) {
        panel::scroll(model, key == Key::PageDown);
        return Vec::new();
    }
    // What a key does is shown at the top.
    decide.scroll = 0;
    match &mut decide.step {
        Step::Quiet { since } => *since = now,
        Step::Challenge { .. } => {
            if answered_right(decide, key) {
                return after_challenge(decide, needs_passphrase);
            }
        }
        Step::Key { passphrase, flaw } => match key {
            Key::Char(letter) if passphrase.chars().count() < PASSPHRASE_LIMIT => passphrase.push(letter),
            Key::Backspace => {
                passphrase.pop();
            }
            Key::Enter if !passphrase.is_empty() => {
                *flaw = None;
                let given = std::mem::take(passphrase);
                decide.step = Step::Signing;
                return vec![Effect::Sign { passphrase: given, message: decide.ballot.message.clone() }];
            }
            _ => {}
        },
        Step::Over { .. } if key == Key::Enter && !repeated => return escape(model),
        Step::Signing
        | Step::Hold { .. }
        | Step::Reread { .. }
        | Step::Sending { .. }
        | Step::Over { .. } => {}
    }
    Vec::new()
}

/// Esc: nothing has left until the vote is being sent; then it cannot be called back.
fn escape(model: &mut Model) -> Vec<Effect> {
    let Some(decide) = &model.decide else { return Vec::new() };
    match decide.step {
        Step::Sending { .. } => {
            "it is being sent and cannot be called back".clone_into(&mut model.notice);
            return Vec::new();
        }
        Step::Over { .. } => {}
        _ => "cancelled: nothing was sent".clone_into(&mut model.notice),
    }
    if matches!(decide.step, Step::Over { good: true, .. }) && decide.choice == Choice::Propose {
        // What was thought of is an activity now.
        model.review = None;
        policies::sent(model);
    }
    model.decide = None;
    if let Some(open) = &mut model.review {
        open.wants_fresh = true;
    }
    review::reread(model)
}

/// A key within the challenge. Returns whether the decision goes on.
fn answered_right(decide: &mut Decide, key: Key) -> bool {
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
        decide.step = Step::Key { passphrase: Zeroizing::new(String::new()), flaw: None };
        return Vec::new();
    }
    decide.step = Step::Signing;
    vec![Effect::Sign { passphrase: Zeroizing::new(String::new()), message: decide.ballot.message.clone() }]
}

/// The key has signed, or not. A wrong passphrase may be given again.
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
        Err(flaw) if needs_passphrase => {
            decide.step = Step::Key { passphrase: Zeroizing::new(String::new()), flaw: Some(flaw) }
        }
        Err(flaw) => decide.over(false, format!("Nothing was sent: {flaw}")),
    }
    Vec::new()
}

/// What the passing of time does.
pub(crate) fn advance(model: &mut Model) -> Vec<Effect> {
    let now = model.now;
    let standstill = model.standstill();
    let changed = model.review.as_ref().and_then(|open| {
        open.closed
            .clone()
            .or_else(|| open.changed.clone().map(|changed| format!("changed since the review: {changed}")))
    });
    let Some(decide) = &mut model.decide else { return Vec::new() };
    let before_sending = !matches!(decide.step, Step::Sending { .. } | Step::Over { .. });
    if let Some(reason) = changed.or(standstill).filter(|_| before_sending) {
        decide.over(false, format!("Nothing was sent: {reason}. Esc closes; r reads the review again."));
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
                // There is no record yet, and a change of the organization would have stopped it.
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

/// The record right before sending: only when it still is what was shown does the vote leave.
pub(crate) fn preflight(model: &mut Model, result: &Result<Box<ReviewRecord>, LinkFlaw>) -> Vec<Effect> {
    let Some(open) = &model.review else { return Vec::new() };
    let id = open.review.activity.id.to_string();
    let difference = match result {
        Ok(record) => {
            let fresh = model.examine(record, Some(&id));
            review::difference(&open.review, &fresh)
                .map(|changed| format!("changed since the review: {changed}"))
        }
        Err(flaw) => Some(format!("the record could not be read again: {flaw}")),
    };
    let organization = open.review.activity.organization_id;
    let Some(decide) = &mut model.decide else { return Vec::new() };
    let Step::Reread { stamp } = &decide.step else { return Vec::new() };
    let stamp = stamp.clone();
    if let Some(difference) = difference {
        decide.over(false, format!("Nothing was sent: {difference}. Esc closes; r reads the review again."));
        return Vec::new();
    }
    decide.step = Step::Sending { stamp: stamp.clone() };
    vec![Effect::Order(Order::Cast(organization, Box::new((decide.ballot.clone(), *stamp))))]
}

/// The daemon's answer to the vote: recorded, waiting, executed and failed are told apart.
pub(crate) fn answered(model: &mut Model, result: Result<Box<Activity>, LinkFlaw>) -> Vec<Effect> {
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
    let (good, text, outcome) = match result {
        Ok(target) if user.is_some_and(|user| ballot::is_recorded(&target, &ballot, user, stamp)) => {
            let outcome = Outcome::of(target.status);
            if outcome != Outcome::Waiting {
                closed = Some(format!("CLOSED at {}: {}", clock(model.now), status_word(target.status)));
            }
            let good = outcome != Outcome::Failed;
            (
                good,
                format!(
                    "{what} recorded, with my signature in the record [v]. {}",
                    outlook(&target, &open.review)
                ),
                outcome.word(),
            )
        }
        Ok(_) => (
            false,
            format!(
                "[x] Sent, but the daemon's record does not hold this {} with this signature.",
                what.to_lowercase()
            ),
            "not in the record",
        ),
        Err(flaw) if flaw.is_transport() => (
            false,
            format!(
                "[!] Sent, no answer: {flaw}. The same bytes went several times and count once; look at the record."
            ),
            "no answer",
        ),
        Err(flaw) => (false, format!("[!] The daemon refused: {flaw}. Nothing was counted."), "refused"),
    };
    let effect = Effect::Journal(Box::new((line(activity, outcome), ballot)));
    decide.over(good, text);
    if let Some(open) = &mut model.review {
        open.wants_fresh = true;
        // The record may be gone with its organization.
        open.closed = open.closed.take().or(closed);
    }
    let mut effects = vec![effect];
    effects.extend(review::reread(model));
    effects
}
