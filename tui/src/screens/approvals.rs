//! What waits: for me, for others, and a preview of the marked line. Nothing is decided here.

use quorate_common::console::ActivityRow;
use quorate_common::ids::ActivityId;
use ratatui::layout::Rect;

use super::{Filter, moved, review};
use crate::app::{Effect, LinkState, Model};
use crate::canvas::{Canvas, Line, above, scrolled};
use crate::cli::{needs, waits_for_viewer};
use crate::keymap::Action;
use crate::proof::{Mark, Review};
use crate::text::{cut, duration, grouped, pad, wrap};
use crate::theme::Theme;

/// The list.
#[derive(Default)]
pub(crate) struct State {
    /// Reviews of all that waits, in the order shown.
    pub(crate) rows: Vec<Review>,
    selected: Option<ActivityId>,
    /// Words that rows must have.
    pub(crate) filter: Filter,
    /// Whether more waits than was read.
    pub(crate) more: bool,
    /// Whether the list was read at all.
    pub(crate) loaded: bool,
    /// Whether the next list is sorted anew.
    pub(crate) resort: bool,
}

/// Takes a fresh list: known rows keep their place, new ones are appended, unless sorting was asked for.
/// Returns what is new, in words.
pub(crate) fn take(state: &mut State, mut fresh: Vec<Review>) -> Option<String> {
    fresh.sort_by_key(|review| (std::cmp::Reverse(review.risk), review.tally.lapses_at));
    let known: Vec<ActivityId> = state.rows.iter().map(|review| review.activity.id).collect();
    let new: Vec<&Review> = fresh.iter().filter(|review| !known.contains(&review.activity.id)).collect();
    let gone = known.iter().filter(|id| !fresh.iter().any(|review| review.activity.id == **id)).count();
    let news = match (state.loaded, new.as_slice(), gone) {
        (false, ..) | (true, [], 0) => None,
        (true, [], gone) => Some(format!("{gone} decided or closed")),
        (true, [one], _) => Some(format!("new: {}: {}", one.title, one.brief)),
        (true, more, _) => Some(format!("{} new (r sorts)", more.len())),
    };
    if state.loaded && !state.resort {
        let place =
            |review: &Review| known.iter().position(|id| *id == review.activity.id).unwrap_or(usize::MAX);
        fresh.sort_by_key(place);
    }
    state.rows = fresh;
    state.loaded = true;
    state.resort = false;
    news
}

/// The row that a review was made of, for comparison with others.
pub(crate) fn row(review: &Review) -> ActivityRow {
    ActivityRow { activity: review.activity.clone(), waiting: None }
}

/// Keys of this screen.
pub(crate) fn perform(model: &mut Model, wanted: Action) -> Vec<Effect> {
    let page = usize::from(model.size.1 / 3);
    let (mine, others) = visible(&model.approvals);
    let all: Vec<&Review> = mine.into_iter().chain(others).collect();
    let selected = position(&model.approvals, &all);
    if wanted == Action::Open {
        let Some(chosen) = all.get(selected).map(|review| (*review).clone()) else { return Vec::new() };
        model.review = Some(review::State::new(chosen));
        return review::reread(model);
    }
    let target = all.get(moved(selected, all.len(), page, wanted)).map(|review| review.activity.id);
    model.approvals.selected = target.or(model.approvals.selected);
    Vec::new()
}

/// Rows that the filter admits: mine, and those of others.
fn visible(state: &State) -> (Vec<&Review>, Vec<&Review>) {
    let admitted = state.rows.iter().filter(|review| {
        state.filter.admits(&format!(
            "{} {} {} {} {} {}",
            review.risk.word(),
            review.title,
            review.brief,
            review.asker,
            review.activity.id,
            review.activity.fingerprint
        ))
    });
    admitted.partition(|review| waits_for_viewer(review))
}

fn position(state: &State, all: &[&Review]) -> usize {
    all.iter().position(|review| Some(review.activity.id) == state.selected).unwrap_or(0)
}

/// How many wait for the viewer.
pub(crate) fn mine_count(state: &State) -> usize {
    state.rows.iter().filter(|review| waits_for_viewer(review)).count()
}

