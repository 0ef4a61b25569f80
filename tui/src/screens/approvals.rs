//! The approvals screen: activities that wait for the viewer, those that wait for others, and a preview of
//! the selected one, of the organization and all its sub-organizations. No decisions are made here.

use quorate_common::ids::ActivityId;
use ratatui::layout::Rect;

use super::filter::Filter;
use super::inbox_row::Row;
use super::overlay::Overlay;
use super::request::Request;
use super::screen::{Screen, Tab, showing};
use super::shared::{LinkState, Shared};
use crate::canvas::{Canvas, Line, above};
use crate::keymap::{Action, BACK, COPY, Command, FILTER, Key, NEXT_PANE, REVIEW, moved, scroll};
use crate::text::{duration, grouped, indented, pad, width, wrap};
use crate::theme::Theme;

pub(super) static TAB: Tab = Tab {
    title: "Approvals",
    show: showing(&[Key::Char('1')], "Show activities that wait for approval").cli("quorate approvals ls"),
    commands: &COMMANDS,
    reads_activities: false,
    create: || Box::new(State::default()),
};

static COMMANDS: [Command; 5] = [REVIEW, COPY, BACK, FILTER, NEXT_PANE];

/// Columns from which a row has all cells.
const WIDE_COLUMNS: usize = 100;
/// Fewest and most rows of the preview.
const PREVIEW_ROWS: (u16, u16) = (9, 15);
/// Width of the labels in the preview, in columns.
const LABEL_COLUMNS: usize = 9;

#[derive(Default)]
struct State {
    /// The selected row; nothing means the first row.
    selected: Option<ActivityId>,
    filter: Filter,
    /// Whether the preview has the keyboard focus, and the first row that it shows.
    in_preview: bool,
    scroll: usize,
}

impl Screen for State {
    fn perform(&mut self, shared: &Shared, wanted: Action, area: Rect) -> Vec<Request> {
        let (mine, others) = self.visible(shared);
        let layout = layout(self, area, mine.len(), others.len());
        let all: Vec<&Row> = mine.iter().chain(&others).copied().collect();
        let selected = self.position(&all);
        match wanted {
            Action::Open => {
                let Some(row) = all.get(selected) else { return Vec::new() };
                // The selection stays on this row when rows are added above it.
                self.selected = Some(row.id);
                return vec![Request::Within(self.filter.clone()), Request::open(row)];
            }
            Action::Copy => {
                let Some(row) = all.get(selected) else { return Vec::new() };
                let fingerprint = row.fingerprint.as_ref().map(ToString::to_string);
                let copy = Overlay::copy_of_activity(row.id, fingerprint, row.organization);
                return vec![Request::Overlay(copy)];
            }
            Action::NextPane => self.in_preview = !self.in_preview,
            wanted if self.in_preview => {
                let columns = usize::from(layout.preview.width.saturating_sub(4));
                let row = all.get(selected);
                let lines = |row: &&Row| {
                    let is_elsewhere = shared.is_elsewhere(row.organization);
                    preview_lines(Theme::uncoloured(), row, columns, is_elsewhere).len()
                };
                let rows = row.map_or(0, lines);
                let height = usize::from(layout.preview.height.saturating_sub(2));
                self.scroll = scroll(self.scroll, rows, height, wanted);
            }
            wanted => {
                let pane = if selected < mine.len() { layout.mine } else { layout.others };
                let at = match group_edge(selected, mine.len(), all.len(), wanted) {
                    Some(edge) if edge != selected => edge,
                    _ => moved(selected, all.len(), page(area, pane), wanted),
                };
                let target = all.get(at).map(|row| row.id);
                if target != self.selected {
                    self.scroll = 0;
                }
                self.selected = target.or(self.selected);
            }
        }
        Vec::new()
    }

    fn filter(&mut self) -> &mut Filter {
        &mut self.filter
    }

    /// Returns the activities that wait for the viewer, or all without a viewer. `+` means that more are being
    /// loaded.
    fn count(&self, shared: &Shared) -> Option<String> {
        let inbox = &shared.inbox;
        let all = inbox.rows().len();
        let mine = inbox.rows().iter().filter(|row| row.is_mine).count();
        let count = if shared.viewer.user.is_some() { mine } else { all };
        Some(match (inbox.is_complete(), inbox.is_read()) {
            (true, _) => count.to_string(),
            (false, true) => format!("{count}+"),
            (false, false) => "?".to_owned(),
        })
    }

