//! Draws the state without changing it.

use quorate_common::console::{Mode, OrganizationDetail};
use quorate_common::ids::UserId;
use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::model::Model;
use super::outage;
use crate::canvas::{Canvas, Line, above};
use crate::keymap::bar;
use crate::link::LinkError;
use crate::proof::{mode_word, store_word};
use crate::screens::screen::{Screen, Tab};
use crate::screens::shared::LinkState;
use crate::text::{clean, clock, cut, duration, width, wrap};
use crate::theme::Theme;

/// The key that lists all keys, with its label in the key bar.
const LIST_KEYS: &str = "? Keys";
/// The same in a form.
const FORM_KEYS: &str = "F1 Keys";
/// Numbers of letters of shortened titles in the row of tabs, the longest first.
const SHORT_TITLES: [usize; 2] = [4, 3];
/// Columns between two keys of the key bar.
const BETWEEN: usize = 2;
/// Part of the rows that a long notice may take.
const NOTICE_PART: u16 = 4;
/// Minimum terminal size in columns and rows.
const MINIMUM_SIZE: (u16, u16) = (40, 12);

/// Areas of the terminal.
struct Areas {
    header: Rect,
    tabs: Rect,
    /// The screen itself, with the banner above it.
    body: Rect,
    foot: Rect,
}

fn areas(model: &Model, size: (u16, u16)) -> Areas {
    let (columns, rows) = size;
    let part = |y: u16, height: u16| Rect { x: 0, y, width: columns, height };
    let tabs = u16::from(has_tabs(rows));
    let notice = u16::try_from(notice(model, size).len()).unwrap_or(u16::MAX);
    let foot: u16 = u16::from(has_legend(rows)).saturating_add(notice).saturating_add(1);
    let body = rows.saturating_sub(1 + tabs + foot);
    Areas {
        header: part(0, 1),
        tabs: part(1, tabs),
        body: part(1 + tabs, body),
        foot: part(rows.saturating_sub(foot), foot),
    }
}

/// Returns whether the terminal is too small to draw a screen.
pub(super) fn is_too_small((columns, rows): (u16, u16)) -> bool {
    columns < MINIMUM_SIZE.0 || rows < MINIMUM_SIZE.1
}

/// Returns the area of the screen itself, below the banner.
pub(super) fn body(model: &Model) -> Rect {
    let area = areas(model, model.shared.size).body;
    let rows = u16::try_from(banner(model, area).len()).unwrap_or(u16::MAX);
    above(area, rows).1
}

pub(crate) fn view(model: &Model, theme: Theme, frame: &mut Frame<'_>) {
    draw(model, theme, frame.buffer_mut());
}

/// Draws the console into a buffer of its size.
pub(super) fn draw(model: &Model, theme: Theme, buffer: &mut Buffer) {
    let size = buffer.area;
    let canvas = &mut Canvas::new(buffer, theme);
    canvas.fill(size);
    if is_too_small((size.width, size.height)) {
        let text = format!(
            "quorate needs {}x{} or more, this terminal is {}x{}",
            MINIMUM_SIZE.0, MINIMUM_SIZE.1, size.width, size.height
        );
        let lines: Vec<Line> = wrap(&text, usize::from(size.width)).into_iter().map(Line::plain).collect();
        for (down, line) in lines.iter().enumerate() {
            canvas.row(size, u16::try_from(down).unwrap_or(u16::MAX), &line.text, line.style);
        }
        return;
    }
    let areas = areas(model, (size.width, size.height));
    header(model, canvas, areas.header);
    tabs(model, canvas, areas.tabs);
    let warnings = banner(model, areas.body);
    for (down, line) in warnings.iter().enumerate() {
        let style = canvas.theme.error();
        canvas.row(areas.body, u16::try_from(down).unwrap_or(u16::MAX), line, style);
    }
    let body = above(areas.body, u16::try_from(warnings.len()).unwrap_or(u16::MAX)).1;
    match (&model.review, model.tabs().nth(model.current)) {
        (Some(open), _) => open.draw(&model.shared, canvas, body),
        (None, _) if model.opening.is_some() => opening(model, canvas, body),
        (None, _) if model.proposing.is_some() => {
            model.proposing.iter().for_each(|form| form.draw(&model.shared, canvas, body));
        }
        (None, Some((_, screen))) if screen.needs_daemon() && outage::draw(model, canvas, body) => {}
        (None, Some((_, screen))) => screen.draw(&model.shared, canvas, body),
        (None, None) => {}
    }
    if let Some(overlay) = model.overlays.last() {
        overlay.draw(canvas, body);
    }
    foot(model, canvas, areas.foot, (size.width, size.height));
}

