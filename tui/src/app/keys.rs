//! Dispatches keys to the topmost layer: overlay, decision, filter, then the screen.

use ratatui::layout::Rect;

use super::answers::reload_all;
use super::model::Model;
use super::organization::{choose, leave, switch};
use super::view::body;
use super::whoami;
use crate::keymap::{Action, EVERYWHERE, Key, action};
use crate::link::Order;
use crate::screens::filter::Filter;
use crate::screens::overlay::{Entry, Overlay, Pressed, Target, remember};
use crate::screens::propose;
use crate::screens::request::Effect;
use crate::screens::shared::LinkState;

/// Handles a key. `gap` is the time since the previous key, in milliseconds.
pub(super) fn press(model: &mut Model, key: Key, gap: u64) -> Vec<Effect> {
    // The notice described the situation before this key.
    model.notice.clear();
    if key == Key::Ctrl('c') {
        return vec![Effect::Quit];
    }
    if key == Key::Ctrl('z') {
        model.shared.is_unlocked = false;
        return vec![Effect::Suspend];
    }
    // Whatever is open, the key can be locked.
    if action(&EVERYWHERE, key) == Some(Action::Lock) {
        return perform(model, Action::Lock);
    }
    let area = body(model);
    if let Some(overlay) = model.overlays.last_mut() {
        let pressed = overlay.press(key, area);
        return on_overlay(model, pressed);
    }
    if let Some(open) = model.review.as_mut().filter(|open| open.decide.is_some()) {
        let requests = open.press(&model.shared, key, gap, area);
        return model.fulfil(requests);
    }
    if model.form().is_some() {
        return on_form(model, key, area);
    }
    if let Some(filter) = filter(model) {
        let clears = key == Key::Esc && !filter.is_empty();
        if filter.typing || clears {
            filter.press(key);
            if clears {
                "filter cleared; / then Up brings it back".clone_into(&mut model.notice);
            }
            return Vec::new();
        }
    }
    if let Some(wanted) = action(&model.commands(), key) {
        return perform(model, wanted);
    }
    model.notice = format!("{} does nothing here; ? lists the keys", key_name(key));
    Vec::new()
}

fn on_form(model: &mut Model, key: Key, area: Rect) -> Vec<Effect> {
    let pressed = model.proposing.as_mut().map(|form| form.press(&model.shared, key, area));
    match pressed {
        Some(propose::Pressed::Requests(requests)) => model.fulfil(requests),
        Some(propose::Pressed::Close) => {
            model.proposing = None;
            Vec::new()
        }
        None => Vec::new(),
    }
}

fn on_overlay(model: &mut Model, pressed: Pressed) -> Vec<Effect> {
    if !matches!(pressed, Pressed::Nothing) {
        let closed = model.overlays.pop();
        if let (Some(Overlay::Compare { input, .. }), Some(open)) = (closed, &mut model.review) {
            open.comparison = input;
        }
    }
    match pressed {
        Pressed::Nothing | Pressed::Close => Vec::new(),
        Pressed::Choose(organization, pinned_by) => {
            leave(model, organization);
            switch(model, organization, pinned_by);
            reload_all(model)
        }
        Pressed::Chosen(entry) => chosen(model, &entry),
        Pressed::Confirmed(order) => vec![Effect::Order(order)],
        Pressed::Compare(path) => vec![Effect::ReadFile(path)],
        Pressed::Copy(piece) => {
            let (notice, text) = piece.copied();
            model.notice = notice;
            text.map(Effect::Copy).into_iter().collect()
        }
    }
}

/// Inserts the first line of pasted text into an open filter, form or comparison, or into a passphrase. Other pasted
/// text is discarded.
pub(super) fn paste(model: &mut Model, text: &str) {
    let has_form = model.form().is_some();
    let form = model.proposing.as_mut().filter(|_| has_form);
    let deciding = model.review.as_mut().filter(|open| open.decide.is_some());
    let is_pasted = match (model.overlays.last_mut(), deciding, form) {
        (Some(overlay), _, _) => overlay.paste(text),
        (None, Some(open), _) => open.paste(text),
        (None, None, Some(form)) => form.paste(text),
        (None, None, None) => match filter(model).filter(|filter| filter.typing) {
            Some(filter) => {
                filter.paste(text);
                true
            }
            None => false,
        },
    };
    if !is_pasted {
        "pasted text was discarded".clone_into(&mut model.notice);
    }
}