    fn draw(&self, shared: &Shared, canvas: &mut Canvas<'_>, area: Rect) {
        let (mine, others) = self.visible(shared);
        let all: Vec<&Row> = mine.iter().chain(&others).copied().collect();
        let selected = self.position(&all);
        let filter_text = self.filter.summary(all.len(), shared.inbox.rows().len());
        if all.is_empty() {
            let inner = canvas.framed(area, "Waiting", &filter_text);
            let lines: Vec<Line> =
                wrap(&self.nothing(shared), usize::from(inner.width)).into_iter().map(Line::plain).collect();
            canvas.lines(inner, &lines, 0);
            return;
        }
        let announcement = match shared.inbox.announced() {
            0 => String::new(),
            count => format!("{count} new HIGH"),
        };
        let remark = if filter_text.is_empty() { announcement } else { filter_text };
        let layout = layout(self, area, mine.len(), others.len());
        let has_list = !self.in_preview;
        let in_mine = Some(selected).filter(|at| *at < mine.len());
        let in_others = selected.checked_sub(mine.len());
        let remark_of_others = if mine.is_empty() { remark.as_str() } else { "" };
        for (area, who, remark, rows, at) in [
            (layout.mine, "you", remark.as_str(), &mine, in_mine),
            (layout.others, "others", remark_of_others, &others, in_others),
        ] {
            if area.height > 0 {
                table(shared, canvas, area, (who, remark), rows, at, has_list);
            }
        }
        if let Some(row) = all.get(selected).filter(|_| layout.preview.height > 0) {
            let remark = if has_list {
                "Enter opens the review; Tab selects this pane"
            } else {
                "selected; Tab goes back"
            };
            let inner = canvas.framed(layout.preview, "Preview", remark);
            let lines = preview_lines(
                canvas.theme,
                row,
                usize::from(inner.width),
                shared.is_elsewhere(row.organization),
            );
            canvas.pane(inner, &lines, self.scroll, self.in_preview);
        }
    }
}

impl State {
    /// Returns the rows that the filter admits: those that wait for the viewer, and those that wait for others.
    fn visible<'a>(&self, shared: &'a Shared) -> (Vec<&'a Row>, Vec<&'a Row>) {
        let rows = shared.inbox.rows().iter();
        rows.filter(|row| row.is_admitted(&self.filter)).partition(|row| row.is_mine)
    }

    /// Returns what is shown in place of rows.
    fn nothing(&self, shared: &Shared) -> String {
        match self.filter.named().filter(|_| !shared.inbox.rows().is_empty()) {
            Some(name) => format!(
                "Nothing matches. {name}: is no filter of this list, only words are. Press 3 to filter all activities by \
                 status, type, user and date; Esc clears the filter."
            ),
            None => nothing(shared),
        }
    }

    fn position(&self, all: &[&Row]) -> usize {
        all.iter().position(|row| Some(row.id) == self.selected).unwrap_or(0)
    }
}

/// Returns the first or last row of the group that contains the selected one, if an action goes there.
fn group_edge(selected: usize, mine: usize, all: usize, wanted: Action) -> Option<usize> {
    let is_in_mine = selected < mine;
    match wanted {
        Action::Top => Some(if is_in_mine { 0 } else { mine }),
        Action::Bottom => Some(if is_in_mine { mine } else { all }.saturating_sub(1)),
        _ => None,
    }
}

/// Areas of the screen.
struct Layout {
    mine: Rect,
    others: Rect,
    preview: Rect,
}

/// Returns the rows that a table takes with its frame and head.
fn height(count: usize, per_row: u16) -> u16 {
    let head = if per_row == 1 { 3 } else { 2 };
    u16::try_from(count).unwrap_or(u16::MAX).saturating_mul(per_row).saturating_add(head)
}

