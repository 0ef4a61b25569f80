//! Text fields, and the filter words of a list.

use tui_input::{Input, InputRequest};

use crate::keymap::Key;
use crate::text::clean;

/// Maximum length of a text field, in characters.
const FIELD_LIMIT: usize = 256;

/// Filter words of a list.
#[derive(Debug, Clone, Default)]
pub(crate) struct Filter {
    input: Input,
    /// The words that were cleared last.
    previous: Input,
    /// Whether keys go into the field.
    pub(crate) typing: bool,
}

impl Filter {
    pub(crate) fn text(&self) -> &str {
        self.input.value()
    }

    /// Returns whether all rows are shown.
    pub(crate) fn is_empty(&self) -> bool {
        self.text().is_empty()
    }

    /// Shows all rows. The words can be brought back with the key Up in the empty field.
    pub(crate) fn clear(&mut self) {
        if !self.is_empty() {
            self.previous = std::mem::take(&mut self.input);
        }
        self.typing = false;
    }

    pub(crate) fn press(&mut self, key: Key) {
        match key {
            Key::Enter => self.typing = false,
            Key::Esc => self.clear(),
            Key::Up if self.is_empty() => self.input = self.previous.clone(),
            key => edit(&mut self.input, key),
        }
    }

    /// Inserts the first line of pasted text.
    pub(crate) fn paste(&mut self, text: &str) {
        insert(&mut self.input, text);
    }

    /// Returns whether a row is shown. Each word must occur in the text or start one of the ids; a word after
    /// `!` must not. Ids match at their start only, because short numbers occur in them by chance.
    pub(crate) fn admits(&self, text: &str, ids: &[&str]) -> bool {
        let text = text.to_lowercase();
        let occurs = |word: &str| text.contains(word) || ids.iter().any(|id| id.starts_with(word));
        self.text().to_lowercase().split_whitespace().all(|word| match word.strip_prefix('!') {
            Some(unwanted) => unwanted.is_empty() || !occurs(unwanted),
            None => occurs(word),
        })
    }

    /// Returns the filter's text for the frame of a list.
    pub(crate) fn summary(&self, shown: usize, all: usize) -> String {
        if self.text().is_empty() && !self.typing {
            return String::new();
        }
        let cursor = if self.typing { "_" } else { "" };
        format!("/{}{cursor}  {shown} of {all}, Esc clears", clean(self.text()))
    }
}

/// Edits a field by a key.
pub(crate) fn edit(input: &mut Input, key: Key) {
    let request = match key {
        Key::Char(letter) if input.value().chars().count() < FIELD_LIMIT => InputRequest::InsertChar(letter),
        Key::Backspace => InputRequest::DeletePrevChar,
        Key::Left => InputRequest::GoToPrevChar,
        Key::Right => InputRequest::GoToNextChar,
        Key::Home => InputRequest::GoToStart,
        Key::End => InputRequest::GoToEnd,
        Key::Ctrl('u') => InputRequest::DeleteLine,
        _ => return,
    };
    input.handle(request);
}

/// Inserts text into a field, up to its first line break.
pub(crate) fn insert(input: &mut Input, text: &str) {
    for letter in text.chars().take_while(|letter| !matches!(letter, '\n' | '\r')).take(FIELD_LIMIT) {
        edit(input, Key::Char(letter));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cleared_words_come_back() {
        let mut filter = Filter::default();
        insert(&mut filter.input, "root !sam");
        filter.press(Key::Esc);
        assert_eq!((filter.text(), filter.typing), ("", false));
        filter.typing = true;
        filter.press(Key::Up);
        assert_eq!(filter.text(), "root !sam");
        filter.press(Key::Up);
        assert_eq!(filter.text(), "root !sam", "Up replaces no words");
    }

    #[test]
    fn filters_by_words() {
        let mut filter = Filter::default();
        insert(&mut filter.input, "root !sam\nignored");
        assert_eq!(filter.text(), "root !sam");
        assert!(filter.admits("Change ROOT quorum", &[]));
        assert!(!filter.admits("root sam", &[]));
        assert!(!filter.admits("other", &["0a77"]));
        assert_eq!(filter.summary(1, 3), "/root !sam  1 of 3, Esc clears");
        let mut filter = Filter::default();
        insert(&mut filter.input, "payout 77");
        assert!(filter.admits("Payout 77", &["0a88"]) && filter.admits("payout", &["0a88", "77b1"]));
        assert!(!filter.admits("payout 3", &["0a77"]), "an id is not searched inside");
    }
}
