//! The text of one field. It may be secret, so it is wiped when the field is dropped, and has no `Debug`.

use zeroize::Zeroizing;

use crate::keymap::Key;

/// Maximum length of a field, in bytes. No member of the catalog is longer.
const LIMIT: usize = 512 * 1024;
/// Space that is reserved for a secret, in bytes, so that growing leaves no copies of it.
const SECRET_SPACE: usize = 64 * 1024;

#[derive(Default)]
pub(crate) struct Field {
    text: Zeroizing<String>,
    /// Position of the cursor, in bytes.
    cursor: usize,
    /// Whether a text was set, which may be empty.
    is_set: bool,
}

impl Field {
    /// Creates an empty field.
    pub(crate) fn new(is_secret: bool) -> Self {
        let space = if is_secret { SECRET_SPACE } else { 0 };
        Self { text: Zeroizing::new(String::with_capacity(space)), cursor: 0, is_set: false }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the text before and after the cursor.
    pub(crate) fn parts(&self) -> (&str, &str) {
        self.text.split_at_checked(self.cursor).unwrap_or((&self.text, ""))
    }

    /// Returns whether a text was set, which may be empty.
    pub(crate) fn is_set(&self) -> bool {
        self.is_set
    }

    pub(crate) fn set(&mut self, text: &str) {
        self.is_set = true;
        self.text.clear();
        self.cursor = 0;
        self.insert(text);
    }

    /// Inserts text at the cursor, if it fits. Returns whether it did.
    pub(crate) fn insert(&mut self, text: &str) -> bool {
        let fits = self.text.len().saturating_add(text.len()) <= LIMIT;
        let is_possible = fits && self.text.is_char_boundary(self.cursor);
        if is_possible {
            self.text.insert_str(self.cursor, text);
            self.cursor = self.cursor.saturating_add(text.len());
        }
        is_possible
    }

    /// Inserts pasted text up to its first line break, or all of it if the member takes several lines. Returns whether
    /// it did.
    pub(crate) fn paste(&mut self, text: &str, takes_lines: bool) -> bool {
        let line = text.split(['\n', '\r']).next().unwrap_or_default();
        self.insert(if takes_lines { text } else { line })
    }

    /// Edits the text. Returns whether the key has a meaning here.
    pub(crate) fn press(&mut self, key: Key) -> bool {
        let before = self.parts().0.chars().next_back().map_or(0, char::len_utf8);
        let after = self.parts().1.chars().next().map_or(0, char::len_utf8);
        match key {
            Key::Char(letter) => return self.insert(letter.encode_utf8(&mut [0; 4])),
            Key::Backspace if before > 0 => {
                self.cursor = self.cursor.saturating_sub(before);
                self.text.remove(self.cursor);
            }
            Key::Backspace => {}
            Key::Left => self.cursor = self.cursor.saturating_sub(before),
            Key::Right => self.cursor = self.cursor.saturating_add(after),
            Key::Home => self.cursor = 0,
            Key::End => self.cursor = self.text.len(),
            Key::Ctrl('u') => self.set(""),
            _ => return false,
        }
        true
    }
}