fn filter(model: &mut Model) -> Option<&mut Filter> {
    model.uncovered().map(|screen| screen.filter())
}

/// Scrolls what covers the screen: an overlay by its arrow keys, the panel of a decision by its page keys. Returns whether
/// something covers it.
pub(super) fn scroll_covering(model: &mut Model, arrow: Key, page: Key) -> bool {
    let area = body(model);
    if let Some(overlay) = model.overlays.last_mut() {
        // An arrow key selects and scrolls only.
        overlay.press(arrow, area);
        return true;
    }
    if let Some(open) = model.review.as_mut().filter(|open| open.decide.is_some()) {
        open.scroll_panel(&model.shared, page, area);
        return true;
    }
    false
}

/// Performs the action of a key or of a palette entry.
pub(super) fn perform(model: &mut Model, wanted: Action) -> Vec<Effect> {
    match wanted {
        Action::Quit => return vec![Effect::Quit],
        Action::Lock => {
            let text = if model.shared.is_unlocked { "the key was locked" } else { "no key is unlocked" };
            model.shared.is_unlocked = false;
            text.clone_into(&mut model.notice);
            return vec![Effect::Lock];
        }
        Action::Keys => model.overlays.push(Overlay::keys(model.commands())),
        Action::Organizations | Action::Propose if model.review.is_some() || model.opening.is_some() => {
            "close the review first: Esc".clone_into(&mut model.notice);
        }
        Action::Organizations => return choose(model),
        Action::Propose => model.proposing = Some(propose::State::new()),
        Action::Palette => model.overlays.push(model.palette()),
        Action::WhoAmI => model.overlays.push(whoami::overlay(&model.shared)),
        Action::Show(index) => {
            model.show(index);
            return opened(model);
        }
        Action::Last => {
            model.show_last();
            return opened(model);
        }
        Action::Filter => {
            if let Some(filter) = filter(model) {
                filter.typing = true;
            }
        }
        Action::Refresh => return refresh(model),
        Action::Back if model.opening.is_some() => model.opening = None,
        Action::Back if model.review.is_none() && model.is_at_top() => {
            return match model.before.pop() {
                Some((organization, pinned_by)) => {
                    switch(model, organization, pinned_by);
                    reload_all(model)
                }
                None => Vec::new(),
            };
        }
        _ if model.opening.is_some() => "the record is being loaded".clone_into(&mut model.notice),
        other => {
            let area = body(model);
            return model.act(other, area);
        }
    }
    Vec::new()
}

/// Opens the entry that was chosen in the palette. Nothing is decided.
fn chosen(model: &mut Model, entry: &Entry) -> Vec<Effect> {
    remember(&mut model.history, entry);
    match &entry.target {
        Target::Command(action) => perform(model, *action),
        Target::Activity(reference, title) => model.open_reference(reference, title),
        Target::Place(place) => {
            let Some(requests) = model.reveal(place) else {
                "it is not loaded".clone_into(&mut model.notice);
                return Vec::new();
            };
            let mut effects = opened(model);
            effects.extend(model.fulfil(requests));
            effects
        }
    }
}

/// Requests what the screen that was just opened shows.
fn opened(model: &mut Model) -> Vec<Effect> {
    let mut effects: Vec<Effect> = model.read_activities().into_iter().collect();
    effects.extend(model.on_screen(|screen, shared| screen.open(shared)));
    effects
}

fn refresh(model: &mut Model) -> Vec<Effect> {
    model.shared.inbox.sort();
    let is_live = matches!(model.shared.link, LinkState::Live);
    let mut effects: Vec<Effect> = (!is_live).then_some(Effect::Order(Order::Retry)).into_iter().collect();
    if let Some(open) = &mut model.review {
        open.wants_fresh = true;
    }
    effects.extend(reload_all(model));
    effects
}

fn key_name(key: Key) -> String {
    match key {
        Key::Char(letter) => crate::text::clean(&letter.to_string()),
        Key::Ctrl(letter) => format!("Ctrl-{}", crate::text::clean(&letter.to_string())),
        other => format!("{other:?}"),
    }
}
