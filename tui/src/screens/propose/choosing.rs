//! The choice of a kind by typing a part of its title, noun or type.

use quorate_common::catalog::KindEntry;
use ratatui::layout::Rect;
use tui_input::Input;

use crate::canvas::{Canvas, Line};
use crate::forms::{description, newest, title, unavailable};
use crate::keymap::{Action, Key, moved};
use crate::screens::filter::{edit, insert};
use crate::text::{clean, pad};
use crate::theme::Theme;

/// Width of the titles, in columns.
const TITLE_COLUMNS: usize = 36;

#[derive(Default)]
pub(super) struct Choosing {
    search: Input,
    selected: usize,
}

impl Choosing {
    /// Returns the kinds that match the words. Titles that start with the words come first.
    fn matching(&self) -> Vec<&'static KindEntry> {
        let words = self.search.value().to_lowercase();
        let words = words.trim();
        let admits = |entry: &&KindEntry| {
            let noun = entry.acts.map_or("", |(_, resource)| resource.name());
            let text = format!("{} {} {noun} {}", title(entry), entry.activity_type, entry.description);
            let text = text.to_lowercase();
            words.split_whitespace().all(|word| text.contains(word))
        };
        let mut found: Vec<&KindEntry> = newest().into_iter().filter(admits).collect();
        found.sort_by_key(|entry| !title(entry).to_lowercase().starts_with(words));
        found
    }

    /// Returns the chosen kind, or why it cannot be proposed.
    pub(super) fn press(&mut self, key: Key, area: Rect) -> Option<Result<&'static KindEntry, String>> {
        let found = self.matching();
        let page = usize::from(area.height.saturating_sub(3));
        let wanted = match key {
            Key::Up => Action::Up,
            Key::Down => Action::Down,
            Key::PageUp => Action::PageUp,
            Key::PageDown => Action::PageDown,
            Key::Enter => {
                let entry = found.get(self.selected)?;
                return Some(match unavailable(entry) {
                    Some(why) => Err(format!("[!] not proposed here: {why}")),
                    None => Ok(entry),
                });
            }
            key => {
                self.selected = 0;
                edit(&mut self.search, key);
                return None;
            }
        };
        self.selected = moved(self.selected, found.len(), page, wanted);
        None
    }

    pub(super) fn paste(&mut self, text: &str) {
        self.selected = 0;
        insert(&mut self.search, text);
    }

    pub(super) fn draw(&self, canvas: &mut Canvas<'_>, area: Rect) {
        let found = self.matching();
        let heading = format!("Propose: {}_", clean(self.search.value()));
        let inner = canvas.framed(area, &heading, &format!("{} of {}", found.len(), newest().len()));
        let line = |(index, entry): (usize, &&KindEntry)| {
            let is_selected = index == self.selected;
            let mark = if is_selected { ">" } else { " " };
            let text = unavailable(entry).map_or_else(|| description(entry), str::to_owned);
            let text = format!(
                "{mark} {} {text}",
                pad(title(entry), TITLE_COLUMNS.min(usize::from(inner.width / 2)))
            );
            Line::styled(text, if is_selected { Theme::selected() } else { Theme::plain() })
        };
        let mut lines: Vec<Line> = found.iter().enumerate().map(line).collect();
        if lines.is_empty() {
            lines.push(Line::plain("no kind contains these words"));
        }
        canvas.list(inner, &lines, self.selected, true);
    }
}
