//! The texts that an overlay offers for copying.

use ratatui::layout::Rect;

use super::Overlay;
use crate::canvas::{Canvas, Line};
use crate::keymap::Key;
use crate::text::{clean, cut, pad};

/// Maximum length of a copied text, in bytes: terminals accept no more (xterm, OSC 52).
const COPY_LIMIT: usize = 74_000;

/// A text that can be copied.
pub(crate) struct Piece {
    pub(crate) key: char,
    pub(crate) name: &'static str,
    pub(crate) text: String,
}

impl Piece {
    /// Returns a notice about the copy, and the text unless it is too long.
    pub(crate) fn copied(self) -> (String, Option<String>) {
        let name = self.name;
        if self.text.len() > COPY_LIMIT {
            let notice =
                format!("[!] {name} is too long for the terminal's clipboard; e writes it to a file");
            return (notice, None);
        }
        // The terminal does not report whether the text reached a clipboard.
        (format!("{name} was sent to your terminal"), Some(self.text))
    }
}

/// Keys of the texts of a list without keys of its own.
const KEYS: &str = "123456789abcdefghijklmnopqrstuvwxyz";

impl Piece {
    /// Returns texts with their names as pieces, each with the next key. Those without a key are left out.
    pub(crate) fn numbered(texts: impl IntoIterator<Item = (&'static str, String)>) -> Vec<Self> {
        KEYS.chars().zip(texts).map(|(key, (name, text))| Self { key, name, text }).collect()
    }
}

impl Overlay {
    /// Offers texts for copying, each with its key and its name. Empty texts are left out.
    pub(crate) fn copies(texts: impl IntoIterator<Item = (char, &'static str, String)>) -> Self {
        let there = texts.into_iter().filter(|(_, _, text)| !text.is_empty());
        Self::Copy(there.map(|(key, name, text)| Piece { key, name, text }).collect())
    }
}

/// Turns the list, so that each of its rows can be seen. The keys stay with their texts.
pub(super) fn turn(pieces: &mut [Piece], key: Key, height: usize) {
    let rows = match key {
        Key::Down | Key::Up => 1,
        Key::PageDown | Key::PageUp => height.saturating_sub(1),
        _ => return,
    };
    let rows = rows.min(pieces.len());
    if matches!(key, Key::Down | Key::PageDown) {
        pieces.rotate_left(rows);
    } else {
        pieces.rotate_right(rows);
    }
}

pub(super) fn draw(pieces: &[Piece], canvas: &mut Canvas<'_>, area: Rect) {
    let inner = canvas.framed(area, "Copy", "press a key to copy, Esc closes");
    let available = usize::from(inner.width).saturating_sub(24);
    let line = |piece: &Piece| {
        let text = clean(&piece.text);
        Line::plain(format!("{}  {} {}", piece.key, pad(piece.name, 20), cut(&text, available)))
    };
    canvas.lines(inner, &pieces.iter().map(line).collect::<Vec<_>>(), 0);
}