/// Draws the screen.
pub(crate) fn draw(model: &Model, canvas: &mut Canvas<'_>, area: Rect) {
    let (mine, others) = visible(&model.approvals);
    let all: Vec<&Review> = mine.iter().chain(&others).copied().collect();
    let selected = position(&model.approvals, &all);
    let remark = model.approvals.filter.told(all.len(), model.approvals.rows.len());
    if all.is_empty() {
        let inner = canvas.framed(area, "Waiting", &remark);
        let lines: Vec<Line> =
            wrap(&nothing(model), usize::from(inner.width)).into_iter().map(Line::plain).collect();
        canvas.lines(inner, &lines, 0);
        return;
    }
    let per_row: u16 = if area.width < 80 { 2 } else { 1 };
    let height = |count: usize| {
        u16::try_from(count).unwrap_or(u16::MAX).saturating_mul(per_row).saturating_add(if per_row == 1 {
            3
        } else {
            2
        })
    };
    let preview = if area.height >= 26 {
        15
    } else if area.height >= 16 {
        7
    } else {
        0
    };
    let room = area.height.saturating_sub(preview);
    let others_room = if others.is_empty() { 0 } else { height(others.len()).min(room / 3).max(4).min(room) };
    let (top, rest) = above(area, room.saturating_sub(others_room));
    let (middle, bottom) = above(rest, others_room);
    let more = if model.approvals.more { ", more are not read" } else { "" };
    let who = if model.viewer.user.is_some() { "you" } else { "anybody (no user is chosen)" };
    table(
        canvas,
        top,
        &format!("Waiting for {who}: {}{more}", mine.len()),
        &remark,
        &mine,
        Some(selected).filter(|at| *at < mine.len()),
        model.now,
    );
    if !others.is_empty() {
        let at = selected.checked_sub(mine.len());
        table(canvas, middle, &format!("Waiting for others: {}", others.len()), "", &others, at, model.now);
    }
    if let Some(review) = all.get(selected).filter(|_| preview > 0) {
        let inner =
            canvas.framed(bottom, "Preview of the marked line", "a decision needs Enter, the full review");
        canvas.lines(inner, &preview_lines(canvas.theme, review, usize::from(inner.width)), 0);
    }
}

fn nothing(model: &Model) -> String {
    match (&model.link, model.approvals.loaded) {
        _ if !model.approvals.rows.is_empty() => {
            format!("0 of {} match; Esc clears the filter.", model.approvals.rows.len())
        }
        (LinkState::Starting, false) => format!("Connecting to {}.", model.identity.socket),
        (_, false) => "Loading what waits.".to_owned(),
        (_, true) => "Nothing waits for anybody in this organization. 3 shows what was decided.".to_owned(),
    }
}

fn table(
    canvas: &mut Canvas<'_>,
    area: Rect,
    title: &str,
    remark: &str,
    rows: &[&Review],
    selected: Option<usize>,
    now: u64,
) {
    let inner = canvas.framed(area, title, remark);
    let columns = usize::from(inner.width);
    let wide = area.width >= 80;
    let mut lines = Vec::new();
    if wide {
        lines.push(Line::styled(
            cells(columns, ["RISK", "TYPE", "WHAT CHANGES", "ASKED BY", "VOTES", "LAPSES", "AGE"], "  "),
            Theme::strong(),
        ));
    }
    for (index, review) in rows.iter().enumerate() {
        let marker = if selected == Some(index) { "> " } else { "  " };
        let style = if selected == Some(index) {
            Theme::selected()
        } else {
            canvas.theme.of_mark(review.risk.word())
        };
        let votes = format!("{} of {}", review.tally.has(), review.tally.needed);
        let none = if review.votes.iter().any(|vote| vote.lapsed) { "lapsed" } else { "-" };
        let lapses =
            review.tally.lapses_at.map_or_else(|| none.to_owned(), |at| duration(at.saturating_sub(now)));
        let age = duration(now.saturating_sub(review.activity.created_at.millis()));
        let blocked = if review.blocked() { "[x] " } else { "" };
        let what = format!("{blocked}{}", review.brief);
        if wide {
            let asker = short_asker(review);
            lines.push(Line::styled(
                cells(
                    columns,
                    [review.risk.word(), &review.title, &what, &asker, &votes, &lapses, &age],
                    marker,
                ),
                style,
            ));
        } else {
            lines.push(Line::styled(format!("{marker}{:<4} {}", review.risk.word(), review.title), style));
            lines.push(Line::styled(format!("  {votes}  {what}"), style));
        }
    }
    let per_row = if wide { 1 } else { 2 };
    let at = selected.unwrap_or(0).saturating_mul(per_row).saturating_add(1);
    let height = usize::from(inner.height);
    let from = if lines.len() > height { scrolled(at, height) } else { 0 };
    canvas.lines(inner, &lines, from.min(lines.len().saturating_sub(height)));
}

