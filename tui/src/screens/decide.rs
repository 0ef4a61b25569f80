//! A decision in progress: challenge, key, hold, re-read, send, receipt. It cannot be completed by Enter alone, a
//! held key, a paste or keys typed ahead. Keys that arrive together count as typed: only what the terminal marks
//! as pasted is a paste.

use quorate_common::activity::Activity;
use quorate_common::ids::{ActivityId, UserId};
use quorate_common::stamp::Stamp;
use tui_input::Input;
use zeroize::Zeroizing;

use super::filter::edit;
use super::receipt::Receipt;
use super::request::Effect;
use crate::ballot::{self, Ballot, Choice, Outcome, Unconfirmed};
use crate::journal::Entry;
use crate::keymap::Key;
use crate::link::{CastError, Confirmation, Order};
use crate::proof::{Challenge, Review};

/// Time without any key after which the challenge field opens, in milliseconds.
const PAUSE_MILLIS: u64 = 1000;
/// An Enter within this time is a key repeat and does not close a receipt, in milliseconds.
const REPEAT_MILLIS: u64 = 80;
/// Time for which a signed vote can be cancelled with Esc before it is sent, in milliseconds.
const HOLD_MILLIS: u64 = 3000;
/// Maximum length of an answer and of a passphrase, in characters.
const ANSWER_LIMIT: usize = 64;
const PASSPHRASE_LIMIT: usize = 512;

/// Focus within the challenge. Enter has an effect on the last two only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Focus {
    Field,
    Note,
    Cancel,
    Send,
}

pub(super) enum Step {
    /// Keys are discarded until none was pressed for a while.
    DiscardingKeys {
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
        /// Time of the entry in the journal, in milliseconds since the Unix epoch.
        at: u64,
    },
    Receipt(Receipt),
}

/// A decision in progress.
pub(crate) struct Decide {
    pub(super) choice: Choice,
    pub(super) ballot: Ballot,
    pub(super) challenge: Challenge,
    pub(super) note: Input,
    pub(super) step: Step,
    last: Option<Key>,
    /// First row of the panel that is shown.
    pub(super) scroll: usize,
}

/// What a key did.
pub(super) enum Pressed {
    Nothing,
    /// The message must be signed.
    Sign(Effect),
    /// The user closed the decision.
    Closed,
    /// The user wants to review what waits next.
    Next,
}

impl Decide {
    /// Starts a decision on a review: a vote, or the proposal of a draft.
    pub(super) fn new(review: &Review, choice: Choice, now: u64) -> Result<Self, String> {
        let ballot = if let Some(draft) = &review.draft {
            draft.ballot.clone()
        } else {
            let (organization, fingerprint) = review.vote_target()?;
            Ballot::vote(choice == Choice::Approve, organization, fingerprint, now)
        };
        let challenge = if choice == Choice::Reject { Challenge::Yes } else { review.challenge() };
        let (note, step) = (Input::default(), Step::DiscardingKeys { since: now });
        Ok(Self { choice, ballot, challenge, note, step, last: None, scroll: 0 })
    }

    /// Returns the time-dependent text on screen.
    pub(crate) fn pulse(&self, now: u64) -> String {
        match &self.step {
            Step::DiscardingKeys { .. } => "discarding".to_owned(),
            Step::Hold { until, .. } => format!("hold {}", until.saturating_sub(now).div_ceil(1000)),
            Step::Reread { .. } => "reread".to_owned(),
            Step::Sending { .. } => "sending".to_owned(),
            _ => String::new(),
        }
    }

