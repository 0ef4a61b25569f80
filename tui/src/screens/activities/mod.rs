//! The list of all activities of the organization, which the daemon filters and orders. It is loaded page by page, from
//! its beginning or from its end.

mod list;
mod query;

use std::cell::Cell;
use std::collections::HashSet;

use quorate_common::activity::Status;
use quorate_common::console::Change;
use quorate_common::ids::ActivityId;
use ratatui::layout::Rect;

use super::filter::Filter;
use super::overlay::Entry;
use super::request::Request;
use super::screen::{Screen, Tab, showing};
use super::shared::Shared;
use crate::canvas::{Canvas, Line, above, rows_each};
use crate::keymap::{Action, BACK, COPY, Command, FILTER, Key, REVIEW, command, moved};
use crate::link::{Answer, Order, Subject};
use crate::proof::status_word;
use crate::text::{date, date_time, pad, width, wrap};
use crate::theme::Theme;
use list::{List, ROWS};
use query::{HELP, Sort};

pub(super) static TAB: Tab = Tab {
    title: "Activities",
    show: showing(&[Key::Char('3')], "Show all activities").cli("quorate activity ls"),
    commands: &COMMANDS,
    reads_activities: false,
    create: || Box::new(State::default()),
};

const SORT: Action = Action::OfScreen("sort");

static COMMANDS: [Command; 5] = [
    REVIEW,
    COPY,
    BACK,
    FILTER,
    command(SORT, &[Key::Char('s')], "Sort", "Sort by time, status or type")
        .cli("quorate activity ls --order ORDER"),
];

/// Columns from which a row has all cells.
const WIDE: usize = 110;
/// How many rows beyond the selected one are read ahead.
const AHEAD: usize = 200;

#[derive(Default)]
struct State {
    /// The selected row; nothing means the first row, or the last one if the list is read from its end.
    selected: Option<ActivityId>,
    filter: Filter,
    sort: Sort,
    /// Whether the list is read from its end.
    at_end: bool,
    list: List,
    /// Why the filter means nothing, if so.
    error: Option<String>,
    /// Whether activities changed since the first page was read.
    is_outdated: bool,
    /// Index of the selected row when it was last looked for, which is tried first.
    place: Cell<usize>,
}

impl Screen for State {
    fn perform(&mut self, shared: &Shared, wanted: Action, area: Rect) -> Vec<Request> {
        // One row shows how many are below, and one contains the names of the columns.
        let head = if rows_each(area.width) == 1 { 2 } else { 1 };
        let page = usize::from(area.height.saturating_sub(2).saturating_sub(head) / rows_each(area.width));
        let selected = self.position();
        match wanted {
            Action::Open => {
                let (Some(line), Some(organization)) = (self.line(selected), shared.organization_id) else {
                    return Vec::new();
                };
                let (id, title) = (line.id, line.title.clone());
                self.selected = Some(id);
                return vec![Request::Open { organization, id, title }];
            }
            Action::Copy => {
                let (line, organization) = (self.line(selected), shared.organization_id);
                let copy = line.zip(organization).map(|(line, of)| line.copies(of));
                return copy.map(Request::Overlay).into_iter().collect();
            }
            SORT => {
                self.sort = self.sort.next();
                self.show_end(false);
            }
            Action::Bottom if !self.at_end && !self.list.is_whole() => self.show_end(true),
            Action::Top if self.at_end && !self.list.is_whole() => self.show_end(false),
            wanted => {
                let target = moved(selected, self.list.lines.len(), page, wanted);
                self.selected = self.line(target).map(|line| line.id).or(self.selected);
            }
        }
        Vec::new()
    }

    fn filter(&mut self) -> &mut Filter {
        &mut self.filter
    }

    fn things(&self, shared: &Shared) -> Vec<Entry> {
        // The inbox has those that wait.
        let waiting: HashSet<ActivityId> = shared.inbox.rows().iter().map(|row| row.id).collect();
        let has_ended = |line: &&list::Line| !waiting.contains(&line.id);
        self.list.lines.iter().filter(has_ended).map(list::Line::entry).collect()
    }