/// Splits the area. Lists that need more rows take them from the preview, down to what shows its first lines.
fn layout(state: &State, area: Rect, mine: usize, others: usize) -> Layout {
    let per_row = rows_each(area);
    let needed = |count: usize| if count == 0 { 0 } else { height(count, per_row) };
    let lists = needed(mine).saturating_add(needed(others));
    let preview = match area.height {
        26.. => area.height.saturating_sub(lists).clamp(PREVIEW_ROWS.0, PREVIEW_ROWS.1),
        16.. => PREVIEW_ROWS.0.saturating_sub(2),
        _ if state.in_preview => area.height,
        _ => 0,
    };
    let available = area.height.saturating_sub(preview);
    let others = match (others, mine) {
        (0, _) => 0,
        (_, 0) => available,
        // Whole activities only.
        (others, _) => {
            let most = (available / 3).max(height(1, per_row));
            let whole = most.saturating_sub(height(0, per_row)) / per_row.max(1) * per_row;
            height(others, per_row).min(whole.saturating_add(height(0, per_row))).min(available)
        }
    };
    let (mine, rest) = above(area, available.saturating_sub(others));
    let (others, preview) = above(rest, others);
    Layout { mine, others, preview }
}

/// Returns the number of rows per activity.
fn rows_each(area: Rect) -> u16 {
    if area.width < 80 { 2 } else { 1 }
}

/// Returns how many activities of a table are visible. One row shows how many are below.
fn page(area: Rect, pane: Rect) -> usize {
    let per_row = rows_each(area);
    let head = if per_row == 1 { 3 } else { 2 };
    usize::from(pane.height.saturating_sub(head).saturating_sub(1) / per_row).max(1)
}

/// Returns the title of a table, with the progress of loading.
fn title(shared: &Shared, who: &str, count: usize) -> String {
    let inbox = &shared.inbox;
    let whose = if shared.viewer.user.is_some() {
        format!("Waiting for {who}: {count}")
    } else {
        format!("Waiting: {count} (read only)")
    };
    if inbox.is_complete() {
        let remark = match () {
            () if inbox.is_indexing() => "; the daemon still indexes older ones".to_owned(),
            () if inbox.is_full() => "; more wait in sub-organizations: o shows one of them".to_owned(),
            () if inbox.unlisted() > 0 => format!("; the daemon counts {} more", inbox.unlisted()),
            () => String::new(),
        };
        return format!("{whose}{remark}");
    }
    format!("{whose} so far ({} waiting, {} loaded)", inbox.total(), inbox.rows().len())
}

fn nothing(shared: &Shared) -> String {
    let inbox = &shared.inbox;
    match (&shared.link, inbox.is_complete()) {
        _ if !inbox.rows().is_empty() => {
            format!("0 of {} match; Esc clears the filter.", inbox.rows().len())
        }
        (LinkState::Starting, false) => format!("Connecting to {}.", shared.identity.socket),
        (_, false) => shared.loading("the approvals"),
        (_, true) if inbox.is_indexing() => "The daemon still indexes what waits for approval.".to_owned(),
        (_, true) if inbox.unlisted() > 0 => format!(
            "[!] The daemon counts {} that wait, but lists none. r reads again; ask the operator if the numbers still differ.",
            inbox.unlisted()
        ),
        (_, true) => {
            "Nothing waits for approval in this organization or its sub-organizations. Press p to propose something, 3 for \
             all activities."
                .to_owned()
        }
    }
}

fn table(
    shared: &Shared,
    canvas: &mut Canvas<'_>,
    area: Rect,
    (who, remark): (&str, &str),
    rows: &[&Row],
    selected: Option<usize>,
    has_keys: bool,
) {
    let mut inner = canvas.framed(area, &title(shared, who, rows.len()), remark);
    let columns = usize::from(inner.width);
    let is_wide = rows_each(area) == 1;
    let place = Place { columns, is_wide, has_several: shared.inbox.has_several() };
    if is_wide {
        let head = ["RISK", "TYPE", "WHAT CHANGES", "PROPOSER", "VOTES", "EXPIRES", "AGE"];
        canvas.row(inner, 0, &cells(&place, head, "ORGANIZATION", "  "), Theme::strong());
        inner = above(inner, 1).1;
    }
    let theme = canvas.theme;
    let render = |index: usize| {
        let Some(row) = rows.get(index) else { return Vec::new() };
        let is_selected = selected == Some(index);
        let style = if is_selected { Theme::selected() } else { theme.of_mark(row.risk.word()) };
        let marker = match (is_selected, shared.inbox.is_fresh(row)) {
            (true, _) => "> ",
            (false, true) => "* ",
            (false, false) => "  ",
        };
        let texts = texts(row, marker, shared.now, &place, shared.inbox.is_imitation(row));
        texts.into_iter().map(|text| Line::styled(text, style)).collect()
    };
    canvas.rows(inner, rows.len(), usize::from(rows_each(area)), selected.unwrap_or(0), has_keys, render);
}