    /// Returns the text of the key bar.
    pub(crate) fn keys(&self) -> &'static str {
        match &self.step {
            Step::DiscardingKeys { .. } | Step::Signing | Step::Hold { .. } | Step::Reread { .. } => {
                "Esc Cancel"
            }
            Step::Challenge { .. } => "Esc Cancel  Tab Next field",
            Step::Key { .. } => "Esc Cancel  Enter Unlock",
            Step::Sending { .. } => "",
            Step::Receipt(receipt) if receipt.success => "n Next  Enter Close  Esc Close",
            Step::Receipt(_) => "Esc Close",
        }
    }

    /// Returns whether the challenge field is not open yet.
    pub(super) const fn discards_keys(&self) -> bool {
        matches!(self.step, Step::DiscardingKeys { .. })
    }

    pub(super) const fn is_sending(&self) -> bool {
        matches!(self.step, Step::Sending { .. })
    }

    /// Returns whether the key is making the signature.
    pub(super) const fn is_signing(&self) -> bool {
        matches!(self.step, Step::Signing)
    }

    /// Returns whether the vote or proposal is recorded.
    pub(super) const fn is_sent(&self) -> bool {
        matches!(&self.step, Step::Receipt(receipt) if receipt.success)
    }

    pub(super) const fn is_finished(&self) -> bool {
        matches!(self.step, Step::Receipt(_))
    }

    /// Returns whether the draft was proposed and is an activity now.
    pub(super) fn is_proposed(&self) -> bool {
        matches!(&self.step, Step::Receipt(receipt) if receipt.success) && self.choice == Choice::Propose
    }

    fn finish(&mut self, receipt: Receipt) {
        self.step = Step::Receipt(receipt);
        self.scroll = 0;
    }

    /// Ends the decision before anything was sent.
    pub(super) fn stop(&mut self, reason: &str) {
        self.finish(Receipt::unsent(format!("Nothing was sent: {reason}. r reloads the review.")));
    }

    /// Handles a key; `gap` is the time since the previous one, in milliseconds.
    pub(super) fn press(&mut self, key: Key, gap: u64, now: u64, needs_passphrase: bool) -> Pressed {
        let is_repeat = self.last == Some(key) && gap < REPEAT_MILLIS;
        self.last = Some(key);
        if key == Key::Esc {
            return Pressed::Closed;
        }
        // The effect of a key shows at the top.
        self.scroll = 0;
        match &mut self.step {
            Step::DiscardingKeys { since } => *since = now,
            Step::Challenge { .. } => return self.answer(key, needs_passphrase),
            Step::Key { passphrase, error } => match key {
                Key::Char(letter) if passphrase.chars().count() < PASSPHRASE_LIMIT => passphrase.push(letter),
                // What was typed or pasted cannot be seen, so one key starts again.
                Key::Ctrl('u') => *passphrase = fresh_passphrase(),
                Key::Backspace => {
                    passphrase.pop();
                }
                Key::Enter if !passphrase.is_empty() => {
                    *error = None;
                    let given = std::mem::take(passphrase);
                    return self.sign(given);
                }
                _ => {}
            },
            Step::Receipt(_) if key == Key::Enter && !is_repeat => return Pressed::Closed,
            Step::Receipt(receipt) if key == Key::Char('n') && receipt.success && !is_repeat => {
                return Pressed::Next;
            }
            _ => {}
        }
        Pressed::Nothing
    }

    /// Inserts pasted text into the passphrase, up to its first line break. Returns whether a passphrase is entered now:
    /// everything else must be typed.
    pub(super) fn paste(&mut self, text: &str) -> bool {
        let Step::Key { passphrase, .. } = &mut self.step else { return false };
        let line = text.chars().take_while(|letter| !matches!(letter, '\n' | '\r'));
        let room = PASSPHRASE_LIMIT.saturating_sub(passphrase.chars().count());
        passphrase.extend(line.filter(|letter| !letter.is_control()).take(room));
        true
    }

    /// Handles a key in the challenge. The decision continues once the answer is correct.
    fn answer(&mut self, key: Key, needs_passphrase: bool) -> Pressed {
        if key == Key::Enter && matches!(self.step, Step::Challenge { focus: Focus::Cancel, .. }) {
            return Pressed::Closed;
        }
        if !self.passes_challenge(key) {
            return Pressed::Nothing;
        }
        if needs_passphrase {
            self.step = Step::Key { passphrase: fresh_passphrase(), error: None };
            return Pressed::Nothing;
        }
        self.sign(Zeroizing::default())
    }

    fn sign(&mut self, passphrase: Zeroizing<String>) -> Pressed {
        self.step = Step::Signing;
        Pressed::Sign(Effect::Sign { passphrase, message: self.ballot.message.clone() })
    }

    /// Handles a key in the challenge. Returns whether the answer is correct and the decision continues.
    fn passes_challenge(&mut self, key: Key) -> bool {
        let has_note = self.choice == Choice::Reject;
        let expected = match &self.challenge {
            Challenge::Yes => "y".to_owned(),
            Challenge::LastFour(answer) => answer.clone(),
            Challenge::Value(danger) => danger.answer.clone(),
        };
        let Step::Challenge { typed, focus, wrong } = &mut self.step else { return false };
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
            // The note of a rejection comes after the answer.
            (Key::Enter, Focus::Field) if !has_note && !typed.is_empty() => {
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
            (key, Focus::Note) => edit(&mut self.note, key),
            _ => {}
        }
        false
    }

    /// Applies the result of signing. A wrong passphrase can be entered again.
    pub(super) fn signed(&mut self, result: Result<Stamp, String>, now: u64, needs_passphrase: bool) {
        if !matches!(self.step, Step::Signing) {
            return;
        }
        match result {
            Ok(stamp) => {
                let until = now.saturating_add(HOLD_MILLIS);
                self.step = Step::Hold { stamp: Box::new(stamp), until };
            }
            Err(error) if needs_passphrase => {
                self.step = Step::Key { passphrase: fresh_passphrase(), error: Some(error) };
            }
            Err(error) => self.finish(Receipt::unsent(format!("Nothing was sent: {error}"))),
        }
    }

    /// Advances the decision with time. Returns the effect that re-reads the record or sends the proposal.
    pub(super) fn advance(&mut self, review: &Review, now: u64) -> Option<Effect> {
        let organization = review.activity.organization_id;
        match &self.step {
            Step::DiscardingKeys { since } if now.saturating_sub(*since) >= PAUSE_MILLIS => {
                self.step = Step::Challenge { typed: String::new(), focus: Focus::Field, wrong: false };
                None
            }
            Step::Hold { stamp, until } if now >= *until => {
                let stamp = stamp.clone();
                if self.choice == Choice::Propose {
                    // There is no record to re-read yet, and a change of the organization would have stopped the
                    // proposal.
                    return Some(self.send(review, stamp, now));
                }
                self.step = Step::Reread { stamp };
                Some(Effect::Order(Order::Preflight(organization, review.activity.id.to_string())))
            }
            _ => None,
        }
    }

    fn send(&mut self, review: &Review, stamp: Box<Stamp>, now: u64) -> Effect {
        let vote = Box::new((self.ballot.clone(), (*stamp).clone()));
        self.step = Step::Sending { stamp, at: now };
        let entry = self.entry(review, (review.activity.id, Unconfirmed::NoAnswer.word()), now);
        let voter = (review.activity.organization_id, review.viewer.user);
        Effect::Send(Box::new(entry), Order::Cast(voter, vote))
    }

    fn entry(&self, review: &Review, state: (ActivityId, &str), at: u64) -> Entry {
        let note = Some(self.note.value()).filter(|note| !note.is_empty());
        Entry::of(review, &self.ballot, state, note, at)
    }

    /// Sends the vote if the record that was read directly before does not differ from the review.
    pub(super) fn preflight(
        &mut self,
        review: &Review,
        difference: Option<String>,
        now: u64,
    ) -> Option<Effect> {
        let Step::Reread { stamp } = &self.step else { return None };
        let stamp = stamp.clone();
        match difference {
            Some(difference) => {
                self.stop(&difference);
                None
            }
            None => Some(self.send(review, stamp, now)),
        }
    }

    /// Applies the daemon's answer. Returns the entry for the journal unless it states nothing new, and whether the activity
    /// was decided.
    pub(super) fn answered(
        &mut self,
        review: &Review,
        result: &Result<Box<Confirmation>, Box<CastError>>,
        user: Option<UserId>,
    ) -> Option<(Option<Entry>, bool)> {
        let Step::Sending { stamp, at } = &self.step else { return None };
        let is_recorded = |target: &Activity| {
            user.is_some_and(|user| ballot::is_recorded(target, &self.ballot, user, stamp))
        };
        let recorded = result.as_ref().ok().filter(|target| is_recorded(&target.activity));
        let receipt = Receipt::of(self.choice.noun(), review, stamp, result, recorded.is_some());
        let is_decided =
            recorded.is_some_and(|target| Outcome::of(target.activity.status) != Outcome::Waiting);
        let activity = match (result, self.choice) {
            (Ok(target), Choice::Propose) => target.activity.id,
            _ => review.activity.id,
        };
        let is_new = receipt.word != Unconfirmed::NoAnswer.word();
        let entry = is_new.then(|| self.entry(review, (activity, receipt.word), *at));
        self.finish(receipt);
        Some((entry, is_decided))
    }
}

/// Returns an empty passphrase with room for the longest one: it never moves in memory, so wiping it leaves no copy.
fn fresh_passphrase() -> Zeroizing<String> {
    Zeroizing::new(String::with_capacity(PASSPHRASE_LIMIT * char::MAX.len_utf8()))
}
