//! Dispatches keys to the topmost layer: overlay, decision, filter, then the screen.

use super::{Effect, Model, Screen};
use crate::keymap::{Action, Key, View, action};
use crate::link::Order;
use crate::screens::overlay::{self, Overlay};
use crate::screens::{activities, approvals, decide, organizations, policies, review};

/// Handles a key. `gap` is the time since the previous key, in milliseconds.
pub(super) fn press(model: &mut Model, key: Key, gap: u64) -> Vec<Effect> {
    // The notice described the situation before this key.
    model.notice.clear();
    if key == Key::Ctrl('c') {
        return vec![Effect::Quit];
    }
    if let Some(effect) = overlay::copy(model, key) {
        return vec![effect];
    }
    if !model.overlays.is_empty() {
        return match overlay::press(model, key) {
            Some(chosen) => perform(model, chosen),
            None => Vec::new(),
        };
    }
    if model.decide.is_some() {
        return decide::press(model, key, gap);
    }
    if let Some(filter) = filter(model) {
        if filter.typing {
            filter.press(key);
            return Vec::new();
        }
        if key == Key::Esc && !filter.text().is_empty() {
            filter.clear();
            return Vec::new();
        }
    }
    if let Some(wanted) = action(model.view(), key) {
        return perform(model, wanted);
    }
    model.notice = format!("{} does nothing here; ? lists the keys", key_name(key));
    Vec::new()
}

/// Inserts the first line of pasted text into an open filter or comparison. Other pasted text is discarded.
pub(super) fn paste(model: &mut Model, text: &str) -> Vec<Effect> {
    if overlay::paste(model, text) {
        return Vec::new();
    }
    let typing = model.overlays.is_empty() && model.decide.is_none();
    match filter(model).filter(|filter| typing && filter.typing) {
        Some(filter) => filter.paste(text),
        None => "pasted text was discarded".clone_into(&mut model.notice),
    }
    Vec::new()
}

fn filter(model: &mut Model) -> Option<&mut crate::screens::Filter> {
    match model.view() {
        View::Approvals => Some(&mut model.approvals.filter),
        View::Activities => Some(&mut model.activities.filter),
        View::Organizations => Some(&mut model.organizations.filter),
        View::Policies => Some(&mut model.policies.filter),
        View::Review | View::Draft => None,
    }
}

/// Performs the action of a key or of a palette entry.
pub(super) fn perform(model: &mut Model, wanted: Action) -> Vec<Effect> {
    match wanted {
        Action::Quit => return vec![Effect::Quit],
        Action::Keys => model.overlays.push(Overlay::keys(model.view())),
        Action::Palette => model.overlays.push(Overlay::palette(model.view())),
        Action::Approvals => show_screen(model, Screen::Approvals),
        Action::Organizations => show_screen(model, Screen::Organizations),
        Action::Activities => {
            show_screen(model, Screen::Activities);
            return read_activities(model);
        }
        Action::Policies => {
            show_screen(model, Screen::Policies);
            let mut effects = read_activities(model);
            effects.extend(policies::read_history(model));
            return effects;
        }
        Action::Last => show_screen(model, model.last_screen),
        Action::Filter => {
            if let Some(filter) = filter(model) {
                filter.typing = true;
            }
        }
        Action::Refresh => return refresh(model),
        other => return on_screen(model, other),
    }
    Vec::new()
}

fn on_screen(model: &mut Model, wanted: Action) -> Vec<Effect> {
    if model.opening.is_some() {
        match wanted {
            Action::Back => model.opening = None,
            _ => "the record is being loaded".clone_into(&mut model.notice),
        }
        return Vec::new();
    }
    match model.view() {
        View::Approvals => approvals::perform(model, wanted),
        View::Organizations => organizations::perform(model, wanted),
        View::Activities => activities::perform(model, wanted),
        View::Policies => policies::perform(model, wanted),
        View::Review | View::Draft => review::perform(model, wanted),
    }
}

fn show_screen(model: &mut Model, screen: Screen) {
    model.review = None;
    model.opening = None;
    model.decide = None;
    if model.screen != screen {
        model.last_screen = model.screen;
        model.screen = screen;
    }
}

fn read_activities(model: &Model) -> Vec<Effect> {
    model.organization_id.map(|id| Effect::Order(Order::Activities(id, None))).into_iter().collect()
}

fn refresh(model: &mut Model) -> Vec<Effect> {
    model.approvals.inbox.sort();
    let mut effects = Vec::new();
    if !matches!(model.link, super::LinkState::Live) {
        effects.push(Effect::Order(Order::Retry));
    }
    if let Some(open) = &mut model.review {
        open.wants_fresh = true;
    }
    effects.extend(super::answers::reload_all(model));
    effects
}

fn key_name(key: Key) -> String {
    match key {
        Key::Char(letter) => crate::text::clean(&letter.to_string()),
        Key::Ctrl(letter) => format!("Ctrl-{}", crate::text::clean(&letter.to_string())),
        other => format!("{other:?}"),
    }
}
