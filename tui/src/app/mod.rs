//! The state of the console and how messages change it. Pure: what has to happen outside is returned as
//! effects, and the time comes in with the messages.

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
use crate::keymap::{Key, Place};
use crate::link::{Answer, LinkFlaw, Order};
use crate::proof::{Evidence, Review, Viewer};
use crate::roster::Roster;
use crate::screens::decide::{self, Decide};
use crate::screens::overlay::Overlay;
use crate::screens::{activities, approvals, organizations, policies, review};
use crate::session::Identity;
use crate::text::duration;

/// Data older than this is not decided on.
const OLD_MILLIS: u64 = 10_000;
/// How long a line about what happened stays, unless a key is pressed before.
const NOTICE_MILLIS: u64 = 20_000;

/// Something happened.
pub(crate) enum Msg {
    /// A key was pressed, at this moment.
    Key(Key, u64),
    /// Text was pasted.
    Paste(String),
    /// The terminal has another size.
    Resize(u16, u16),
    /// Time passed.
    Tick(u64),
    /// The link has something.
    Link(Answer),
    /// The key has signed, or not.
    Signed(Result<Stamp, String>),
    /// The editor has ended: the text that it left, or why there is none.
    Edited(Result<String, String>),
    /// What became of a file, in words.
    Told(String),
}

/// Something has to happen outside.
#[derive(Debug, PartialEq)]
pub(crate) enum Effect {
    /// The console ends.
    Quit,
    /// A request to the daemon.
    Order(Order),
    /// These bytes are to be signed.
    Sign {
        /// Opens the key file; empty where none is needed.
        passphrase: Zeroizing<String>,
        /// The exact bytes.
        message: String,
    },
    /// This text is to be edited.
    Edit(String),
    /// This text goes to the clipboard.
    Copy(String),
    /// This text goes into a new file of this name.
    Export {
        /// Name of the file, in the folder where the console was started.
        name: String,
        /// What it holds.
        text: String,
    },
    /// The roster changed.
    SaveRoster(Box<Roster>),
    /// A decision was made: review, ballot, outcome in a word, remark.
    Journal(Box<(JournalLine, Ballot)>),
}

/// What the journal keeps of a decision.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct JournalLine {
    /// Activity as reviewed.
    pub(crate) activity: quorate_common::ids::ActivityId,
    /// Organization.
    pub(crate) organization: OrganizationId,
    /// Its version as reviewed.
    pub(crate) version: u64,
    /// What it does, as shown.
    pub(crate) sentence: String,
    /// What became of it.
    pub(crate) outcome: &'static str,
    /// The user's remark.
    pub(crate) note: Option<String>,
}

/// The connection as the user sees it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum LinkState {
    /// The first attempt is on its way.
    Starting,
    /// The feed is open.
    Live,
    /// There is no connection.
    Lost {
        /// Why.
        flaw: LinkFlaw,
        /// Since when.
        since: u64,
        /// When the next attempt is made.
        retry: u64,
    },
    /// There is a daemon, but not one to work with.
    Refused(String),
}

/// An activity of the list whose record is on its way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Opening {
    /// Id of the activity.
    pub(crate) reference: String,
    /// What people call the kind.
    pub(crate) title: String,
}

/// The screens below the reviews.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Screen {
    /// What waits.
    Approvals,
    /// Organizations.
    Organizations,
    /// All activities.
    Activities,
    /// Policies.
    Policies,
}

/// Everything that the console knows.
pub(crate) struct Model {
    /// Columns and rows.
    pub(crate) size: (u16, u16),
    /// Milliseconds since 1970.
    pub(crate) now: u64,
    /// Who the console is for.
    pub(crate) identity: Identity,
    /// The connection.
    pub(crate) link: LinkState,
    /// When the daemon was last heard.
    pub(crate) heard: u64,
    /// The daemon.
    pub(crate) daemon: Option<DaemonStatus>,
    /// Which organization approvals are shown of.
    pub(crate) organization_id: Option<OrganizationId>,
    /// That organization.
    pub(crate) organization: Option<OrganizationDetail>,
    /// The viewer in it.
    pub(crate) viewer: Viewer,
    /// Keys seen.
    pub(crate) roster: Roster,
    /// Whom the user knows by which address.
    pub(crate) book: Book,
    /// The screen below.
    pub(crate) screen: Screen,
    /// The screen before.
    pub(crate) last_screen: Screen,
    /// Screen of approvals.
    pub(crate) approvals: approvals::State,
    /// Screen of organizations.
    pub(crate) organizations: organizations::State,
    /// Screen of activities.
    pub(crate) activities: activities::State,
    /// Screen of policies.
    pub(crate) policies: policies::State,
    /// The activity that is being opened, if one is.
    pub(crate) opening: Option<Opening>,
    /// The review on top, if one is open.
    pub(crate) review: Option<review::State>,
    /// The decision docked under the review, if one is under way.
    pub(crate) decide: Option<Decide>,
    /// What lies over everything; the last is on top.
    pub(crate) overlays: Vec<Overlay>,
    /// One line about what happened last. A key or time removes it.
    pub(crate) notice: String,
    /// When it was set.
    noticed: u64,
    /// What could not be read, by what it is, until it can.
    pub(crate) failures: BTreeMap<&'static str, String>,
    /// Why user and key do not fit the organization, if so.
    pub(crate) misfit: Option<String>,
    /// Whether the screen differs from what was drawn.
    pub(crate) dirty: bool,
    /// When the last key came.
    last_key: u64,
    /// What of the time is on screen.
    pulse: String,
}

