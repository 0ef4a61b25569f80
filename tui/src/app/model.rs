//! The complete state of the console, and how it fulfils the requests of the screens.

use std::collections::BTreeMap;

use quorate_common::ids::OrganizationId;
use ratatui::layout::Rect;

use crate::keymap::{Action, Command, EVERYWHERE, LAST, QUIT};
use crate::known_keys::KnownKeys;
use crate::link::{Order, Subject};
use crate::proof::PinnedBy;
use crate::screens::SCREENS;
use crate::screens::bindings::Bindings;
use crate::screens::filter::Filter;
use crate::screens::overlay::{Entry, Overlay, Palette, Place, things};
use crate::screens::propose;
use crate::screens::request::{Effect, Request};
use crate::screens::review;
use crate::screens::screen::{Screen, Tab};
use crate::screens::shared::{LinkState, Shared};
use crate::session::Identity;
use crate::text::clean;

/// An activity whose record is being loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Opening {
    pub(crate) reference: String,
    /// Title of the activity's kind.
    pub(crate) title: String,
}

/// The complete state of the console.
pub(crate) struct Model {
    pub(crate) shared: Shared,
    /// The states of the screens, in the order of their table.
    screens: Vec<Box<dyn Screen>>,
    /// Indexes of the screen that is shown and of the one before.
    pub(super) current: usize,
    last: usize,
    /// Activity that is being opened, if any.
    pub(crate) opening: Option<Opening>,
    /// Open review, if any. It covers the screen.
    pub(crate) review: Option<review::State>,
    /// Open form, if any. It covers the screen, and the review of its draft covers it.
    pub(super) proposing: Option<propose::State>,
    /// The keys that the user added to commands.
    pub(crate) bindings: Bindings,
    /// Overlays over everything else; the last one is on top.
    pub(super) overlays: Vec<Overlay>,
    /// What was opened from the palette in this session, the newest last.
    pub(super) history: Vec<Entry>,
    /// One line about the last event. A key or time removes it.
    pub(crate) notice: String,
    /// The disabled action that a notice is about, and its text.
    disabled: Option<(Action, String)>,
    /// Time when the notice was set.
    pub(super) notice_set_at: u64,
    /// Data that cannot be read, until it can be read again.
    pub(super) failures: BTreeMap<Subject, String>,
    /// User and key as the options or the configuration name them.
    home: Identity,
    /// The organizations that were shown before, the last one at the end.
    pub(super) before: Vec<(OrganizationId, PinnedBy)>,
    /// Whether the list of organizations was opened without a request.
    pub(super) was_offered: bool,
    /// Whether the screen must be drawn again.
    pub(crate) dirty: bool,
    /// Time of the last key.
    pub(super) last_key: u64,
    /// Time of the last tick.
    pub(super) last_tick: u64,
    /// Time-dependent text on screen, see [`Model::pulse_now`].
    pub(super) pulse: String,
}

impl Model {
    pub(crate) fn new(identity: Identity, known_keys: KnownKeys, size: (u16, u16), now: u64) -> Self {
        let warning = identity.key_warning.clone();
        Self {
            home: identity.clone(),
            before: Vec::new(),
            was_offered: false,
            shared: Shared::new(identity, known_keys, size, now),
            screens: SCREENS.iter().map(|tab| (tab.create)()).collect(),
            current: 0,
            last: 0,
            opening: None,
            review: None,
            proposing: None,
            bindings: Bindings::default(),
            overlays: Vec::new(),
            history: Vec::new(),
            notice: warning.map(|warning| format!("[!] {}", clean(&warning))).unwrap_or_default(),
            disabled: None,
            notice_set_at: now,
            failures: BTreeMap::new(),
            dirty: true,
            last_key: 0,
            last_tick: now,
            pulse: String::new(),
        }
    }

    /// Sets the organization, and the user and key there.
    pub(super) fn pin(&mut self, id: OrganizationId, pinned_by: PinnedBy) {
        self.shared.identity = self.home.pinned_to(id, pinned_by);
    }

    /// Starts all screens again, without a review.
    pub(super) fn start_screens(&mut self) {
        (self.review, self.opening, self.proposing) = (None, None, None);
        self.history.clear();
        self.shared.within = Filter::default();
        self.screens = SCREENS.iter().map(|tab| (tab.create)()).collect();
    }

    /// Records that the key was locked.
    pub(super) fn locked(&mut self, reason: &str) {
        self.shared.is_unlocked = false;
        self.notice = format!("the key was locked {reason}");
    }

