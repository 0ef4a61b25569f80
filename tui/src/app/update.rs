//! Applies messages to the state.

use quorate_common::stamp::Stamp;
use zeroize::Zeroizing;

use super::model::Model;
use super::mouse::Mouse;
use super::view::{body, is_too_small};
use super::{answers, keys, mouse};
use crate::doctor::Finding;
use crate::journal::Journal;
use crate::keymap::Key;
use crate::keys::{IDLE_MILLIS, SUSPENDED_MILLIS};
use crate::link::Answer;
use crate::screens::request::Effect;
use crate::screens::shared::LinkState;

/// How long a notice stays on screen unless a key is pressed, in milliseconds.
const NOTICE_MILLIS: u64 = 20_000;

pub(crate) enum Msg {
    /// A key was pressed at this time, in milliseconds since the Unix epoch.
    Key(Key, u64),
    Paste(Zeroizing<String>),
    Mouse(Mouse),
    /// The key was locked, for this reason.
    Locked(&'static str),
    /// The terminal has a new size in columns and rows.
    Resize(u16, u16),
    /// The current time, in milliseconds since the Unix epoch.
    Tick(u64),
    /// The daemon answered.
    Link(Answer),
    /// Result of signing a message.
    Signed {
        message: String,
        result: Result<Stamp, String>,
    },
    /// The decision was not sent, because the journal cannot be written, for this reason.
    Unsent(String),
    /// Result of the editor: the edited text, or why it could not be edited.
    Edited(Result<String, String>),
    /// A file that was read for a comparison: its path, and its content or why it cannot be read.
    FileRead(String, Result<Vec<u8>, String>),
    /// The journal, or why it cannot be read.
    JournalRead(Result<Journal, String>),
    /// Findings about the files and the socket of this console.
    Examined(Vec<Finding>),
    /// Result of a file operation, as a notice.
    Notice(String),
}

/// Applies a message and returns the effects.
pub(crate) fn update(model: &mut Model, msg: Msg) -> Vec<Effect> {
    // What the daemon states every few seconds is part of the pulse as far as it is shown.
    let (announced, problems) = (model.shared.inbox.announced(), model.problems());
    let is_tick = matches!(msg, Msg::Tick(_) | Msg::Link(Answer::Alive | Answer::Status(_)));
    let before = model.notice.clone();
    let mut effects = lock_if_left(model, &msg);
    effects.extend(apply(model, msg));
    let order = model.review.as_mut().and_then(|open| open.advance(&model.shared));
    effects.extend(order);
    effects.extend(model.on_screen(|screen, shared| screen.prepare(shared)));
    let (now, is_live) = (model.shared.now, matches!(model.shared.link, LinkState::Live));
    if let Some(id) = model.shared.organization_id.filter(|_| is_live) {
        effects.extend(model.shared.inbox.order(id, now).map(Effect::Order));
    }
    model.clear_outdated_notice();
    if model.notice != before {
        model.notice_set_at = now;
    } else if now.saturating_sub(model.notice_set_at) > NOTICE_MILLIS {
        model.notice.clear();
    }
    if model.shared.inbox.announced() > announced {
        effects.extend(
            model
                .shared
                .inbox
                .newest_high()
                .map(|row| Effect::Notify(format!("new HIGH: {}: {}", row.title, row.brief))),
        );
    }
    let new = |problem: &String| !problems.contains(problem);
    effects.extend(model.problems().into_iter().filter(new).map(Effect::Log));
    let pulse = model.pulse_now();
    model.dirty = model.dirty || !is_tick || pulse != model.pulse;
    model.pulse = pulse;
    effects
}

/// Locks an unlocked key that was left alone, or whose process or machine was suspended.
fn lock_if_left(model: &mut Model, msg: &Msg) -> Vec<Effect> {
    let Msg::Tick(now) = msg else { return Vec::new() };
    let slept = now.saturating_sub(model.last_tick) > SUSPENDED_MILLIS;
    let is_idle = now.saturating_sub(model.last_key) > IDLE_MILLIS;
    model.last_tick = *now;
    if !model.shared.is_unlocked || !(slept || is_idle) {
        return Vec::new();
    }
    model.locked(if slept { "after suspend" } else { "after 5 minutes without a key" });
    vec![Effect::Lock]
}

fn apply(model: &mut Model, msg: Msg) -> Vec<Effect> {
    match msg {
        Msg::Key(key, at) => {
            model.shared.now = model.shared.now.max(at);
            let gap = at.saturating_sub(model.last_key);
            model.last_key = at;
            return keys::press(model, key, gap);
        }
        Msg::Paste(text) => keys::paste(model, &text),
        Msg::Mouse(mouse) => return mouse::apply(model, mouse),
        Msg::Resize(columns, rows) => model.shared.size = (columns, rows),
        Msg::Tick(now) => model.shared.now = now,
        Msg::Link(answer) => return answers::apply(model, answer),
        Msg::Locked(reason) => model.locked(reason),
        Msg::Signed { message, result } => {
            model.shared.is_unlocked = model.shared.identity.needs_passphrase && result.is_ok();
            if let Some(open) = &mut model.review {
                open.signed(&model.shared, &message, result);
            }
        }
        Msg::Unsent(error) => {
            if let Some(open) = &mut model.review {
                open.unsent(&error);
            }
        }
        Msg::Edited(result) => return model.on_screen(|screen, shared| screen.edited(shared, result)),
        Msg::FileRead(path, file) => {
            if let Some(open) = &model.review {
                model.overlays.push(open.compared(&model.shared, &path, file));
            }
        }
        Msg::JournalRead(read) => model.shared.journal = Some(read),
        Msg::Examined(findings) => model.shared.findings = findings,
        Msg::Notice(text) => model.notice = text,
    }
    Vec::new()
}

/// Records what was just drawn.
pub(crate) fn drawn(model: &mut Model) {
    if is_too_small(model.shared.size) {
        return;
    }
    let area = body(model);
    if let Some(open) = model.review.as_mut().filter(|_| model.overlays.is_empty()) {
        let viewport = open.viewport(&model.shared, area);
        model.dirty |= open.record_drawn(viewport, model.shared.now);
    }
    model.clear_outdated_notice();
}
