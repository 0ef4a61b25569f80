//! The list of all activities of the organization, newest first, loaded page by page.

use quorate_common::activity::Activity;
use quorate_common::console::ActivityRow;
use quorate_common::ids::ActivityId;
use ratatui::layout::Rect;

use super::filter::Filter;
use super::overlay::Overlay;
use super::request::Request;
use super::screen::{Screen, Tab, showing};
use super::shared::Shared;
use crate::canvas::{Canvas, Line, rows_each};
use crate::keymap::{Action, BACK, COPY, Command, FILTER, Key, REVIEW, moved};
use crate::kinds::{ReviewContext, count, of_type};
use crate::link::Order;
use crate::proof::{Record, status_word};
use crate::text::{clean, date_time, pad};

pub(super) static TAB: Tab = Tab {
    title: "Activities",
    show: showing(&[Key::Char('3')], "Show all activities").cli("quorate activity ls"),
    commands: &COMMANDS,
    reads_activities: true,
    create: || Box::new(State::default()),
};

static COMMANDS: [Command; 4] = [REVIEW, COPY, BACK, FILTER];

#[derive(Default)]
struct State {
    selected: Option<ActivityId>,
    filter: Filter,
}

impl Screen for State {
    fn perform(&mut self, shared: &Shared, wanted: Action, area: Rect) -> Vec<Request> {
        // One row shows how many are below.
        let page = usize::from(area.height.saturating_sub(2).saturating_sub(1) / rows_each(shared.size.0));
        let rows = self.visible(shared);
        let selected = self.position(&rows);
        if wanted == Action::Open {
            let (Some(row), Some(organization)) = (rows.get(selected), &shared.organization) else {
                return Vec::new();
            };
            let record = Record::of_row((*row).clone(), organization);
            return vec![Request::Review(Box::new(shared.examine(&record, None)))];
        }
        if wanted == Action::Copy {
            let copies = rows.get(selected).map(|row| Request::Overlay(copies(&row.activity)));
            return copies.into_iter().collect();
        }
        let target = moved(selected, rows.len(), page, wanted);
        let at_end = target.saturating_add(1) >= rows.len();
        self.selected = rows.get(target).map(|row| row.activity.id).or(self.selected);
        match (at_end, shared.activities.next, shared.organization_id) {
            (true, Some(next), Some(id)) => vec![Order::Activities(id, Some(next)).into()],
            _ => Vec::new(),
        }
    }

    fn filter(&mut self) -> &mut Filter {
        &mut self.filter
    }

    fn draw(&self, shared: &Shared, canvas: &mut Canvas<'_>, area: Rect) {
        let rows = self.visible(shared);
        let list = &shared.activities;
        let more = if list.next.is_some() { ", more below" } else { "" };
        let title_text = format!("Activities: {}{more}; times in UTC", list.rows.len());
        let inner = canvas.framed(area, &title_text, &self.filter.summary(rows.len(), list.rows.len()));
        if rows.is_empty() {
            let text = match (list.is_loaded, list.rows.is_empty()) {
                (false, _) => &shared.loading("activities"),
                (true, true) => "No activities yet.",
                (true, false) => "Nothing matches; Esc clears the filter.",
            };
            canvas.lines(inner, &[Line::plain(text)], 0);
            return;
        }
        let selected = self.position(&rows);
        canvas.items(inner, &rows, rows_each(area.width), selected, true, |row, marker| {
            texts(shared, row, marker, usize::from(inner.width))
        });
    }
}

impl State {
    fn visible<'a>(&self, shared: &'a Shared) -> Vec<&'a ActivityRow> {
        let admitted = |row: &&ActivityRow| {
            let activity = &row.activity;
            let (title, proposer) = (title(row), proposer(shared, row));
            let words = [&title, &activity.activity_type, status_word(activity.status), &proposer];
            self.filter.admits(&words.join(" "), &[&activity.id.to_string()])
        };
        shared.activities.rows.iter().filter(|row| self.filter.is_empty() || admitted(row)).collect()
    }

    fn position(&self, rows: &[&ActivityRow]) -> usize {
        rows.iter().position(|row| Some(row.activity.id) == self.selected).unwrap_or(0)
    }
}

fn copies(activity: &Activity) -> Overlay {
    Overlay::copy_of_activity(activity.id, Some(activity.fingerprint.to_string()), activity.organization_id)
}

fn title(row: &ActivityRow) -> String {
    let kind = &row.activity.activity_type;
    of_type(kind)
        .map_or_else(|| clean(kind.trim_start_matches("ACTIVITY_TYPE_")), |(kind, _)| kind.title.to_owned())
}

fn proposer(shared: &Shared, row: &ActivityRow) -> String {
    let Some(vote) = row.activity.votes.first() else { return "?".to_owned() };
    match &shared.organization {
        Some(organization) => ReviewContext::of(organization).user_name(&vote.user_id.to_string()),
        None => vote.user_id.to_string(),
    }
}

/// Formats one activity as one row if the width allows it, otherwise as two.
fn texts(shared: &Shared, row: &ActivityRow, marker: &str, columns: usize) -> Vec<String> {
    let activity = &row.activity;
    let when = date_time(activity.created_at.millis());
    let when = when.trim_end_matches(" UTC");
    let state = pad(status_word(activity.status), 9);
    let (title, proposer) = (title(row), proposer(shared, row));
    if columns >= 110 {
        let votes = pad(&count(activity.votes.len(), "vote"), 8);
        let (title, proposer) = (pad(&title, 24), pad(&proposer, 12));
        return vec![format!("{marker}{when}  {state} {title} {proposer} {votes} {}", activity.id)];
    }
    if columns >= 76 {
        return vec![format!("{marker}{when}  {state} {} {proposer}", pad(&title, 24))];
    }
    vec![format!("{marker}{state} {title}"), format!("  {when} {proposer}")]
}
