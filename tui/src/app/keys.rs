//! Keys, taken by whatever lies on top: overlay, decision, filter, then the screen.

use super::{Effect, Model, Screen};
use crate::keymap::{Action, Key, Place, action};
use crate::link::Order;
use crate::screens::overlay::{self, Overlay};
use crate::screens::{activities, approvals, decide, organizations, policies, review};

/// Takes one key. `gap` is the time since the key before, in milliseconds.
pub(super) fn press(model: &mut Model, key: Key, gap: u64) -> Vec<Effect> {
    // What was said about the situation before this key is over.
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
    if let Some(wanted) = action(model.place(), key) {
        return perform(model, wanted);
    }
    model.notice = format!("{} does nothing here; ? lists the keys", told(key));
    Vec::new()
}

/// Takes pasted text: into a filter or a comparison as text on one line, nowhere else.
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
    match model.place() {
        Place::Approvals => Some(&mut model.approvals.filter),
        Place::Activities => Some(&mut model.activities.filter),
        Place::Organizations => Some(&mut model.organizations.filter),
        Place::Policies => Some(&mut model.policies.filter),
        Place::Review | Place::Draft => None,
    }
}

/// Does what a key or a line of the palette means.
pub(super) fn perform(model: &mut Model, wanted: Action) -> Vec<Effect> {
    match wanted {
        Action::Quit => return vec![Effect::Quit],
        Action::Keys => model.overlays.push(Overlay::keys(model.place())),
        Action::Palette => model.overlays.push(Overlay::palette(model.place())),
        Action::Approvals => go(model, Screen::Approvals),
        Action::Organizations => go(model, Screen::Organizations),
        Action::Activities => {
            go(model, Screen::Activities);
            return read_activities(model);
        }
        Action::Policies => {
            go(model, Screen::Policies);
            let mut effects = read_activities(model);
            effects.extend(policies::read_history(model));
            return effects;
        }
        Action::Last => go(model, model.last_screen),
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
            _ => "the record is being read".clone_into(&mut model.notice),
        }
        return Vec::new();
    }
    match model.place() {
        Place::Approvals => approvals::perform(model, wanted),
        Place::Organizations => organizations::perform(model, wanted),
        Place::Activities => activities::perform(model, wanted),
        Place::Policies => policies::perform(model, wanted),
        Place::Review | Place::Draft => review::perform(model, wanted),
    }
}

fn go(model: &mut Model, screen: Screen) {
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
    effects.extend(super::answers::everything(model));
    effects
}

fn told(key: Key) -> String {
    match key {
        Key::Char(letter) => crate::text::clean(&letter.to_string()),
        Key::Ctrl(letter) => format!("Ctrl-{}", crate::text::clean(&letter.to_string())),
        other => format!("{other:?}"),
    }
}
