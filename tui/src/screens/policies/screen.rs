//! The keys of the policies screen, and what it reads.

use quorate_common::console::ActivityRow;
use ratatui::layout::Rect;
use serde_json::json;

use super::simulation;
use super::state::{Pane, Reading, State, layout, rules};
use crate::canvas::{Canvas, Line};
use crate::keymap::{
    Action, BACK, COPY, Command, EXPORT, FILTER, Key, LEFT, NEXT_PANE, RIGHT, command, moved, scroll,
};
use crate::link::{Answer, Order, Subject};
use crate::policies::{self, Draft, History, Matched, ResolvedNames};
use crate::screens::filter::Filter;
use crate::screens::overlay::{Overlay, Place};
use crate::screens::request::{Effect, Request};
use crate::screens::screen::{Screen, Tab, showing};
use crate::screens::shared::Shared;
use crate::theme::Theme;

pub(in crate::screens) static TAB: Tab = Tab {
    title: "Policies",
    show: showing(&[Key::Char('4')], "Show policies").cli("quorate policy ls"),
    commands: &COMMANDS,
    reads_activities: true,
    create: || Box::new(State::default()),
};

const TRY: Action = Action::OfScreen("try");
const EXPLAIN: Action = Action::OfScreen("explain");
const NEW: Action = Action::OfScreen("new");
const CHANGE: Action = Action::OfScreen("change");
const REMOVE: Action = Action::OfScreen("remove");

static COMMANDS: [Command; 13] = [
    command(Action::Open, &[Key::Enter], "Activities", "List the recent activities that match the policy")
        .cli("quorate policy get POLICY"),
    command(TRY, &[Key::Char('t')], "Try", "Try a request and see what would happen")
        .cli("quorate policy simulate FILE"),
    command(EXPLAIN, &[Key::Char('x')], "Explain", "Explain how each policy evaluates the request")
        .cli("quorate policy explain REF"),
    command(NEW, &[Key::Char('n')], "New...", "Write a new policy in your editor, review it and propose it")
        .cli("quorate policy new FILE"),
    command(
        CHANGE,
        &[Key::Char('E')],
        "Change...",
        "Change the policy in your editor, review the change and propose it",
    )
    .cli("quorate policy change POLICY FILE"),
    command(REMOVE, &[Key::Char('D')], "Remove...", "Review and propose the removal of the policy")
        .cli("quorate policy remove POLICY"),
    COPY,
    EXPORT,
    BACK,
    FILTER,
    NEXT_PANE,
    LEFT,
    RIGHT,
];

/// Minimum interval between two readings of the policy history, in milliseconds.
const HISTORY_MILLIS: u64 = 5_000;

impl Screen for State {
    fn draw(&self, shared: &Shared, canvas: &mut Canvas<'_>, area: Rect) {
        let Some(organization) = &shared.organization else {
            let inner = canvas.framed(area, "Policies", "");
            canvas.lines(inner, &[Line::plain("Loading the organization.")], 0);
            return;
        };
        let rules = rules(shared, organization);
        let areas = layout(self.pane, area);
        self.draw_list(shared, canvas, areas.list);
        if areas.detail.height > 0 {
            self.draw_detail(shared, &rules, canvas, areas.detail);
        }
        if areas.simulation.height > 0 {
            simulation::draw(self, shared, &rules, canvas, areas.simulation);
        }
    }

    fn perform(&mut self, shared: &Shared, wanted: Action, area: Rect) -> Vec<Request> {
        let overlay = |overlay: Option<Overlay>| overlay.map(Request::Overlay).into_iter().collect();
        match wanted {
            Action::NextPane => {
                self.pane = match self.pane {
                    Pane::List => Pane::Detail,
                    Pane::Detail => Pane::Simulation,
                    Pane::Simulation => Pane::List,
                }
            }
            TRY => self.pane = Pane::Simulation,
            NEW => return self.write_new(),
            CHANGE => return self.write_change(shared),
            REMOVE => return self.remove(shared),
            Action::Copy => return overlay(self.copies(shared)),
            Action::Export => return self.export(shared).map(Request::from).into_iter().collect(),
            EXPLAIN => return overlay(simulation::explanation(self, shared)),
            wanted if self.pane == Pane::Simulation => simulation::perform(self, shared, wanted, area),
            Action::Open => return overlay(self.matching_activities(shared)),
            wanted if self.pane == Pane::Detail => self.scroll_detail(shared, wanted, area),
            wanted => {
                let page = usize::from(layout(self.pane, area).list.height.saturating_sub(3));
                let shown = self.shown(shared);
                let at = moved(self.position(&shown), shown.len(), page, wanted);
                let selected = shown.get(at).map(|policy| policy.policy_id);
                if selected != self.selected {
                    (self.selected, self.scroll) = (selected, 0);
                }
            }
        }
        Vec::new()
    }

    fn filter(&mut self) -> &mut Filter {
        &mut self.filter
    }

    fn reveal(&mut self, _shared: &Shared, place: &Place) -> Option<Vec<Request>> {
        let Place::Policy(id) = place else { return None };
        self.filter.clear();
        (self.pane, self.selected, self.scroll) = (Pane::List, Some(*id), 0);
        Some(Vec::new())
    }

