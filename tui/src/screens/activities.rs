//! The list of all activities of the organization, newest first, loaded page by page.

use quorate_common::console::{ActivityPage, ActivityRow, ReviewRecord};
use quorate_common::ids::ActivityId;
use ratatui::layout::Rect;

use super::{Filter, moved, review};
use crate::app::{Effect, Model, body};
use crate::canvas::{Canvas, Line};
use crate::keymap::Action;
use crate::kinds::{Scene, count, of_type};
use crate::link::Order;
use crate::proof::status_word;
use crate::text::{clean, date_time, pad};
use crate::theme::Theme;

#[derive(Default)]
pub(crate) struct State {
    rows: Vec<ActivityRow>,
    next: Option<ActivityId>,
    selected: Option<ActivityId>,
    pub(crate) filter: Filter,
    loaded: bool,
}

/// Applies a page. The first page replaces the rows that it overlaps and keeps the older ones.
pub(crate) fn apply_page(state: &mut State, after: Option<ActivityId>, page: ActivityPage) {
    if after.is_none() {
        let oldest = page.activities.last().map(|row| row.activity.id);
        let overlaps = oldest.is_some_and(|oldest| state.rows.iter().any(|row| row.activity.id == oldest));
        let older = if overlaps {
            state.rows.drain(..).skip_while(|row| Some(row.activity.id) != oldest).skip(1).collect()
        } else {
            Vec::new()
        };
        if !overlaps {
            state.next = page.next;
        }
        state.rows = page.activities;
        state.rows.extend::<Vec<ActivityRow>>(older);
    } else if state.next == after {
        state.rows.extend(page.activities);
        state.next = page.next;
    }
    state.loaded = true;
}

/// Returns the loaded activities.
pub(crate) fn rows(state: &State) -> &[ActivityRow] {
    &state.rows
}

/// Handles the keys of this screen.
pub(crate) fn perform(model: &mut Model, wanted: Action) -> Vec<Effect> {
    let inner = body(model).height.saturating_sub(2);
    // One row shows how many are below.
    let page = usize::from(inner.saturating_sub(1) / rows_each(model.size.0));
    let rows = visible(model);
    let selected = position(model, &rows);
    if wanted == Action::Open {
        let chosen = rows.get(selected).map(|row| (*row).clone());
        let (Some(row), Some(organization)) = (chosen, model.organization.clone()) else { return Vec::new() };
        let review = model.examine(&ReviewRecord { row, organization, grounds: None }, None);
        model.review = Some(review::State::new(review));
        return review::reread(model);
    }
    let target = moved(selected, rows.len(), page, wanted);
    let id = rows.get(target).map(|row| row.activity.id);
    let at_end = target.saturating_add(1) >= rows.len();
    model.activities.selected = id.or(model.activities.selected);
    match (at_end, model.activities.next, model.organization_id) {
        (true, Some(next), Some(organization)) => {
            vec![Effect::Order(Order::Activities(organization, Some(next)))]
        }
        _ => Vec::new(),
    }
}

fn visible(model: &Model) -> Vec<&ActivityRow> {
    if model.activities.filter.text().is_empty() {
        return model.activities.rows.iter().collect();
    }
    let admitted = |row: &&ActivityRow| {
        let activity = &row.activity;
        let words =
            [&title(row), &activity.activity_type, status_word(activity.status), &proposer(model, row)];
        model.activities.filter.admits(&words.join(" "), &[&activity.id.to_string()])
    };
    model.activities.rows.iter().filter(admitted).collect()
}

fn position(model: &Model, rows: &[&ActivityRow]) -> usize {
    rows.iter().position(|row| Some(row.activity.id) == model.activities.selected).unwrap_or(0)
}

fn title(row: &ActivityRow) -> String {
    let kind = &row.activity.activity_type;
    of_type(kind)
        .map_or_else(|| clean(kind.trim_start_matches("ACTIVITY_TYPE_")), |(kind, _)| kind.title().to_owned())
}

fn proposer(model: &Model, row: &ActivityRow) -> String {
    let Some(vote) = row.activity.votes.first() else { return "?".to_owned() };
    match &model.organization {
        Some(organization) => Scene::of(organization).user_name(&vote.user_id.to_string()),
        None => vote.user_id.to_string(),
    }
}

/// Returns the number of rows per activity in a terminal of this width.
const fn rows_each(columns: u16) -> u16 {
    if columns >= 80 { 1 } else { 2 }
}

pub(crate) fn draw(model: &Model, canvas: &mut Canvas<'_>, area: Rect) {
    let rows = visible(model);
    let state = &model.activities;
    let more = if state.next.is_some() { ", more below" } else { "" };
    let title_text = format!("Activities: {}{more}; times in UTC", state.rows.len());
    let inner = canvas.framed(area, &title_text, &state.filter.summary(rows.len(), state.rows.len()));
    if rows.is_empty() {
        let text = match (state.loaded, state.rows.is_empty()) {
            (false, _) => "Loading activities.",
            (true, true) => "No activities yet.",
            (true, false) => "Nothing matches; Esc clears the filter.",
        };
        canvas.lines(inner, &[Line::plain(text)], 0);
        return;
    }
    let selected = position(model, &rows);
    let each = rows_each(area.width);
    let columns = usize::from(inner.width);
    canvas.rows(inner, rows.len(), usize::from(each), selected, true, |index| {
        let Some(row) = rows.get(index) else { return Vec::new() };
        let style = if index == selected { Theme::selected() } else { Theme::plain() };
        let texts = texts(model, row, if index == selected { "> " } else { "  " }, columns);
        texts.into_iter().map(|text| Line::styled(text, style)).collect()
    });
}

/// Formats one activity as one row if the width allows it, otherwise as two.
fn texts(model: &Model, row: &ActivityRow, marker: &str, columns: usize) -> Vec<String> {
    let activity = &row.activity;
    let when = date_time(activity.created_at.millis());
    let when = when.trim_end_matches(" UTC");
    let state = pad(status_word(activity.status), 9);
    let (title, proposer) = (title(row), proposer(model, row));
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
