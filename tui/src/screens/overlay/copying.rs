//! The texts that an overlay offers for copying.

use ratatui::layout::Rect;

use crate::canvas::{Canvas, Line};
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

pub(super) fn draw(pieces: &[Piece], canvas: &mut Canvas<'_>, area: Rect) {
    let inner = canvas.framed(area, "Copy", "press a key to copy, Esc closes");
    let available = usize::from(inner.width).saturating_sub(24);
    let line = |piece: &Piece| {
        let text = clean(&piece.text);
        Line::plain(format!("{}  {} {}", piece.key, pad(piece.name, 20), cut(&text, available)))
    };
    canvas.lines(inner, &pieces.iter().map(line).collect::<Vec<_>>(), 0);
}
