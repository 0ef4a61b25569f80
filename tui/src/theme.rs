//! Colours. Decoration only: every state is also a word or a mark, and without colour the selection is
//! still reverse video behind a `>`.

use ratatui::style::{Color, Modifier, Style};

/// The styles of the screens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Theme {
    colour: bool,
}

impl Theme {
    /// With colours, or with bold and reverse video only.
    pub(crate) const fn new(colour: bool) -> Self {
        Self { colour }
    }

    /// Ordinary text.
    pub(crate) fn plain() -> Style {
        Style::new()
    }

    /// Titles and what matters most.
    pub(crate) fn strong() -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// The selected row.
    pub(crate) fn selected() -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    /// Frames and remarks.
    pub(crate) fn faint(self) -> Style {
        self.tinted(Color::Gray)
    }

    /// Something needs care.
    pub(crate) fn care(self) -> Style {
        self.tinted(Color::LightYellow)
    }

    /// Something is wrong.
    pub(crate) fn bad(self) -> Style {
        self.tinted(Color::LightRed).add_modifier(Modifier::BOLD)
    }

    /// The style of a line by the first mark or risk word in it.
    pub(crate) fn of_mark(self, text: &str) -> Style {
        if text.contains("[x]") {
            self.bad()
        } else if text.contains("[!]") || text.starts_with("HIGH") {
            self.care()
        } else {
            Self::plain()
        }
    }

    fn tinted(self, colour: Color) -> Style {
        if self.colour { Style::new().fg(colour) } else { Style::new() }
    }
}