/// How rows are formatted.
struct Place {
    columns: usize,
    /// Whether each activity takes one row.
    is_wide: bool,
    /// Whether the rows show their organization.
    has_several: bool,
}

/// Formats one activity as one row if the width allows it, otherwise as two.
fn texts(row: &Row, marker: &str, now: u64, place: &Place, is_imitation: bool) -> Vec<String> {
    let proposer = if is_imitation { format!("[!] {}", row.proposer) } else { row.proposer.clone() };
    let no_expiry = if row.has_expired { "expired" } else { "-" };
    let expires = row.expires.map_or_else(|| no_expiry.to_owned(), |at| duration(at.saturating_sub(now)));
    let age = duration(now.saturating_sub(row.created));
    let blocked = if row.is_blocked { "[x] " } else { "" };
    let has_column = place.is_wide && place.columns >= WIDE_COLUMNS;
    let organization = &row.organization_name;
    let what = if place.has_several && !has_column {
        format!("{blocked}{organization}: {}", row.brief)
    } else {
        format!("{blocked}{}", row.brief)
    };
    if place.is_wide {
        let texts = [row.risk.word(), &row.title, &what, &proposer, &row.votes, &expires, &age];
        return vec![cells(place, texts, organization, marker)];
    }
    vec![format!("{marker}{:<4} {}", row.risk.word(), row.title), format!("  {}  {what}", row.votes)]
}

/// Formats the cells of a row. If the width is small, age, proposer and organization are omitted.
fn cells(
    place: &Place,
    [risk, title, what, proposer, votes, expires, age]: [&str; 7],
    organization: &str,
    marker: &str,
) -> String {
    let columns = place.columns;
    let (risk, votes) = (pad(risk, 6), pad(votes, 9));
    if columns >= WIDE_COLUMNS {
        let organization = if place.has_several { spaced(organization, 16) } else { String::new() };
        let rest = columns.saturating_sub(2 + 6 + 24 + 13 + 9 + 9 + 7 + width(&organization));
        let (title, what, proposer) = (pad(title, 24), spaced(what, rest), spaced(proposer, 13));
        let (expires, age) = (pad(expires, 9), pad(age, 7));
        return format!("{marker}{risk}{organization}{title}{what}{proposer}{votes}{expires}{age}");
    }
    let rest = columns.saturating_sub(2 + 6 + 20 + 9 + 8);
    format!("{marker}{risk}{}{}{votes}{}", spaced(title, 20), spaced(what, rest), pad(expires, 8))
}

/// Pads a text and leaves one blank column at the end.
fn spaced(text: &str, columns: usize) -> String {
    format!("{} ", pad(text, columns.saturating_sub(1)))
}

fn preview_lines(theme: Theme, row: &Row, columns: usize, is_elsewhere: bool) -> Vec<Line> {
    let mut lines = vec![Line::styled(row.title.clone(), Theme::strong())];
    let mut labelled = |label: &str, text: &str| {
        let indent = if label.is_empty() { 0 } else { LABEL_COLUMNS };
        let rows = indented(text, &pad(label, indent), indent, columns);
        lines.extend(rows.into_iter().map(|row| Line::marked(row, theme)));
    };
    let (sentence, rest) = row.preview.split_at(row.preview.len().min(1));
    for (label, text) in sentence {
        labelled(label, text);
    }
    if is_elsewhere {
        labelled("in", &format!("{} {}", row.organization_name, row.organization));
    }
    for (index, flag) in row.flags.iter().chain(&row.shared_flags).enumerate() {
        labelled(if index == 0 { "flags" } else { " " }, flag);
    }
    if row.flags.is_empty() && row.shared_flags.is_empty() {
        labelled("flags", "none");
    }
    for (label, text) in rest {
        labelled(label, text);
    }
    if let Some(fingerprint) = &row.fingerprint {
        labelled("sha256", &grouped(&fingerprint.hex()));
    }
    lines
}