/// Draws mode, organization and user at every size. The path between them is cut first.
fn header(model: &Model, canvas: &mut Canvas<'_>, area: Rect) {
    let columns = usize::from(area.width);
    let mode = model.shared.daemon.as_ref().map_or("?", |daemon| mode_word(daemon.mode));
    let (name, id) = match (shown_organization(model), model.shared.organization_id) {
        (Some(organization), _) => {
            (clean(&organization.head.organization_name), organization.head.organization_id.to_string())
        }
        (None, Some(id)) => (String::new(), id.to_string()),
        (None, None) => ("no organization".to_owned(), String::new()),
    };
    let user = user(model);
    let (lock, link) = (lock(model), model.shared.link_text());
    let right = match &model.shared.identity.key_name {
        Some(key) if columns >= 100 => {
            format!("{}, {}{lock} | {link} ", cut(&user, 20), cut(&clean(key), 20))
        }
        // The user gives way to the state of the key.
        _ if !lock.is_empty() && columns < 80 => format!("{}{lock} | {link} ", cut(&user, columns / 8)),
        _ => format!("{}{lock} | {link} ", cut(&user, columns / 4)),
    };
    let short = format!("{}..{}", id.get(..4).unwrap_or_default(), id.get(32..).unwrap_or_default());
    let named = if name.is_empty() { &short } else { &name };
    let left = if columns >= 100 {
        format!(" quorate | {mode} | {} {short} > {}", cut(&name, 30), path(model, true))
    } else if columns >= 80 {
        format!(" {mode} | {} {short} > {}", cut(&name, 20), path(model, false))
    } else {
        format!(" {mode} {} > {}", cut(named, columns / 4 + 3), path(model, false))
    };
    let is_production = model.shared.daemon.as_ref().is_some_and(|daemon| daemon.mode == Mode::Production);
    let style = canvas.theme.header(is_production);
    canvas.split(area, 0, &left, &right, style);
}

/// Returns whether the key is unlocked, if something unlocks it.
fn lock(model: &Model) -> &'static str {
    match (model.shared.identity.needs_passphrase, model.shared.is_unlocked) {
        (false, _) => "",
        (true, false) => " locked",
        (true, true) => " UNLOCKED",
    }
}

/// Returns the organization that is shown: that of an open review, which may be a sub-organization.
fn shown_organization(model: &Model) -> Option<&OrganizationDetail> {
    let of_review = model.review.as_ref().map(|open| open.review.organization.as_ref());
    of_review.or(model.shared.organization.as_deref())
}

fn user(model: &Model) -> String {
    let named = |id: UserId| {
        let users = shown_organization(model).map(|shown| shown.users.as_slice()).unwrap_or_default();
        let named = users.iter().find(|user| user.user_id == id);
        named.map_or_else(|| id.to_string(), |user| clean(&user.user_name))
    };
    let viewer = model.review.as_ref().map_or(&model.shared.viewer, |open| &open.review.viewer);
    viewer.user.map_or_else(|| "read only".to_owned(), named)
}

fn path(model: &Model, whole: bool) -> String {
    let screen = model.tab().map_or("", |tab| tab.title);
    let title = model.review.as_ref().map(|open| &open.review.title);
    match title.or(model.opening.as_ref().map(|opening| &opening.title)) {
        Some(title) if whole => format!("{screen} > {title}"),
        Some(title) => title.clone(),
        None if model.proposing.is_some() => "Propose".to_owned(),
        None => screen.to_owned(),
    }
}

/// Draws the placeholder of a review whose record is being loaded.
fn opening(model: &Model, canvas: &mut Canvas<'_>, body: Rect) {
    let title = model.opening.as_ref().map_or("", |opening| &opening.title);
    let inner = canvas.framed(body, title, "Esc goes back");
    canvas.lines(inner, &[Line::plain("Loading the record.")], 0);
}

/// Returns the index of the screen whose tab is at this place.
pub(super) fn tab_at(model: &Model, column: u16, row: u16) -> Option<usize> {
    let area = areas(model, model.shared.size).tabs;
    let is_there = area.height > 0 && row == area.y;
    let (labels, _) = tab_row(model, area.width);
    // One blank is before each label.
    let mut end = 0_usize;
    let found = labels.iter().position(|label| {
        end = end.saturating_add(1).saturating_add(width(label));
        usize::from(column) < end
    });
    found.filter(|_| is_there)
}

fn tabs(model: &Model, canvas: &mut Canvas<'_>, area: Rect) {
    let (labels, right) = tab_row(model, area.width);
    canvas.split(area, 0, &strip(&labels), &right, Theme::strong());
}