    fn open(&mut self, shared: &Shared) -> Vec<Request> {
        self.read_history(shared).map(Request::from).into_iter().collect()
    }

    fn apply(&mut self, shared: &Shared, answer: &Answer) -> Vec<Request> {
        match answer {
            Answer::PolicyHistory(rows, resolved, changes) => {
                self.apply_history(shared, rows, resolved, changes);
            }
            Answer::Signer(name, Some(signer)) => {
                self.resolved.insert(name.clone(), signer.as_ref().clone());
            }
            Answer::Failed(Subject::PolicyHistory, _) => self.finish_history(),
            _ => {}
        }
        Vec::new()
    }

    fn prepare(&mut self, shared: &Shared) -> Vec<Request> {
        let Some(organization) = &shared.organization else { return Vec::new() };
        let (id, version) = (organization.head.organization_id, organization.head.version);
        if self.advice.as_ref().is_none_or(|(known, _)| *known != version) {
            self.advice = Some((version, rules(shared, organization).findings()));
            // A name may belong to another signer now.
            (self.resolved, self.requested) = Default::default();
            self.matched.clear();
        }
        let mut orders = Vec::new();
        if self.is_history_old(shared.now, version) {
            orders.extend(self.read_history(shared));
        }
        self.count_matches(shared);
        let names = simulation::body(self, shared).map(|body| body.names()).unwrap_or_default();
        for name in names {
            if self.requested.insert(name.clone()) {
                orders.push(Order::Signer(id, name));
            }
        }
        orders.into_iter().map(Request::from).collect()
    }

    fn edited(&mut self, shared: &Shared, result: Result<String, String>) -> Vec<Request> {
        self.apply_edited(shared, result)
    }

    fn proposed(&mut self) {
        self.drafting = None;
    }
}

impl State {
    /// Requests the recent activities and policy changes.
    fn read_history(&mut self, shared: &Shared) -> Option<Order> {
        let id = shared.organization_id?;
        let version = shared.organization.as_ref().map_or(0, |organization| organization.head.version);
        self.reading = Some(Reading { at: shared.now, version, is_answered: false });
        Some(Order::PolicyHistory(id))
    }

    /// Returns whether the history is of another version of the organization and may be read again.
    fn is_history_old(&self, now: u64, version: u64) -> bool {
        self.reading.as_ref().is_none_or(|reading| {
            reading.version != version
                && reading.is_answered
                && now.saturating_sub(reading.at) >= HISTORY_MILLIS
        })
    }

    /// Records that the history was answered or cannot be read, so that it may be requested again.
    fn finish_history(&mut self) {
        if let Some(reading) = &mut self.reading {
            reading.is_answered = true;
        }
    }

    /// Applies the recent activities and policy changes.
    fn apply_history(
        &mut self,
        shared: &Shared,
        rows: &[ActivityRow],
        resolved: &ResolvedNames,
        changes: &[ActivityRow],
    ) {
        self.finish_history();
        let Some(organization) = &shared.organization else { return };
        self.history = Some(History::new(organization, rows, resolved, changes.to_vec()));
        self.matched.clear();
    }

    /// Counts the matches of the policies near the selection. Others are counted when they come near it.
    fn count_matches(&mut self, shared: &Shared) {
        let Some(history) = &self.history else { return };
        let shown = self.shown(shared);
        let rows = usize::from(shared.size.1);
        let near = shown.iter().skip(self.position(&shown).saturating_sub(rows)).take(rows.saturating_mul(2));
        let fresh = near.filter(|policy| !self.matched.contains_key(&policy.policy_id));
        let counted = fresh.filter_map(|policy| {
            let program = policies::program(policy).ok()?;
            Some((policy.policy_id, Matched::count(&history.matched(&program))))
        });
        let counted: Vec<_> = counted.collect();
        self.matched.extend(counted);
    }

    /// Scrolls the details of the policy.
    fn scroll_detail(&mut self, shared: &Shared, wanted: Action, area: Rect) {
        let area = layout(self.pane, area).detail;
        let columns = usize::from(area.width.saturating_sub(4));
        let Some((policy, organization)) = self.selected(shared).zip(shared.organization.as_ref()) else {
            return;
        };
        let rules = rules(shared, organization);
        let rows = self.detail_lines(shared, &rules, policy, columns, Theme::uncoloured()).len();
        self.scroll = scroll(self.scroll, rows, usize::from(area.height.saturating_sub(2)), wanted);
    }

    /// Returns what can be copied of the selected policy.
    fn copies(&self, shared: &Shared) -> Option<Overlay> {
        let policy = self.selected(shared)?;
        let pieces = [
            ('i', "id", policy.policy_id.to_string()),
            ('c', "condition", policy.condition.clone()),
            ('s', "consensus", policy.consensus.clone()),
            ('t', "time", policy.time.clone().unwrap_or_default()),
            ('d', "draft to edit", Draft::of(policy).text()),
            ('j', "everything as JSON", json!(policy).to_string()),
        ];
        Some(Overlay::copies(pieces))
    }

    fn export(&self, shared: &Shared) -> Option<Effect> {
        let policy = self.selected(shared)?;
        let name = format!("quorate-policy-{}.json", policy.policy_id);
        Some(Effect::Export { name, text: format!("{:#}\n", json!(policy)) })
    }
}
