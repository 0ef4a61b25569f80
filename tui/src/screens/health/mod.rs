//! The health of the daemon: what it does, with pictures of the last minutes, and the findings of `quorate doctor`.
//! The figures are read once a second, and only while the screen is shown.

mod drawing;
mod history;
mod items;

use ratatui::layout::Rect;

use self::drawing::{Pane, is_wide};
use self::history::History;
use super::filter::Filter;
use super::request::{Effect, Request};
use super::screen::{Screen, Tab, showing};
use super::shared::{LinkState, Shared};
use crate::canvas::Canvas;
use crate::doctor::{self, Daemon, Finding, Level};
use crate::keymap::{Action, BACK, Command, Key, NEXT_PANE, moved};
use crate::link::{Answer, LinkError, Order, Subject};

pub(super) static TAB: Tab = Tab {
    title: "Health",
    show: showing(&[Key::Char('7')], "Show the health of the daemon and what to do about it")
        .cli("quorate doctor"),
    commands: &COMMANDS,
    reads_activities: false,
    create: || Box::new(State::default()),
};

static COMMANDS: [Command; 2] = [NEXT_PANE, BACK];

/// Time between two requests for figures, in milliseconds.
const PERIOD_MILLIS: u64 = 1000;
/// Time between two checks of the files of this console, in milliseconds.
const EXAMINE_MILLIS: u64 = 30_000;
/// Age of the figures above which the tab shows no count, in milliseconds.
const OLD_MILLIS: u64 = 60_000;

/// What is shown in place of figures if the daemon is at a URL.
const NO_FIGURES: &str =
    "Not available at a URL: only the local socket of the daemon answers this, on its host.";

#[derive(Default)]
struct State {
    history: History,
    is_same_host: Option<bool>,
    /// Why there are no figures.
    error: Option<LinkError>,
    /// Time of the last request, in milliseconds since the Unix epoch, and whether it is not answered yet.
    requested: u64,
    is_waiting: bool,
    /// Time of the last check of the files of this console, in milliseconds since the Unix epoch.
    examined: u64,
    pane: Pane,
    /// First item that the pane shows.
    first: usize,
    filter: Filter,
}

impl Screen for State {
    fn draw(&self, shared: &Shared, canvas: &mut Canvas<'_>, area: Rect) {
        let findings = self.findings(shared);
        let parts = drawing::Parts {
            work: items::work(&self.history),
            daemon: self.facts(shared),
            findings: items::findings(&findings),
            problems: problems(&findings),
            nothing: if shared.identity.viewer.is_remote { NO_FIGURES } else { "Loading the figures." },
        };
        drawing::draw(&parts, canvas, area, self.pane, self.first);
    }

    fn needs_daemon(&self) -> bool {
        false
    }

    fn perform(&mut self, shared: &Shared, wanted: Action, area: Rect) -> Vec<Request> {
        if wanted == Action::NextPane {
            (self.pane, self.first) = (self.pane.next(), 0);
            return Vec::new();
        }
        let count = match self.pane {
            Pane::Work => items::work(&self.history).len(),
            Pane::Daemon => self.facts(shared).len(),
            Pane::Findings => self.findings(shared).len(),
        };
        let page = if is_wide(area) { 4 } else { usize::from(area.height / 4).max(1) };
        self.first = moved(self.first, count, page, wanted);
        Vec::new()
    }

    fn filter(&mut self) -> &mut Filter {
        &mut self.filter
    }

    /// Returns the number of findings to act on.
    fn count(&self, shared: &Shared) -> Option<String> {
        let (_, received) = self.history.last()?;
        let is_new = shared.now.saturating_sub(*received) <= OLD_MILLIS;
        let problems = problems(&self.findings(shared));
        (is_new && problems > 0).then(|| format!("{problems}!"))
    }

    fn open(&mut self, shared: &Shared) -> Vec<Request> {
        self.examined = shared.now;
        let mut requests = vec![Request::Effect(Effect::Examine)];
        requests.extend(self.request(shared));
        requests
    }

    fn apply(&mut self, shared: &Shared, answer: &Answer) -> Vec<Request> {
        match answer {
            Answer::Health(health, is_same_host) => {
                self.history.add((**health).clone(), shared.now);
                (self.is_same_host, self.error, self.is_waiting) = (*is_same_host, None, false);
            }
            Answer::Failed(Subject::Health, error) => {
                (self.error, self.is_waiting) = (Some(error.clone()), false);
            }
            Answer::Connected(_) | Answer::Lost(..) => self.is_waiting = false,
            _ => {}
        }
        Vec::new()
    }

    fn prepare(&mut self, shared: &Shared) -> Vec<Request> {
        let mut requests = Vec::new();
        if shared.now.saturating_sub(self.examined) >= EXAMINE_MILLIS {
            self.examined = shared.now;
            requests.push(Request::Effect(Effect::Examine));
        }
        let is_due = shared.now.saturating_sub(self.requested) >= PERIOD_MILLIS;
        requests.extend(is_due.then(|| self.request(shared)).flatten());
        requests
    }
}

impl State {
    /// Requests the figures, unless an earlier request is not answered yet.
    fn request(&mut self, shared: &Shared) -> Option<Request> {
        if self.is_waiting || shared.identity.viewer.is_remote || !matches!(shared.link, LinkState::Live) {
            return None;
        }
        (self.requested, self.is_waiting) = (shared.now, true);
        Some(Order::Health.into())
    }

    /// Returns the findings about this console and its daemon, the most serious first.
    fn findings(&self, shared: &Shared) -> Vec<Finding> {
        let mut findings = shared.findings.clone();
        match (&shared.organization, shared.organization_id) {
            (Some(organization), _) if !shared.is_missing => {
                findings.extend(doctor::of_organization(&shared.identity, organization, &shared.known_keys));
            }
            (_, Some(id)) if shared.is_missing => findings.push(doctor::organization_missing(id)),
            _ => {}
        }
        findings.extend(self.of_daemon(shared));
        doctor::sort(&mut findings);
        findings
    }

    /// Returns the findings about the daemon.
    fn facts(&self, shared: &Shared) -> Vec<items::Item> {
        let is_live = !matches!(shared.link, LinkState::Lost { .. });
        items::daemon(&self.history, self.is_same_host, is_live, shared.now)
    }

    fn of_daemon(&self, shared: &Shared) -> Vec<Finding> {
        let lost = match &shared.link {
            LinkState::Refused(reason) => return vec![doctor::refused(reason)],
            LinkState::Lost { error, .. } => Some(error),
            _ => self.error.as_ref(),
        };
        let (health, received) = match (lost, self.history.last()) {
            (Some(error), _) => (Err(error), shared.now),
            (None, Some((health, received))) => (Ok(health), *received),
            (None, None) => return Vec::new(),
        };
        doctor::of_daemon(&Daemon { health, received, is_same_host: self.is_same_host })
    }
}

/// Returns the number of findings that are more than notes.
fn problems(findings: &[Finding]) -> usize {
    findings.iter().filter(|finding| finding.level > Level::Note).count()
}