/// Cells of a row. Columns that do not fit are dropped from the right end: age, then asker.
fn cells(columns: usize, texts: [&str; 7], marker: &str) -> String {
    let [risk, title, what, asker, votes, lapses, age] = texts;
    if columns >= 100 {
        let rest = columns.saturating_sub(2 + 6 + 24 + 13 + 8 + 9 + 7);
        return format!(
            "{marker}{}{}{}{}{}{}{}",
            pad(risk, 6),
            pad(title, 24),
            spaced(what, rest),
            spaced(asker, 13),
            pad(votes, 8),
            pad(lapses, 9),
            pad(age, 7)
        );
    }
    let rest = columns.saturating_sub(2 + 6 + 20 + 8 + 8);
    format!(
        "{marker}{}{}{}{}{}",
        pad(risk, 6),
        spaced(title, 20),
        spaced(what, rest),
        pad(votes, 8),
        pad(lapses, 8)
    )
}

/// Padded, with a blank column at the end.
fn spaced(text: &str, columns: usize) -> String {
    format!("{} ", pad(text, columns.saturating_sub(1)))
}

fn short_asker(review: &Review) -> String {
    let first = review.votes.iter().find(|vote| vote.proposes);
    match first {
        Some(vote) if Some(vote.user) == review.viewer.user => "you".to_owned(),
        Some(vote) => vote.name.clone(),
        None => "?".to_owned(),
    }
}

fn preview_lines(theme: Theme, review: &Review, columns: usize) -> Vec<Line> {
    let mut lines = vec![Line::styled(review.title.clone(), Theme::strong())];
    lines.extend(wrap(&review.sentence, columns).into_iter().map(Line::plain));
    let mut labelled = |label: &str, text: &str| {
        for (index, part) in wrap(text, columns.saturating_sub(9)).into_iter().enumerate() {
            let label = if index == 0 { label } else { "" };
            let text = format!("{label:<9}{part}");
            let style = theme.of_mark(&text);
            lines.push(Line::styled(text, style));
        }
    };
    let flags: Vec<String> = review.flags.iter().map(|flag| format!("[!] {}", flag.text)).collect();
    labelled("flags", &if flags.is_empty() { "none".to_owned() } else { flags.join("   ") });
    labelled("proof", &tally_of_marks(review));
    labelled("needs", &needs(review));
    if let Some(proposal) = &review.proposal {
        labelled("f'print", &cut(&grouped(&proposal.fingerprint.hex()), 200));
    }
    lines
}

/// How the checks came out, with the failed ones in words.
pub(crate) fn tally_of_marks(review: &Review) -> String {
    let count = |mark: Mark| review.checks.iter().filter(|check| check.mark == mark).count();
    let failed: Vec<String> = review
        .checks
        .iter()
        .filter(|check| check.mark == Mark::Failed)
        .map(|check| format!("[x] {}", check.text))
        .collect();
    if failed.is_empty() {
        format!(
            "{} checks: {} [v]  {} [s]  {} [!]",
            review.checks.len(),
            count(Mark::Verified),
            count(Mark::Stated),
            count(Mark::Care)
        )
    } else {
        failed.join("; ")
    }
}
