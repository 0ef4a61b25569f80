//! The overlay that offers texts for copying.

use ratatui::layout::Rect;

use super::Overlay;
use crate::app::{Effect, Model};
use crate::canvas::{Canvas, Line};
use crate::keymap::Key;
use crate::proof::{Review, json};
use crate::text::{clean, cut, pad};

/// A text that can be copied.
pub(crate) struct Piece {
    pub(crate) key: char,
    pub(crate) name: &'static str,
    pub(crate) text: String,
}

/// Maximum length of a copied text, in bytes: terminals accept no more (xterm, OSC 52).
const COPY_LIMIT: usize = 74_000;

impl Overlay {
    /// Offers the texts of a review.
    pub(crate) fn copy_of_review(review: &Review) -> Self {
        let piece = |key, name, text: String| Piece { key, name, text };
        let mut pieces = Vec::new();
        if let Some(proposal) = &review.proposal {
            pieces.push(piece('f', "fingerprint", proposal.fingerprint.to_string()));
            pieces.push(piece('m', "signed bytes", proposal.message.clone()));
        }
        if review.draft.is_none() {
            pieces.push(piece('i', "activity id", review.activity.id.to_string()));
        }
        pieces.push(piece('j', "everything as JSON", json(review).to_string()));
        Self::Copy(pieces)
    }
}

/// Handles the key of a text. Returns the effect that copies it.
pub(crate) fn copy(model: &mut Model, key: Key) -> Option<Effect> {
    let (Some(Overlay::Copy(pieces)), Key::Char(letter)) = (model.overlays.last(), key) else { return None };
    let piece = pieces.iter().find(|piece| piece.key == letter)?;
    let (name, text) = (piece.name, piece.text.clone());
    model.overlays.pop();
    if text.len() > COPY_LIMIT {
        model.notice = format!("[!] {name} is too long for the terminal's clipboard; e writes it to a file");
        return None;
    }
    // The terminal does not report whether the text reached a clipboard.
    model.notice = format!("{name} was sent to your terminal");
    Some(Effect::Copy(text))
}

pub(super) fn draw(pieces: &[Piece], canvas: &mut Canvas<'_>, area: Rect) {
    let inner = canvas.framed(area, "Copy", "press a key to copy, Esc closes");
    let room = usize::from(inner.width).saturating_sub(24);
    let line = |piece: &Piece| {
        let text = clean(&piece.text);
        Line::plain(format!("{}  {} {}", piece.key, pad(piece.name, 20), cut(&text, room)))
    };
    canvas.lines(inner, &pieces.iter().map(line).collect::<Vec<_>>(), 0);
}
