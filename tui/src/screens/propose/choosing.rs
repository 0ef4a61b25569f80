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

/// Returns how well a kind matches words, the best match first; nothing if it does not. What creates something comes before
/// what changes it, and shorter titles before longer ones.
fn rank(entry: &KindEntry, words: &str) -> Option<(u8, bool, usize)> {
    let title = title(entry).to_lowercase();
    if words.is_empty() {
        return Some((0, false, 0));
    }
    let noun = entry.acts.map_or("", |(_, resource)| resource.name());
    let name = format!("{title} {} {noun}", entry.activity_type).to_lowercase();
    let description = entry.description.to_lowercase();
    let has_all = |text: &str| words.split_whitespace().all(|word| text.contains(word));
    let class = match () {
        () if title == words => 0,
        () if title.starts_with(&format!("{words} ")) => 1,
        () if title.starts_with(words) => 2,
        () if format!(" {title} ").contains(&format!(" {words} ")) => 3,
        () if has_all(&title) => 4,
        () if has_all(&name) => 5,
        () if has_all(&format!("{name} {description}")) => 6,
        () => return None,
    };
    Some((class, !title.starts_with("create"), title.len()))
}

#[derive(Default)]
pub(super) struct Choosing {
    search: Input,
    selected: usize,
}

impl Choosing {
    /// Returns the kinds that match the words, the best matches first. Kinds that cannot be proposed here are found only
    /// if nothing else matches, so that the reason is shown.
    fn matching(&self) -> Vec<&'static KindEntry> {
        let words = self.search.value().to_lowercase();
        let words = words.trim();
        let ranked = newest().into_iter().filter_map(|entry| Some((rank(entry, words)?, entry)));
        let mut ranked: Vec<_> = ranked.collect();
        ranked.sort_by_key(|(rank, _)| *rank);
        let (found, others): (Vec<&KindEntry>, Vec<&KindEntry>) =
            ranked.into_iter().map(|(_, entry)| entry).partition(|entry| unavailable(entry).is_none());
        if found.is_empty() { others } else { found }
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
        let all = newest().into_iter().filter(|entry| unavailable(entry).is_none()).count();
        let inner = canvas.framed(area, &heading, &format!("{} of {all}", found.len().min(all)));
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
