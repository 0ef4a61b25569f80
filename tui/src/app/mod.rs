//! The state of the console and how messages change it. This module is pure: it returns effects for
//! everything outside, and the time arrives with the messages.

mod answers;
mod keys;
mod view;

pub(crate) use view::{body, view};

use std::collections::BTreeMap;

use quorate_common::activity::Status;
use quorate_common::console::{DaemonStatus, OrganizationDetail, ReviewRecord};
use quorate_common::ids::OrganizationId;
use quorate_common::stamp::Stamp;
use zeroize::Zeroizing;

use crate::ballot::Ballot;
use crate::book::Book;
use crate::keymap::{Key, View};
use crate::known_keys::KnownKeys;
use crate::link::{Answer, LinkError, Order};
use crate::proof::{Evidence, Review, Viewer};
use crate::screens::decide::{self, Decide};
use crate::screens::overlay::Overlay;
use crate::screens::{activities, approvals, organizations, policies, review};
use crate::session::Identity;
use crate::text::duration;

/// Maximum age of data for decisions, in milliseconds.
const OLD_MILLIS: u64 = 10_000;
/// How long a notice stays on screen unless a key is pressed, in milliseconds.
const NOTICE_MILLIS: u64 = 20_000;

pub(crate) enum Msg {
    /// A key was pressed at this time, in milliseconds since 1970.
    Key(Key, u64),
    Paste(String),
    /// The terminal has a new size in columns and rows.
    Resize(u16, u16),
    /// The current time, in milliseconds since 1970.
    Tick(u64),
    /// The daemon answered.
    Link(Answer),
    /// Result of signing.
    Signed(Result<Stamp, String>),
    /// Result of the editor: the edited text, or why it could not be edited.
    Edited(Result<String, String>),
    /// Result of a file operation, as a notice.
    Notice(String),
}

/// Something to do outside of the state.
#[derive(Debug, PartialEq)]
pub(crate) enum Effect {
    Quit,
    /// Send an order to the worker.
    Order(Order),
    /// Sign a message.
    Sign {
        /// Passphrase of the key file; empty if none is needed.
        passphrase: Zeroizing<String>,
        /// Exact bytes to sign.
        message: String,
    },
    /// Edit this text.
    Edit(String),
    /// Copy this text to the clipboard.
    Copy(String),
    /// Write a new file.
    Export {
        /// File name in the folder where the console was started.
        name: String,
        text: String,
    },
    /// Save the known keys.
    SaveKnownKeys(Box<KnownKeys>),
    /// Append a decision to the journal.
    Journal(Box<(JournalLine, Ballot)>),
}

/// The journal's data about a decision.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct JournalLine {
    pub(crate) activity: quorate_common::ids::ActivityId,
    pub(crate) organization: OrganizationId,
    /// Version of the organization that was reviewed.
    pub(crate) version: u64,
    /// Description of the activity as it was shown.
    pub(crate) sentence: String,
    /// State of the activity afterwards.
    pub(crate) outcome: &'static str,
    pub(crate) note: Option<String>,
}

/// State of the connection.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum LinkState {
    /// The first connection attempt is running.
    Starting,
    Live,
    Lost {
        error: LinkError,
        /// Time when the connection was lost, in milliseconds since 1970.
        since: u64,
        /// Time of the next attempt, in milliseconds since 1970.
        retry: u64,
    },
    /// The daemon cannot be used; holds the reason.
    Refused(String),
}

/// An activity whose record is being loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Opening {
    pub(crate) reference: String,
    /// Title of the activity's kind.
    pub(crate) title: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Screen {
    Approvals,
    Organizations,
    Activities,
    Policies,
}

/// The complete state of the console.
pub(crate) struct Model {
    /// Terminal size in columns and rows.
    pub(crate) size: (u16, u16),
    /// Current time, in milliseconds since 1970.
    pub(crate) now: u64,
    /// User and key of the console.
    pub(crate) identity: Identity,
    pub(crate) link: LinkState,
    /// Time of the last message from the daemon, in milliseconds since 1970.
    pub(crate) last_contact: u64,
    pub(crate) daemon: Option<DaemonStatus>,
    /// Organization whose approvals are shown.
    pub(crate) organization_id: Option<OrganizationId>,
    pub(crate) organization: Option<OrganizationDetail>,
    /// Viewer within that organization.
    pub(crate) viewer: Viewer,
    pub(crate) known_keys: KnownKeys,
    pub(crate) book: Book,
    pub(crate) screen: Screen,
    pub(crate) last_screen: Screen,
    pub(crate) approvals: approvals::State,
    pub(crate) organizations: organizations::State,
    pub(crate) activities: activities::State,
    pub(crate) policies: policies::State,
    /// Activity that is being opened, if any.
    pub(crate) opening: Option<Opening>,
    /// Open review, if any. It covers the screen.
    pub(crate) review: Option<review::State>,
    /// Decision in progress, if any. Its panel is below the review.
    pub(crate) decide: Option<Decide>,
    /// Overlays over everything else; the last one is on top.
    pub(crate) overlays: Vec<Overlay>,
    /// One line about the last event. A key or time removes it.
    pub(crate) notice: String,
    /// Time when the notice was set.
    notice_set_at: u64,
    /// Data that cannot be read, by subject, until it can be read again.
    pub(crate) failures: BTreeMap<&'static str, String>,
    /// Why user and key do not match the organization, if so.
    pub(crate) mismatch: Option<String>,
    /// Whether the screen must be drawn again.
    pub(crate) dirty: bool,
    /// Time of the last key.
    last_key: u64,
    /// Time-dependent text on screen, see [`Model::pulse_now`].
    pulse: String,
}

