//! The question before an action that has an effect outside of the console, and that no vote decides.

use ratatui::layout::Rect;

use super::arrow;
use crate::canvas::{Canvas, Line};
use crate::keymap::{Key, scroll};
use crate::link::Order;
use crate::text::wrap;

/// The key that confirms.
const YES: Key = Key::Char('y');

/// An action that waits for its confirmation.
pub(crate) struct Confirmation {
    /// The question, already cleaned.
    title: String,
    /// What happens, already cleaned.
    paragraphs: Vec<String>,
    order: Order,
    /// First row that is shown.
    first: usize,
}

impl Confirmation {
    /// Creates a question from cleaned texts.
    pub(crate) fn new(title: &str, paragraphs: Vec<String>, order: Order) -> Self {
        Self { title: title.to_owned(), paragraphs, order, first: 0 }
    }

    /// Handles a key; `area` is where the question is drawn. Returns the order if it was confirmed.
    pub(super) fn press(&mut self, key: Key, area: Rect) -> Option<Order> {
        if key == YES {
            return Some(self.order.clone());
        }
        let (columns, height) = (area.width.saturating_sub(4), area.height.saturating_sub(2));
        if let Some(wanted) = arrow(key) {
            let rows = self.rows(usize::from(columns)).len();
            self.first = scroll(self.first, rows, usize::from(height), wanted);
        }
        None
    }

    fn rows(&self, columns: usize) -> Vec<String> {
        let question = "y sends it, Esc cancels. Nothing is sent yet.".to_owned();
        let all = std::iter::once(question).chain(self.paragraphs.iter().cloned());
        all.flat_map(|text| wrap(&text, columns)).collect()
    }

    pub(super) fn draw(&self, canvas: &mut Canvas<'_>, area: Rect) {
        let inner = canvas.framed(area, &self.title, "y sends it, Esc cancels");
        let lines: Vec<Line> = self.rows(usize::from(inner.width)).into_iter().map(Line::plain).collect();
        canvas.lines(inner, &lines, self.first);
    }
}