    /// Returns the row of the screen that is shown.
    pub(super) fn tab(&self) -> Option<&'static Tab> {
        SCREENS.get(self.current).copied()
    }

    /// Returns the screens with their rows.
    pub(super) fn tabs(&self) -> impl Iterator<Item = (&'static Tab, &dyn Screen)> {
        SCREENS.iter().copied().zip(self.screens.iter().map(AsRef::as_ref))
    }

    /// Returns the screen that is shown, unless something covers it.
    pub(super) fn uncovered(&mut self) -> Option<&mut Box<dyn Screen>> {
        let is_covered = self.review.is_some() || self.opening.is_some() || self.proposing.is_some();
        self.screens.get_mut(self.current).filter(|_| !is_covered)
    }

    /// Returns the open form, unless a review covers it.
    pub(super) fn form(&self) -> Option<&propose::State> {
        self.proposing.as_ref().filter(|_| self.review.is_none() && self.opening.is_none())
    }

    /// Returns whether Esc leaves the screen that is shown, instead of a part of it.
    pub(super) fn is_at_top(&self) -> bool {
        self.screens.get(self.current).is_none_or(|screen| screen.is_at_top())
    }

    /// Returns the order that reads the newest activities, if the screen shows them.
    pub(super) fn read_activities(&self) -> Option<Effect> {
        let id =
            self.shared.organization_id.filter(|_| self.tab().is_some_and(|tab| tab.reads_activities))?;
        Some(Effect::Order(Order::Activities(id, None)))
    }

    /// Returns the commands that work now, in the order of the key bar.
    pub(super) fn commands(&self) -> Vec<Command> {
        let is_loading = self.review.is_none() && self.opening.is_some();
        let own = match &self.review {
            Some(open) => open.commands(),
            None if is_loading => &review::COMMANDS,
            None => self.tab().map_or(&[][..], |tab| tab.commands),
        };
        let show = |(index, tab): (usize, &&Tab)| Command { action: Action::Show(index), ..tab.show };
        let is_list = self.review.is_none() && !is_loading;
        let tabs = SCREENS.iter().enumerate().map(show);
        let all = own.iter().chain(&EVERYWHERE).copied().chain(tabs).chain([LAST]);
        all.chain(is_list.then_some(QUIT)).map(|command| self.bindings.apply(command)).collect()
    }

    /// Shows the screen with this index.
    pub(super) fn show(&mut self, index: usize) {
        (self.review, self.opening, self.shared.within) = (None, None, Filter::default());
        if self.current != index {
            (self.last, self.current) = (self.current, index);
        }
    }

    /// Shows the screen that was shown before.
    pub(super) fn show_last(&mut self) {
        self.show(self.last);
    }

    /// Calls the screen that is shown and fulfils its requests.
    pub(super) fn on_screen(
        &mut self,
        call: impl FnOnce(&mut dyn Screen, &Shared) -> Vec<Request>,
    ) -> Vec<Effect> {
        let screen = self.screens.get_mut(self.current);
        let requests = screen.map(|screen| call(screen.as_mut(), &self.shared)).unwrap_or_default();
        self.fulfil(requests)
    }

    /// Calls all screens, each with whether it is shown, and fulfils their requests.
    pub(super) fn on_screens(
        &mut self,
        mut call: impl FnMut(&mut dyn Screen, &Shared, bool) -> Vec<Request>,
    ) -> Vec<Effect> {
        let mut requests = Vec::new();
        for (index, screen) in self.screens.iter_mut().enumerate() {
            requests.extend(call(screen.as_mut(), &self.shared, index == self.current));
        }
        self.fulfil(requests)
    }

    /// Performs an action on the review or the screen, which is drawn in this area.
    pub(super) fn act(&mut self, wanted: Action, area: Rect) -> Vec<Effect> {
        match &mut self.review {
            Some(open) => {
                let requests = open.perform(&self.shared, wanted, area);
                self.fulfil(requests)
            }
            None => self.on_screen(|screen, shared| screen.perform(shared, wanted, area)),
        }
    }

    /// Fulfils requests of screens. Returns the effects outside of the state.
    pub(super) fn fulfil(&mut self, requests: impl IntoIterator<Item = Request>) -> Vec<Effect> {
        let mut effects = Vec::new();
        for request in requests {
            match request {
                Request::Effect(effect) => effects.push(effect),
                Request::Notice(text) => self.notice = text,
                Request::Disabled(action, text) => {
                    self.notice.clone_from(&text);
                    self.disabled = Some((action, text));
                }
                Request::Overlay(overlay) => self.overlays.push(overlay),
                Request::Within(filter) => self.shared.within = filter,
                Request::Open { organization, id, title } => {
                    self.shared.inbox.open(id);
                    self.opening = Some(Opening { reference: id.to_string(), title });
                    effects.push(Effect::Order(Order::Record(organization, id.to_string())));
                }
                Request::Review(review) => {
                    let is_draft = review.draft.is_some();
                    let open = review::State::new(*review, !is_draft);
                    let orders = if is_draft { open.reads() } else { Vec::from_iter(open.reread()) };
                    effects.extend(orders.into_iter().map(Effect::Order));
                    self.review = Some(open);
                }
                Request::Close => self.review = None,
                Request::Proposed => {
                    self.review = None;
                    effects.extend(self.on_screen(|screen, _| {
                        screen.proposed();
                        Vec::new()
                    }));
                }
            }
        }
        effects
    }

    /// Clears the notice about a disabled action once the reason no longer applies.
    pub(super) fn clear_outdated_notice(&mut self) {
        let Some((action, text)) = self.disabled.take() else { return };
        if self.notice != text {
            return;
        }
        let open = self.review.as_ref();
        let reason = open.and_then(|open| open.disabled_reason(&self.shared, action));
        if reason.as_ref() == Some(&text) {
            self.disabled = Some((action, text));
        } else {
            self.notice.clear();
        }
    }

    /// Returns the errors that hold now, as they are shown.
    pub(super) fn problems(&self) -> Vec<String> {
        let lost = match &self.shared.link {
            LinkState::Lost { error, .. } => Some(error.to_string()),
            LinkState::Refused(reason) => Some(reason.clone()),
            LinkState::Starting | LinkState::Live => None,
        };
        let notice = Some(&self.notice).filter(|notice| notice.contains("[!]") || notice.contains("[x]"));
        self.failures.values().cloned().chain(lost).chain(notice.cloned()).collect()
    }

    /// Returns the palette of all commands and of everything that is loaded.
    pub(super) fn palette(&self) -> Overlay {
        let mut found = things(&self.shared);
        found.extend(self.screens.iter().flat_map(|screen| screen.things(&self.shared)));
        Overlay::Palette(Box::new(Palette::new(&self.history, &self.commands(), found)))
    }

    /// Shows the screen that has a place, with the place selected. Returns what the screen requests.
    pub(super) fn reveal(&mut self, place: &Place) -> Option<Vec<Request>> {
        let mut screens = self.screens.iter_mut().enumerate();
        let (index, requests) =
            screens.find_map(|(index, screen)| Some((index, screen.reveal(&self.shared, place)?)))?;
        self.show(index);
        Some(requests)
    }

    /// Loads an activity by its id or fingerprint and opens its review.
    pub(super) fn open_reference(&mut self, reference: &str, title: &str) -> Vec<Effect> {
        let Some(organization) = self.shared.organization_id else {
            "no organization is selected".clone_into(&mut self.notice);
            return Vec::new();
        };
        let organization = match reference.parse() {
            Ok(id) => {
                self.shared.inbox.open(id);
                self.shared.inbox.organization_of(id).unwrap_or(organization)
            }
            Err(_) => organization,
        };
        (self.review, self.shared.within) = (None, Filter::default());
        self.opening = Some(Opening { reference: reference.to_owned(), title: title.to_owned() });
        vec![Effect::Order(Order::Record(organization, reference.to_owned()))]
    }

    /// Returns the time-dependent text on screen. The screen is not drawn again while it is unchanged.
    pub(super) fn pulse_now(&self) -> String {
        let shared = &self.shared;
        let minute = shared.now / 60_000;
        let retry = match &shared.link {
            LinkState::Lost { retry, .. } => retry.saturating_sub(shared.now) / 1000,
            _ => 0,
        };
        let decide = self.review.as_ref().and_then(|open| open.decide.as_ref());
        let decision = decide.map(|decide| decide.pulse(shared.now));
        let age = shared.data_age().map(|age| age / 1000);
        let daemon = shared.daemon.as_ref();
        let daemon =
            daemon.map(|daemon| (&daemon.version, daemon.mode, &daemon.store, daemon.strict_deny_errors));
        // A vote that expires within a minute is counted down.
        let expires = self.review.as_ref().and_then(|open| open.review.tally.expires_at);
        let expires = expires.map(|at| at.saturating_sub(shared.now) / 1000).filter(|seconds| *seconds < 60);
        let link = shared.link_text();
        format!("{minute} {retry} {decision:?} {age:?} {link} {daemon:?} {expires:?} {}", self.notice)
    }
}