impl Model {
    pub(crate) fn new(identity: Identity, known_keys: KnownKeys, size: (u16, u16), now: u64) -> Self {
        Self {
            size,
            now,
            organization_id: identity.viewer.organization,
            viewer: identity.viewer.clone(),
            identity,
            link: LinkState::Starting,
            last_contact: now,
            daemon: None,
            organization: None,
            known_keys,
            book: Book::EMPTY,
            screen: Screen::Approvals,
            last_screen: Screen::Approvals,
            approvals: approvals::State::default(),
            organizations: organizations::State::default(),
            activities: activities::State::default(),
            policies: policies::State::default(),
            opening: None,
            review: None,
            decide: None,
            overlays: Vec::new(),
            notice: String::new(),
            notice_set_at: now,
            failures: BTreeMap::new(),
            mismatch: None,
            dirty: true,
            last_key: 0,
            pulse: String::new(),
        }
    }

    /// Returns the view whose keys are active.
    pub(crate) fn view(&self) -> View {
        match (&self.review, self.screen) {
            (Some(open), _) if open.review.draft.is_some() => View::Draft,
            (Some(_), _) => View::Review,
            (None, _) if self.opening.is_some() => View::Review,
            (None, Screen::Approvals) => View::Approvals,
            (None, Screen::Organizations) => View::Organizations,
            (None, Screen::Activities) => View::Activities,
            (None, Screen::Policies) => View::Policies,
        }
    }

    /// Returns the age of the data if it is too old for decisions.
    pub(crate) fn data_age(&self) -> Option<u64> {
        let age = self.now.saturating_sub(self.last_contact);
        (age > OLD_MILLIS || matches!(self.link, LinkState::Lost { .. } | LinkState::Refused(_)))
            .then_some(age)
    }

    /// Returns the state of the connection for the header.
    pub(crate) fn link_text(&self) -> String {
        match &self.link {
            LinkState::Starting => "starting".to_owned(),
            LinkState::Refused(_) => "REFUSED".to_owned(),
            LinkState::Lost { .. } => "DISCONNECTED".to_owned(),
            LinkState::Live => match self.data_age() {
                Some(age) => format!("OLD {}", duration(age)),
                None => "live".to_owned(),
            },
        }
    }

    /// Returns why decisions are disabled, if so.
    pub(crate) fn decisions_disabled(&self) -> Option<String> {
        match &self.link {
            LinkState::Live => {
                let old = self.data_age().map(|age| format!("data is {} old", duration(age)));
                old.or_else(|| self.mismatch.clone())
            }
            LinkState::Starting => Some("not connected yet".to_owned()),
            LinkState::Lost { .. } => Some("disconnected".to_owned()),
            LinkState::Refused(reason) => Some(reason.clone()),
        }
    }

    /// Examines a record.
    pub(crate) fn examine(&self, record: &ReviewRecord, reference: Option<&str>) -> Review {
        let viewer = self.identity.viewer_in(&record.organization);
        Review::of(&Evidence {
            record,
            siblings: self.approvals.inbox.siblings(),
            known_keys: &self.known_keys,
            book: &self.book,
            viewer: &viewer,
            now: self.now,
            reference,
        })
    }

    /// Returns the time-dependent text on screen. The screen is not drawn again while it is unchanged.
    fn pulse_now(&self) -> String {
        let minute = self.now / 60_000;
        let retry = match &self.link {
            LinkState::Lost { retry, .. } => retry.saturating_sub(self.now) / 1000,
            _ => 0,
        };
        let decision = self.decide.as_ref().map(|decide| decide.pulse(self.now));
        let age = self.data_age().map(|age| age / 1000);
        format!("{minute} {retry} {decision:?} {age:?} {} {}", self.link_text(), self.notice)
    }
}

/// Applies a message and returns the effects.
pub(crate) fn update(model: &mut Model, msg: Msg) -> Vec<Effect> {
    let is_tick = matches!(msg, Msg::Tick(_) | Msg::Link(Answer::Alive));
    let before = model.notice.clone();
    let mut effects = match msg {
        Msg::Key(key, at) => {
            model.now = model.now.max(at);
            let gap = at.saturating_sub(model.last_key);
            model.last_key = at;
            keys::press(model, key, gap)
        }
        Msg::Paste(text) => keys::paste(model, &text),
        Msg::Resize(columns, rows) => {
            model.size = (columns, rows);
            Vec::new()
        }
        Msg::Tick(now) => {
            model.now = now;
            Vec::new()
        }
        Msg::Link(answer) => answers::apply(model, answer),
        Msg::Signed(result) => decide::signed(model, result),
        Msg::Edited(result) => policies::edited(model, result),
        Msg::Notice(text) => {
            model.notice = text;
            Vec::new()
        }
    };
    effects.extend(decide::advance(model));
    effects.extend(policies::prepare(model));
    if let Some(id) = model.organization_id.filter(|_| matches!(model.link, LinkState::Live)) {
        effects.extend(model.approvals.inbox.orders(id, model.now));
    }
    review::clear_outdated_notice(model);
    if model.notice != before {
        model.notice_set_at = model.now;
    } else if model.now.saturating_sub(model.notice_set_at) > NOTICE_MILLIS {
        model.notice.clear();
    }
    let pulse = model.pulse_now();
    model.dirty = model.dirty || !is_tick || pulse != model.pulse;
    model.pulse = pulse;
    effects
}

/// Records what was just drawn.
pub(crate) fn drawn(model: &mut Model) {
    if !view::is_too_small(model.size) {
        review::record_drawn(model);
        review::clear_outdated_notice(model);
    }
}

/// Returns whether an activity is still open.
pub(crate) fn is_open(status: Status) -> bool {
    !status.is_terminal()
}

#[cfg(test)]
mod tests;