/// Returns the labels of the tabs, and what is beside them.
fn tab_row(model: &Model, columns: u16) -> (Vec<String>, String) {
    let name = |(tab, screen): (&Tab, &dyn Screen)| {
        let count = screen.count(&model.shared).map(|count| format!(" {count}")).unwrap_or_default();
        format!("{} {}{count}", tab.show.key(), tab.title)
    };
    let names: Vec<String> = model.tabs().map(name).collect();
    let shortened = |letters: usize| -> Vec<String> {
        let short = |(tab, screen): (&Tab, &dyn Screen)| {
            let count = screen.count(&model.shared).map(|count| format!(" {count}")).unwrap_or_default();
            let title: String = tab.title.chars().take(letters).collect();
            format!("{} {title}{count}", tab.show.key())
        };
        model.tabs().map(short).collect()
    };
    let [long, short] = SHORT_TITLES.map(shortened);
    let some = partly(&names, &long, model.current, usize::from(columns));
    let keys: Vec<String> = model.tabs().map(|(tab, _)| tab.show.key()).collect();
    let right = match &model.shared.daemon {
        Some(daemon) if columns >= 100 => {
            let host = match model.shared.is_same_host {
                Some(true) => ", on this host",
                Some(false) => ", on another host",
                None => "",
            };
            format!("daemon {}{host} ", clean(&daemon.version))
        }
        _ => String::new(),
    };
    let columns = usize::from(columns);
    // With less space the names move together, then they are shortened, the longest first, and at last only the open
    // screen has one.
    let forms = [(&names, " "), (&names, ""), (&some, ""), (&short, ""), (&keys, "")];
    let labels = forms.map(|(others, margin)| labels(model.current, &names, others, margin));
    let beside = columns.saturating_sub(width(&right));
    // The remark gives way to the names.
    let whole = labels.iter().take(2).find(|labels| width(&strip(labels)) < beside);
    let right = if whole.is_some() { right } else { String::new() };
    let fits = |labels: &&Vec<String>| width(&strip(labels)) <= columns;
    let chosen = whole.or_else(|| labels.iter().find(fits)).or_else(|| labels.last());
    (chosen.cloned().unwrap_or_default(), right)
}

/// Returns the names of which the longest are shortened, as few as possible.
fn partly(names: &[String], short: &[String], open: usize, columns: usize) -> Vec<String> {
    let mut shown = names.to_vec();
    let mut longest: Vec<usize> = (0..names.len()).filter(|at| *at != open).collect();
    longest.sort_by_key(|at| std::cmp::Reverse(names.get(*at).map_or(0, |name| width(name))));
    for at in longest {
        if width(&strip(&labels(open, names, &shown, ""))) <= columns {
            break;
        }
        if let (Some(name), Some(short)) = (shown.get_mut(at), short.get(at)) {
            name.clone_from(short);
        }
    }
    shown
}

/// Returns the row of tabs.
fn strip(labels: &[String]) -> String {
    format!(" {}", labels.join(" "))
}

/// Returns the labels of the tabs: the open one with its name in brackets, and the others with a margin around them.
fn labels(open: usize, names: &[String], others: &[String], margin: &str) -> Vec<String> {
    let label = |(index, (name, other)): (usize, (&String, &String))| {
        if index == open { format!("[{name}]") } else { format!("{margin}{other}{margin}") }
    };
    names.iter().zip(others).enumerate().map(label).collect()
}

/// Returns the warnings about connection, identity and store. They take at most half of the area.
fn banner(model: &Model, area: Rect) -> Vec<String> {
    let warnings = [link_warning(model), mismatch_warning(model), store_warning(model)];
    let columns = usize::from(area.width);
    let lines = warnings.iter().flatten().flat_map(|text| wrap(text, columns));
    lines.take(usize::from(area.height / 2)).collect()
}

fn link_warning(model: &Model) -> Option<String> {
    match &model.shared.link {
        LinkState::Starting | LinkState::Live => None,
        LinkState::Refused(_) if outage::states_reason(model) => None,
        LinkState::Refused(reason) => Some(format!("[x] {reason}. Press q to quit.")),
        LinkState::Lost { error, since, retry } => {
            let retry = retry.saturating_sub(model.shared.now).div_ceil(1000);
            let state = if error.is_sealed() { "SEALED" } else { "DISCONNECTED" };
            let is_read = model.shared.inbox.is_read();
            let data = if is_read {
                format!("; data as of {}, decisions are disabled", clock(model.shared.last_contact))
            } else {
                String::new()
            };
            let help =
                if matches!(error, LinkError::Down(_)) && !is_read && !model.shared.identity.viewer.is_remote
                {
                    "; start it with `quorated serve`, or try `quorate dev`"
                } else {
                    ""
                };
            let since = duration(model.shared.now.saturating_sub(*since));
            Some(format!("[x] {state} {since}, retry in {retry} s (r retries now): {error}{data}{help}"))
        }
    }
}