    fn reload(&mut self, _shared: &Shared, _is_shown: bool) -> Vec<Request> {
        self.list.restart(None);
        Vec::new()
    }

    fn apply(&mut self, shared: &Shared, answer: &Answer) -> Vec<Request> {
        match answer {
            Answer::History(generation, after, page)
                if *generation == self.list.generation && shared.is_shown(&page.activities) =>
            {
                self.list.apply(shared, after.as_deref(), page);
            }
            Answer::Failed(Subject::Activities, _) => self.list.is_reading = false,
            Answer::Changed(Change::Activity { organization_id, .. })
                if !shared.is_elsewhere(*organization_id) =>
            {
                self.is_outdated = true;
            }
            _ => {}
        }
        Vec::new()
    }

    /// Reads what the filter and the order request, and the next page before the selection reaches it.
    fn prepare(&mut self, shared: &Shared) -> Vec<Request> {
        let (Some(id), Some(organization)) = (shared.organization_id, &shared.organization) else {
            return Vec::new();
        };
        if !self.filter.typing {
            match query::request(self.filter.text(), organization) {
                Err(error) => self.error = Some(error),
                Ok(mut request) => {
                    self.error = None;
                    self.sort.apply(&mut request, self.at_end);
                    let requested = Some((id, request));
                    if self.list.requested != requested {
                        self.list.restart(requested);
                        self.selected = None;
                    }
                }
            }
        }
        if self.list.is_reading {
            return Vec::new();
        }
        let Some((id, request)) = &self.list.requested else { return Vec::new() };
        let is_newest = self.sort == Sort::Newest && !self.at_end;
        let is_first = !self.list.is_loaded || self.is_outdated && is_newest;
        let after = if is_first { None } else { self.list.next.clone() };
        if !is_first && (after.is_none() || !self.is_near_end() || self.list.lines.len() >= ROWS) {
            return Vec::new();
        }
        self.list.is_reading = true;
        self.is_outdated = self.is_outdated && !is_first;
        vec![Order::History(*id, Box::new(request.clone()), after, self.list.generation).into()]
    }

    fn draw(&self, shared: &Shared, canvas: &mut Canvas<'_>, area: Rect) {
        let inner = canvas.framed(area, &self.title(), &self.remark());
        let count = self.list.lines.len();
        if let Some(text) = self.empty(shared) {
            let lines = wrap(&text, usize::from(inner.width)).into_iter().map(Line::plain);
            canvas.lines(inner, &lines.collect::<Vec<_>>(), 0);
            return;
        }
        let (each, columns) = (rows_each(area.width), usize::from(inner.width));
        let rows = if each == 1 {
            canvas.row(inner, 0, &cells(columns, HEAD, "  "), Theme::strong());
            above(inner, 1).1
        } else {
            inner
        };
        let selected = self.position();
        canvas.rows(rows, count, usize::from(each), selected, true, |index| {
            let Some(line) = self.line(index) else { return Vec::new() };
            let is_selected = index == selected;
            let style = if is_selected { Theme::selected() } else { Theme::plain() };
            let texts = texts(line, if is_selected { "> " } else { "  " }, columns);
            texts.into_iter().map(|text| Line::styled(text, style)).collect()
        });
    }
}

impl State {
    /// Shows the beginning or the end of the list. What is not loaded is read from there.
    fn show_end(&mut self, at_end: bool) {
        self.at_end = at_end;
        self.selected = None;
    }

    /// Returns the row at a place on the screen.
    fn line(&self, at: usize) -> Option<&list::Line> {
        let count = self.list.lines.len();
        let index = if self.at_end { count.checked_sub(at.checked_add(1)?)? } else { at };
        self.list.lines.get(index)
    }

    /// Returns the place of the selected row on the screen.
    fn position(&self) -> usize {
        let last = self.list.lines.len().saturating_sub(1);
        let first = if self.at_end { last } else { 0 };
        let Some(selected) = self.selected else { return first };
        let is_there = |at: usize| self.line(at).is_some_and(|line| line.id == selected);
        let known = self.place.get();
        let at = if is_there(known) { Some(known) } else { (0..=last).find(|at| is_there(*at)) };
        let at = at.unwrap_or(first);
        self.place.set(at);
        at
    }

