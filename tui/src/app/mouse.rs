//! The mouse. The wheel scrolls as the arrow keys do, and a click selects a row or a tab. Nothing is opened, answered or
//! decided by it.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::keys;
use super::model::Model;
use super::view::{draw, tab_at};
use crate::keymap::{Action, Key};
use crate::screens::request::Effect;
use crate::theme::Theme;

/// Rows that one step of the wheel moves.
const WHEEL_ROWS: usize = 3;
/// Width below which an item of a list can take two rows, so that a click would select a wrong one.
const LIST_COLUMNS: u16 = 80;

/// What the mouse did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mouse {
    WheelUp,
    WheelDown,
    /// The left button at this column and row.
    Click(u16, u16),
}

/// Handles the mouse.
pub(super) fn apply(model: &mut Model, mouse: Mouse) -> Vec<Effect> {
    match mouse {
        Mouse::WheelUp => wheel(model, Action::Up, Key::Up, Key::PageUp),
        Mouse::WheelDown => wheel(model, Action::Down, Key::Down, Key::PageDown),
        Mouse::Click(column, row) => click(model, column, row),
    }
}

fn wheel(model: &mut Model, action: Action, arrow: Key, page: Key) -> Vec<Effect> {
    if keys::scroll_covering(model, arrow, page) {
        return Vec::new();
    }
    (0..WHEEL_ROWS).flat_map(|_| keys::perform(model, action)).collect()
}

/// Selects what is at this place. A decision, an overlay and a review have nothing to select.
fn click(model: &mut Model, column: u16, row: u16) -> Vec<Effect> {
    if model.uncovered().is_none() || !model.overlays.is_empty() {
        return Vec::new();
    }
    if let Some(index) = tab_at(model, column, row) {
        return keys::perform(model, Action::Show(index));
    }
    if model.shared.size.0 < LIST_COLUMNS {
        return Vec::new();
    }
    let Some(marked) = marked_row(model, column, row) else { return Vec::new() };
    let action = if row > marked { Action::Down } else { Action::Up };
    (0..row.abs_diff(marked)).flat_map(|_| keys::perform(model, action)).collect()
}

/// Returns the row of the selected item in the list at this place, as it is drawn, if the place is an item of that list.
fn marked_row(model: &Model, column: u16, row: u16) -> Option<u16> {
    let (columns, rows) = model.shared.size;
    let mut buffer = Buffer::empty(Rect { x: 0, y: 0, width: columns, height: rows });
    draw(model, Theme::uncoloured(), &mut buffer);
    let symbol = |column: u16, row: u16| buffer.cell((column, row)).map_or("", |cell| cell.symbol());
    let is_side = |column: u16, row: u16| symbol(column, row) == "\u{2502}";
    let side = (0..=column).rev().find(|column| is_side(*column, row))?;
    let first = side.checked_add(2)?;
    let is_marked = |row: &u16| symbol(first, *row) == ">" && symbol(first.saturating_add(1), *row) == " ";
    let marked = (0..rows).find(|row| is_side(side, *row) && is_marked(row))?;
    // Everything between them belongs to the same list. The row is neither its head, which is in capitals, nor the hint
    // for hidden rows.
    let mut between = row.min(marked)..=row.max(marked);
    let text: String = (first..columns).map(|column| symbol(column, row)).collect();
    let is_item = text.chars().any(|letter| !letter.is_uppercase() && letter.is_alphanumeric());
    let is_item = is_item && !text.contains(" below: ");
    (between.all(|row| is_side(side, row)) && is_item).then_some(marked)
}