impl Model {
    /// Before anything is known.
    pub(crate) fn new(identity: Identity, roster: Roster, size: (u16, u16), now: u64) -> Self {
        Self {
            size,
            now,
            organization_id: identity.viewer.organization,
            viewer: identity.viewer.clone(),
            identity,
            link: LinkState::Starting,
            heard: now,
            daemon: None,
            organization: None,
            roster,
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
            noticed: now,
            failures: BTreeMap::new(),
            misfit: None,
            dirty: true,
            last_key: 0,
            pulse: String::new(),
        }
    }

    /// Where keys are read for.
    pub(crate) fn place(&self) -> Place {
        match (&self.review, self.screen) {
            (Some(open), _) if open.review.draft.is_some() => Place::Draft,
            (Some(_), _) => Place::Review,
            (None, _) if self.opening.is_some() => Place::Review,
            (None, Screen::Approvals) => Place::Approvals,
            (None, Screen::Organizations) => Place::Organizations,
            (None, Screen::Activities) => Place::Activities,
            (None, Screen::Policies) => Place::Policies,
        }
    }

    /// Age of the data when it is old enough to matter.
    pub(crate) fn old(&self) -> Option<u64> {
        let age = self.now.saturating_sub(self.heard);
        (age > OLD_MILLIS || matches!(self.link, LinkState::Lost { .. } | LinkState::Refused(_)))
            .then_some(age)
    }

    /// The connection in a few words, for the header.
    pub(crate) fn link_word(&self) -> String {
        match &self.link {
            LinkState::Starting => "starting".to_owned(),
            LinkState::Refused(_) => "REFUSED".to_owned(),
            LinkState::Lost { .. } => "DISCONNECTED".to_owned(),
            LinkState::Live => match self.old() {
                Some(age) => format!("OLD {}", duration(age)),
                None => "live".to_owned(),
            },
        }
    }

    /// Why nothing may be decided now, if so.
    pub(crate) fn standstill(&self) -> Option<String> {
        match &self.link {
            LinkState::Live => {
                let old = self.old().map(|age| format!("data is {} old", duration(age)));
                old.or_else(|| self.misfit.clone())
            }
            LinkState::Starting => Some("not connected yet".to_owned()),
            LinkState::Lost { .. } => Some("disconnected".to_owned()),
            LinkState::Refused(reason) => Some(reason.clone()),
        }
    }

    /// The review of a record, made now.
    pub(crate) fn examine(&self, record: &ReviewRecord, reference: Option<&str>) -> Review {
        let viewer = self.identity.viewer_in(&record.organization);
        Review::of(&Evidence {
            record,
            siblings: self.approvals.inbox.siblings(),
            roster: &self.roster,
            book: &self.book,
            viewer: &viewer,
            now: self.now,
            reference,
        })
    }

    /// What of the passing time is on screen: nothing is drawn while this stays the same.
    fn pulse_now(&self) -> String {
        let minute = self.now / 60_000;
        let retry = match &self.link {
            LinkState::Lost { retry, .. } => retry.saturating_sub(self.now) / 1000,
            _ => 0,
        };
        let held = self.decide.as_ref().map(|decide| decide.pulse(self.now));
        let age = self.old().map(|age| age / 1000);
        format!("{minute} {retry} {held:?} {age:?} {} {}", self.link_word(), self.notice)
    }
}

/// Takes in a message and returns what has to happen outside.
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
        Msg::Link(answer) => answers::take(model, answer),
        Msg::Signed(result) => decide::signed(model, result),
        Msg::Edited(result) => policies::edited(model, result),
        Msg::Told(text) => {
            model.notice = text;
            Vec::new()
        }
    };
    effects.extend(decide::advance(model));
    effects.extend(policies::prepare(model));
    if let Some(id) = model.organization_id.filter(|_| matches!(model.link, LinkState::Live)) {
        effects.extend(model.approvals.inbox.orders(id, model.now));
    }
    review::recheck(model);
    if model.notice != before {
        model.noticed = model.now;
    } else if model.now.saturating_sub(model.noticed) > NOTICE_MILLIS {
        model.notice.clear();
    }
    let pulse = model.pulse_now();
    model.dirty = model.dirty || !is_tick || pulse != model.pulse;
    model.pulse = pulse;
    effects
}

/// Notes what was just drawn.
pub(crate) fn drawn(model: &mut Model) {
    if !view::is_too_small(model.size) {
        review::look(model);
        review::recheck(model);
    }
}

/// Whether an activity is still open.
pub(crate) fn is_open(status: Status) -> bool {
    !status.is_terminal()
}

#[cfg(test)]
mod tests;