    /// Returns whether the selected row is close to where reading stopped.
    fn is_near_end(&self) -> bool {
        let (at, count) = (self.position(), self.list.lines.len());
        let read = if self.at_end { count.saturating_sub(at) } else { at };
        read.saturating_add(AHEAD) > count
    }

    fn title(&self) -> String {
        if self.error.is_some() {
            return format!("Activities; {}; times in UTC", self.sort.name());
        }
        let count = self.list.lines.len();
        let more = match (self.list.is_whole(), self.at_end, count >= ROWS) {
            (true, ..) => "",
            (false, _, true) => " loaded, no more are kept: filter them",
            (false, false, false) => " loaded, more below",
            (false, true, false) => " loaded, more above",
        };
        format!("Activities: {count}{more}; {}; times in UTC", self.sort.name())
    }

    fn remark(&self) -> String {
        let text = self.filter.text();
        if self.filter.typing {
            return format!("/{}_  Enter searches, Esc clears", crate::text::clean(text));
        }
        if text.is_empty() {
            return String::new();
        }
        if self.error.is_some() {
            return format!("/{}  Esc clears", crate::text::clean(text));
        }
        let searched = match self.list.reached.filter(|_| !self.list.is_whole()) {
            Some(reached) => format!(", searched to {}", date(reached)),
            None => String::new(),
        };
        format!("/{}  {} found{searched}, Esc clears", crate::text::clean(text), self.list.lines.len())
    }

    /// Returns what is shown in place of rows, if there are none.
    fn empty(&self, shared: &Shared) -> Option<String> {
        if self.filter.typing && self.filter.text().is_empty() {
            return Some(format!("Filter: {HELP}"));
        }
        if let Some(error) = self.error.as_ref().filter(|_| !self.filter.typing) {
            return Some(format!("{error}; Esc clears the filter. Filter: {HELP}"));
        }
        if !self.list.lines.is_empty() {
            return None;
        }
        Some(match (self.list.is_whole(), self.filter.is_empty()) {
            (true, true) => "No activities yet.".to_owned(),
            (true, false) => format!("Nothing matches; Esc clears the filter. Filter: {HELP}"),
            (false, true) => shared.loading("activities"),
            (false, false) => "Searching.".to_owned(),
        })
    }
}

/// The names of the columns.
const HEAD: [&str; 6] = ["TIME", "STATUS", "TYPE", "WHAT", "PROPOSER", "VOTES"];

/// Formats one activity as one row if the width allows it, otherwise as two.
fn texts(line: &list::Line, marker: &str, columns: usize) -> Vec<String> {
    let when = date_time(line.created);
    let when = when.trim_end_matches(" UTC");
    // Without seconds, unless there is space for them.
    let when = if columns >= WIDE { when } else { when.get(..16).unwrap_or(when) };
    let status = short(line.status);
    if columns >= 76 {
        let texts = [when, status, &line.title, &line.what, &line.proposer, &line.votes];
        return vec![cells(columns, texts, marker)];
    }
    vec![format!("{marker}{} {}", pad(status, 9), line.title), format!("  {when} {}", line.what)]
}

/// Formats the cells of a row. If the width is small, proposer and votes are omitted.
fn cells(columns: usize, [when, status, title, what, proposer, votes]: [&str; 6], marker: &str) -> String {
    let spaced = |text: &str, columns: usize| format!("{} ", pad(text, columns.saturating_sub(1)));
    let is_wide = columns >= WIDE;
    let start = format!("{marker}{}{}", spaced(when, if is_wide { 20 } else { 17 }), spaced(status, 10));
    let (title, end) = if is_wide {
        (spaced(title, 24), format!("{}{}", spaced(proposer, 16), pad(votes, 13)))
    } else {
        (spaced(title, 19), String::new())
    };
    let rest =
        columns.saturating_sub(width(&start)).saturating_sub(width(&title)).saturating_sub(width(&end));
    format!("{start}{title}{}{end}", spaced(what, rest))
}

fn short(status: Status) -> &'static str {
    match status {
        Status::AuthenticatorsNeeded => "MFA",
        status => status_word(status),
    }
}