fn mismatch_warning(model: &Model) -> Option<String> {
    model.shared.mismatch.as_ref().map(|mismatch| format!("[x] {mismatch}; decisions are disabled"))
}

fn store_warning(model: &Model) -> Option<String> {
    let store = model.shared.daemon.as_ref().and_then(|daemon| daemon.store.as_ref())?;
    let state = store_word(store.state);
    let since = duration(model.shared.now.saturating_sub(store.since.millis()));
    let detail = if store.detail.is_empty() { String::new() } else { format!(": {}", clean(&store.detail)) };
    Some(format!("[x] STORE {state} for {since}{detail}"))
}

/// Returns whether there is a row for the tabs.
const fn has_tabs(rows: u16) -> bool {
    rows >= 20
}

/// Returns whether the foot explains the marks.
const fn has_legend(rows: u16) -> bool {
    rows >= 30
}

/// Returns the rows of the last notice, or of data that cannot be read. A long one is wrapped, so that a reason is not
/// cut, and takes a part of the screen at most.
fn notice(model: &Model, (columns, rows): (u16, u16)) -> Vec<String> {
    let failure = || model.failures.values().next().cloned().unwrap_or_default();
    let text = if model.notice.is_empty() { failure() } else { model.notice.clone() };
    let mut wrapped = wrap(&text, usize::from(columns.saturating_sub(1)));
    let limit = usize::from(rows / NOTICE_PART).max(1);
    if wrapped.len() > limit {
        wrapped.truncate(limit);
        let last = wrapped.pop().map(|last| {
            cut(
                &format!("{last} {}", " ".repeat(usize::from(columns))),
                usize::from(columns.saturating_sub(1)),
            )
        });
        wrapped.extend(last);
    }
    wrapped.into_iter().map(|row| format!(" {row}")).collect()
}

fn foot(model: &Model, canvas: &mut Canvas<'_>, area: Rect, size: (u16, u16)) {
    let columns = usize::from(area.width);
    let mut rows = Vec::new();
    if has_legend(size.1) {
        rows.push(" marks: [v] verified by this console  [s] stated by the daemon, not verified  [!] caution  [x] failed check".to_owned());
    }
    rows.extend(notice(model, size));
    let keys = if !model.overlays.is_empty() {
        "Esc Close".to_owned()
    } else if model.opening.is_some() {
        "Esc Back".to_owned()
    } else if let Some(form) = model.form() {
        form.keys().to_owned()
    } else if let Some(decide) = model.review.as_ref().and_then(|open| open.decide.as_ref()) {
        decide.keys().to_owned()
    } else if columns < 60
        && model.review.as_ref().is_some_and(|open| open.review.draft.is_none() && !open.has_ended())
    {
        format!("a Approve  x Reject  Space Next  Esc Back  {LIST_KEYS}")
    } else {
        bar(&model.commands())
    };
    // A form takes the letters itself.
    let list = if model.overlays.is_empty() && model.form().is_some() { FORM_KEYS } else { LIST_KEYS };
    let (keys, list) = match screens_key(model, size.1) {
        Some(screens) => {
            let list = format!("{screens}{}{LIST_KEYS}", " ".repeat(BETWEEN));
            (keys.replace(LIST_KEYS, &list), list)
        }
        None => (keys, list.to_owned()),
    };
    rows.push(format!(" {}", fitted(&keys, &list, columns.saturating_sub(1))));
    for (down, text) in rows.iter().enumerate() {
        canvas.row(area, u16::try_from(down).unwrap_or(u16::MAX), text, Theme::plain());
    }
}

/// Returns the keys of all screens with their label, if a screen is shown without the row of tabs.
fn screens_key(model: &Model, rows: u16) -> Option<String> {
    let is_covered = !model.overlays.is_empty() || model.form().is_some() || model.opening.is_some();
    if has_tabs(rows) || is_covered || model.review.is_some() {
        return None;
    }
    let mut tabs = model.tabs();
    let (first, last) = (tabs.next()?.0, tabs.last()?.0);
    Some(format!("{}-{} Screens", first.show.key(), last.show.key()))
}

/// Returns as many key labels as fit, followed by the key that lists all of them.
fn fitted(keys: &str, list: &str, columns: usize) -> String {
    if width(keys) <= columns {
        return keys.to_owned();
    }
    let mut out = String::new();
    let is_in_list = |part: &&str| list.split("  ").any(|last| last == *part);
    for part in keys.split("  ").filter(|part| !is_in_list(part)) {
        if width(&out).saturating_add(width(part)).saturating_add(BETWEEN.saturating_add(list.len()))
            > columns
        {
            break;
        }
        out.push_str(part);
        out.push_str("  ");
    }
    format!("{out}{list}")
}
