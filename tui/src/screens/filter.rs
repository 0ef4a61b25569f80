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
        words(&self.text().to_lowercase()).iter().all(|word| match word.text.strip_prefix('!') {
            Some(unwanted) => unwanted.is_empty() || !occurs(unwanted),
            None => occurs(&word.text),
        })
    }

    /// Returns the first word that looks like a named filter, such as `state:failed`.
    pub(crate) fn named(&self) -> Option<String> {
        words(self.text()).iter().find_map(|word| Some(word.named()?.0.to_owned()))
    }

    /// Returns the filter's text for the frame of a list.
    pub(crate) fn summary(&self, shown: usize, all: usize) -> String {
        if self.text().is_empty() && !self.typing {
            return String::new();
        }
        format!("{}  {shown} of {all}, Esc clears", self.field())
    }

    /// Returns the words as they are typed.
    pub(crate) fn field(&self) -> String {
        let cursor = if self.typing { "_" } else { "" };
        format!("/{}{cursor}", clean(self.text()))
    }
}

/// A word of a filter.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) text: String,
    /// Whether it begins with a quotation mark, and is then not the name of a filter.
    is_literal: bool,
}

impl Word {
    /// Returns the name before the colon, if the word looks like a filter such as `state:failed`, and the value behind it.
    /// Links, hashes such as `sha256:00` and times do not.
    pub(crate) fn named(&self) -> Option<(&str, &str)> {
        let (name, value) = self.text.split_once(':').filter(|_| !self.is_literal)?;
        let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase());
        (is_name && !value.starts_with("//")).then_some((name, value))
    }
}

/// Splits a text into words at blanks. Between quotation marks, blanks are part of a word: `by:"Jo Smith"`.
pub(crate) fn words(text: &str) -> Vec<Word> {
    let new = || Word { text: String::new(), is_literal: false };
    let (mut words, mut word, mut is_quoted) = (Vec::new(), new(), false);
    for letter in text.chars() {
        match letter {
            '"' => {
                word.is_literal |= word.text.is_empty();
                is_quoted = !is_quoted;
            }
            blank if blank.is_whitespace() && !is_quoted => words.push(std::mem::replace(&mut word, new())),
            other => word.text.push(other),
        }
    }
    words.push(word);
    words.retain(|word| !word.text.trim().is_empty());
    words
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
    fn quoted_words_contain_blanks() {
        let texts = |text: &str| words(text).into_iter().map(|word| word.text).collect::<Vec<_>>();
        assert_eq!(texts(r#"by:"Jo Smith"  x "a b"c "" "#), ["by:Jo Smith", "x", "a bc"]);
        assert_eq!(texts("\"open end"), ["open end"]);
        let mut filter = Filter::default();
        insert(&mut filter.input, r#""root quorum" !"to sam""#);
        assert!(filter.admits("Change ROOT quorum", &[]) && !filter.admits("quorum root", &[]));
        assert!(!filter.admits("root quorum to sam", &[]));
    }

    #[test]
    fn names_of_filters_are_recognized() {
        for (text, named) in [
            ("state:failed", Some(("state", "failed"))),
            ("by:\"Jo Smith\"", Some(("by", "Jo Smith"))),
            ("status:", Some(("status", ""))),
            ("\"note:\"", None),
            ("https://a", None),
            ("sha256:00", None),
            ("10:30", None),
            ("Payout:1", None),
            (":x", None),
            ("word", None),
        ] {
            assert_eq!(words(text).first().and_then(Word::named), named, "{text}");
        }
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
